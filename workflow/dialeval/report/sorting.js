/* Sorting of tables: a click on a heading sorts by it, a second click turns the order; missing values stay last.
 * How tables are sorted stands in the page's address: `sort=TABLE.COLUMN.down`, one after the other. */
(() => {
  "use strict";

  const sorted = new Map();
  const words = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

  /** Compares two sort values; what has none comes last in either direction. */
  function compare(left, right, numeric, direction) {
    if (left === null || right === null) {
      return (left === null) - (right === null);
    }
    return direction * (numeric ? Number(left) - Number(right) : words.compare(left, right));
  }

  /** Sorts by a heading, the other way round than now unless a direction is given. */
  function sortBy(table, heading, direction = "") {
    const headings = [...heading.parentElement.children];
    const place = headings.indexOf(heading);
    const numeric = heading.classList.contains("number");
    const now = heading.getAttribute("aria-sort");
    const descending = direction ? direction === "down" : now === "none" ? numeric : now === "ascending";
    for (const other of headings) {
      other.setAttribute("aria-sort", "none");
    }
    heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
    rows.draw(table);
    const body = table.tBodies[0];
    const keyed = [...body.rows].map((row) => ({ row, key: row.cells[place].getAttribute("data-sort") }));
    keyed.sort((left, right) => compare(left.key, right.key, numeric, descending ? -1 : 1));
    body.append(...keyed.map(({ row }) => row));
    sorted.set(table.id, `${table.id}.${place}.${descending ? "down" : "up"}`);
  }

  /** Sorts the tables as the address says, opened, and shows the first of them where the address asks for nothing else. */
  function followAddress() {
    let first = null;
    for (const wanted of address.fields().get("sort") ?? []) {
      const [, id, place, direction] = /^(.+)\.(\d+)\.(up|down)$/.exec(wanted) ?? [];
      const table = id && byId(id);
      const heading = table?.classList.contains("sortable") && table.tHead.rows[0].cells[place];
      if (heading && sorted.get(id) !== wanted) {
        sortBy(table, heading, direction);
        first ??= table;
        table.closest("details")?.setAttribute("open", "");
      }
    }
    if (first && !address.cases()) {
      first.scrollIntoView();
    }
  }

  for (const table of document.querySelectorAll("table.sortable")) {
    table.tHead.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (button) {
        sortBy(table, button.closest("th"));
        address.refresh();
      }
    });
  }
  address.keep("sort", () => [...sorted.values()]);
  window.addEventListener("hashchange", followAddress);
  followAddress();
})();
