"""Where each table and figure of the four papers stands: `python -m dialeval.papers_reference` writes docs/papers.md.

A test keeps the page in step with the registry in `papers/`.
"""

from __future__ import annotations

import os
from pathlib import Path

from dialeval.papers.entry import NEEDS, Item, Paper
from dialeval.papers.registry import PAPERS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs" / "papers.md"
HEAD = """# The four papers, table by table

Every table, figure and prompt of the papers, and what stands for it here. This page is generated from the registry in
`workflow/dialeval/papers/` (`python -m dialeval.papers_reference`); the report's part "Papers" has the same list with
what the run made. *Made by* names the configuration, then what to ask of Snakemake; files lie below the results. A
published value stands beside ours where a model has the paper's name. Wherever a configuration makes an item, another
one with your models does too.
"""


def docs_text() -> str:
    """Returns the page."""
    needs = "\n".join(f"| {name} | {words} |" for name, words in NEEDS.items())
    parts = [HEAD, f"| needs | what that is |\n|---|---|\n{needs}\n", *map(_about, PAPERS)]
    return "\n".join(parts)


def _about(paper: Paper) -> str:
    made = sum(item.is_result for item in paper.items)
    standing = sum(not item.is_result and not item.why_not for item in paper.items)
    lines = [
        f"## {paper.name}\n",
        f"[{paper.title}]({paper.address}). Of {len(paper.items)} items {made} are made by a run, {standing} are "
        f"prompts, words or lists that stand in the project, {len(paper.items) - made - standing} are not made.\n",
        "| item | shows | made by | files | needs | to know |",
        "|---|---|---|---|---|---|",
        *map(_row, paper.items),
        "",
    ]
    return "\n".join(lines)


def _row(item: Item) -> str:
    made_by = f"[{item.config}](../{item.config})" if item.config else ""
    made_by += f": `{item.target}`" if item.target else ""
    files = [f"`{file}`" for file in item.files()]
    files += [f"[{Path(file).name}]({_link(file)})" for file in item.stands]
    to_know = " ".join(filter(None, (f"Not made: {item.why_not}." if item.why_not else "", item.remark)))
    cells = (item.number, item.shows, made_by, "<br>".join(files), ", ".join(item.needs), to_know)
    return "| " + " | ".join(cells) + " |"


def _link(file: str) -> str:
    """Returns a file of the project as the page links to it."""
    return Path(os.path.relpath(ROOT / file, DOCS.parent)).as_posix()


if __name__ == "__main__":
    DOCS.write_text(docs_text(), encoding="utf-8")
