"""The registry has every table and figure of the papers, and names only what there is."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from loaded_rules import loaded_rules

from dialeval import __version__
from dialeval.config.files import read_config_file
from dialeval.config.loading import load_config
from dialeval.criteria import FAILURES, NO_FAILURE
from dialeval.figures import registry
from dialeval.papers.registry import PAPERS, Item, Paper, to_cite
from dialeval.report.inputs import PARTS
from dialeval.tables.catalogue import TABLES

# The registry has every table and figure of the papers, and names only what there is.

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
        ("botchat", registry.BOTCHAT),
        ("metaeval", registry.METAEVAL),
        ("robustness", registry.ROBUSTNESS),
        ("dialogbench", registry.DIALOGBENCH),
        ("training", registry.TRAINING),
        ("failures", registry.MEASURES),
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
    assert item.is_result or item.defined_in or item.why_not
    assert not (item.is_result and item.why_not), "what is made needs no excuse"
    assert bool(item.config) >= item.is_result, "what is made is made by a configuration"
    assert not re.search(r"[|\n]", item.shows + item.remark + item.why_not), "it stands in a table"


@pytest.mark.parametrize("item", ITEMS)
def test_what_an_item_names_exists(item: Item) -> None:
    for table in item.tables:
        assert table in TABLES or OF_PROTOCOLS.sub("measures/", table) in TABLES, table
    for figure in item.figures:
        part, _, name = figure.partition("/")
        assert name in PICTURES[part], figure
    for file in item.defined_in:
        assert (ROOT / file).is_file(), file


def test_the_items_about_failures_are_of_the_kinds_that_are_judged() -> None:
    kinds = {item.number: item.where.get("criterion") for item in PAPERS[0].items}
    assert (kinds["Figure 8"], kinds["Figure 9"]) == (tuple(FAILURES), (NO_FAILURE,))


def test_every_configuration_can_be_read() -> None:
    for config in CONFIGS:
        load_config(read_config_file(ROOT / config), files_are_there=False)


def test_every_target_is_a_rule() -> None:
    for target in {item.target for paper in PAPERS for item in paper.items if item.target}:
        assert target in loaded_rules(), target


# Every part of the report whose method is a paper's says which to cite, and the papers are those of the registry.


def test_every_part_has_something_to_cite_and_every_paper_is_cited() -> None:
    cited = {citation for part in PARTS for citation in to_cite(part)}
    assert all(to_cite(part) for part in PARTS)
    assert {paper.citation for paper in PAPERS} <= cited
    assert to_cite("of-support") == ()


def test_references_in_words_and_in_bibtex() -> None:
    botchat = PAPERS[0].citation
    assert botchat.text.startswith("Haodong Duan, Jueqi Wei, ")
    assert "Dahua Lin and Kai Chen (2024). BotChat: Evaluating" in botchat.text
    assert botchat.text.endswith("NAACL 2024. arXiv:2310.13650")
    first, *fields, last = botchat.bibtex.splitlines()
    assert (first, last) == ("@inproceedings{duan2024botchat,", "}")
    assert "  author = {Haodong Duan and Jueqi Wei and Chonghua Wang and " in "\n".join(fields)
    assert botchat.bibtex.count("{") == botchat.bibtex.count("}")


def test_journals_and_preprints_have_entries_of_their_kind() -> None:
    journal, preprint = (citation.bibtex for citation in to_cite("labels"))
    assert journal.startswith("@article{angelopoulos2023prediction,")
    assert "  journal = {Science},\n  volume = {382},\n" in journal
    assert preprint.startswith("@misc{angelopoulos2023ppi,")
    assert "booktitle" not in journal + preprint
    assert "Prediction-Powered Inference. Science 382. arXiv:2301.09633" in to_cite("labels")[0].text


def test_the_file_for_citing_the_project_agrees_with_it() -> None:
    cff = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert (cff["version"], cff["license"]) == (__version__, project["license"])
    assert cff["cff-version"] == "1.2.0"
    by_title = {one["title"]: one for one in cff["references"]}
    for citation in (paper.citation for paper in PAPERS):
        said = by_title.pop(citation.title)
        names = tuple(f"{author['given-names']} {author['family-names']}" for author in said["authors"])
        assert (said["year"], said["url"], names) == (citation.year, citation.address, citation.authors)
    assert not by_title
