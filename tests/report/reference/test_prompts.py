"""The page on prompts is generated, and says something of every template of both sets."""

from __future__ import annotations

from dialeval.prompts.rendering import OURS as FOLDER
from dialeval.report.reference.prompts import descriptions, docs_text

TEMPLATES = [(name, sets) for of in descriptions().values() for name, sets in of.items() if name]


def test_every_template_is_described_once_and_nothing_else() -> None:
    assert sorted(name for name, _ in TEMPLATES) == sorted(path.name for path in FOLDER.glob("*.j2"))
    of_papers = sorted(name for name, sets in TEMPLATES if "papers" in sets)
    assert of_papers == sorted(path.name for path in (FOLDER / "papers").glob("*.j2"))
    page = docs_text()
    assert all(f"`{name}`" in page and sets["ours"]["asks"] for name, sets in TEMPLATES)
    assert all(None not in row for _, sets in TEMPLATES for row in sets.values()), "a comma outside of quotes"


def test_what_the_papers_ask_differs_from_ours_and_says_where() -> None:
    for name, sets in TEMPLATES:
        if "papers" in sets:
            assert all(sets[prompt_set]["departs"] for prompt_set in ("ours", "papers")), name
            assert (FOLDER / name).read_bytes() != (FOLDER / "papers" / name).read_bytes(), name
