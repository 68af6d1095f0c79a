/* The colours: those of the system, light, or dark. The reader's choice stays in the browser.
 * The height of the bar at the top, which has two lines in a narrow window, so that it covers nothing that is gone to. */
(() => {
  "use strict";

  const KEY = "dialeval-theme";
  const MEDIA = { "": "screen and (prefers-color-scheme: dark)", light: "not all", dark: "screen" };

  function read() {
    try {
      return localStorage.getItem(KEY) ?? "";
    } catch {
      return ""; // a browser may keep nothing
    }
  }

  function apply(theme) {
    for (const { cssRules } of document.styleSheets) {
      const rules = [...cssRules].filter((rule) => rule.media?.mediaText.includes("color-scheme") || rule.isTheme);
      for (const rule of rules) {
        rule.isTheme = true; // its condition names no colours any more once it was changed
        rule.media.mediaText = MEDIA[theme] ?? MEDIA[""];
      }
    }
    document.documentElement.style.colorScheme = theme || "light dark";
  }

  const menu = byId("theme");
  menu.value = read();
  apply(menu.value);
  menu.addEventListener("change", () => {
    apply(menu.value);
    try {
      localStorage.setItem(KEY, menu.value);
    } catch {
      // the choice then holds for this page
    }
  });
  const bar = document.querySelector("header");
  const measure = () => document.documentElement.style.setProperty("--bar", `${bar.offsetHeight}px`);
  new ResizeObserver(measure).observe(bar);
  measure();
})();
