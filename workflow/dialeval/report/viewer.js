/* The dialogue viewer: finds cases (seeds, or cases of transcripts), keeps what the reader chose, and puts it into the address. */
(() => {
  "use strict";

  const LIST_STEP = 200;
  const SEARCH_STEP = 32;

  let index = null;
  const chosen = { source: 0, seed: -1, models: [], query: "", asides: false };
  const noun = () => index.sources[chosen.source].noun;
  const placesOfSource = () => index.ids.map((_, place) => place).filter((place) => index.source[place] === chosen.source);
  const wantedText = () => chosen.query.trim().toLowerCase();
  let found = [];
  let listed = LIST_STEP;
  let searchRun = 0;
  let showRun = 0;

  function addressFields() {
    const fields = new Map();
    for (const part of location.hash.slice(1).split("&")) {
      const [name, value] = part.split("=");
      if (value) {
        try {
          fields.set(name, value.split(",").map(decodeURIComponent));
        } catch {
          // a damaged address is passed over
        }
      }
    }
    return fields;
  }

  function writeAddress() {
    const models = chosen.models.map((model) => encodeURIComponent(index.models[model])).join(",");
    const source = index.sources.length > 1 ? `&source=${encodeURIComponent(index.sources[chosen.source].name)}` : "";
    history.replaceState(null, "", `#seed=${encodeURIComponent(index.ids[chosen.seed])}${source}&models=${models}`);
  }

  function followAddress() {
    const fields = addressFields();
    if (!fields.has("seed")) {
      return false;
    }
    const [id] = fields.get("seed");
    const source = index.sources.findIndex(({ name }) => name === fields.get("source")?.[0]);
    const place = index.ids.findIndex((one, at) => one === id && (source < 0 || index.source[at] === source));
    if (place < 0) {
      say(`There is no ${noun()} ${id} in this page.`);
      byId("dialogues").scrollIntoView();
      return false;
    }
    if (index.source[place] !== chosen.source) {
      chooseSource(index.source[place]);
      find();
    }
    const models = (fields.get("models") ?? []).map((name) => index.models.indexOf(name)).filter((model) => model >= 0);
    if (models.length) {
      chosen.models = [...new Set(models)];
      markModels();
    }
    say("");
    show(place);
    byId("dialogues").scrollIntoView();
    return true;
  }

  function say(message) {
    const place = byId("viewer-message");
    place.textContent = message;
    place.hidden = !message;
  }

  // ---- Finding seeds ----

  function seedsOfFilter() {
    const outcome = byId("filter-outcome").value;
    if (outcome === "") {
      return placesOfSource();
    }
    const model = byId("filter-model").value;
    const protocol = byId("filter-protocol").value;
    const judge = byId("filter-judge").value;
    const places = new Set();
    index.cases.forEach(([ofJudge, ofProtocol, n, ofModel], number) => {
      const fits =
        (model === "" ? ofModel !== HUMAN : ofModel === Number(model)) &&
        (protocol === "" || protocol === `${ofProtocol}/${n}`) &&
        (judge === "" || ofJudge === Number(judge));
      if (fits) {
        const pairs = index.outcomes[number][Number(outcome)];
        pairs.slice(0, pairs.length / 2).forEach((place) => {
          if (index.source[place] === chosen.source) {
            places.add(place);
          }
        });
      }
    });
    return [...places].sort((left, right) => left - right);
  }

  async function find() {
    const run = ++searchRun;
    const candidates = seedsOfFilter();
    const wanted = wantedText();
    listed = LIST_STEP;
    if (!wanted) {
      found = candidates;
      drawList(`${found.length.toLocaleString("en")} of ${counted(placesOfSource().length, noun())}`);
      return;
    }
    const hits = [];
    for (let start = 0; start < candidates.length; start += SEARCH_STEP) {
      const some = candidates.slice(start, start + SEARCH_STEP);
      const texts = await Promise.all(some.map(archive.searchText));
      if (run !== searchRun) {
        return;
      }
      some.forEach((place, number) => {
        if (index.ids[place].toLowerCase().includes(wanted) || texts[number].includes(wanted)) {
          hits.push(place);
        }
      });
      found = hits;
      const searched = Math.min(start + SEARCH_STEP, candidates.length);
      if (searched < candidates.length) {
        byId("found").textContent = `searched ${searched} of ${candidates.length}: ${hits.length} so far`;
      }
    }
    found = hits;
    drawList(`${found.length.toLocaleString("en")} of ${counted(placesOfSource().length, noun())}`);
  }

  function drawList(message) {
    byId("found").textContent = message;
    const severalLanguages = new Set(index.languages).size > 1;
    const items = found.slice(0, listed).map((place) => {
      const button = element("button", "seed");
      button.type = "button";
      button.dataset.place = place;
      const head = element("span", "seed-head");
      const language = severalLanguages ? ` · ${index.languages[place]}` : "";
      head.append(
        element("strong", "", index.ids[place]),
        element("span", "muted", `${counted(index.n_human[place], "utterance")}${language}`),
      );
      button.append(head, prose("span", "snippet", index.first[place]));
      const item = element("li");
      item.append(button);
      return item;
    });
    byId("seed-list").replaceChildren(...items);
    byId("more").hidden = found.length <= listed;
    markSeed();
  }

  function markSeed() {
    for (const button of byId("seed-list").querySelectorAll("button")) {
      if (Number(button.dataset.place) === chosen.seed) {
        button.setAttribute("aria-current", "true");
        const list = byId("seed-list");
        const top = button.parentElement.offsetTop - list.offsetTop;
        if (top < list.scrollTop || top + button.offsetHeight > list.scrollTop + list.clientHeight) {
          list.scrollTop = top - list.clientHeight / 3;
        }
      } else {
        button.removeAttribute("aria-current");
      }
    }
    const at = found.indexOf(chosen.seed);
    byId("previous").disabled = !found.length || at === 0;
    byId("next").disabled = !found.length || at === found.length - 1;
  }

  function step(by) {
    const at = found.indexOf(chosen.seed);
    const place = found[at < 0 ? 0 : at + by];
    if (place !== undefined) {
      open(place);
    }
  }

  // ---- Showing a seed ----

  /** Shows a seed that the reader chose, and puts it into the address. */
  function open(place) {
    say("");
    show(place);
    writeAddress();
  }

  async function show(place) {
    const run = ++showRun;
    chosen.seed = place;
    markSeed();
    const [dialogues, verdicts] = await Promise.all([archive.readDialogues(place), archive.readVerdicts(place)]);
    if (run !== showRun) {
      return;
    }
    const word = noun();
    byId("seed-title").textContent = `${word[0].toUpperCase()}${word.slice(1)} ${index.ids[place]}`;
    byId("show-asides").hidden = !(dialogues.asides ?? []).length;
    markHits(dialogues);
    const columns = dialogueColumns.draw({
      models: shownOn(dialogues),
      dialogues,
      verdicts,
      names: index,
      wanted: wantedText(),
      noun: word,
      asides: chosen.asides,
      onModel: addModel,
    });
    byId("columns").replaceChildren(...columns);
  }

  /** Returns whose dialogues are shown: the chosen models', or those that there are where none of these is on the case. */
  function shownOn(dialogues) {
    const there = new Set(dialogues.models);
    return chosen.models.some((model) => there.has(model)) ? chosen.models : [...there];
  }

  /** Writes beside every model how many of its utterances on this seed have what was searched for. */
  function markHits(dialogues) {
    const wanted = wantedText();
    for (const mark of byId("models").querySelectorAll(".hits")) {
      const model = Number(mark.dataset.model);
      const has = (string) => dialogues.strings[string].toLowerCase().includes(wanted);
      const said = dialogues.utterances.filter((_, at) => dialogues.models[at] === model).flat();
      const hits = wanted ? said.filter(has).length : 0;
      mark.textContent = hits ? counted(hits, "hit") : "";
    }
  }

  // ---- Choosing whose dialogues, and models ----

  /** Turns to the dialogues of another source: only its cases are listed and only its systems offered. */
  function chooseSource(source) {
    chosen.source = source;
    byId("source").value = source;
    const has = new Set(index.systems[source]);
    for (const box of byId("models").querySelectorAll("input")) {
      box.parentElement.hidden = !has.has(Number(box.value));
    }
    const shown = JSON.parse(byId("viewer").dataset.shown)[index.sources[source].name] ?? [];
    const best = shown.map((name) => index.models.indexOf(name)).filter((model) => model > HUMAN && has.has(model));
    const some = best.length ? best : index.systems[source].filter((model) => model !== HUMAN).slice(0, 2);
    chosen.models = [...(has.has(HUMAN) ? [HUMAN] : []), ...some];
    markModels();
  }

  function addModel(model) {
    if (!chosen.models.includes(model)) {
      chosen.models.push(model);
    }
    chooseModels(chosen.models);
  }

  function chooseModels(models) {
    chosen.models = models;
    markModels();
    open(chosen.seed);
  }

  function markModels() {
    for (const box of byId("models").querySelectorAll("input")) {
      box.checked = chosen.models.includes(Number(box.value));
    }
  }

  function drawControls() {
    const option = (value, text) => {
      const made = element("option", "", text);
      made.value = value;
      return made;
    };
    Object.assign(protocolTitles, index.titles);
    byId("source").append(...index.sources.map(({ name }, source) => option(source, name)));
    byId("of-source").hidden = index.sources.length < 2;
    byId("filter-model").append(option("", "any but people"), ...index.models.map((name, model) => option(model, name)));
    byId("filter-judge").append(option("", "any"), ...index.judges.map((name, judge) => option(judge, name)));
    const asked = new Map();
    for (const [, protocol, n] of index.cases) {
      asked.set(`${protocol}/${n}`, protocolName(protocol) + (n ? atLength(n) : ""));
    }
    byId("filter-protocol").append(option("", "any protocol"), ...[...asked].map(([value, text]) => option(value, text)));
    byId("filter").hidden = !index.cases.length;
    byId("filter-judge").parentElement.hidden = index.judges.length < 2;
    for (const [model, name] of index.models.entries()) {
      const label = element("label", "choice");
      const box = element("input");
      box.type = "checkbox";
      box.value = model;
      const hits = element("span", "hits muted");
      hits.dataset.model = model;
      label.append(box, prose("span", "", name), hits);
      byId("models").append(label);
    }
  }

  function listen() {
    let waiting = 0;
    byId("search").addEventListener("input", (event) => {
      clearTimeout(waiting);
      waiting = setTimeout(async () => {
        chosen.query = event.target.value;
        await find();
        show(chosen.seed);
      }, 200);
    });
    byId("source").addEventListener("change", async (event) => {
      chooseSource(Number(event.target.value));
      await find();
      open(found[0] ?? placesOfSource()[0]);
    });
    byId("show-asides").addEventListener("change", (event) => {
      chosen.asides = event.target.checked;
      show(chosen.seed);
    });
    byId("filter").addEventListener("change", () => {
      const model = byId("filter-model").value;
      if (model !== "" && !chosen.models.includes(Number(model))) {
        addModel(Number(model));
      }
      find();
    });
    byId("more").addEventListener("click", () => {
      listed += LIST_STEP;
      drawList(byId("found").textContent);
    });
    byId("seed-list").addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (button) {
        open(Number(button.dataset.place));
      }
    });
    byId("seed-list").addEventListener("keydown", (event) => {
      const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      const buttons = [...byId("seed-list").querySelectorAll("button")];
      const next = by && buttons[buttons.indexOf(document.activeElement) + by];
      if (next) {
        event.preventDefault();
        next.focus();
        open(Number(next.dataset.place));
      }
    });
    byId("models").addEventListener("change", () => {
      const boxes = [...byId("models").querySelectorAll("input:checked")];
      chooseModels(boxes.map((box) => Number(box.value)));
    });
    byId("previous").addEventListener("click", () => step(-1));
    byId("next").addEventListener("click", () => step(1));
    window.addEventListener("hashchange", followAddress);
  }

  async function start() {
    if (!byId("viewer")) {
      return; // nobody chatted
    }
    const elsewhere = byId("viewer-message").dataset.elsewhere;
    if (typeof DecompressionStream === "undefined") {
      say(`This browser cannot unpack the dialogues (browsers from 2023 on can); they are in ${elsewhere}.`);
      return;
    }
    index = await archive.readIndex();
    if (!index.ids.length) {
      say(`There is no dialogue in this page; look in ${elsewhere}.`);
      return;
    }
    byId("viewer").hidden = false;
    drawControls();
    chooseSource(index.source[0]);
    listen();
    await find();
    if (!followAddress()) {
      await show(0);
    }
  }

  start().catch((error) => say(`The dialogues could not be shown: ${error.message}`));
})();
