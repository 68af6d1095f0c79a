"""The page on prompts: what each template asks, where it departs from a paper's prompt, and why (`prompts.csv`).

Nothing that runs reads this; `python -m dialeval.report.reference` writes it out, and a test keeps page, descriptions
and templates in step. What stands above the mark is written by hand.
"""

from __future__ import annotations

import csv
from importlib.resources import files

from dialeval.paths import PROJECT

Row = dict[str, str]
DOCS = PROJECT / "docs" / "prompts.md"
MARK = "## Reference\n"
HEAD = """
This part is generated from `workflow/dialeval/report/reference/prompts.csv` (`python -m dialeval.report.reference`).
The templates are in `workflow/dialeval/prompts/` (`ours`) and `workflow/dialeval/prompts/papers/` (`papers`). Both sets
use the same file if `papers/` has no file of its name.
"""


def descriptions() -> dict[str, dict[str, dict[str, Row]]]:
    """Return what templates ask and where they depart from the paper, by section, template and set of prompts.

    The words at the beginning of a section are what its template "" asks.
    """
    found: dict[str, dict[str, dict[str, Row]]] = {}
    text = files("dialeval.report.reference").joinpath("prompts.csv").read_text(encoding="utf-8")
    for row in csv.DictReader(text.splitlines()):
        found.setdefault(row["section"], {}).setdefault(row["template"], {})[row["set"]] = row
    return found


def docs_text() -> str:
    """Return the page: the handwritten part, and the reference."""
    by_hand = DOCS.read_text(encoding="utf-8").split(MARK)[0]
    parts = [by_hand + MARK + HEAD]
    for heading, templates in descriptions().items():
        parts.append(f"### {heading}\n\n{templates.pop('')['']['asks']}\n")
        parts += [_about(name, sets) for name, sets in templates.items()]
    return "\n".join(parts)


def _about(name: str, sets: dict[str, Row]) -> str:
    ours = sets["ours"]
    if "papers" not in sets and not ours["departs"]:
        return f"- `{name}`: {ours['asks']}\n"
    rows = {"`ours`": ours, "`papers`": sets["papers"]} if "papers" in sets else {"both": ours}
    cells = [f"| {name} | {about['asks']} | {about['departs']} |" for name, about in rows.items()]
    lines = [f"#### `{name}`\n", "| set | content | differences from the paper |", "|---|---|---|", *cells]
    return "\n".join(lines) + "\n"
