/* Keys of the viewer. They do nothing in text fields and menus, or together with Ctrl, Alt or Meta.
 * The list of keys has a switch for the letters, for readers who dictate. */
const viewerKeys = (() => {
  "use strict";

  const isTyped = (target) => target.closest?.("input:not([type=checkbox]), textarea, select, [contenteditable]");
  const scrollsSideways = (target) => {
    const region = target.closest?.("[role=region]");
    return region && region.scrollWidth > region.clientWidth;
  };

  /** Listens for keys; `step` opens the neighbour of a case, `flag` flags it, `leave` moves from the search to the open case. */
  function listen({ step, flag, leave }) {
    const help = byId("keys");
    byId("open-keys").addEventListener("click", () => help.showModal());
    byId("close-keys").addEventListener("click", () => help.close());
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing || help.open) {
        return;
      }
      const act = isTyped(event.target) ? inField(event) : elsewhere(event);
      if (act) {
        event.preventDefault();
        act();
      }
    });

    function inField({ key, target }) {
      const isSearch = target.id === "search";
      if (isSearch && (key === "Enter" || (key === "Escape" && !target.value))) {
        return leave;
      }
      return null;
    }

    function elsewhere({ key, target }) {
      const isInViewer = byId("viewer").contains(target);
      const arrows = { ArrowLeft: -1, ArrowRight: 1 };
      if (key in arrows) {
        return isInViewer && !scrollsSideways(target) ? () => step(arrows[key]) : null;
      }
      const vertical = { ArrowUp: -1, ArrowDown: 1 };
      if (key in vertical) {
        return byId("case-list").contains(target) ? () => step(vertical[key], true) : null;
      }
      if (!byId("letters").checked) {
        return null;
      }
      const letters = { j: () => step(1), k: () => step(-1), "/": () => byId("search").focus(), f: flag, "?": () => help.showModal() };
      return letters[key] ?? null;
    }
  }

  return { listen };
})();
