/* Finds the cases of a group that match the filter and the search, and lists them. */
const finding = (() => {
  "use strict";

  const LIST_STEP = 100;
  const SEARCH_STEP = 32;

  let listed = LIST_STEP;
  let found = [];
  let listing = null;
  let run = 0;

  /** Returns the places of a group's cases, or of the cases of all groups if none is chosen. */
  const placesOf = ({ shelf, group }) => (group < 0 ? shelf.groups.flatMap(({ places }) => places) : shelf.groups[group].places);

  /** Returns the noun for a case of a group; for all groups "case" unless they share a noun. */
  function nounOf({ shelf, group }) {
    const nouns = new Set((group < 0 ? shelf.groups : [shelf.groups[group]]).map(({ noun }) => noun));
    return nouns.size > 1 ? "case" : [...nouns][0];
  }

  /** Finds the cases, draws their list, and returns their places; null where another search began meanwhile. */
  async function find(chosen) {
    const mine = ++run;
    const { shelf, filter, query } = chosen;
    const fitting = await shelf.fitting(filter);
    if (mine !== run) {
      return null;
    }
    const isWanted = (place) => (!fitting || fitting.has(place)) && (!chosen.flagged || notes.has(shelf, place));
    const candidates = sorted(placesOf(chosen).filter(isWanted), chosen);
    let hits = query ? [] : candidates;
    for (let start = 0; query && start < candidates.length; start += SEARCH_STEP) {
      const some = candidates.slice(start, start + SEARCH_STEP);
      const texts = await Promise.all(some.map(shelf.searchText));
      if (mine !== run) {
        return null;
      }
      hits = hits.concat(some.filter((place, number) => marking.has(shelf.id(place), query) || texts[number].includes(query)));
      const searched = start + some.length;
      if (searched < candidates.length) {
        byId("found").textContent = `searched ${searched} of ${candidates.length}: ${hits.length} so far`;
      }
    }
    found = hits;
    listed = LIST_STEP;
    listing = chosen;
    drawList();
    showCount(chosen, candidates.length);
    return found;
  }

  /** Sorts places by a value of their cases; cases without a value come last. */
  function sorted(places, { shelf, order }) {
    const [, label, direction] = /^(.*)\.(up|down)$/.exec(order) ?? [];
    const [, values] = shelf.index.orders?.find(([name]) => name === label) ?? [];
    const sign = direction === "up" ? 1 : -1;
    const compare = (one, other) => (values[one] === null) - (values[other] === null) || sign * (values[one] - values[other]);
    return values ? [...places].sort(compare) : places;
  }

  /** Shows how many cases were found; if there is none, why, and how to find more. */
  function showCount(chosen, searched) {
    const all = counted(placesOf(chosen).length, nounOf(chosen));
    const isWide = !chosen.filter.size && !chosen.flagged && (chosen.group < 0 || chosen.shelf.groups.length < 2);
    byId("widen").hidden = Boolean(found.length) || isWide;
    byId("widen").textContent = chosen.filter.size || chosen.flagged ? "Search without the filter" : "Search all";
    if (found.length) {
      byId("found").textContent = `${found.length.toLocaleString("en")} of ${all}`;
    } else if (!searched) {
      byId("found").textContent = `None of ${all} matches.`;
    } else {
      const where = searched < placesOf(chosen).length ? `the ${searched.toLocaleString("en")} of ${all} that the filter leaves` : all;
      const advice = isWide ? " The search needs the exact letters: try fewer or other words." : "";
      byId("found").textContent = `No hits: “${chosen.typed}” does not occur in ${where}.${advice}`;
    }
  }

  function drawList() {
    const { shelf, group, query } = listing;
    const items = found.slice(0, listed).map((place) => {
      const button = element("button", "seed");
      button.type = "button";
      button.dataset.place = place;
      const head = element("span", "seed-head");
      const flag = notes.has(shelf, place) ? (notes.of(shelf, place).flag ? "⚑" : "✎") : "";
      const about = [flag, group < 0 ? shelf.groups[shelf.groupOf(place)].name : "", shelf.about(place)].filter(Boolean).join(" · ");
      head.append(marking.fill(prose("strong", "", ""), shelf.id(place), query), element("span", "muted", about));
      button.append(head, marking.fill(prose("span", "snippet", ""), shelf.first(place), query));
      const item = element("li");
      item.append(button);
      return item;
    });
    byId("case-list").replaceChildren(...items);
    byId("more").hidden = found.length <= listed;
  }

  /** Marks the open case in the list, and enables the buttons to its neighbours. */
  function mark(open) {
    const list = byId("case-list");
    for (const button of list.querySelectorAll("button")) {
      if (Number(button.dataset.place) === open) {
        button.setAttribute("aria-current", "true");
        const top = button.parentElement.offsetTop - list.offsetTop;
        if (top < list.scrollTop || top + button.offsetHeight > list.scrollTop + list.clientHeight) {
          list.scrollTop = top - list.clientHeight / 3;
        }
      } else {
        button.removeAttribute("aria-current");
      }
    }
    byId("previous").disabled = neighbour(open, -1) === undefined;
    byId("next").disabled = neighbour(open, 1) === undefined;
  }

  /** Returns the place of the previous (-1) or next (1) case; the first of the list if the open case is not in it. */
  function neighbour(open, by) {
    const at = found.indexOf(open);
    return found[at < 0 ? 0 : at + by];
  }

  /** Returns the position of a case in the list, in words. */
  const standing = (place) => (found.includes(place) ? `${found.indexOf(place) + 1} of ${found.length}` : "not in the list");

  /** Lists more of the found cases. */
  function listMore(open) {
    listed += LIST_STEP;
    drawList();
    mark(open);
  }

  return { find, mark, drawList, neighbour, standing, listMore, nounOf, placesOf };
})();
