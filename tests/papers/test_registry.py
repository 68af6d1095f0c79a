"""The registry has every table and figure of the papers, and names only what there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dialeval.config.loading import load_config
from dialeval.config.reading import read_config_file
from dialeval.figures import entries
from dialeval.papers.entry import NEEDS, Item, Paper
from dialeval.papers.registry import PAPERS
from dialeval.schemas.every import TABLES

ROOT = Path(__file__).parents[2]
NUMBERED = {  # counted in the papers' texts, appendices included
    "BotChat": {"Table": 2, "Figure": 9, "Algorithm": 1},
    "DialogBench": {"Table": 21, "Figure": 10},
    "comp-analysis": {"Table": 13, "Figure": 2},
    "xDial-Eval": {"Table": 17, "Figure": 3},
}
ITEMS = [pytest.param(item, id=f"{paper.name} {item.number}") for paper in PAPERS for item in paper.items]
CONFIGS = sorted({item.config for paper in PAPERS for item in paper.items if item.config})
OF_PROTOCOLS = re.compile("(unieval|arena|gteval|failures)/")
PICTURES = {
    part: {figure.name for figure in figures}
    for part, figures in (
        ("botchat", entries.BOTCHAT),
        ("metaeval", entries.METAEVAL),
        ("robustness", entries.ROBUSTNESS),
        ("dialogbench", entries.DIALOGBENCH),
        ("training", entries.TRAINING),
        ("failures", entries.MEASURES),
    )
}


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.name)
def test_every_numbered_item_is_there_once(paper: Paper) -> None:
    wanted = [f"{kind} {n}" for kind, last in NUMBERED[paper.name].items() for n in range(1, last + 1)]
    found = [item.number for item in paper.items]
    assert len(set(found)) == len(found)
    assert sorted(number for number in found if number.split()[0] in NUMBERED[paper.name]) == sorted(wanted)


@pytest.mark.parametrize("item", ITEMS)
def test_every_item_is_made_or_stands_or_says_why_not(item: Item) -> None:
    assert item.shows
    assert item.is_result or item.stands or item.why_not
    assert not (item.is_result and item.why_not), "what is made needs no excuse"
    assert bool(item.config) >= item.is_result, "what is made is made by a configuration"
    assert set(item.needs) <= set(NEEDS)
    assert not re.search(r"[|\n]", item.shows + item.remark + item.why_not), "it stands in a table"


@pytest.mark.parametrize("item", ITEMS)
def test_what_an_item_names_exists(item: Item) -> None:
    for table in item.tables:
        assert table in TABLES or OF_PROTOCOLS.sub("measures/", table) in TABLES, table
    for figure in item.figures:
        part, _, name = figure.partition("/")
        assert name in PICTURES[part], figure
    for file in item.stands:
        assert (ROOT / file).is_file(), file


def test_every_configuration_can_be_read() -> None:
    for config in CONFIGS:
        load_config(read_config_file(ROOT / config), files_are_there=False)


def test_every_target_is_a_rule() -> None:
    rules = "".join(path.read_text(encoding="utf-8") for path in [ROOT / "Snakefile", *(ROOT / "rules").glob("*.smk")])
    for target in {item.target for paper in PAPERS for item in paper.items if item.target}:
        assert re.search(rf"^rule {target}:", rules, re.MULTILINE), target
