/* One dialogue as a column: its utterances as speech bubbles, and under them every verdict about it.
 * All text of dialogues and verdicts goes into the page as text nodes, never as markup. */
const dialogueColumns = (() => {
  "use strict";

  const OUTCOMES = [
    { name: "won", comparison: "won", single: "taken for human" },
    { name: "tied", comparison: "tied", single: "tied" },
    { name: "lost", comparison: "lost", single: "called AI" },
    { name: "none", comparison: "no verdict", single: "no verdict" },
  ];
  const TIE = 2;

  let index = null;
  let query = "";
  let word = "seed";
  let showAsides = false;
  let showModel = () => {};

  /** Returns the columns of the chosen models; a click on an opponent's name calls `onModel` with its place. */
  function draw({ models, dialogues, verdicts, names, wanted, noun, asides, onModel }) {
    index = names;
    query = wanted;
    word = noun;
    showAsides = asides;
    showModel = onModel;
    const rows = verdictRows(verdicts);
    return models.map((model) => column(model, dialogues, rows));
  }

  /** Turns the columns of a seed's verdicts into one object per verdict. */
  function verdictRows(verdicts) {
    const text = (place) => (place < 0 ? "" : verdicts.strings[place]);
    return verdicts.judge.map((judge, row) => ({
      judge,
      protocol: text(verdicts.protocol[row]),
      dialogue: verdicts.dialogue[row],
      criterion: text(verdicts.criterion[row]),
      value: verdicts.value[row],
      scale: text(verdicts.scale[row]),
      n: verdicts.n[row],
      left: verdicts.left[row],
      right: verdicts.right[row],
      choice: text(verdicts.choice[row]),
      outcome: verdicts.outcome[row],
      firstAi: verdicts.place[row],
      places: verdicts.places[row] ?? [],
      reason: text(verdicts.reason[row]),
      status: text(verdicts.status[row]),
      answer: text(verdicts.answer[row]),
    }));
  }

  function outcomeFor(model, verdict) {
    if (verdict.right < 0) {
      if (verdict.criterion) {
        return verdict.value === null && verdict.choice === "" ? OUTCOMES[3] : { name: "told", single: told(verdict) };
      }
      return verdict.choice === "" ? OUTCOMES[3] : verdict.choice === "No" ? OUTCOMES[0] : OUTCOMES[2];
    }
    if (verdict.outcome < 0) {
      return OUTCOMES[3];
    }
    if (verdict.outcome === TIE) {
      return OUTCOMES[1];
    }
    return (verdict.outcome === 0 ? verdict.left : verdict.right) === model ? OUTCOMES[0] : OUTCOMES[2];
  }

  /** What a judge says of one criterion: a number on its scale, or a word. */
  function told({ value, scale, choice }) {
    const number = value === null ? "" : value.toLocaleString("en", { maximumFractionDigits: 3 });
    return [choice, number && (scale ? `${number} of ${scale}` : number)].filter(Boolean).join(": ");
  }

  function column(model, dialogues, verdicts) {
    const made = element("section", model === HUMAN ? "dialogue is-human" : "dialogue");
    const head = prose("h4", "", index.models[model]);
    if (model === HUMAN) {
      head.append(" ", element("span", "tag", "people"));
    }
    if (index.embedded.includes(index.models[model])) {
      head.append(" ", element("span", "tag", "embedded"));
    }
    made.append(head);
    const places = dialogues.models.map((_, at) => at).filter((at) => dialogues.models[at] === model);
    if (!places.length) {
      made.append(element("p", "muted", `No dialogue on this ${word}.`));
      return made;
    }
    const about = verdicts.filter((verdict) => verdict.left === model || verdict.right === model);
    places.forEach((at, number) => {
      const ofThis = about.filter(({ dialogue }) => (dialogue < 0 ? number === 0 : dialogue === at));
      if (places.length > 1) {
        made.append(element("h5", "", `Dialogue ${number + 1} of ${places.length}`));
      }
      made.append(bubbles(at, model, dialogues, ofThis), verdictList(model, ofThis));
    });
    return made;
  }

  function bubbles(at, model, dialogues, about) {
    const list = element("ol", "bubbles");
    const accused = new Map();
    for (const { judge, firstAi, criterion } of about) {
      if (firstAi && !criterion) {
        accused.set(firstAi - 1, [...(accused.get(firstAi - 1) ?? []), index.judges[judge]]);
      }
    }
    const marks = marksByTurn(about);
    const own = dialogues.speakers_of?.[at];
    const speakers = own ?? (dialogues.speakers.length > 1 ? dialogues.speakers : ["A", "B"]);
    const asides = (dialogues.asides ?? []).filter(([ofDialogue]) => showAsides && ofDialogue === at);
    const addAsides = (turn) => {
      for (const [, before, kind, string] of asides) {
        if (before === turn) {
          const bubble = element("li", "bubble aside");
          bubble.append(element("span", "bubble-head", kind.replaceAll("_", " ")), markedText(dialogues.strings[string]));
          list.append(bubble);
        }
      }
    };
    dialogues.utterances[at].forEach((string, turn) => {
      addAsides(turn);
      const named = own ?? (model === HUMAN && dialogues.speakers.length ? dialogues.speakers : null);
      const speaker = named ? named[turn] : speakers[turn % 2];
      const bubble = element("li", `bubble ${speaker === speakers[0] ? "left" : "right"}`);
      const head = element("span", "bubble-head", `${turn + 1} · ${speaker}`);
      bubble.append(head);
      if (turn < dialogues.opening.length) {
        bubble.classList.add("is-seed");
        head.append(" · ", element("span", "seed-mark", "seed"));
      }
      bubble.append(markedText(dialogues.strings[string]));
      for (const [ofDialogue, ofTurn, finish, dropped] of dialogues.remarks) {
        if (ofDialogue === at && ofTurn === turn) {
          const remarks = [];
          if (finish && finish !== "stop") {
            remarks.push(`ended by: ${finish}`);
          }
          if (dropped) {
            remarks.push(`written without the oldest ${counted(dropped, "utterance")}, for lack of room`);
          }
          bubble.append(element("span", "remark", remarks.join("; ")));
        }
      }
      if (accused.has(turn)) {
        bubble.classList.add("is-accused");
        bubble.append(element("span", "accused", `first AI utterance, says ${accused.get(turn).join(", ")}`));
      }
      if (marks.has(turn)) {
        bubble.classList.add("is-marked");
        for (const [kind, judges] of marks.get(turn)) {
          bubble.append(element("span", "marked", `${kind}, says ${[...judges].join(", ")}`));
        }
      }
      list.append(bubble);
    });
    addAsides(dialogues.utterances[at].length);
    return list;
  }

  /** Returns, by turn, the kinds that judges or rules see in an utterance, each with who sees it. */
  function marksByTurn(about) {
    const marks = new Map();
    for (const { judge, criterion, places } of about) {
      for (const place of places) {
        const kinds = marks.get(place - 1) ?? new Map();
        const kind = inWords(criterion);
        kinds.set(kind, (kinds.get(kind) ?? new Set()).add(index.judges[judge]));
        marks.set(place - 1, kinds);
      }
    }
    return marks;
  }

  const inWords = (criterion) => criterion.replaceAll("_", " ");

  /** Returns the verdicts that are worth a line: of kinds that were looked for, those that are there or not readable. */
  function worthALine(verdicts) {
    const isGood = ({ criterion }) => criterion === index.good_case;
    return verdicts.filter(
      (verdict) => !index.marking.includes(verdict.protocol) || verdict.choice === "Yes" || (verdict.choice === "" && !isGood(verdict)),
    );
  }

  /** Returns an utterance as text, with what was searched for marked. */
  function markedText(text) {
    const made = prose("p", "", "");
    const folded = text.toLowerCase();
    if (!query || folded.length !== text.length) {
      made.append(text || "(empty)");
      return made;
    }
    let from = 0;
    for (let hit = folded.indexOf(query); hit >= 0; hit = folded.indexOf(query, from)) {
      made.append(text.slice(from, hit), element("mark", "", text.slice(hit, hit + query.length)));
      from = hit + query.length;
    }
    made.append(text.slice(from) || (from ? "" : "(empty)"));
    return made;
  }

  const isPerson = (judge) => index.people.includes(index.judges[judge]);

  function verdictList(model, about) {
    const made = element("div", "verdicts");
    if (!about.length) {
      made.append(element("p", "muted", "No verdict about this dialogue."));
    }
    index.judges.forEach((name, judge) => {
      const ofJudge = about.filter((verdict) => verdict.judge === judge);
      if (!ofJudge.length) {
        return;
      }
      made.append(prose("h5", "", `${isPerson(judge) ? `${name[0].toUpperCase()}${name.slice(1)}` : `Judge ${name}`} on ${index.models[model]}`));
      for (const [key, group] of grouped(ofJudge)) {
        made.append(group[0].right < 0 ? singles(model, group) : comparisons(model, key, group));
      }
    });
    return made;
  }

  /** Groups verdicts by protocol and, where one is asked at several N, by N; single dialogues first. */
  function grouped(verdicts) {
    const groups = new Map();
    const order = Object.keys(index.titles);
    const rank = ({ protocol }) => (order.indexOf(protocol) + 100) % 100;
    for (const verdict of [...verdicts].sort((left, right) => rank(left) - rank(right) || left.n - right.n)) {
      const at = index.at_lengths.includes(verdict.protocol) ? atLength(verdict.n) : "";
      const about = verdict.right >= 0 && verdict.criterion ? ` on ${verdict.criterion}` : "";
      const key = protocolName(verdict.protocol) + about + at;
      groups.set(key, [...(groups.get(key) ?? []), verdict]);
    }
    return groups;
  }

  function badge(outcome, words, status) {
    const made = element("span", `badge ${outcome.name}`, words);
    if (status !== "ok") {
      made.append(`: ${status}`);
    }
    return made;
  }

  function singles(model, verdicts) {
    const made = element("div", "singles");
    for (const verdict of worthALine(verdicts)) {
      const outcome = outcomeFor(model, verdict);
      const card = element("div", "verdict");
      const line = element("p", "verdict-line");
      const marking = index.marking.includes(verdict.protocol);
      const about = verdict.criterion ? ` · ${marking ? inWords(verdict.criterion) : verdict.criterion}` : "";
      line.append(element("strong", "", protocolName(verdict.protocol) + about), " ");
      line.append(badge(outcome, outcome.single, verdict.status));
      if (verdict.places.length) {
        line.append(` in utterance${verdict.places.length > 1 ? "s" : ""} ${verdict.places.join(", ")}`);
      } else if (verdict.firstAi) {
        line.append(verdict.criterion ? ` in utterance ${verdict.firstAi}` : ` from utterance ${verdict.firstAi} on`);
      }
      card.append(line, ...reasons(verdict));
      made.append(card);
    }
    return made;
  }

  function comparisons(model, key, verdicts) {
    const made = element("details", "comparisons");
    const summary = element("summary");
    summary.append(element("strong", "", key), " ");
    const tally = new Map();
    for (const verdict of verdicts) {
      const outcome = outcomeFor(model, verdict);
      tally.set(outcome, (tally.get(outcome) ?? 0) + 1);
    }
    for (const outcome of OUTCOMES.filter((each) => tally.has(each))) {
      summary.append(element("span", `badge ${outcome.name}`, `${tally.get(outcome)} ${outcome.comparison}`), " ");
    }
    const list = element("ul");
    const against = (verdict) => (verdict.left === model ? verdict.right : verdict.left);
    for (const verdict of [...verdicts].sort((left, right) => against(left) - against(right))) {
      list.append(comparison(model, against(verdict), verdict));
    }
    made.append(summary, list);
    made.open = verdicts.length <= 2;
    return made;
  }

  function comparison(model, other, verdict) {
    const item = element("li", "verdict");
    const outcome = outcomeFor(model, verdict);
    const line = element("p", "verdict-line");
    line.append(badge(outcome, outcome.comparison, verdict.status), " against ");
    const opponent = element("button", "link", index.models[other]);
    opponent.type = "button";
    opponent.title = "show this dialogue too";
    opponent.addEventListener("click", () => showModel(other));
    line.append(opponent);
    if (!isPerson(verdict.judge)) {
      line.append(element("span", "muted", `, ${verdict.left === model ? "shown first" : "shown second"}`));
    }
    if (verdict.choice) {
      line.append(element("span", "muted", `; ${index.shipped.includes(verdict.protocol) ? "AI, says the judge" : "the judge's answer"}: ${verdict.choice}`));
    }
    item.append(line, ...reasons(verdict));
    return item;
  }

  function reasons(verdict) {
    const made = [];
    if (verdict.reason) {
      made.push(prose("p", "reason", verdict.reason));
    }
    if (verdict.answer) {
      const raw = element("details", "raw");
      raw.append(element("summary", "", "What the judge wrote"), prose("pre", "", verdict.answer));
      made.push(raw);
    }
    return made;
  }

  return { draw };
})();
