/* The cases, in shelves that the viewer lists, searches and filters in the same way, whatever their kind.
 *
 * A shelf has `kind`, `label`, `words`, `groups` (name, noun, words, places of its cases), `facets` (name, label, values,
 * titles), and by the place of a case `id`, `first`, `about`, `groupOf`. `fitting` returns the places that match a filter,
 * `searchText` the searched text of a case, and `draw` its elements. */
const shelves = (() => {
  "use strict";

  const OUTCOME_TITLES = {
    won: "won, judged human, or label absent",
    tied: "tied",
    lost: "lost, judged AI, or label present",
    none: "verdict not parsed",
    answered: "score or label given",
  };
  const OUTCOMES = Object.keys(OUTCOME_TITLES); // in the order of the index

  /** Caches the folded texts of cases, which are read at the first search. */
  class Searched {
    constructor(read) {
      this.read = read;
      this.texts = new Map();
    }

    async text(place) {
      if (!this.texts.has(place)) {
        this.texts.set(place, marking.fold((await this.read(place)).join("\n")));
      }
      return this.texts.get(place);
    }
  }

  /** Dialogues of one or several sources, side by side by who wrote them. */
  class DialogueShelf {
    constructor(block) {
      this.kind = "dialogues";
      this.label = block.dataset.label;
      this.words = "";
      this.block = block;
      this.shownFirst = new Map(Object.entries(JSON.parse(block.dataset.shown)));
      this.dialogues = new archive.Lines("archive-dialogues");
      this.verdicts = new archive.Lines("archive-verdicts");
      this.against = new archive.Lines("archive-against");
      this.prompts = new archive.Lines("archive-prompts");
      this.searched = new Searched(async (place) => (await this.dialogues.read(place)).strings);
    }

    async open() {
      this.index = await archive.unpack(this.block.textContent);
      Object.assign(protocolTitles, this.index.titles);
      const { ids, source, sources } = this.index;
      this.groups = sources.map((one) => ({ ...one, words: "", places: [] }));
      ids.forEach((_, place) => this.groups[source[place]].places.push(place));
      this.groups = this.groups.map((group, number) => ({ ...group, systems: this.index.systems[number] }));
      this.facets = this.facetsOf(this.index);
      this.severalLanguages = new Set(this.index.languages).size > 1;
      return this;
    }

    get size() {
      return this.index.ids.length;
    }

    facetsOf({ models, judges, cases, outcomes, compares }) {
      if (!cases.length) {
        return [];
      }
      const protocols = new Map();
      for (const [, protocol, n] of cases) {
        protocols.set(protocol, protocolName(protocol) + (this.hasLengths(protocol) ? " at any length" : ""));
        if (n) {
          protocols.set(`${protocol}/${n}`, protocolName(protocol) + atLength(n));
        }
      }
      const occurring = OUTCOMES.filter((_, at) => outcomes.some((one) => one[at].length));
      return [
        { name: "system", label: "system", any: "all except human", values: models },
        ...(compares ? [{ name: "opponent", label: "opponent", any: "any", values: models }] : []),
        { name: "outcome", label: "outcome", any: "any", values: occurring, titles: occurring.map((outcome) => OUTCOME_TITLES[outcome]) },
        { name: "protocol", label: "protocol", any: "any", values: [...protocols.keys()], titles: [...protocols.values()] },
        { name: "judge", label: "judge", any: "any", values: judges },
      ];
    }

    id = (place) => this.index.ids[place];
    first = (place) => this.index.first[place];
    groupOf = (place) => this.index.source[place];
    hasLengths = (protocol) => this.index.at_lengths.includes(protocol);

    about(place) {
      const language = this.severalLanguages ? ` · ${this.index.languages[place]}` : "";
      return `${counted(this.index.n_human[place], "utterance")}${language}`;
    }

    /** Returns the places of the cases with a verdict that matches the filter; null if the filter names no verdict. */
    async fitting(chosen) {
      const is = (name, value) => !chosen.has(name) || chosen.get(name).includes(value);
      if (!["opponent", "outcome", "protocol", "judge"].some((name) => chosen.has(name))) {
        return null;
      }
      const { models, judges, cases } = this.index;
      const places = new Set();
      for (const [number, [judge, protocol, n, model]] of cases.entries()) {
        const isOf = chosen.has("system") ? is("system", models[model]) : model !== HUMAN;
        const isWhole = !n || this.hasLengths(protocol); // else the verdict on the whole dialogue is evaluated at this length
        const isOfProtocol = (isWhole && is("protocol", protocol)) || (chosen.has("protocol") && is("protocol", `${protocol}/${n}`));
        if (isOf && is("judge", judges[judge]) && isOfProtocol) {
          for (const byOutcome of await this.outcomesOf(number, chosen.get("opponent"))) {
            byOutcome.forEach((pairs, at) => {
              if (is("outcome", OUTCOMES[at])) {
                pairs.slice(0, pairs.length / 2).forEach((place) => places.add(place));
              }
            });
          }
        }
      }
      return places;
    }

    /** Returns the outcomes of one of `cases`: of all comparisons, or against each of some opponents. */
    async outcomesOf(number, opponents) {
      if (!opponents) {
        return [this.index.outcomes[number]];
      }
      const against = (await this.against.read(number)) ?? {};
      return opponents.map((name) => against[this.index.models.indexOf(name)] ?? []);
    }

    searchText = (place) => this.searched.text(place);

    /** Returns the models of a group's dialogues, or of all groups if none is chosen. */
    systemsOf = (group) => (group < 0 ? [...new Set(this.groups.flatMap(({ systems }) => systems))] : this.groups[group].systems);

    /** Returns the models that are shown by default: the human dialogues and the best systems. */
    usualModels(group) {
      if (group < 0) {
        return [...new Set(this.groups.flatMap((_, one) => this.usualModels(one)))];
      }
      const has = new Set(this.groups[group].systems);
      const places = (this.shownFirst.get(this.groups[group].name) ?? []).map((name) => this.index.models.indexOf(name));
      const best = places.filter((model) => model > HUMAN && has.has(model));
      const some = best.length ? best : [...has].filter((model) => model !== HUMAN).slice(0, 2);
      return [...(has.has(HUMAN) ? [HUMAN] : []), ...some];
    }

    modelNumbers = (names) => [...new Set(names.map((name) => this.index.models.indexOf(name)))].filter((model) => model >= 0);

    async draw(place, { query, models, filter, showsHidden, compares, onModel }) {
      const [dialogues, verdicts] = await Promise.all([this.dialogues.read(place), this.verdicts.read(place)]);
      const hits = this.hits(dialogues, query);
      const { systems } = this.groups[this.groupOf(place)];
      const shown = this.shownOn(dialogues, models.filter((model) => systems.includes(model)), hits);
      const columns = dialogueColumns.draw({
        models: shown,
        dialogues,
        verdicts,
        names: this.index,
        query,
        filter,
        noun: this.groups[this.groupOf(place)].noun,
        showsHidden,
        compares: compares && shown.length === 2,
        onModel,
        sent: { read: () => this.prompts.read(place), missing: this.index.no_prompts },
      });
      return { columns, shown, hits, hasHidden: Boolean(dialogues.hidden_messages?.length) };
    }

    /** Returns, by model, the number of its utterances with a hit of the search. */
    hits(dialogues, query) {
      const found = new Map();
      if (query) {
        const isHit = dialogues.strings.map((text) => marking.has(text, query));
        dialogues.models.forEach((model, at) => {
          const count = dialogues.utterances[at].filter((string) => isHit[string]).length;
          found.set(model, (found.get(model) ?? 0) + count);
        });
      }
      return found;
    }

    /** Returns the models to show: the chosen models, or all if none of them has this case; and one model with a hit. */
    shownOn(dialogues, chosen, hits) {
      const there = new Set(dialogues.models);
      const shown = chosen.some((model) => there.has(model)) ? chosen : [...there];
      const withHit = [...hits].filter(([, count]) => count).map(([model]) => model);
      const isSeen = !withHit.length || withHit.some((model) => shown.includes(model));
      return isSeen ? shown : [...shown, withHit[0]];
    }
  }

  /** Cases of any other kind, made of blocks. */
  class PieceShelf {
    constructor(block) {
      this.kind = block.dataset.kind;
      this.label = block.dataset.label;
      this.words = block.dataset.words;
      this.block = block;
      this.lines = new archive.Lines(`${this.kind}-lines`);
      this.prompts = new archive.Lines(`${this.kind}-prompts`);
      this.searched = new Searched(async (place) => blocks.texts(await this.piece(place)));
    }

    async open() {
      this.index = await archive.unpack(this.block.textContent);
      this.cases = [];
      this.groups = this.index.groups.map(({ ids, first, about = [], ...group }, number) => {
        const places = ids.map((id, at) => this.cases.push({ id, first: first[at], about: about[at] ?? "", group: number }) - 1);
        return { noun: "item", words: "", ...group, places };
      });
      this.facets = (this.index.facets ?? []).map((facet, number) => ({ any: "any", ...facet, number }));
      return this;
    }

    get size() {
      return this.cases.length;
    }

    id = (place) => this.cases[place].id;
    first = (place) => this.cases[place].first;
    groupOf = (place) => this.cases[place].group;

    about(place) {
      return this.cases[place].about;
    }

    fitting(chosen) {
      const wanted = this.facets.filter(({ name }) => chosen.has(name));
      if (!wanted.length) {
        return null;
      }
      const fits = (row) => wanted.every(({ name, number, values }) => chosen.get(name).includes(values[row[number]]));
      return new Set(this.index.rows.filter(fits).flatMap((row) => row.at(-1)));
    }

    searchText = (place) => this.searched.text(place);

    async piece(place) {
      const { per_line: perLine } = this.index;
      return (await this.lines.read(Math.floor(place / perLine)))[place % perLine];
    }

    async draw(place, { query, version }) {
      const piece = await this.piece(place);
      const versions = blocks.versions(piece);
      const shown = versions.includes(version) ? version : versions[0];
      const sent = { read: () => this.prompts.read(Math.floor(place / this.index.per_line)), missing: this.index.no_prompts };
      return { ...blocks.draw(piece, { version: shown, query, sent }), versions, version: shown };
    }
  }

  /** Opens all shelves and returns those with a case. */
  async function all() {
    const opened = (block) => (block.dataset.kind === "dialogues" ? new DialogueShelf(block) : new PieceShelf(block)).open();
    const found = [...document.querySelectorAll("script.shelf")].map(opened);
    return (await Promise.all(found)).filter(({ size }) => size > 0);
  }

  return { all };
})();
