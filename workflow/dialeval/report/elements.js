/* What the parts of the dialogue viewer share: making elements, and naming things. */
"use strict";

const HUMAN = 0; // the place of the human dialogues among the models
const protocolTitles = Object.create(null); // filled from the index

const byId = (id) => document.getElementById(id);
const protocolName = (protocol) => protocolTitles[protocol] ?? protocol;
const atLength = (n) => ` at N\u00a0=\u00a0${n}`;
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

/** Returns an element with text whose writing direction is its own. */
function prose(tag, className, text) {
  const made = element(tag, className, text);
  made.dir = "auto";
  return made;
}
