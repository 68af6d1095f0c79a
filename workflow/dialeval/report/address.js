/* The page's address: it holds the open case, search, filter and sorting, so that it can be shared and Back returns to it.
 * It reads `#name=value,value&name=value`; an address without `=` is the id of an element, as on any page. */
const address = (() => {
  "use strict";

  const NOT_FACETS = new Set(["cases", "of", "from", "case", "q", "models", "version", "sort", "by"]);
  const kept = new Map();
  let shown = "";

  /** Returns the values of every field; damaged fields are skipped. */
  function fields(hash = location.hash) {
    const found = new Map();
    for (const part of hash.slice(1).split("&")) {
      const at = part.indexOf("=");
      if (at > 0 && at < part.length - 1) {
        try {
          found.set(part.slice(0, at), part.slice(at + 1).split(",").map(decodeURIComponent));
        } catch {
          // a damaged field is skipped
        }
      }
    }
    return found;
  }

  /** Returns the cases in the address, else the cases that were open when the reader left it, or null. */
  function cases() {
    const inAddress = fields();
    const found = inAddress.has("cases") ? inAddress : fields(history.state?.left ?? "");
    if (!found.has("cases")) {
      return null;
    }
    const one = (name) => found.get(name)?.[0] ?? "";
    return {
      kind: one("cases"),
      group: one("of"),
      from: one("from"),
      id: found.has("case") ? one("case") : null,
      query: (found.get("q") ?? []).join(","),
      models: found.get("models") ?? [],
      version: one("version"),
      order: one("by"),
      facets: new Map([...found].filter(([name]) => !NOT_FACETS.has(name))),
    };
  }

  function hashOf(content) {
    const all = [...content.filter(([name]) => !kept.has(name)), ...[...kept].map(([name, values]) => [name, values()])];
    const parts = all.filter(([, values]) => values.length).map(([name, values]) => `${name}=${values.map(encodeURIComponent).join(",")}`);
    return `#${parts.join("&")}`;
  }

  /** Records the open case. */
  function note(content) {
    shown = hashOf(content);
  }

  /** Stores the open case with the present address, so that the browser's Back shows it again. */
  const leave = () => history.replaceState({ left: shown }, "");

  /** Whether the browser returned to an earlier address: it then restores the scroll position itself. */
  const isReturn = () => typeof history.state?.left === "string";

  /** Writes fields that are not empty, as a new step of the history or in place of the last one.
   *
   * The first case that is opened is always a step. Otherwise the browser's Back would leave the page.
   */
  function write(content, isStep) {
    const hash = hashOf(content);
    const isFirst = !fields().has("cases") && content.some(([name]) => name === "cases");
    if (hash !== location.hash) {
      try {
        if (isStep || isFirst) {
          leave();
          history.pushState(null, "", hash);
        } else {
          history.replaceState(history.state, "", hash === "#" ? location.pathname + location.search : hash);
        }
      } catch {
        // browsers limit how often an address may change, as while a key is held down; the next change is written again
      }
    }
  }

  /** Writes a field with all others from now on. */
  const keep = (name, values) => kept.set(name, values);

  /** Writes the fields of `keep` again; the others stay. */
  const refresh = () => write([...fields()], false);

  return { fields, cases, write, note, leave, isReturn, keep, refresh };
})();
