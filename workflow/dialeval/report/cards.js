/* The details of a verdict: reason, request, response, how it was parsed, and its tokens and cost.
 * All text goes into the page as text nodes, never as markup. */
const cards = (() => {
  "use strict";

  /** Returns the lines of one verdict.
   *
   * `verdict` may have reason, answer, thoughts, read, facts, probabilities (pairs of label and probability), and prompt
   * (its number). `sent.read` returns the requests of the case, or null if the page does not have them; `sent.missing` is
   * the text that is then shown.
   */
  function lines(verdict, sent) {
    const made = [];
    if (verdict.reason) {
      made.push(prose("p", "reason", verdict.reason));
    }
    if (verdict.probabilities?.length) {
      made.push(probabilities(verdict.probabilities));
    }
    const facts = [verdict.read, verdict.facts].filter(Boolean);
    if (facts.length) {
      made.push(element("p", "facts", facts.join("; ")));
    }
    if (verdict.answer) {
      made.push(folded("Response", [written(verdict.answer)]));
    }
    if (verdict.thoughts) {
      made.push(folded("Reasoning", [written(verdict.thoughts)]));
    }
    if (verdict.prompt >= 0) {
      made.push(prompt(verdict.prompt, sent));
    }
    return made;
  }

  function probabilities(pairs) {
    const list = element("ul", "probabilities");
    for (const [label, share] of pairs) {
      const item = prose("li", "", label);
      item.append(element("span", "muted", ` ${share.toFixed(3)}`));
      list.append(item);
    }
    return list;
  }

  function folded(title, content) {
    const made = element("details", "raw");
    made.append(element("summary", "", title), ...content);
    return made;
  }

  /** Returns a text with its own line breaks; it can be scrolled with the keyboard. */
  function written(text) {
    const made = prose("pre", "", text);
    made.tabIndex = 0;
    return made;
  }

  function prompt(number, { read, missing }) {
    const made = folded("Request", []);
    made.classList.add("sent");
    made.addEventListener(
      "toggle",
      async () => {
        try {
          const held = await read();
          const words = missing || "This request is not in the page, to limit the size of the page.";
          made.append(...(held ? messages(held, number) : [element("p", "muted", words)]));
        } catch (error) {
          made.append(element("p", "muted", `The request cannot be shown: ${error.message}`));
        }
      },
      { once: true },
    );
    return made;
  }

  function messages({ strings, prompts }, number) {
    return prompts[number].flatMap(([role, places]) => [
      element("p", "role", role),
      written(places.map((place) => strings[place]).join("")),
    ]);
  }

  /** Returns a badge that names an outcome. */
  function badge(name, words, status) {
    const made = element("span", `badge ${name}`, words);
    if (status && status !== "ok") {
      made.append(`: ${status}`);
    }
    return made;
  }

  /** Returns a card: the question, the verdict and its details. */
  function card(verdict, sent) {
    const made = element("div", "verdict");
    const line = element("p", "verdict-line");
    line.append(prose("strong", "", verdict.title), " ", badge(verdict.badge ?? "answered", verdict.verdict, verdict.status));
    if (verdict.order) {
      line.append(element("span", "muted", ` ${verdict.order}`));
    }
    made.append(line, ...lines(verdict, sent));
    return made;
  }

  /** Returns cards, both orders of a pair side by side. */
  function all(verdicts, sent) {
    const made = [];
    const pairs = new Map();
    for (const verdict of verdicts) {
      const one = card(verdict, sent);
      const beside = verdict.pair && pairs.get(verdict.pair);
      if (beside) {
        beside.append(one);
        continue;
      }
      const holder = verdict.pair ? element("div", "both-orders") : one;
      if (verdict.pair) {
        holder.append(one);
        pairs.set(verdict.pair, holder);
      }
      made.push(holder);
    }
    return made;
  }

  return { lines, badge, all };
})();
