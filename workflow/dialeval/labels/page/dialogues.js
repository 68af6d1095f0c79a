/* The dialogues of a unit: speakers, judged utterances, and buttons to choose the first utterance that shows a criterion. */
const dialoguesOf = (sheet) => {
  "use strict";

  const NAMES = ["Left dialogue", "Right dialogue"];

  function note(turn, place, count, everyJudged) {
    if (sheet.level === "turn" && sheet.form !== "pair") {
      return place === count ? "to be judged" : "";
    }
    return turn.judged && !everyJudged ? "to be judged" : "";
  }

  /** Returns an utterance. All judged utterances have a border; only the first has visible words, for the others screen readers have them. */
  function bubble(turn, place, count, { everyJudged, firstJudged, speakers }) {
    const item = element("li", `bubble ${speakers.indexOf(turn.speaker) === 1 ? "right" : "left"}`);
    const marked = note(turn, place, count, everyJudged);
    item.classList.toggle("is-judged", Boolean(marked));
    item.dataset.place = place;
    const head = element("span", "bubble-head", `${place} · `);
    head.append(prose("bdi", "", turn.speaker));
    if (marked) {
      const isFirst = sheet.level === "turn" || turn === firstJudged;
      const words = element("span", isFirst ? "" : "unseen", " · ");
      words.append(element("strong", "", marked));
      head.append(words);
    }
    item.append(head, prose("p", "", turn.text, sheet.language));
    return item;
  }

  function dialogue(turns) {
    const speakers = [...new Set(turns.map(({ speaker }) => speaker))];
    const everyJudged = turns.every(({ judged }) => judged);
    const firstJudged = turns.find(({ judged }) => judged);
    const about = { everyJudged, firstJudged, speakers };
    const bubbles = element("ol", "bubbles");
    turns.forEach((turn, place) => bubbles.append(bubble(turn, place + 1, turns.length, about)));
    return bubbles;
  }

  /** Shows the dialogues of a unit. */
  function show(unit) {
    const shown = unit.dialogues.map((turns, number) => {
      const one = element("div", "dialogue");
      if (unit.dialogues.length > 1) {
        one.append(element("h3", "", NAMES[number]));
      }
      one.append(dialogue(turns));
      return one;
    });
    byId("dialogues").replaceChildren(...shown);
  }

  /** Adds a button to each judged utterance, to choose the first that shows the criterion; `chosen` is its number. */
  function offerPlaces(unit, chosen, words, choose) {
    for (const item of byId("dialogues").querySelectorAll(".bubble")) {
      const place = Number(item.dataset.place);
      item.querySelector(".pick")?.remove();
      item.classList.toggle("is-chosen", place === chosen);
      if (words && unit.dialogues[0][place - 1].judged) {
        const pick = button(words, "", () => choose(place));
        pick.className = "pick";
        pick.setAttribute("aria-label", `${words}: utterance ${place}`);
        pick.setAttribute("aria-pressed", String(place === chosen));
        item.append(pick);
      }
    }
  }

  return { show, offerPlaces };
};
