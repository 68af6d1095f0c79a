/* The colours: the system's, light, or dark. The browser stores the reader's choice.
 * Also measures the bar at the top, so that it covers nothing that a link leads to; in a narrow window it has two lines. */
(() => {
  "use strict";

  const KEY = "dialeval-theme";
  const MEDIA = { "": "screen and (prefers-color-scheme: dark)", light: "not all", dark: "screen" };

  function read() {
    try {
      return localStorage.getItem(KEY) ?? "";
    } catch {
      return ""; // this browser stores nothing
    }
  }

  function apply(theme) {
    for (const { cssRules } of document.styleSheets) {
      const rules = [...cssRules].filter((rule) => rule.media?.mediaText.includes("color-scheme") || rule.isTheme);
      for (const rule of rules) {
        rule.isTheme = true; // a changed condition no longer names the colour scheme
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
      // the choice holds until the page is closed
    }
  });
  const bar = document.querySelector("header");
  const measure = () => document.documentElement.style.setProperty("--bar", `${bar.offsetHeight}px`);
  new ResizeObserver(measure).observe(bar);
  measure();
})();
