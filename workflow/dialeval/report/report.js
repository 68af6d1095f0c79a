/* Sorting of tables: a click on a heading sorts by it, a second click turns the order; missing values stay last. */
(() => {
  "use strict";

  const words = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

  /** Compares two sort values; what has none comes last in either direction. */
  function compare(left, right, numeric, direction) {
    if (left === null || right === null) {
      return (left === null) - (right === null);
    }
    return direction * (numeric ? Number(left) - Number(right) : words.compare(left, right));
  }

  function sortBy(table, heading) {
    const headings = [...heading.parentElement.children];
    const place = headings.indexOf(heading);
    const numeric = heading.classList.contains("number");
    const now = heading.getAttribute("aria-sort");
    const descending = now === "none" ? numeric : now === "ascending";
    for (const other of headings) {
      other.setAttribute("aria-sort", "none");
    }
    heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => ({ row, key: row.cells[place].getAttribute("data-sort") }));
    rows.sort((left, right) => compare(left.key, right.key, numeric, descending ? -1 : 1));
    body.append(...rows.map(({ row }) => row));
  }

  for (const table of document.querySelectorAll("table.sortable")) {
    table.tHead.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (button) {
        sortBy(table, button.closest("th"));
      }
    });
  }
})();
