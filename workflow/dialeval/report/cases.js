/* Single items behind the numbers: their texts as speech bubbles, beside them what everybody gave them.
 * All text goes into the page as text nodes, never as markup. */
(() => {
  "use strict";

  const SVG = "http://www.w3.org/2000/svg";

  class CaseViewer {
    constructor(root) {
      this.root = root;
      this.part = root.dataset.part;
      this.lines = archive.takeLines(`${this.part}-cases`);
      this.opened = new Map();
      this.chosen = { group: -1, item: 0, version: "" };
      this.run = 0;
    }

    find(selector) {
      return this.root.querySelector(selector);
    }

    async start() {
      this.groups = await archive.unpack(archive.takeLines(`${this.part}-cases-index`)[0]);
      if (!this.groups.length) {
        return;
      }
      this.root.hidden = false;
      const option = ({ name, level, ids, total }, place) => {
        const made = element("option", "", `${name} (${level}; ${ids.length} of ${total.toLocaleString("en")})`);
        made.value = place;
        return made;
      };
      this.find(".group").append(...this.groups.map(option));
      this.listen();
      if (!(await this.followAddress())) {
        await this.open(0, 0);
      }
    }

    listen() {
      this.find(".group").addEventListener("change", (event) => this.choose(Number(event.target.value), 0));
      this.find(".case-list").addEventListener("click", (event) => {
        const button = event.target.closest("button");
        if (button) {
          this.choose(this.chosen.group, Number(button.dataset.place));
        }
      });
      this.find(".previous").addEventListener("click", () => this.choose(this.chosen.group, this.chosen.item - 1));
      this.find(".next").addEventListener("click", () => this.choose(this.chosen.group, this.chosen.item + 1));
      this.find(".versions").addEventListener("click", (event) => {
        const button = event.target.closest("button");
        if (button) {
          this.chosen.version = button.dataset.version;
          this.open(this.chosen.group, this.chosen.item);
        }
      });
      window.addEventListener("hashchange", () => this.followAddress());
    }

    /** Shows an item that the reader chose, and puts it into the address. */
    async choose(group, item) {
      await this.open(group, item);
      const { name, ids } = this.groups[group];
      const address = [this.part, name, ids[item]].map(encodeURIComponent).join("/");
      history.replaceState(null, "", `#item=${address}`);
    }

    async followAddress() {
      if (!location.hash.startsWith("#item=")) {
        return false;
      }
      let names;
      try {
        names = location.hash.slice("#item=".length).split("/").map(decodeURIComponent);
      } catch {
        return false; // a damaged address is passed over
      }
      const group = this.groups.findIndex(({ name }) => name === names[1]);
      const item = group < 0 ? -1 : this.groups[group].ids.indexOf(names[2]);
      if (names[0] !== this.part || item < 0) {
        return false;
      }
      await this.open(group, item);
      byId(`${this.part}-items`).scrollIntoView();
      return true;
    }

    async open(group, item) {
      const run = ++this.run;
      if (!this.opened.has(group)) {
        this.opened.set(group, await archive.unpack(this.lines[group]));
      }
      if (run !== this.run) {
        return;
      }
      if (group !== this.chosen.group) {
        this.drawList(group);
      }
      this.chosen = { ...this.chosen, group, item };
      this.draw(this.opened.get(group)[item].versions);
    }

    drawList(group) {
      this.find(".group").value = group;
      const { ids, first } = this.groups[group];
      const items = ids.map((id, place) => {
        const button = element("button", "seed");
        button.type = "button";
        button.dataset.place = place;
        const head = element("span", "seed-head");
        head.append(element("strong", "", id));
        button.append(head, prose("span", "snippet", first[place]));
        const made = element("li");
        made.append(button);
        return made;
      });
      this.find(".case-list").replaceChildren(...items);
    }

    draw(versions) {
      const { group, item } = this.chosen;
      const { ids } = this.groups[group];
      const version = versions.find(({ name }) => name === this.chosen.version) ?? versions[0];
      this.find(".case-title").textContent = ids[item];
      this.find(".previous").disabled = item === 0;
      this.find(".next").disabled = item === ids.length - 1;
      for (const button of this.find(".case-list").querySelectorAll("button")) {
        if (Number(button.dataset.place) === item) {
          button.setAttribute("aria-current", "true");
        } else {
          button.removeAttribute("aria-current");
        }
      }
      const buttons = versions.map(({ name }) => {
        const button = element("button", "", name);
        button.type = "button";
        button.dataset.version = name;
        button.setAttribute("aria-pressed", String(name === version.name));
        return button;
      });
      this.find(".versions").replaceChildren(...(versions.length > 1 ? buttons : []));
      this.find(".case-text").replaceChildren(this.bubbles(version));
      this.find(".case-table").replaceChildren(this.table(version));
    }

    bubbles({ speakers, utterances, marked }) {
      const list = element("ol", "bubbles");
      utterances.forEach((text, place) => {
        const side = speakers[place] === speakers[0] ? "left" : "right";
        const bubble = element("li", `bubble ${side}${place === marked ? " is-marked" : ""}`);
        bubble.append(element("span", "bubble-head", `${place + 1} · ${speakers[place]}`));
        if (place === marked) {
          bubble.firstChild.append(" · ", element("span", "seed-mark", "scored"));
        }
        bubble.append(prose("p", "", text || "(empty)"));
        list.append(bubble);
      });
      return list;
    }

    table({ columns, rows }) {
      const table = element("table");
      const head = element("tr");
      head.append(element("th"), ...columns.map((name) => element("th", "number", name)));
      const body = element("tbody");
      for (const [name, tag, cells] of rows) {
        const row = element("tr");
        const heading = element("th");
        heading.scope = "row";
        heading.append(prose("span", "", name));
        if (tag) {
          heading.append(" ", element("span", "tag", tag));
        }
        row.append(heading, ...cells.map((content) => this.cell(content)));
        body.append(row);
      }
      const top = element("thead");
      top.append(head);
      table.append(top, body);
      const scroll = element("div", "scroll");
      scroll.append(table);
      return scroll;
    }

    cell(content) {
      const made = element("td", "number");
      if (!content) {
        return made;
      }
      const [value, place, scale, words] = content;
      made.append(element("span", "value", value === null ? "–" : String(Number(value.toFixed(2)))));
      if (place >= 0) {
        made.append(strip(place / 10));
        made.append(element("span", "detail", scale));
      }
      if (words) {
        made.append(element("span", "detail", words));
      }
      return made;
    }
  }

  /** Returns a drawing of a place on a scale from 0 to 100. */
  function strip(place) {
    const made = document.createElementNS(SVG, "svg");
    made.setAttribute("class", "strip");
    made.setAttribute("viewBox", "0 0 100 8");
    made.setAttribute("preserveAspectRatio", "none");
    made.setAttribute("aria-hidden", "true");
    const add = (tag, attributes) => {
      const shape = document.createElementNS(SVG, tag);
      Object.entries(attributes).forEach(([name, value]) => shape.setAttribute(name, value));
      made.append(shape);
    };
    add("line", { class: "scale", x1: 0, x2: 100, y1: 4, y2: 4 });
    add("rect", { class: "dot", x: 1 + 0.95 * place, width: 3, y: 0.5, height: 7, rx: 1 });
    return made;
  }

  for (const root of document.querySelectorAll(".cases")) {
    const say = (message) => {
      const place = root.parentElement.querySelector(".message");
      place.textContent = message;
      place.hidden = false;
    };
    if (typeof DecompressionStream === "undefined") {
      say("This browser cannot unpack the items (browsers from 2023 on can).");
    } else {
      new CaseViewer(root).start().catch((error) => say(`The items could not be shown: ${error.message}`));
    }
  }
})();
