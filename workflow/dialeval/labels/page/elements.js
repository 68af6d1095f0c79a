/* Making elements, and finding them. */
"use strict";

const byId = (id) => document.getElementById(id);

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

function button(text, key, act) {
  const made = element("button", "", text);
  made.type = "button";
  if (key) {
    made.append(" ", element("kbd", "", key));
  }
  made.addEventListener("click", act);
  return made;
}

const counted = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

function warn(text) {
  byId("warning").textContent = text;
  byId("warning").hidden = !text;
}

const said = (text) => {
  byId("said").textContent = text;
};
