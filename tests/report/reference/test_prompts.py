"""The page on prompts is generated, and says something of every template of both sets."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialeval.prompts.rendering import OURS as FOLDER
from dialeval.report.reference.prompts import OURS, PAPERS, SECTIONS, docs_text


@pytest.mark.parametrize(("described", "folder"), [(OURS, FOLDER), (PAPERS, FOLDER / "papers")])
def test_every_template_is_described_and_nothing_else(described: dict[str, object], folder: Path) -> None:
    assert sorted(described) == sorted(path.name for path in folder.glob("*.j2"))


def test_every_template_has_one_place_on_the_page() -> None:
    placed = [name for _, names in SECTIONS.values() for name in names]
    assert sorted(placed) == sorted(OURS)
    page = docs_text()
    assert all(page.count(f"`{name}`") >= 1 for name in placed)


def test_what_the_papers_ask_differs_from_ours_and_says_where() -> None:
    assert set(PAPERS) <= set(OURS)
    for name, said in PAPERS.items():
        assert said.departs, name
        assert OURS[name].departs, name
        assert (FOLDER / name).read_bytes() != (FOLDER / "papers" / name).read_bytes(), name
