"""Every part of the report whose method is a paper's says which to cite, and the papers are those of the registry."""

from __future__ import annotations

import tomllib
from pathlib import Path

import yaml

from dialeval.papers.citations import BOTCHAT, to_cite
from dialeval.papers.registry import PAPERS
from dialeval.report.parts import PARTS

ROOT = Path(__file__).parents[2]


def test_every_part_has_something_to_cite_and_every_paper_is_cited() -> None:
    cited = {citation for part in PARTS for citation in to_cite(part)}
    assert all(to_cite(part) for part in PARTS)
    assert {(paper.title, paper.address) for paper in PAPERS} <= {(one.title, one.address) for one in cited}
    assert to_cite("of-support") == ()


def test_references_in_words_and_in_bibtex() -> None:
    assert BOTCHAT.text.startswith("Haodong Duan, Jueqi Wei, ")
    assert "Dahua Lin and Kai Chen (2024). BotChat: Evaluating" in BOTCHAT.text
    assert BOTCHAT.text.endswith("NAACL 2024. arXiv:2310.13650")
    first, *fields, last = BOTCHAT.bibtex.splitlines()
    assert (first, last) == ("@inproceedings{duan2024botchat,", "}")
    assert "  author = {Haodong Duan and Jueqi Wei and Chonghua Wang and " in "\n".join(fields)
    assert BOTCHAT.bibtex.count("{") == BOTCHAT.bibtex.count("}")


def test_the_file_for_citing_the_project_agrees_with_it() -> None:
    cff = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert (cff["version"], cff["license"]) == (project["version"], project["license"])
    assert cff["cff-version"] == "1.2.0"
    by_title = {one["title"]: one for one in cff["references"]}
    for citation in {one for paper in PAPERS for part in PARTS for one in to_cite(part) if one.title == paper.title}:
        said = by_title.pop(citation.title)
        names = tuple(f"{author['given-names']} {author['family-names']}" for author in said["authors"])
        assert (said["year"], said["url"], names) == (citation.year, citation.address, citation.authors)
    assert not by_title
