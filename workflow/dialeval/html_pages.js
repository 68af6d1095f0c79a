/* Making elements, and finding them. */
"use strict";

const byId = (id) => document.getElementById(id);
const counted = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

function element(tag, className = "", text = "") {
  const made = document.createElement(tag);
  if (className) {
    made.className = className;
  }
  if (text) {
    made.textContent = text;
  }
  return made;
}

/** Returns an element with text that others wrote, whose writing direction is its own. */
function prose(tag, className, text, language = "") {
  const made = element(tag, className, text);
  made.dir = "auto";
  if (language) {
    made.lang = language;
  }
  return made;
}
