/* Differences between two texts, word by word. */
const differences = (() => {
  "use strict";

  const WORD = /[\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff]|[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu; // as word_difference in Python
  const MOST_CELLS = 4_000_000; // of the table of common words; longer texts are shown as replaced

  /** Returns pieces of text in order, each with "=" for kept, "-" for removed or "+" for new. */
  function between(before, after) {
    const old = before.match(WORD) ?? [];
    const now = after.match(WORD) ?? [];
    const pieces = [];
    const add = (mark, words) => {
      const last = pieces.at(-1);
      if (last?.[0] === mark) {
        last[1] += words;
      } else if (words) {
        pieces.push([mark, words]);
      }
    };
    if (old.length * now.length > MOST_CELLS) {
      add("-", before);
      add("+", after);
      return pieces;
    }
    const common = Array.from({ length: old.length + 1 }, () => new Uint16Array(now.length + 1)); // from each place to the end
    for (let i = old.length - 1; i >= 0; i -= 1) {
      for (let k = now.length - 1; k >= 0; k -= 1) {
        common[i][k] = old[i] === now[k] ? common[i + 1][k + 1] + 1 : Math.max(common[i + 1][k], common[i][k + 1]);
      }
    }
    let [i, k] = [0, 0];
    while (i < old.length || k < now.length) {
      if (i < old.length && k < now.length && old[i] === now[k]) {
        add("=", old[i]);
        i += 1;
        k += 1;
      } else if (k >= now.length || (i < old.length && common[i + 1][k] >= common[i][k + 1])) {
        add("-", old[i]);
        i += 1;
      } else {
        add("+", now[k]);
        k += 1;
      }
    }
    return pieces;
  }

  /** Puts a difference into an element: removed text is struck out, new text is underlined. */
  function fill(made, pieces, query) {
    for (const [change, part] of pieces) {
      const place = change === "=" ? made : element(change === "-" ? "del" : "ins");
      marking.fill(place, part, query);
      if (place !== made) {
        made.append(place);
      }
    }
    return made;
  }

  return { between, fill };
})();
