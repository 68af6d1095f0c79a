/* Sorting of tables: a click on a heading sorts by it, a second click reverses the order; missing values stay last.
 * The page's address has the order of each sorted table, as `sort=TABLE.COLUMN.down,TABLE.COLUMN.up`. */
(() => {
  "use strict";

  const sorted = new Map();
  const words = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

  /** Compares two sort values; missing values come last in both directions. */
  function compare(left, right, numeric, direction) {
    if (left === null || right === null) {
      return (left === null) - (right === null);
    }
    return direction * (numeric ? Number(left) - Number(right) : words.compare(left, right));
  }

  /** Sorts by a heading; without a direction, the present order is reversed. */
  async function sortBy(table, heading, direction = "") {
    const headings = [...heading.parentElement.children];
    const place = headings.indexOf(heading);
    const numeric = heading.classList.contains("number");
    const now = heading.getAttribute("aria-sort");
    const descending = direction ? direction === "down" : now === "none" ? numeric : now === "ascending";
    for (const other of headings) {
      other.setAttribute("aria-sort", "none");
    }
    heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
    const { name } = table.dataset;
    sorted.set(name, `${name}.${place}.${descending ? "down" : "up"}`);
    const all = await rows.open(name);
    all.sort(place, (left, right) => compare(left, right, numeric, descending ? -1 : 1));
  }

  /** Opens and sorts the tables in the address; scrolls to the first of them if the address has no case. */
  async function followAddress() {
    let first = null;
    for (const wanted of address.fields().get("sort") ?? []) {
      const [, name, place, direction] = /^(.+)\.(\d+)\.(up|down)$/.exec(wanted) ?? [];
      const table = name && (await rows.open(name))?.table;
      const heading = table?.tHead.rows[0].cells[place];
      if (heading && sorted.get(name) !== wanted) {
        await sortBy(table, heading, direction);
        first ??= table;
      }
    }
    if (first && !address.cases()) {
      first.scrollIntoView();
    }
  }

  document.addEventListener("click", (event) => {
    const heading = event.target.closest("table.sortable thead button")?.closest("th");
    if (heading) {
      sortBy(heading.closest("table"), heading);
      address.refresh();
    }
  });
  address.keep("sort", () => [...sorted.values()]);
  window.addEventListener("hashchange", followAddress);
  followAddress();
})();
