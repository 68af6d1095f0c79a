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
the target; a configuration with other models makes the same item for them. Files are relative to the results
folder. Published values appear beside yours if a model has the paper's name. `python -m
dialeval.report.reference.printed_values DATA_DIR` records which printed values can be computed from the public
data. The report's part "Papers" lists the items that a run made. This page is generated from
`workflow/dialeval/papers/` (`python -m dialeval.report.reference`).
"""
REMARKS = {
    "BotChat": (
        "GTEval's shares are made of whole verdicts, which were recovered from the percentages in the authors' "
        "notebook, and so check no more than the formula. Lengths, pass rates and Elo need dialogues and verdicts that "
        "are gone."
    ),
    "DialogBench": "Its items were never published with their contents, so that no accuracy can be computed.",
    "comp-analysis": "Everything else needs the scores of its judges, of which GPT-4's on dialogues alone are public.",
    "xDial-Eval": "Everything else needs the scores of its judges, none of which is public.",
}
_CITED = {citation.address: citation for citation in (BOTCHAT, DIALOGBENCH, COMP_ANALYSIS, XDIAL_EVAL)}
_SHOWN = ("item", "what", "printed", "ours", "why")


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
        f"[{paper.title}]({paper.address}). {len(paper.items)} items: made by a run {made}; prompts, words or "
        f"lists that stand in the project {standing}; not made {len(paper.items) - made - standing}.\n",
        "| item | shows | made by | files | needs | to know |",
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
    said = [f"The project keeps {n_stored(paper):,} values that the paper prints."]
    if of_data:
        said.append(
            f"From the public data alone {of_data} printed values can be computed, and {equal} ({equal / of_data:.0%}) "
            "come out."
        )
    if of_rows:
        said.append(f"Of {of_rows} averages and sums of printed rows {equal_rows} come out.")
    lines = ["### Printed values that come out\n", " ".join([*said, REMARKS[paper]]) + "\n"]
    different = [row for row in rows if row["equal"] == "no"]
    if different:
        lines += ["| item | what | printed | ours | why |", "|---|---|---|---|---|"]
        lines += ["| " + " | ".join(row[column] for column in _SHOWN) + " |" for row in different]
        lines.append("")
    return lines


def _link(file: str) -> str:
    """Returns a file of the project as the page links to it."""
    return Path(os.path.relpath(PROJECT / file, DOCS.parent)).as_posix()
