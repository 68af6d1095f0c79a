/* Packed data of the page, unpacked piece by piece when a piece is needed. */
const archive = (() => {
  "use strict";

  async function unpack(packed) {
    const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
    const { readable, writable } = new DecompressionStream("deflate"); // a Blob's stream takes eight times as long
    const writer = writable.getWriter();
    const written = Promise.all([writer.write(bytes), writer.close()]);
    const [content] = await Promise.all([new Response(readable).json(), written]);
    return content;
  }

  function linesOf(id) {
    const packed = byId(id)?.textContent; // the element stays, so that a saved copy of the page has it too
    return packed ? packed.split("\n") : [];
  }

  /** The lines of a packed block. The line that was read last is kept unpacked. */
  class Lines {
    constructor(id) {
      this.id = id;
      this.lines = null;
      this.last = [-1, null];
    }

    /** Returns the content of a line; null if it was left out for lack of room. */
    read(place) {
      this.lines ??= linesOf(this.id);
      if (!this.lines[place]) {
        return Promise.resolve(null);
      }
      if (this.last[0] !== place) {
        this.last = [place, unpack(this.lines[place])];
      }
      return this.last[1];
    }
  }

  return { unpack, Lines };
})();
