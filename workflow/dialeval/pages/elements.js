/* Making elements, and finding them. */
"use strict";

const byId = (id) => document.getElementById(id);
const counted = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

const ORDERING = /[\u202a-\u202e\u2066-\u2069]/g;

/** Returns an element with a text in which characters that would turn the writing direction around are written out. */
function element(tag, className = "", text = "") {
  const made = document.createElement(tag);
  if (className) {
    made.className = className;
  }
  if (text) {
    made.textContent = String(text).replace(ORDERING, (mark) => `\\u${mark.charCodeAt(0).toString(16)}`);
  }
  return made;
}

/** Returns an element with text that others wrote, whose writing direction is its own. */
function prose(tag, className, text, language = "") {
  const made = element(tag, className);
  made.textContent = text;
  made.dir = "auto";
  if (language) {
    made.lang = language;
  }
  return made;
}
