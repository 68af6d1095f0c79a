/* The embedded dialogues and verdicts: unpacked seed by seed, when a seed is needed. */
const archive = (() => {
  "use strict";

  async function unpack(packed) {
    const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
    const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(plain).json();
  }

  function takeLines(id) {
    const block = byId(id);
    if (!block) {
      return [];
    }
    const lines = block.textContent ? block.textContent.split("\n") : [];
    block.remove(); // the lines are kept; the page need not hold them twice
    return lines;
  }

  const dialogueLines = takeLines("archive-dialogues");
  const verdictLines = takeLines("archive-verdicts");
  const searchTexts = new Map();

  const readDialogues = (place) => unpack(dialogueLines[place]);
  const readVerdicts = (place) => unpack(verdictLines[place]);

  async function searchText(place) {
    if (!searchTexts.has(place)) {
      const { strings } = await readDialogues(place);
      searchTexts.set(place, strings.join("\n").toLowerCase());
    }
    return searchTexts.get(place);
  }

  /** Returns what is known of all seeds. */
  const readIndex = () => unpack(takeLines("archive-index")[0]);

  return { unpack, takeLines, readIndex, readDialogues, readVerdicts, searchText };
})();
