"""Where each table and figure of the papers stands.

A test keeps the page in step with the registry in `papers/`.
"""

from __future__ import annotations

import os
from pathlib import Path

from dialeval.papers.entry import NEEDS, Item, Paper
from dialeval.papers.registry import BOTCHAT, COMP_ANALYSIS, DIALOGBENCH, PAPERS, XDIAL_EVAL
from dialeval.paths import PROJECT
from dialeval.report.reference.printed_values import n_stored, read_record

DOCS = PROJECT / "docs" / "papers.md"
HEAD = """# The four papers, item by item

Every table, figure and prompt of the papers, with DialEval's output for it. *Made by* names the configuration and
the target; other configurations make the same item for their models. Files are relative to the results
folder. Tables show a published value beside yours if your model has the paper's name for it. `python -m
dialeval.report.reference.printed_values DATA_DIR` records which printed values can be computed from public
data. The report's part "Papers" lists the items that a run made. This page is generated from
`workflow/dialeval/papers/` (`python -m dialeval.report.reference`).
"""
REMARKS = {
    "BotChat": (
        "GTEval's verdicts were reconstructed from the percentages in the authors' notebook, so this checks the "
        "formula only. Lengths, pass rates and Elo ratings need dialogues and verdicts that are no longer public."
    ),
    "DialogBench": "Accuracies cannot be computed, since the items are not public.",
    "comp-analysis": "Other values need scores of judges; only GPT-4's scores of dialogues are public.",
    "xDial-Eval": "Other values need scores of judges, which are not public.",
}
_CITED = {citation.address: citation for citation in (BOTCHAT, DIALOGBENCH, COMP_ANALYSIS, XDIAL_EVAL)}
_SHOWN = ("item", "what", "printed", "ours", "why")


def docs_text() -> str:
    """Returns the page."""
    needs = "\n".join(f"| {name} | {words} |" for name, words in NEEDS.items())
    parts = [HEAD, f"| needs | meaning |\n|---|---|\n{needs}\n", *map(_about, PAPERS)]
    return "\n".join(parts)


def _about(paper: Paper) -> str:
    made = sum(item.is_result for item in paper.items)
    standing = sum(not item.is_result and not item.why_not for item in paper.items)
    lines = [
        f"## {paper.name}\n",
        f"[{paper.title}]({paper.address}). Of {len(paper.items)} items, a run makes {made}, {standing} are prompts, "
        f"definitions or lists of this project, and {len(paper.items) - made - standing} not made.\n",
        "| item | content | made by | files | needs | remarks |",
        "|---|---|---|---|---|---|",
        *map(_row, paper.items),
        "",
        *_printed_values(paper.name),
        f"To cite it:\n\n```bibtex\n{_CITED[paper.address].bibtex}\n```\n",
    ]
    return "\n".join(lines)


def _row(item: Item) -> str:
    made_by = f"[{item.config}](../{item.config})" if item.config else ""
    made_by += f": `{item.target}`" if item.target else ""
    files = [f"`{file}`" for file in item.files()]
    files += [f"[{Path(file).name}]({_link(file)})" for file in item.defined_in]
    to_know = " ".join(filter(None, (f"Not made: {item.why_not}." if item.why_not else "", item.remark)))
    cells = (item.number, item.shows, made_by, "<br>".join(files), ", ".join(item.needs), to_know)
    return "| " + " | ".join(cells) + " |"


def _printed_values(paper: str) -> list[str]:
    """Returns what of a paper's printed values comes out, and a table of what does not."""
    rows = [row for row in read_record() if row["paper"] == paper]
    counts = {
        source: (len(found), sum(row["equal"] == "yes" for row in found))
        for source in ("data", "rows")
        for found in [[row for row in rows if row["source"] == source]]
    }
    (of_data, equal), (of_rows, equal_rows) = counts["data"], counts["rows"]
    said = [f"DialEval stores {n_stored(paper):,} published values of the paper."]
    if of_data:
        said.append(
            f"{of_data} printed values can be computed from public data; {equal} ({equal / of_data:.0%}) agree."
        )
    if of_rows:
        said.append(f"Of {of_rows} printed averages and sums, {equal_rows} agree with their rows.")
    lines = ["### Published values that were recomputed\n", " ".join([*said, REMARKS[paper]]) + "\n"]
    different = [row for row in rows if row["equal"] == "no"]
    if different:
        lines += ["| item | value | published | recomputed | reason |", "|---|---|---|---|---|"]
        lines += ["| " + " | ".join(row[column] for column in _SHOWN) + " |" for row in different]
        lines.append("")
    return lines


def _link(file: str) -> str:
    """Returns a file of the project as the page links to it."""
    return Path(os.path.relpath(PROJECT / file, DOCS.parent)).as_posix()
