/* Finds words in texts of any script, ignoring case, and marks them. */
const marking = (() => {
  "use strict";

  const graphemes = typeof Intl.Segmenter === "undefined" ? null : new Intl.Segmenter(undefined, { granularity: "grapheme" });

  /** Returns a text in composed form and lower case, for comparison. */
  const fold = (text) => text.normalize("NFC").toLowerCase();

  /** Returns whether a text contains a query, which is folded already. */
  const has = (text, query) => fold(text).includes(query);

  /** Returns the folded text, and a function from its positions to positions in the text. */
  function folded(text) {
    const whole = fold(text);
    if (whole.length === text.length) {
      return [whole, (at) => at];
    }
    const places = [];
    let made = "";
    let from = 0;
    const letters = graphemes ? [...graphemes.segment(text)].map(({ segment }) => segment) : [...text];
    for (const letter of letters) {
      const plain = fold(letter);
      for (let at = 0; at < plain.length; at += 1) {
        places.push(from);
      }
      made += plain;
      from += letter.length;
    }
    places.push(from);
    return [made, (at) => places[at]];
  }

  /** Puts a text into an element and marks every hit of the query. */
  function fill(made, text, query) {
    if (!query) {
      made.append(text);
      return made;
    }
    const [whole, placeOf] = folded(text);
    let from = 0;
    for (let hit = whole.indexOf(query); hit >= 0; hit = whole.indexOf(query, hit + query.length)) {
      const [start, end] = [placeOf(hit), placeOf(hit + query.length)];
      made.append(text.slice(from, start), element("mark", "", text.slice(start, end)));
      from = end;
    }
    made.append(text.slice(from));
    return made;
  }

  return { fold, has, fill };
})();
