/* The screen: one unit with its questions; answers, skips and moves between units. */
const showSheet = (sheet, kept) => {
  "use strict";

  let at = 0;
  let active = 0;
  const dialogues = dialoguesOf(sheet);
  const questions = questionsOf(sheet, { answer, attend });

  const entry = () => kept.list()[at];
  const answers = () => kept.slot(entry()).answers;
  const firstOpen = () => sheet.questions.findIndex((question) => !sheet.isWhole(question, answers()[question.criterion]));

  function attend(number) {
    if (number !== active) {
      active = number;
      questions.mark(active);
      drawPlaces();
    }
  }

  // ---- Drawing ----

  function drawPlaces() {
    const { criterion } = sheet.questions[active];
    const answer = answers()[criterion];
    const words = sheet.wantsPlace(answer) ? "First here" : "";
    dialogues.offerPlaces(entry().unit, answer?.place, words, choosePlace);
  }

  function drawAnswers() {
    const focused = document.activeElement?.closest?.(".question, .pick");
    questions.show(answers(), active);
    drawPlaces();
    drawState();
    if (focused && !document.contains(focused)) {
      byId("questions").children[active].querySelector("[aria-pressed=true], button, input").focus({ preventScroll: true });
    }
  }

  function drawState() {
    const list = kept.list();
    const states = list.map(kept.stateOf);
    const count = (wanted) => states.filter((state) => state === wanted).length;
    const { skipped, comment } = kept.slot(entry());
    byId("bar").max = list.length;
    byId("bar").value = count("done") + count("skipped");
    byId("count").textContent = `${count("done").toLocaleString("en")} of ${list.length.toLocaleString("en")} labelled${count("skipped") ? `, ${count("skipped")} skipped` : ""}`;
    byId("unsaved").textContent = kept.unsaved() ? `${kept.unsaved().toLocaleString("en")} not yet in a file` : "";
    byId("skip").setAttribute("aria-pressed", String(skipped));
    byId("undo").disabled = !kept.canUndo();
    byId("remark").hidden = !comment && document.activeElement !== byId("comment");
    byId("open-comment").setAttribute("aria-pressed", String(Boolean(comment)));
    byId("previous").disabled = at === 0;
    byId("next").disabled = at === list.length - 1;
    byId("welcome").hidden = states.some((state) => state !== "open");
  }

  function draw() {
    const { unit, round } = entry();
    byId("unit-title").textContent = `${at + 1} of ${kept.list().length}${round ? " (a second time)" : ""}`;
    dialogues.show(unit);
    active = Math.max(0, firstOpen());
    byId("comment").value = kept.slot(entry()).comment;
    drawAnswers();
  }

  /** Goes to an item of the list. */
  function go(place) {
    at = Math.min(Math.max(place, 0), kept.list().length - 1);
    kept.set("at", at);
    draw();
    byId("unit-title").focus({ preventScroll: true });
    const judged = sheet.level === "turn" && sheet.form !== "pair" ? byId("dialogues").querySelector(".is-judged") : null;
    scrollTo(0, 0);
    judged?.scrollIntoView({ block: "center" });
  }

  /** Goes to the next open unit, also from the end to the beginning; without any, announces that all are done. */
  function goOn() {
    const list = kept.list();
    const order = list.map((_, step) => (at + 1 + step) % list.length);
    const open = order.find((place) => ["open", "part"].includes(kept.stateOf(list[place])));
    if (open === undefined) {
      drawAnswers();
      byId("finished").showModal();
    } else {
      go(open);
    }
  }

  // ---- Answering ----

  function give(number, answer) {
    const { criterion } = sheet.questions[number];
    const wasDone = kept.stateOf(entry()) === "done";
    kept.change(entry(), { answers: { ...answers(), [criterion]: answer }, skipped: false });
    const option = sheet.questions[number].options.find(({ label }) => label === answer.label);
    showMessage(`${at + 1}: ${option?.shown || answer.label}${answer.place ? `, utterance ${answer.place}` : ""}`);
    active = number;
    if (!sheet.isWhole(sheet.questions[number], answer)) {
      drawAnswers();
      const pick = byId("dialogues").querySelector(".pick");
      pick?.scrollIntoView({ block: "nearest" });
      pick?.focus({ preventScroll: true });
      return;
    }
    if (kept.stateOf(entry()) === "done" && !wasDone && kept.get("goOn")) {
      goOn();
      return;
    }
    active = firstOpen() < 0 || wasDone ? number : firstOpen();
    drawAnswers();
  }

  function answer(number, label) {
    const before = answers()[sheet.questions[number].criterion];
    if (before?.label !== label) {
      give(number, { label });
    } else if (!sheet.isWhole(sheet.questions[number], before)) {
      drawAnswers();
      byId("dialogues").querySelector(".pick")?.focus();
    }
  }

  function choosePlace(place) {
    give(active, { label: "Yes", place });
  }

  function skip() {
    const { skipped } = kept.slot(entry());
    kept.change(entry(), { skipped: !skipped });
    showMessage(`${at + 1}: ${skipped ? "not skipped" : "skipped"}`);
    if (skipped) {
      drawAnswers();
    } else {
      goOn();
    }
  }

  function clear() {
    if (kept.stateOf(entry()) !== "open") {
      kept.change(entry(), { answers: {}, skipped: false });
      showMessage(`${at + 1}: answers deleted`);
      draw();
    }
  }

  function undo() {
    const undone = kept.undo();
    if (undone) {
      go(kept.list().findIndex(({ unit, round }) => unit === undone.unit && round === undone.round));
      showMessage(`${at + 1}: undone`);
    }
  }

  function comment() {
    byId("remark").hidden = false;
    byId("comment").focus();
  }

  byId("comment").addEventListener("input", () => {
    kept.change(entry(), { comment: byId("comment").value.trim() }, { undoable: false });
    drawState();
  });
  byId("comment").addEventListener("blur", drawState);

  // ---- The overview ----

  const MARKS = { done: ["✓", "labelled"], skipped: ["–", "skipped"], part: ["◐", "partly labelled"], open: ["", "open"] };

  function overview() {
    const items = kept.list().map((one, place) => {
      const [mark, words] = MARKS[kept.stateOf(one)];
      const remarked = kept.slot(one).comment ? "✎" : "";
      const made = button(`${place + 1}${one.round ? "″" : ""} ${mark}${remarked}`, "", () => {
        byId("overview").close();
        go(place);
      });
      made.setAttribute("aria-label", `${place + 1}, ${words}${remarked ? ", with a comment" : ""}`);
      made.className = kept.stateOf(one);
      if (place === at) {
        made.setAttribute("aria-current", "true");
      }
      const item = element("li");
      item.append(made);
      return item;
    });
    byId("places").replaceChildren(...items);
    byId("again").hidden = kept.get("again") > 0 || sheet.units.some((unit) => kept.stateOf({ unit, round: 0 }) === "open");
    byId("label-again").textContent = `Label the first ${kept.howManyAgain()} a second time`;
    byId("overview").showModal();
    byId("places").querySelector("[aria-current]").focus();
  }

  byId("label-again").addEventListener("click", () => {
    kept.set("again", kept.howManyAgain());
    byId("overview").close();
    go(sheet.units.length);
  });

  /** Redraws everything after another tab or a file changed the labels. */
  function refresh() {
    at = Math.min(at, kept.list().length - 1);
    draw();
  }

  return {
    go, answer, skip, clear, undo, comment, overview, refresh, drawState, attend,
    step: (by) => go(at + by),
    at: () => at,
    active: () => active,
  };
};
