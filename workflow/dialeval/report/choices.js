/* The controls of the viewer: cases, filter, order, systems and language. */
const choices = (() => {
  "use strict";

  const option = (value, text) => Object.assign(element("option", "", text), { value });

  function drawShelves(all) {
    const made = all.map((shelf, number) => {
      const group = element("optgroup");
      group.label = shelf.label;
      group.append(...(shelf.groups.length > 1 ? [option(`${number}/-1`, `all: ${shelf.label.toLowerCase()}`)] : []));
      group.append(...shelf.groups.map(({ name, title = name }, one) => option(`${number}/${one}`, title)));
      return group;
    });
    byId("shelf").replaceChildren(...made);
    byId("of-shelf").hidden = all.length < 2 && all[0].groups.length < 2;
  }

  /** Draws the menus of the filter with the chosen values; several values of one facet are one entry. */
  function drawFilter({ shelf, filter, typed }) {
    const labels = shelf.facets.map(({ name, label, any, values, titles = values }) => {
      const made = element("label", "", `${label} `);
      made.hidden = values.length < 2 && !filter.has(name);
      const menu = element("select");
      menu.id = `filter-${name}`;
      menu.dataset.facet = name;
      menu.append(option("", any), ...values.map((value, place) => option(JSON.stringify([value]), titles[place])));
      const now = filter.get(name) ?? [];
      if (now.length > 1) {
        menu.append(option(JSON.stringify(now), now.map((value) => titles[values.indexOf(value)]).join(" or ")));
      }
      menu.value = now.length ? JSON.stringify(now) : "";
      made.append(menu);
      return made;
    });
    byId("filter").replaceChildren(byId("filter").querySelector("legend"), ...labels);
    byId("filter").hidden = labels.every(({ hidden }) => hidden);
    byId("search").value = typed;
  }

  /** Draws the menu of orders of the open shelf. */
  function drawOrders({ shelf, order }) {
    const orders = shelf.index.orders ?? [];
    const menu = byId("order");
    const both = ([label]) => [option(`${label}.down`, `${label}, highest first`), option(`${label}.up`, `${label}, lowest first`)];
    menu.replaceChildren(option("", "order in the run"), ...orders.flatMap(both));
    menu.value = order;
    byId("of-order").hidden = !orders.length;
  }

  function drawModels({ shelf, group }) {
    const systems = shelf.systemsOf?.(group) ?? [];
    const boxes = systems.map((model) => {
      const label = element("label", "choice");
      const box = element("input");
      box.type = "checkbox";
      box.value = model;
      const hits = element("span", "hits muted");
      hits.dataset.model = model;
      label.append(box, prose("span", "", shelf.index.models[model]), hits);
      return label;
    });
    byId("models").replaceChildren(byId("models").querySelector("legend"), ...boxes);
  }

  function markModels(shown, hits) {
    for (const box of byId("models").querySelectorAll("input")) {
      box.checked = shown.includes(Number(box.value));
    }
    for (const mark of byId("models").querySelectorAll(".hits")) {
      const count = hits.get(Number(mark.dataset.model)) ?? 0;
      mark.textContent = count ? counted(count, "hit") : "";
    }
  }

  function drawVersions({ versions = [], version = "" }) {
    const buttons = versions.map((name) => {
      const button = element("button", "", name);
      button.type = "button";
      button.dataset.version = name;
      button.setAttribute("aria-pressed", String(name === version));
      return button;
    });
    byId("versions").hidden = versions.length < 2;
    byId("versions").replaceChildren(...(versions.length > 1 ? buttons : []));
  }

  return { drawShelves, drawFilter, drawOrders, drawModels, markModels, drawVersions };
})();
