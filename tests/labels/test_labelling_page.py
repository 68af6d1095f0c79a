"""The labelling page as text: whole, inert, the same every time, and silent about whose a dialogue is."""

from __future__ import annotations

import json
import random
import re
import string
from dataclasses import replace
from html.parser import HTMLParser
from importlib import resources
from pathlib import Path

import labelling_sheets as sheets
import pytest
from labelled_dialogues import SYSTEMS, dialogues, drawn_protocol, items_table, protocol_settings, sheet_for

from dialeval.html_pages import unpack
from dialeval.labels.page import content, page_html
from dialeval.labels.units import Sheet, ShownTurn
from dialeval.tables import files
from dialeval.translation import external_scores

KINDS = (sheets.scales, sheets.numbers, sheets.pairs, sheets.machines, sheets.strange)
MOST_BYTES = 2_000_000


class Page(HTMLParser):
    """The tags of a page with their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def packed(page: str) -> dict[str, object]:
    (block,) = re.findall(r'<script type="text/plain" id="sheet">(.*?)</script>', page, re.DOTALL)
    found: dict[str, object] = unpack(block)
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_sheet_gives_the_same_bytes(kind: type[Sheet]) -> None:
    assert page_html(kind()) == page_html(kind())


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_fetched_and_nothing_foreign_may_run(kind: type[Sheet]) -> None:
    text = page_html(kind())
    parsed = Page(text)
    addresses = [
        value or ""
        for _, attributes in parsed.tags
        for name, value in attributes.items()
        if name in {"src", "href", "srcset", "action", "data", "poster"}
    ]
    assert addresses
    assert all(address.startswith(("#", "data:")) for address in addresses), addresses
    assert "url(" not in text
    assert "@import" not in text
    assert not re.search(r"https?://", text)
    policy = next(
        attributes["content"] for tag, attributes in parsed.tags if tag == "meta" and "http-equiv" in attributes
    )
    assert policy is not None
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    names = {name for _, attributes in parsed.tags for name in attributes}
    assert not [name for name in names if name.startswith("on") or name == "style"]


def test_dialogues_and_names_cannot_become_markup() -> None:
    plain = page_html(sheets.pairs(1))
    strange = page_html(replace(sheets.strange(), protocol=sheets.HOSTILE, annotator=sheets.HOSTILE))
    assert [tag for tag, _ in Page(strange).tags] == [tag for tag, _ in Page(plain).tags]
    assert "<script>window.alarmed" not in strange
    assert sheets.HOSTILE in packed(strange)["strings"]  # type: ignore[operator]


def test_the_page_holds_what_the_sheet_says_and_no_more() -> None:
    sheet = sheets.scales(2)
    held = packed(page_html(sheet))
    assert held == content(sheet)
    assert set(held) == {
        "protocol", "annotator", "draw", "form", "level", "language", "questions", "strings", "units",
        "guidelines",
    }  # fmt: skip
    texts = [text for unit in sheet.units for turn in unit.dialogues[0] for text in (turn.speaker, turn.text)]
    assert held["strings"] == list(dict.fromkeys(texts))
    key, dialogues = held["units"][1]  # type: ignore[index]
    assert key == sheet.units[1].key
    assert dialogues == [[0, 6, 0, 2, 7, 1, 0, 8, 0, 2, 9, 1]]


@pytest.mark.parametrize("form", ["pair", "locate"])
def test_neither_names_nor_keys_tell_whose_a_dialogue_is(form: str, tmp_path: Path) -> None:
    """Nothing around the texts names a system, and keys of both orders of a pair look the same."""
    items = items_table(tmp_path / "items.parquet", dialogues())
    sheet = sheet_for(drawn_protocol(tmp_path, protocol_settings("asked", form=form), items, 30), "anna")
    page = page_html(sheet)
    around = {name: value for name, value in packed(page).items() if name != "strings"}
    assert not [system for system in SYSTEMS if system in page or system in json.dumps(around)]
    assert all(re.fullmatch("t[0-9a-f]{16}", unit.key) for unit in sheet.units)
    speakers = {turn.speaker for unit in sheet.units for said in unit.dialogues for turn in said}
    assert not speakers & set(SYSTEMS)


def test_three_hundred_pairs_fit() -> None:
    """Pairs of 2 x 16 utterances of 30 words, as chatbots say, but drawn evenly from 5,000: less compressible."""
    draw = random.Random(1)
    words = ["".join(draw.choices(string.ascii_lowercase, k=draw.randint(2, 10))) for _ in range(5000)]

    def dialogue() -> tuple[ShownTurn, ...]:
        return tuple(ShownTurn("AB"[place % 2], " ".join(draw.choices(words, k=30))) for place in range(16))

    units = tuple(sheets.unit(number, dialogue(), dialogue()) for number in range(300))
    size = len(page_html(replace(sheets.pairs(), units=units)).encode())
    assert size <= MOST_BYTES


def test_the_pages_table_escapes_what_tables_escape() -> None:
    script = resources.files("dialeval.labels.page").joinpath("files.js").read_text(encoding="utf-8")
    assert f"/^{files._FORMULA.pattern}/.test(value)" in script
    assert external_scores._FORMULA.pattern == files._FORMULA.pattern
