/* Rows of tables, drawn only near the window: rows outside it are replaced by blank space of the same height, which keeps
 * pages with many long tables fast. Closed tables are packed with their surroundings, and so are the rows of leaderboards
 * for which the document has no room. */
const rows = (() => {
  "use strict";

  const CELLS = 160; // drawn together
  const MARGIN = "300px 0px"; // around the window
  const USUAL_HEIGHT = 32; // pixels, for a row that was never drawn
  const tables = new Map(); // promises of their rows, by name
  const drawn = new Set();

  /** Returns rows of HTML text as elements outside the document. */
  function parsed(texts) {
    const template = document.createElement("template");
    template.innerHTML = texts.join("");
    return [...template.content.children];
  }

  /** Returns an invisible row of the longest cell of each column: it keeps the widths of columns while rows come and go. */
  function longest(all) {
    const length = (cell) => Math.max(0, ...[...cell.children].map(({ textContent }) => textContent.length));
    const row = all[0].cloneNode(false);
    row.append(...[...all[0].cells].map((_, place) => {
      const cells = all.map(({ cells }) => cells[place]);
      const lengths = cells.map(length);
      return cells[lengths.indexOf(lengths.reduce((most, one) => Math.max(most, one), 0))].cloneNode(true);
    }));
    return row;
  }

  class TableRows {
    constructor(table, texts, atOnce) {
      this.table = table;
      this.texts = texts;
      this.all = texts.map((_, place) => place); // in the order of sorting
      this.order = this.all;
      this.columns = table.tHead.rows[0].cells.length;
      this.atOnce = atOnce ?? Math.max(1, Math.floor(CELLS / this.columns));
      const turn = ({ target, isIntersecting }) => (isIntersecting ? this.fill(target) : this.blank(target));
      const around = { rootMargin: MARGIN, scrollMargin: MARGIN }; // of the window, and of a table that scrolls by itself
      this.seen = new IntersectionObserver((entries) => entries.forEach(turn), around);
      this.draw();
      drawn.add(this);
    }

    get isLong() {
      return this.order.length > this.atOnce;
    }

    /** Draws the first rows, and others when the browser reports that they are near the window. */
    draw() {
      this.seen.disconnect();
      [...this.table.tBodies].forEach((body) => body.remove());
      const bodies = [];
      for (let start = 0; start < this.order.length; start += this.atOnce) {
        const body = element("tbody");
        body.dataset.start = start;
        bodies.push(body);
      }
      this.table.append(...bodies);
      if (bodies.length) {
        this.fill(bodies[0]);
      }
      if (this.isLong) {
        const unseen = element("tbody", "unseen-row");
        unseen.setAttribute("aria-hidden", "true");
        unseen.append(longest(parsed(this.texts)));
        this.table.append(unseen);
        this.rowHeight = bodies[0].getBoundingClientRect().height / this.atOnce || USUAL_HEIGHT;
        bodies.slice(1).forEach((body) => this.blank(body));
        bodies.forEach((body) => this.seen.observe(body));
      }
    }

    placesOf(body) {
      const start = Number(body.dataset.start);
      return this.order.slice(start, start + this.atOnce);
    }

    fill(body) {
      if (!body.rows.length || body.dataset.blank) {
        delete body.dataset.blank;
        body.replaceChildren(...parsed(this.placesOf(body).map((place) => this.texts[place])));
        [...body.rows].forEach((row, at) => row.setAttribute("aria-rowindex", Number(body.dataset.start) + at + 2)); // the heading is 1
      }
    }

    /** Replaces rows by blank space, unless they have the focus. */
    blank(body) {
      if (body.dataset.blank || body.contains(document.activeElement)) {
        return;
      }
      const height = body.getBoundingClientRect().height || this.rowHeight * this.placesOf(body).length;
      const cell = element("td");
      cell.colSpan = this.columns;
      cell.style.height = `${height}px`;
      const row = element("tr", "blank");
      row.setAttribute("aria-hidden", "true");
      row.append(cell);
      body.dataset.blank = "yes";
      body.replaceChildren(row);
    }

    /** Sorts the rows by a column; `compare` gets the sort values of two rows. */
    sort(column, compare) {
      const keys = parsed(this.texts).map((row) => row.cells[column].getAttribute("data-sort"));
      this.all.sort((left, right) => compare(keys[left], keys[right]));
      this.redraw();
    }

    /** Shows only the rows whose text matches, and returns their number and the number of all rows. */
    filter(fits) {
      this.plain ??= parsed(this.texts).map((row) => [...row.cells].map(({ textContent }) => textContent).join(" "));
      this.fits = fits;
      this.redraw();
      return [this.order.length, this.all.length];
    }

    redraw() {
      this.order = this.fits ? this.all.filter((place) => this.fits(this.plain[place])) : this.all;
      this.table.closest(".scroll").scrollTop = 0;
      this.draw();
    }

    /** Draws all rows, for printing. */
    fillAll() {
      this.seen.disconnect();
      [...this.table.tBodies].filter((body) => body.dataset.start).forEach((body) => this.fill(body));
    }

    /** Returns to drawing only rows near the window. */
    watch() {
      [...this.table.tBodies].filter((body) => this.isLong && body.dataset.start).forEach((body) => this.seen.observe(body));
    }
  }

  /** Returns the packed part of a table; null if all of it is in the document. */
  async function packedOf(name) {
    const block = byId(`${name}-packed`);
    return block && archive.unpack(block.textContent);
  }

  /** Puts a closed table into the document, unless a saved copy of the page has it there already. */
  async function fillDetails(details) {
    const { frame, rows: texts } = await packedOf(details.id);
    if (!details.querySelector("table.sortable")) {
      const template = document.createElement("template");
      template.innerHTML = frame;
      details.append(template.content);
    }
    return new TableRows(details.querySelector("table.sortable"), texts);
  }

  /** Takes over a leaderboard; if its rows are not packed, all of them stay in the document. */
  async function fillBoard(table) {
    const packed = await packedOf(table.id);
    if (packed) {
      return new TableRows(table, packed.rows);
    }
    return new TableRows(table, [...table.tBodies[0].rows].map((row) => row.outerHTML), Infinity);
  }

  /** Opens a table by its name and returns its rows; null if the page has no such table. */
  async function open(name) {
    const there = byId(name);
    if (!there?.matches("details.table, .board table")) {
      return null;
    }
    there.closest("details")?.setAttribute("open", "");
    if (!tables.has(name)) {
      tables.set(name, there.matches("details") ? fillDetails(there) : fillBoard(there));
    }
    return tables.get(name);
  }

  /** Opens a table; an error is shown in place of its rows. */
  async function show(name) {
    try {
      await open(name);
    } catch (error) {
      tables.delete(name); // reopening it tries again
      const holder = byId(name).closest("details, article");
      holder.querySelector(":scope > .warning")?.remove();
      const message = `The rows cannot be shown: this needs a browser from 2023 or later (${error.message}).`;
      holder.append(element("p", "warning", message));
    }
  }

  /** Opens the closed table that the address names. */
  function followAddress() {
    const place = byId(location.hash.slice(1));
    if (place?.matches("details.table")) {
      show(place.id);
    }
  }

  /** Draws the leaderboards for which the document had no room, one after the other. */
  async function drawBoards() {
    for (const table of document.querySelectorAll(".board table")) {
      if (byId(`${table.id}-packed`)) {
        await show(table.id);
      }
    }
  }

  for (const details of document.querySelectorAll("details.table[id]")) {
    details.addEventListener("toggle", () => details.open && show(details.id));
  }
  window.addEventListener("hashchange", followAddress);
  window.addEventListener("load", () => {
    document.querySelectorAll("details.table[id][open]").forEach(({ id }) => show(id)); // of a saved copy
    followAddress();
    drawBoards();
  });
  window.addEventListener("beforeprint", () => drawn.forEach((one) => one.fillAll()));
  window.addEventListener("afterprint", () => drawn.forEach((one) => one.watch()));
  return { open };
})();
