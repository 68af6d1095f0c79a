/* Buttons, warnings and messages. */
"use strict";

function button(text, key, act) {
  const made = element("button", "", text);
  made.type = "button";
  if (key) {
    made.append(" ", element("kbd", "", key));
  }
  made.addEventListener("click", act);
  return made;
}

function warn(text) {
  byId("warning").textContent = text;
  byId("warning").hidden = !text;
}

const showMessage = (text) => {
  byId("message").textContent = text;
};
