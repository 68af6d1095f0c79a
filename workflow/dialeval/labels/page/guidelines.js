/* Guidelines in Markdown, shown beside the questions: headings, lists, paragraphs, bold, italic and code.
 * All text goes into the page as text nodes, never as markup. */
(() => {
  "use strict";

  const INLINE = /\*\*(?<strong>[^*]+)\*\*|__(?<strong2>[^_]+)__|\*(?<em>[^*]+)\*|`(?<code>[^`]+)`/g;

  function inline(made, text) {
    let from = 0;
    for (const found of text.matchAll(INLINE)) {
      const [[name, words]] = Object.entries(found.groups).filter(([, value]) => value !== undefined);
      made.append(text.slice(from, found.index), element(name.replace("2", ""), "", words));
      from = found.index + found[0].length;
    }
    made.append(text.slice(from));
    return made;
  }

  /** Returns the elements of a text: a block for each heading, list and paragraph. */
  function blocks(markdown) {
    const made = [];
    let open = null; // the list or paragraph that the next line may belong to
    for (const line of markdown.split(/\r?\n/)) {
      const [, marks, heading] = /^(#{1,6})\s+(.*?)\s*#*$/.exec(line) ?? [];
      const [, bullet, item] = /^\s*([-*+]|\d+[.)])\s+(.*)$/.exec(line) ?? [];
      const list = bullet && (/\d/.test(bullet) ? "OL" : "UL");
      if (heading !== undefined) {
        made.push(inline(element(`h${Math.min(marks.length + 2, 5)}`), heading));
        open = null;
      } else if (list) {
        if (open?.tagName !== list) {
          open = element(list.toLowerCase());
          made.push(open);
        }
        open.append(inline(element("li"), item));
      } else if (!line.trim()) {
        open = null;
      } else if (open) {
        inline(open.tagName === "P" ? open : open.lastChild, ` ${line.trim()}`);
      } else {
        open = inline(element("p"), line.trim());
        made.push(open);
      }
    }
    return made;
  }

  globalThis.showGuidelines = (markdown) => byId("guidelines-text")?.replaceChildren(...blocks(markdown));
})();
