/* One dialogue as a column: its utterances as speech bubbles, and under them every verdict about it.
 * All text of dialogues goes into the page as text nodes, never as markup. */
const dialogueColumns = (() => {
  "use strict";

  /** Returns the columns of the chosen models. */
  function draw({ models, dialogues, verdicts, ...view }) {
    const drawer = verdictLists.drawer(view);
    const rows = verdictLists.rows(verdicts);
    const base = view.compares ? dialogues.utterances[dialogues.models.indexOf(models[0])] : null;
    return models.map((model, number) => column(model, dialogues, rows, { ...view, drawer, base: number ? base : null }));
  }

  function column(model, dialogues, verdicts, view) {
    const { names: index, noun } = view;
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
      made.append(element("p", "muted", `No dialogue on this ${noun}.`));
      return made;
    }
    const about = verdicts.filter((verdict) => verdict.left === model || verdict.right === model);
    places.forEach((at, number) => {
      const ofThis = about.filter(({ dialogue }) => (dialogue < 0 ? number === 0 : dialogue === at));
      if (places.length > 1) {
        made.append(element("h5", "", `Dialogue ${number + 1} of ${places.length}`));
      }
      made.append(bubbles(at, model, dialogues, ofThis, view), view.drawer.list(model, ofThis));
    });
    return made;
  }

  function bubbles(at, model, dialogues, about, { names: index, query, showsHidden, base }) {
    const list = element("ol", "bubbles");
    const accused = accusations(about, index);
    const marks = marksByTurn(about, index);
    const own = dialogues.speakers_of?.[at];
    const speakers = own ?? (dialogues.speakers.length > 1 ? dialogues.speakers : ["A", "B"]);
    const hiddenMessages = (dialogues.hidden_messages ?? []).filter(([ofDialogue]) => showsHidden && ofDialogue === at);
    const text = (string) => marking.fill(prose("p", "", ""), dialogues.strings[string] || "(empty)", query);
    const difference = (before, after) => {
      const [old, now] = [before, after].map((place) => dialogues.strings[place] ?? "");
      return differences.fill(prose("p", "", ""), differences.between(old, now), query);
    };
    const addHidden = (turn) => {
      for (const [, before, kind, string] of hiddenMessages) {
        if (before === turn) {
          const bubble = element("li", "bubble is-hidden-message");
          bubble.append(element("span", "bubble-head", kind.replaceAll("_", " ")), text(string));
          list.append(bubble);
        }
      }
    };
    dialogues.utterances[at].forEach((string, turn) => {
      addHidden(turn);
      const named = own ?? (model === HUMAN && dialogues.speakers.length ? dialogues.speakers : null);
      const speaker = named ? named[turn] : speakers[turn % 2];
      const bubble = element("li", `bubble ${speaker === speakers[0] ? "left" : "right"}`);
      const head = element("span", "bubble-head", `${turn + 1} · ${speaker}`);
      bubble.append(head);
      if (turn < dialogues.opening.length) {
        bubble.classList.add("is-seed");
        head.append(" · ", element("span", "seed-mark", "seed"));
      }
      bubble.append(base ? difference(base[turn], string) : text(string), ...remarks(dialogues, at, turn));
      if (accused.has(turn)) {
        bubble.classList.add("is-accused");
        bubble.append(element("span", "accused", `first AI utterance according to ${accused.get(turn).join(", ")}`));
      }
      if (marks.has(turn)) {
        bubble.classList.add("is-marked");
        for (const [kind, judges] of marks.get(turn)) {
          bubble.append(element("span", "marked", `${kind}, according to ${[...judges].join(", ")}`));
        }
      }
      list.append(bubble);
    });
    addHidden(dialogues.utterances[at].length);
    return list;
  }

  /** Returns remarks on how an utterance was generated: finish reason and dropped utterances. */
  function remarks(dialogues, at, turn) {
    const ofTurn = dialogues.remarks.filter(([ofDialogue, ofUtterance]) => ofDialogue === at && ofUtterance === turn);
    return ofTurn.map(([, , finish, dropped]) => {
      const remarks = [];
      if (finish && finish !== "stop") {
        remarks.push(`finish reason: ${finish}`);
      }
      if (dropped) {
        remarks.push(`written without the oldest ${counted(dropped, "utterance")}, which did not fit the model's context window`);
      }
      return element("span", "remark", remarks.join("; "));
    });
  }

  /** Returns, by turn, the judges for whom it is the first utterance by an AI. */
  function accusations(about, index) {
    const accused = new Map();
    for (const { judge, firstAi, criterion } of about) {
      if (firstAi && !criterion) {
        accused.set(firstAi - 1, [...(accused.get(firstAi - 1) ?? []), index.judges[judge]]);
      }
    }
    return accused;
  }

  /** Returns, by turn, the annotated labels of an utterance, each with its judges. */
  function marksByTurn(about, index) {
    const marks = new Map();
    for (const { judge, criterion, places } of about) {
      for (const place of places) {
        const labels = marks.get(place - 1) ?? new Map();
        const kind = verdictLists.inWords(criterion);
        labels.set(kind, (labels.get(kind) ?? new Set()).add(index.judges[judge]));
        marks.set(place - 1, labels);
      }
    }
    return marks;
  }

  return { draw };
})();
