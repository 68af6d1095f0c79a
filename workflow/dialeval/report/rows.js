/* Rows of closed tables lie ready and are no part of the document before their table is opened: so a page with many long
 * tables stays light to show, to search and to read aloud. */
const rows = (() => {
  "use strict";

  /** Puts the rows of a table, or of all tables in an element, into the document. */
  function draw(element) {
    for (const ready of element.querySelectorAll("template.rows")) {
      ready.replaceWith(ready.content);
    }
  }

  for (const details of document.querySelectorAll("details.table")) {
    details.addEventListener("toggle", () => details.open && draw(details));
  }
  return { draw };
})();
