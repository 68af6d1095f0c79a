/* Rows of tables, which are drawn where they are seen: what is far from the window is blank, as high as its rows are, so that
 * a page with many long tables stays light to show, to search and to read aloud. A table that is closed when the page opens
 * lies packed with all that surrounds it, and so do the rows of leaderboards for which the document has no room. */
const rows = (() => {
  "use strict";

  const CELLS = 160; // that are drawn together
  const MARGIN = "300px 0px"; // around what is seen
  const USUAL_HEIGHT = 32; // of a row that was never drawn, in pixels
  const tables = new Map(); // promises of their rows, by name
  const drawn = new Set();

  /** Returns rows that are written as text as elements that are in no document. */
  function parsed(texts) {
    const template = document.createElement("template");
    template.innerHTML = texts.join("");
    return [...template.content.children];
  }

  /** Returns a row that nobody sees, of the longest cell of each column: columns keep their widths while rows come and go. */
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

    /** Draws the rows anew: the first few, and what else is near the window when the browser reports it. */
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

    /** Takes rows away, unless the reader is in them. */
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

    /** Puts the rows into another order; `compare` is given what two rows hold to sort a column by. */
    sort(column, compare) {
      const keys = parsed(this.texts).map((row) => row.cells[column].getAttribute("data-sort"));
      this.all.sort((left, right) => compare(keys[left], keys[right]));
      this.redraw();
    }

    /** Shows only the rows whose text fits, and returns how many these are, and of how many. */
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

    /** Draws all rows, for paper. */
    fillAll() {
      this.seen.disconnect();
      [...this.table.tBodies].filter((body) => body.dataset.start).forEach((body) => this.fill(body));
    }

    /** Goes on drawing what is seen. */
    watch() {
      [...this.table.tBodies].filter((body) => this.isLong && body.dataset.start).forEach((body) => this.seen.observe(body));
    }
  }

  /** Returns what lies packed of a table, or null where all of it is in the document. */
  async function packedOf(name) {
    const block = byId(`${name}-packed`);
    return block && archive.unpack(block.textContent);
  }

  /** Puts a closed table into the document, unless that is a copy which a browser saved with the table in it. */
  async function fillDetails(details) {
    const { frame, rows: texts } = await packedOf(details.id);
    if (!details.querySelector("table.sortable")) {
      const template = document.createElement("template");
      template.innerHTML = frame;
      details.append(template.content);
    }
    return new TableRows(details.querySelector("table.sortable"), texts);
  }

  /** Takes over a leaderboard; one whose rows lie nowhere else keeps all of them in the document. */
  async function fillBoard(table) {
    const packed = await packedOf(table.id);
    if (packed) {
      return new TableRows(table, packed.rows);
    }
    return new TableRows(table, [...table.tBodies[0].rows].map((row) => row.outerHTML), Infinity);
  }

  /** Returns the rows of a table by its name, and opens it where it is closed; null where the page has none of that name. */
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

  /** Opens a table; what goes wrong stands where its rows would be. */
  async function show(name) {
    try {
      await open(name);
    } catch (error) {
      tables.delete(name); // it is tried again when it is opened again
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
