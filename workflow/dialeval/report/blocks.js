/* Cases other than dialogues, block by block: speech bubbles, options, tables, verdicts.
 * All text goes into the page as text nodes, never as markup. */
const blocks = (() => {
  "use strict";

  const SVG = "http://www.w3.org/2000/svg";
  const ON_THE_RIGHT = new Set(["table", "cards"]);

  /** Returns the plain text of a text or of a difference between texts. */
  const plain = (text) => (typeof text === "string" ? text : text.map(([, part]) => part).join(""));

  /** Returns all texts of a piece that can be searched. */
  function texts({ blocks: all }) {
    return all.flatMap((block) => {
      const spoken = (block.utterances ?? []).map(plain);
      return [...spoken, ...(block.options ?? []).map(({ text }) => text), ...(block.type === "words" ? [block.text] : [])];
    });
  }

  /** Returns the versions (languages) that a piece has. */
  const versions = ({ blocks: all }) => [...new Set(all.flatMap(({ version }) => (version ? [version] : [])))];

  /** Returns the left and the right side of a piece, in one of its versions. */
  function draw(piece, { version, query, sent }) {
    const sides = { left: [], right: [] };
    for (const block of piece.blocks) {
      if (!block.version || block.version === version) {
        const side = block.side ?? (ON_THE_RIGHT.has(block.type) ? "right" : "left");
        sides[side].push(...drawn(block, query, sent));
      }
    }
    return sides;
  }

  function drawn(block, query, sent) {
    const heading = block.title ? [prose("h4", "", block.title)] : [];
    switch (block.type) {
      case "bubbles":
        return [...heading, bubbles(block, query)];
      case "options":
        return [...heading, options(block, query)];
      case "table":
        return [...heading, table(block)];
      case "cards":
        return [...heading, ...cards.all(block.cards, sent)];
      case "words":
        return [...heading, marking.fill(prose("p", "basis", ""), block.text, query)];
      default:
        throw new Error(`blocks of the type ${block.type} are not known`);
    }
  }

  function bubbles({ speakers, utterances, marked = [], mark = "scored" }, query) {
    const list = element("ol", "bubbles");
    utterances.forEach((text, place) => {
      const side = speakers[place] === speakers[0] ? "left" : "right";
      const isMarked = marked.includes(place);
      const bubble = element("li", `bubble ${side}${isMarked ? " is-marked" : ""}`);
      bubble.append(element("span", "bubble-head", `${place + 1} · ${speakers[place]}`));
      if (isMarked) {
        bubble.firstChild.append(" · ", element("span", "seed-mark", mark));
      }
      bubble.append(words(text, query));
      list.append(bubble);
    });
    return list;
  }

  /** Returns an utterance; in a difference, removed text is struck out and new text is underlined. */
  function words(text, query) {
    const made = prose("p", "", "");
    if (typeof text === "string") {
      return marking.fill(made, text || "(empty)", query);
    }
    return differences.fill(made, text, query);
  }

  function options({ options: all }, query) {
    const list = element("ul", "options");
    for (const { letter, text, right, chosen = [] } of all) {
      const item = element("li", right ? "option is-right" : "option");
      const line = prose("p", "", "");
      line.append(element("strong", "", `${letter} `));
      item.append(marking.fill(line, text, query));
      if (right) {
        item.append(element("span", "badge won", "right"));
      }
      if (chosen.length) {
        item.append(element("span", "detail", `chosen by ${chosen.join(", ")}`));
      }
      list.append(item);
    }
    return list;
  }

  function table({ title, columns, rows }) {
    const made = element("table");
    const head = element("tr");
    const corner = element("td"); // a screen reader would announce an empty th as a heading
    head.append(corner, ...columns.map((name) => scoped(prose("th", "number", name), "col")));
    const body = element("tbody");
    for (const [name, tag, content] of rows) {
      const row = element("tr");
      const heading = scoped(element("th"), "row");
      heading.append(prose("span", "", name));
      if (tag) {
        heading.append(" ", element("span", "tag", tag));
      }
      row.append(heading, ...content.map(cell));
      body.append(row);
    }
    const top = element("thead");
    top.append(head);
    made.append(top, body);
    const scroll = element("div", "scroll");
    scroll.tabIndex = 0;
    scroll.setAttribute("role", "region");
    scroll.setAttribute("aria-label", title || "Ratings and scores");
    scroll.append(made);
    return scroll;
  }

  function scoped(heading, scope) {
    heading.scope = scope;
    return heading;
  }

  function cell(content) {
    if (typeof content === "string") {
      return prose("td", "text", content);
    }
    const made = element("td", "number");
    if (!content) {
      return made;
    }
    const [value, place, scale, spoken] = content;
    made.append(element("span", "value", value === null ? "–" : String(Number(value.toFixed(2)))));
    if (place >= 0) {
      made.append(strip(place / 10), element("span", "detail", scale));
    }
    if (spoken) {
      made.append(element("span", "detail", spoken));
    }
    return made;
  }

  /** Returns a drawing of a position on a scale from 0 to 100. */
  function strip(place) {
    const made = document.createElementNS(SVG, "svg");
    const set = (shape, attributes) => Object.entries(attributes).forEach(([name, value]) => shape.setAttribute(name, value));
    set(made, { class: "strip", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" });
    const shapes = {
      line: { class: "scale", x1: 0, x2: 100, y1: 4, y2: 4 },
      rect: { class: "dot", x: 1 + 0.95 * place, width: 3, y: 0.5, height: 7, rx: 1 },
    };
    for (const [tag, attributes] of Object.entries(shapes)) {
      const shape = document.createElementNS(SVG, tag);
      set(shape, attributes);
      made.append(shape);
    }
    return made;
  }

  return { draw, texts, versions };
})();
