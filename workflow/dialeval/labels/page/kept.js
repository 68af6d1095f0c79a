/* The labels so far, stored in the browser: a slot for each unit in each round. */
const keepLabels = (sheet) => {
  "use strict";

  const AGAIN_SHARE = 0.2;
  const AGAIN_LEAST = 5;
  const name = ["dialeval-labels", sheet.protocol, sheet.annotator, sheet.draw].join("/");
  const fresh = () => ({ slots: {}, unsaved: [], again: 0, at: 0, singleKeys: true, goOn: true });
  const undone = [];
  let state = fresh();

  const slotName = (key, round) => `${round}:${key}`;

  /** Returns the units to label, then the units to label a second time. */
  function list() {
    const once = sheet.units.map((unit) => ({ unit, round: 0 }));
    return [...once, ...once.slice(0, state.again).map(({ unit }) => ({ unit, round: 1 }))];
  }

  const slot = ({ unit, round }) =>
    state.slots[slotName(unit.key, round)] ?? { answers: {}, skipped: false, comment: "" };

  /** Returns the state of a unit: open, part, done or skipped. */
  function stateOf(entry) {
    const { answers, skipped } = slot(entry);
    const whole = sheet.questions.filter((question) => sheet.isWhole(question, answers[question.criterion])).length;
    if (whole === sheet.questions.length) {
      return "done";
    }
    if (skipped) {
      return "skipped";
    }
    return Object.keys(answers).length ? "part" : "open";
  }

  function read() {
    let text = null;
    try {
      text = localStorage.getItem(name);
    } catch {
      return; // write() warns
    }
    try {
      state = { ...fresh(), ...JSON.parse(text ?? "{}") };
      const changed = (before, now) => Object.keys(before ?? {}).filter((one) => one in now && before[one] !== now[one]);
      const aside = (words, mark) => {
        localStorage.setItem(`${name}/${mark}`, text);
        state = fresh();
        warn(`The labels stored in this browser were given ${words}. This page does not use them. The browser keeps them under “${name}/${mark}”.`);
      };
      const [scale] = changed(state.scales, sheet.scales);
      const [question] = changed(state.wording, sheet.wording);
      if (scale !== undefined) {
        aside(`on another scale of ${scale}`, state.scales[scale]);
      } else if (question !== undefined) {
        aside("under a question with another wording", state.wording[question]);
      }
      state.scales = sheet.scales;
      state.wording = sheet.wording;
    } catch {
      localStorage.setItem(`${name}/unreadable`, text);
      warn(`The labels stored in this browser cannot be read. The browser keeps them under “${name}/unreadable”. Open the last file that you saved (Help, Files).`);
    }
  }

  const preventClosing = (event) => event.preventDefault();

  /** Makes the browser ask before it closes the page while labels are not in a file. */
  function guard() {
    removeEventListener("beforeunload", preventClosing);
    if (state.unsaved.length) {
      addEventListener("beforeunload", preventClosing);
    }
  }

  function write() {
    guard();
    try {
      localStorage.setItem(name, JSON.stringify(state));
    } catch {
      warn("This browser cannot keep your answers after a reload (a private window, or no space left). Save the file before you close the page, and open it to continue.");
    }
  }

  /** Changes a slot; the change can be undone. */
  function change(entry, changed, { undoable = true } = {}) {
    const key = slotName(entry.unit.key, entry.round);
    const before = slot(entry);
    if (undoable) {
      undone.push({ entry, before });
    }
    state.slots[key] = { ...before, ...changed };
    mark(key);
  }

  function mark(key) {
    state.unsaved = [...new Set([...state.unsaved, key])];
    write();
  }

  /** Undoes the last change and returns its unit and round. */
  function undo() {
    const last = undone.pop();
    if (!last) {
      return null;
    }
    const { answers, skipped } = last.before;
    change(last.entry, { answers, skipped }, { undoable: false }); // a comment may be newer, and stays
    return last.entry;
  }

  const set = (field, value) => {
    state[field] = value;
    write();
  };

  const howManyAgain = () => Math.min(sheet.units.length, Math.max(AGAIN_LEAST, Math.round(sheet.units.length * AGAIN_SHARE)));

  read();
  guard();
  return {
    name, list, slot, stateOf, change, undo, set, howManyAgain, read, write,
    get: (field) => state[field],
    canUndo: () => undone.length > 0,
    saved: () => set("unsaved", []),
    unsaved: () => state.unsaved.length,
  };
};
