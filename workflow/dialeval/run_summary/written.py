"""The summary of a run as Markdown: `results/summary.md`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pyarrow as pa

from dialeval.report.inputs import ReportInputs
from dialeval.report.numbers import listed
from dialeval.run_summary.asked import asked_table, not_answered, not_read
from dialeval.run_summary.leaders import MOST_BOARDS, Leaders, by_part, leaders_of, part_title
from dialeval.run_summary.small_tables import in_a_line, markdown_lines
from dialeval.run_summary.told import REPORT, TABLES
from dialeval.text.counting import counted

MOST_SAID = 8


def summary_of(inputs: ReportInputs, usage: pa.Table | None, battles: Mapping[str, pa.Table], report: str) -> str:
    """Returns the summary; equal tables give equal text.

    Args:
        inputs: tables and names of the run, as the report knows them, without dialogues.
        usage: the table `usage`; None where no model is asked.
        battles: ratings by the name of their table of battles.
        report: path of the report; empty where there is none.
    """
    leaders = leaders_of(inputs, battles)
    blocks = [[f"# {in_a_line(inputs.title)}"]]
    for part, of_part in by_part(leaders).items():
        blocks.append([f"## {in_a_line(part_title(part))}"])
        blocks += [_leaders(one) for one in of_part[:MOST_BOARDS]]
        if len(of_part) > MOST_BOARDS:
            blocks.append([f"{counted(len(of_part) - MOST_BOARDS, 'more leaderboard')} of this part: see the report."])
    if not leaders:
        blocks.append(["Nothing that was asked for has a leaderboard."])
    if usage is not None and len(usage):
        blocks.append(["## What was asked"])
        blocks.append(markdown_lines(asked_table(usage)))
    blocks += _unread(inputs, usage)
    blocks += _floor(inputs, usage)
    lies = [f"{REPORT}{report}"] if report else []
    lies.append(f"{TABLES}{inputs.results_dir}/tables")
    blocks.append(["## Where it lies", "", *lies])
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def _leaders(one: Leaders) -> list[str]:
    names_itself = one.title.startswith("Judge ") and one.answer.startswith(f"{one.title} ")
    title = f"**{in_a_line(one.title)}.** " if one.title and not names_itself else ""
    words = f"{title}{in_a_line(one.answer)}".strip()
    return [*([words, ""] if words else []), *(markdown_lines(one.table) if one.table.rows else [])]


def _unread(inputs: ReportInputs, usage: pa.Table | None) -> list[list[str]]:
    said = [*(not_answered(usage) if usage is not None else []), *not_read(inputs)]
    if not said:
        return []
    more = [f"- and {counted(len(said) - MOST_SAID, 'more such line')}, in the tables"] if len(said) > MOST_SAID else []
    where = "What came in place of an answer is shown in the report, under the dialogues and questions themselves."
    return [["## What could not be read", "", *(f"- {in_a_line(one)}" for one in said[:MOST_SAID]), *more, "", where]]


def _floor(inputs: ReportInputs, usage: pa.Table | None) -> list[list[str]]:
    """Returns what embedded models are, where any of them did anything."""
    asked = set(usage["model"].to_pylist()) if usage is not None else set()
    embedded = sorted(inputs.embedded & (asked | set(inputs.chatbots) | set(inputs.judges)))
    if not embedded:
        return []
    return [[_floor_words(embedded)]]


def _floor_words(names: Iterable[str]) -> str:
    named = list(names)
    are = "is an embedded model" if len(named) == 1 else "are embedded models"
    return f"{in_a_line(listed(named))} {are}: small and classical, a floor, and no claim about language models."
