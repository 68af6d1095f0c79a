/* Flags and notes on cases. The browser stores them by run (the window's title); they can be exported as JSON. */
const notes = (() => {
  "use strict";

  const KEY = `dialeval-notes/${document.title}`;
  let all = {};

  const name = (shelf, place) => [shelf.kind, shelf.groups[shelf.groupOf(place)].name, shelf.id(place)].join("/");

  function read() {
    try {
      all = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    } catch {
      all = {}; // this browser stores nothing
    }
  }

  const of = (shelf, place) => all[name(shelf, place)] ?? { flag: false, note: "" };
  const has = (shelf, place) => name(shelf, place) in all;
  const size = () => Object.keys(all).length;

  /** Changes the flag or the note of a case; returns false if the browser cannot store it. */
  function change(shelf, place, changed) {
    const now = { ...of(shelf, place), ...changed };
    if (now.flag || now.note) {
      all[name(shelf, place)] = { kind: shelf.kind, group: shelf.groups[shelf.groupOf(place)].name, case: shelf.id(place), ...now };
    } else {
      delete all[name(shelf, place)];
    }
    try {
      localStorage.setItem(KEY, JSON.stringify(all));
      return true;
    } catch {
      return false;
    }
  }

  function save() {
    const content = { format: "dialeval-notes", version: 1, run: document.title, notes: Object.values(all) };
    tools.save("notes.json", `${JSON.stringify(content, null, 1)}\n`, "application/json");
  }

  read();
  window.addEventListener("storage", ({ key }) => key === KEY && read()); // from the same page in another window
  return { KEY, of, has, size, change, save };
})();
