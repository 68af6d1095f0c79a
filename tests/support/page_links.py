"""The tables of a report, packed or not, its cells that lead to cases, and which cases these are, found in its text."""

from __future__ import annotations

import html
import re
from typing import Any
from urllib.parse import unquote

from dialeval.html_pages import unpack

_RESULTS = ("won", "tied", "lost", "none", "told")


def packed_tables(page: str) -> dict[str, str]:
    """Return the HTML of the tables that lie packed in a page, by their names."""
    found = re.findall(r'<script type="text/plain" id="([^"]+)-packed">([^<]*)<', page)
    contents = {name: unpack(packed) for name, packed in found}
    return {name: "\n".join([one.get("frame", ""), *one["rows"]]) for name, one in contents.items()}


def whole(page: str) -> str:
    """Return a page with its packed tables behind it."""
    return "\n".join([page, *packed_tables(page).values()])


def links_in(page: str) -> list[str]:
    """Return the addresses that cells lead to, those of packed rows as well."""
    return [html.unescape(one) for one in re.findall(r'class="value to-cases"[^>]*href="#([^"]+)"', whole(page))]


def cases_at(page: str, address: str) -> list[str]:
    """Return the ids of the cases at an address.

    Raises:
        KeyError: the address names a kind, group, facet or value that the page does not know.
    """
    fields = {name: [unquote(one) for one in of.split(",")] for name, of in _fields(address)}
    (kind,) = fields.pop("cases")
    fields.pop("models", None)
    group, case = (fields.pop(name, [""])[0] for name in ("of", "case"))
    index = _index(page, "archive-index" if kind == "dialogues" else f"{kind}-index")
    wanted = {name: of[0] for name, of in fields.items()}
    found = (
        _dialogues(index, _Against(page, index), group, wanted) if kind == "dialogues" else _items(index, group, wanted)
    )
    return [one for one in found if case in ("", one)]


def _fields(address: str) -> list[tuple[str, str]]:
    return [(name, value) for name, _, value in (field.partition("=") for field in address.split("&"))]


def _index(page: str, name: str) -> Any:
    found = re.search(rf'id="{name}">([^<]*)<', page)
    if found is None:
        raise KeyError(name)
    return unpack(found[1])


class _Against:
    """What a system's comparisons with one opponent came to, by the number of the case in the index."""

    def __init__(self, page: str, index: Any) -> None:
        self._models = index["models"]
        (self._lines,) = [lines.split("\n") for lines in re.findall(r'id="archive-against">([^<]*)<', page)]

    def __call__(self, number: int, opponent: str) -> list[list[int]]:
        found = unpack(self._lines[number]) if self._lines[number] else {}
        outcomes: list[list[int]] = found.get(str(self._models.index(opponent)), [[] for _ in _RESULTS])
        return outcomes


def _dialogues(index: Any, against: _Against, group: str, wanted: dict[str, str]) -> list[str]:
    sources = [one["name"] for one in index["sources"]]
    if group and group not in sources:
        raise KeyError(group)
    known = {
        "system": index["models"],
        "opponent": index["models"] if index["compares"] else [],
        "judge": index["judges"],
        "outcome": _RESULTS,
        "protocol": [f"{protocol}/{n}" if n else protocol for _, protocol, n, _ in index["cases"]],
    }
    for name, value in wanted.items():
        if value not in known[name]:
            raise KeyError(value)
    places: set[int] = set()
    for number, (judge, protocol, n, model) in enumerate(index["cases"]):
        outcomes = against(number, wanted["opponent"]) if "opponent" in wanted else index["outcomes"][number]
        row = {"judge": index["judges"][judge], "system": index["models"][model]}
        row["protocol"] = f"{protocol}/{n}" if n else protocol
        if any(row[name] != value for name, value in wanted.items() if name not in ("outcome", "opponent")):
            continue
        if n and protocol not in index["at_lengths"] and "protocol" not in wanted:
            continue  # an answer about the whole, read at a length
        for result, pairs in zip(_RESULTS, outcomes, strict=True):
            if wanted.get("outcome", result) == result:
                places |= set(pairs[: len(pairs) // 2])
    of_group = {place for place in places if not group or sources[index["source"][place]] == group}
    return [index["ids"][place] for place in sorted(of_group)]


def _items(index: Any, group: str, wanted: dict[str, str]) -> list[str]:
    names = [(one["name"], case) for one in index["groups"] for case in one["ids"]]
    if group and group not in {name for name, _ in names}:
        raise KeyError(group)
    facets = {facet["name"]: (place, facet["values"]) for place, facet in enumerate(index["facets"])}
    for name, value in wanted.items():
        if value not in facets[name][1]:
            raise KeyError(value)
    chosen = {facets[name][0]: facets[name][1].index(value) for name, value in wanted.items()}
    places = {
        place for row in index["rows"] if all(row[at] == value for at, value in chosen.items()) for place in row[-1]
    }
    return [case for place, (name, case) in enumerate(names) if place in places and group in ("", name)]
