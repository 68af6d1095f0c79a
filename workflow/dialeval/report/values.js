/* Values of a figure with their intervals, shown at the pointer and with the arrow keys. Without this script, browsers
 * show the titles of the paths. */
(() => {
  "use strict";

  const texts = new WeakMap();
  const rightToLeft = /[\p{Script=Arabic}\p{Script=Hebrew}]+(?:[\s\d_./-]+[\p{Script=Arabic}\p{Script=Hebrew}]+)*/gu;

  /** Returns a path's title and removes it, since the browser would show it too. Right-to-left names are isolated. */
  function textOf(path) {
    const title = path.querySelector("title");
    if (title) {
      texts.set(path, title.textContent.replace(rightToLeft, "\u2068$&\u2069"));
      title.remove();
    }
    return texts.get(path);
  }

  function hide(plot) {
    plot.querySelector("path.here")?.classList.remove("here");
    plot.querySelector(".plot-value").hidden = true;
  }

  function show(path, { byKey = false } = {}) {
    const plot = path.closest(".plot");
    hide(plot);
    if (byKey) {
      path.scrollIntoView({ block: "nearest", inline: "nearest" });
    }
    path.classList.add("here");
    const box = plot.getBoundingClientRect();
    const place = path.getBoundingClientRect();
    const value = plot.querySelector(".plot-value");
    value.textContent = textOf(path);
    value.hidden = false;
    const left = (place.left + place.right) / 2 - box.left - value.offsetWidth / 2;
    const seen = plot.scrollLeft;
    const above = place.top - box.top - value.offsetHeight - 6;
    value.style.left = `${seen + Math.max(0, Math.min(left, box.width - value.offsetWidth))}px`;
    value.style.top = `${above < 0 ? place.bottom - box.top + 6 : above}px`;
    return value.textContent;
  }

  document.addEventListener("pointerover", ({ target }) => {
    const path = target.closest?.(".values path");
    if (path) {
      show(path);
    }
  });
  document.addEventListener("pointerout", ({ target, relatedTarget }) => {
    const plot = target.closest?.(".plot");
    if (plot?.querySelector(".plot-value") && !relatedTarget?.closest?.(".values path")) {
      hide(plot);
    }
  });
  document.addEventListener("focusout", ({ target }) => {
    if (target.matches?.(".plot")) {
      hide(target);
    }
  });
  document.addEventListener("keydown", (event) => {
    const { key, target } = event;
    if (!target.matches?.(".plot") || event.ctrlKey || event.altKey || event.metaKey) {
      return;
    }
    if (key === "Escape") {
      hide(target);
      return;
    }
    const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
    const all = [...target.querySelectorAll(".values path")];
    if (all.length && (key in steps || key === "Home" || key === "End")) {
      event.preventDefault();
      const here = all.findIndex((path) => path.matches(".here"));
      const next = here < 0 ? (steps[key] < 0 ? -1 : 0) : here + steps[key];
      const place = { Home: 0, End: -1 }[key] ?? next;
      byId("announcement").textContent = show(all.at(place < all.length ? place : 0), { byKey: true });
    }
  });
})();
