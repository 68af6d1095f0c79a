/* The keyboard, the buttons, and the start of the page. */
(async () => {
  "use strict";

  if (typeof DecompressionStream === "undefined") {
    warn("This browser is too old to show the dialogues. Open the page in a current Firefox, Chrome, Edge or Safari, or fill in the CSV file in the same folder.");
    return;
  }
  const sheet = await readSheet();
  if (!sheet.units.length) {
    warn("This annotator has no items to label.");
    return;
  }
  showGuidelines(sheet.guidelines);
  const kept = keepLabels(sheet);
  const shown = showSheet(sheet, kept);
  const files = filesOf(sheet, kept, shown);
  const help = () => byId("help").showModal();

  const ACTS = {
    ArrowLeft: () => shown.step(-1),
    ArrowRight: () => shown.step(1),
    s: shown.skip,
    c: shown.comment,
    u: shown.undo,
    x: shown.clear,
    o: shown.overview,
    e: files.save,
    "?": help,
  };

  /** Moves between the utterances to choose from, or between questions; returns whether there are any. */
  function move(by) {
    const picks = [...document.querySelectorAll(".pick")];
    if (picks.length) {
      const from = picks.indexOf(document.activeElement);
      picks[Math.min(Math.max(from + by, 0), picks.length - 1)].focus();
      return true;
    }
    if (sheet.questions.length > 1) {
      shown.attend(Math.min(Math.max(shown.active() + by, 0), sheet.questions.length - 1));
      return true;
    }
    return false;
  }

  function act(key) {
    if (key === "ArrowUp" || key === "ArrowDown") {
      return move(key === "ArrowUp" ? -1 : 1);
    }
    const field = document.querySelector(".question.is-active input");
    if (field && /^[\d.-]$/.test(key)) {
      field.focus();
      field.select();
      return false; // the browser writes the key into the field
    }
    const option = sheet.questions[shown.active()].options.find((one) => one.key === key);
    if (option) {
      shown.answer(shown.active(), option.label);
      return true;
    }
    ACTS[key]?.();
    return key in ACTS;
  }

  /** Returns the key of a Latin keyboard: on others, digits may need Shift and letters differ. */
  function keyOf({ key, code, shiftKey }) {
    const [, digit, letter] = /^(?:(?:Digit|Numpad)(\d)|Key([A-Z]))$/.exec(code) ?? [];
    if (digit && !shiftKey) {
      return digit;
    }
    const named = letter && key.length === 1 && key > "\u007f" ? letter : key;
    return named.length === 1 ? named.toLowerCase() : named;
  }

  document.addEventListener("keydown", (event) => {
    const isTyping = event.target.matches("textarea, input:not([type=checkbox], [type=file])");
    if (event.key === "Escape" && isTyping) {
      event.target.blur();
      byId("unit-title").focus({ preventScroll: true });
      return;
    }
    const isOurs = !event.ctrlKey && !event.metaKey && !event.altKey && !event.isComposing && !isTyping;
    if (!isOurs || document.querySelector("dialog[open]") || !kept.get("singleKeys")) {
      return;
    }
    const mayRepeat = event.key.startsWith("Arrow");
    if ((!event.repeat || mayRepeat) && act(keyOf(event))) {
      event.preventDefault();
    }
  });

  const CLICKS = {
    previous: () => shown.step(-1),
    next: () => shown.step(1),
    skip: shown.skip,
    undo: shown.undo,
    "open-comment": shown.comment,
    "open-overview": shown.overview,
    "open-help": help,
    save: files.save,
    "save-all": () => {
      files.save();
      byId("finished").close();
    },
    "save-csv": files.saveTable,
  };
  for (const [id, click] of Object.entries(CLICKS)) {
    byId(id).addEventListener("click", click);
  }
  for (const close of document.querySelectorAll("dialog .close")) {
    close.addEventListener("click", () => close.closest("dialog").close());
  }
  for (const [id, field] of [["single-keys", "singleKeys"], ["go-on", "goOn"]]) {
    byId(id).checked = kept.get(field);
    byId(id).addEventListener("change", () => kept.set(field, byId(id).checked));
  }

  addEventListener("storage", (event) => {
    if (event.key === kept.name) {
      kept.read(); // the page is open twice: show the labels of the other
      shown.refresh();
    }
  });

  byId("work").hidden = false;
  kept.write(); // warns at once if the browser stores nothing
  shown.go(kept.get("at"));
})().catch((error) => warn(`The page cannot be shown: ${error.message}`));
