/* The case viewer, for all shelves. It holds the reader's choices and writes them into the address. */
(() => {
  "use strict";

  const chosen = {
    shelf: null, group: 0, place: -1, query: "", typed: "", filter: new Map(), models: null, version: "", order: "",
    showsHidden: false, compares: false, flagged: false,
  };
  let all = [];
  let showRun = 0;

  const isWide = () => matchMedia("(min-width: 50rem)").matches;
  const modelsShown = () => chosen.models ?? chosen.shelf.usualModels?.(chosen.group) ?? [];
  const isOfDialogues = () => chosen.shelf.kind === "dialogues";

  function showMessage(message) {
    const place = byId("viewer-message");
    place.textContent = message;
    place.hidden = !message;
  }

  // ---- The address ----

  /** Returns the open case and the choices as fields of the address. */
  function openFields() {
    const { shelf, group, place, typed, filter, models, version } = chosen;
    const name = (one) => (shelf.groups.length > 1 && one >= 0 ? [shelf.groups[one].name] : []);
    return [
      ["cases", [shelf.kind]],
      ["of", name(group)],
      ["from", group < 0 && place >= 0 ? name(shelf.groupOf(place)) : []],
      ["case", place < 0 ? [] : [shelf.id(place)]],
      ["q", typed ? [typed] : []],
      ...filter,
      ["models", models && isOfDialogues() ? models.map((model) => shelf.index.models[model]) : []],
      ["version", version ? [version] : []],
      ["by", chosen.order ? [chosen.order] : []],
    ];
  }

  /** Shows the case in the address; returns whether the address names cases that the page has. */
  async function followAddress(isReturn = address.isReturn()) {
    const wanted = address.cases();
    if (!wanted) {
      return false;
    }
    const shelf = all.find(({ kind }) => kind === wanted.kind);
    if (!shelf) {
      showMessage(`This page has no cases of the kind “${wanted.kind}”.`);
      byId("cases").scrollIntoView();
      return false;
    }
    const missing = [];
    const nameOf = (list, name) => list.findIndex((one) => one.name === name);
    const group = nameOf(shelf.groups, wanted.group);
    if (wanted.group && group < 0) {
      missing.push(`no group “${wanted.group}”`);
    }
    const named = wanted.id === null ? undefined : placeOf(shelf, wanted, group);
    const isOfAll = shelf.groups.length > 1 && (wanted.facets.size || wanted.from); // the cases of a number may be in several groups
    const usual = isOfAll ? -1 : usualGroup(shelf);
    const isElsewhere = group < 0 && named !== undefined && usual >= 0;
    turnTo(shelf, group >= 0 ? group : isElsewhere ? shelf.groupOf(named) : usual);
    chosen.filter = knownFacets(shelf, wanted.facets, missing);
    chosen.version = wanted.version;
    chosen.order = wanted.order;
    choices.drawOrders(chosen);
    const models = shelf.modelNumbers?.(wanted.models) ?? [];
    chosen.models = models.length ? models : withFiltered(shelf);
    chosen.typed = wanted.query.trim();
    chosen.query = marking.fold(chosen.typed);
    choices.drawFilter(chosen);
    const found = await finding.find(chosen);
    if (!found) {
      return true; // another address was opened meanwhile
    }
    if (named === undefined && wanted.id !== null) {
      missing.push(`no ${nounBefore(finding.nounOf(chosen), wanted.id)}${wanted.id}`);
    }
    showMessage(missing.length ? `This page has ${missing.join(", and ")}.` : "");
    await show(named ?? found[0] ?? -1);
    if (!isReturn) {
      bringIntoView();
    }
    return true;
  }

  /** Returns the place of the case in the address; without a group, all groups are searched. */
  function placeOf(shelf, { id, from }, group) {
    const groups = shelf.groups.filter(({ name }, number) => (group < 0 ? !from || name === from : number === group));
    return groups.flatMap(({ places }) => places).find((place) => shelf.id(place) === id);
  }

  function knownFacets(shelf, facets, missing) {
    const known = new Map();
    for (const [name, values] of facets) {
      const facet = shelf.facets.find((one) => one.name === name);
      const there = values.filter((value) => facet?.values.includes(value));
      if (facet && there.length) {
        known.set(name, there);
      }
      values.filter((value) => facet && !there.includes(value)).forEach((value) => missing.push(`no ${facet.label} “${value}”`));
    }
    return known;
  }

  /** Returns the default models and the filtered system; null if the default models include it. */
  function withFiltered(shelf) {
    const models = shelf.modelNumbers?.(chosen.filter.get("system") ?? []) ?? [];
    const usual = modelsShown();
    return models.every((model) => usual.includes(model)) ? null : [...new Set([...models, ...usual])];
  }

  function bringIntoView() {
    const place = byId(isWide() ? "viewer" : "reading"); // on a phone, the list is above the case
    const { top, bottom } = place.getBoundingClientRect();
    if (top > innerHeight / 2 || bottom < innerHeight / 2) {
      place.scrollIntoView();
    }
    byId("case-title").focus({ preventScroll: true });
  }

  // ---- Showing a case ----

  /** Shows a case that the reader chose, and writes it into the address. */
  async function open(place, isStep = true) {
    showMessage("");
    await show(place, isStep);
  }

  async function show(place, isStep = null) {
    const run = ++showRun;
    chosen.place = place;
    finding.mark(place);
    if (isStep !== null) {
      address.write(openFields(), isStep);
    }
    address.note(openFields());
    byId("flag").disabled = byId("note").disabled = place < 0;
    if (place < 0) {
      showNothing();
      return;
    }
    const { shelf } = chosen;
    const onModel = (model) => chooseModels([...new Set([...modelsShown(), model])]);
    const drawn = await shelf.draw(place, { ...chosen, models: modelsShown(), onModel });
    if (run !== showRun || shelf !== chosen.shelf) {
      return; // the reader opened another case meanwhile
    }
    const noun = shelf.groups[shelf.groupOf(place)].noun;
    const title = nounBefore(`${noun[0].toUpperCase()}${noun.slice(1)}`, shelf.id(place));
    byId("case-title").replaceChildren(title, marking.fill(prose("bdi", "", ""), shelf.id(place), chosen.query));
    byId("columns").hidden = !isOfDialogues();
    byId("piece").hidden = isOfDialogues();
    byId("models").hidden = !isOfDialogues();
    byId("show-hidden").hidden = !drawn.hasHidden;
    byId("show-differences").hidden = !isOfDialogues() || drawn.shown.length !== 2;
    drawNotes();
    if (isOfDialogues()) {
      byId("columns").replaceChildren(...drawn.columns);
      choices.markModels(drawn.shown, drawn.hits);
    } else {
      byId("piece-left").replaceChildren(...drawn.left);
      byId("piece-right").replaceChildren(...drawn.right);
    }
    choices.drawVersions(drawn);
    goToHit();
  }

  function showNothing() {
    byId("case-title").textContent = "No case";
    byId("note").value = "";
    byId("flag").setAttribute("aria-pressed", "false");
    for (const id of ["columns", "piece-left", "piece-right", "versions"]) {
      byId(id).replaceChildren();
    }
    for (const id of ["models", "show-hidden", "show-differences"]) {
      byId(id).hidden = true;
    }
  }

  // ---- Flags and notes ----

  function drawNotes() {
    const { flag, note } = notes.of(chosen.shelf, chosen.place);
    byId("flag").setAttribute("aria-pressed", String(flag));
    if (byId("note").value.trim() !== note) { // keeps a space that was just typed
      byId("note").value = note;
    }
    byId("export-notes").disabled = !notes.size();
  }

  function changeNotes(changed) {
    if (chosen.place >= 0) {
      const isKept = notes.change(chosen.shelf, chosen.place, changed);
      showMessage(isKept ? "" : "This browser cannot keep flags and notes after you close the page. Export them before.");
      drawMarks();
    }
  }

  /** Draws the flag and note of the open case, and the marks in the list. */
  function drawMarks() {
    drawNotes();
    finding.drawList();
    finding.mark(chosen.place);
  }

  const flag = () => changeNotes({ flag: !notes.of(chosen.shelf, chosen.place).flag });

  /** Scrolls to the first hit in the open case. */
  function goToHit() {
    if (chosen.query) {
      const hit = document.querySelector("#columns mark, #piece mark");
      // on a phone, the page would jump while the reader types
      hit?.closest("li, p").scrollIntoView({ block: isWide() ? "nearest" : "end", inline: "nearest", behavior: "instant" });
    }
  }

  /** Opens the neighbour of the open case. */
  async function step(by, isInList = false) {
    const place = finding.neighbour(chosen.place, by);
    if (place === undefined) {
      return;
    }
    await open(place, false);
    const { shelf } = chosen;
    byId("message").textContent = `${nounBefore(finding.nounOf(chosen), shelf.id(place))}${shelf.id(place)}, ${finding.standing(place)}`;
    if (isInList) {
      byId("case-list").querySelector("[aria-current]")?.focus();
    } else if (byId("viewer").getBoundingClientRect().top > innerHeight || byId("viewer").getBoundingClientRect().bottom < 0) {
      byId("viewer").scrollIntoView();
    }
  }

  // ---- Choosing ----

  const usualGroup = (shelf) => (shelf.kind === "dialogues" || shelf.groups.length === 1 ? 0 : -1);

  /** Turns to another shelf or group: its cases are listed and its models offered. */
  function turnTo(shelf, group) {
    Object.assign(chosen, { shelf, group, filter: new Map(), models: null, version: "", order: "" });
    const noun = isOfDialogues() ? "Dialogues side by side" : "The case";
    byId("columns").setAttribute("aria-label", noun);
    byId("shelf-words").textContent = (group < 0 ? "" : shelf.groups[group].words) || shelf.words;
    byId("shelf-words").hidden = !byId("shelf-words").textContent;
    byId("shelf").value = `${all.indexOf(shelf)}/${group}`;
    choices.drawModels(chosen);
    choices.drawOrders(chosen);
  }

  function chooseModels(models) {
    chosen.models = models;
    open(chosen.place);
  }

  /** Finds cases again after a choice; opens the first unless the open case is among them. */
  async function findAndOpen(isStep) {
    const found = await finding.find(chosen);
    if (found) {
      showMessage("");
      await show(found.includes(chosen.place) ? chosen.place : (found[0] ?? -1), isStep);
    }
  }

  function listen() {
    let waiting = 0;
    byId("search").addEventListener("input", (event) => {
      clearTimeout(waiting);
      waiting = setTimeout(() => {
        chosen.typed = event.target.value.trim();
        chosen.query = marking.fold(chosen.typed);
        findAndOpen(false);
      }, 200);
    });
    byId("shelf").addEventListener("change", (event) => {
      const [shelf, group] = event.target.value.split("/").map(Number);
      turnTo(all[shelf], group);
      chosen.place = -1;
      choices.drawFilter(chosen);
      findAndOpen(true);
    });
    byId("filter").addEventListener("change", (event) => {
      const { dataset, value } = event.target;
      chosen.filter[value ? "set" : "delete"](dataset.facet, value && JSON.parse(value));
      if (dataset.facet === "system") {
        chosen.models = withFiltered(chosen.shelf) ?? chosen.models;
      }
      findAndOpen(true);
    });
    byId("widen").addEventListener("click", () => {
      if (chosen.filter.size || chosen.flagged) {
        chosen.filter = new Map();
        chosen.flagged = byId("only-flagged").checked = false;
      } else {
        turnTo(chosen.shelf, -1);
      }
      choices.drawFilter(chosen);
      findAndOpen(true);
      byId("search").focus();
    });
    byId("order").addEventListener("change", ({ target }) => {
      chosen.order = target.value;
      chosen.place = -1; // the first of the new order is opened
      findAndOpen(false);
    });
    byId("only-flagged").addEventListener("change", ({ target }) => {
      chosen.flagged = target.checked;
      findAndOpen(false);
    });
    byId("flag").addEventListener("click", flag);
    byId("note").addEventListener("input", ({ target }) => changeNotes({ note: target.value.trim() }));
    byId("export-notes").addEventListener("click", notes.save);
    byId("show-differences").addEventListener("change", ({ target }) => {
      chosen.compares = target.checked;
      show(chosen.place);
    });
    byId("show-hidden").addEventListener("change", (event) => {
      chosen.showsHidden = event.target.checked;
      show(chosen.place);
    });
    byId("more").addEventListener("click", () => finding.listMore(chosen.place));
    byId("case-list").addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (button) {
        open(Number(button.dataset.place)).then(() => isWide() || bringIntoView());
      }
    });
    byId("versions").addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (button) {
        chosen.version = button.dataset.version;
        open(chosen.place).then(() => byId("versions").querySelector("[aria-pressed=true]").focus());
      }
    });
    byId("models").addEventListener("change", () => {
      const boxes = [...byId("models").querySelectorAll("input:checked")];
      chooseModels(boxes.map((box) => Number(box.value)));
    });
    byId("previous").addEventListener("click", () => step(-1));
    byId("next").addEventListener("click", () => step(1));
    viewerKeys.listen({
      step,
      flag,
      leave: () => {
        byId("case-title").focus();
        goToHit();
      },
    });
    document.addEventListener("click", ({ target }) => {
      const link = target.closest('a[href^="#"]');
      if (link && link.hash !== location.hash) {
        address.leave();
      } else if (link) {
        followAddress(false).catch(showError); // browsers send no event for the present address
      }
    });
    window.addEventListener("hashchange", () => followAddress().catch(showError));
    window.addEventListener("storage", ({ key }) => key === notes.KEY && chosen.place >= 0 && drawMarks());
  }

  const showError = (error) => showMessage(`The cases could not be shown: ${error.message}`);

  async function start() {
    if (!byId("viewer")) {
      return; // there are no cases
    }
    const { elsewhere } = byId("viewer-message").dataset;
    if (typeof DecompressionStream === "undefined") {
      showMessage(`The cases cannot be shown: this needs a browser from 2023 or later. The dialogues are in ${elsewhere}.`);
      return;
    }
    all = await shelves.all();
    if (!all.length) {
      showMessage(`This page has no cases; they are in ${elsewhere}.`);
      return;
    }
    byId("viewer").hidden = false;
    choices.drawShelves(all);
    turnTo(all[0], usualGroup(all[0]));
    choices.drawFilter(chosen);
    listen();
    if (!(await followAddress())) {
      const found = await finding.find(chosen);
      await show(found[0] ?? -1);
    }
  }

  start().catch(showError);
})();
