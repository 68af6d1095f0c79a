"""What a design can show, in words for whoever asked for an estimate."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from dialeval.aggregation.planning.people import NEVER_BY_LABELS, NEVER_BY_SEEDS, PEOPLE

Row = Mapping[str, Any]
HEAD = (
    "what this design can show: the smallest difference of two systems that is found in four of five runs (5% level), "
    "for two systems by themselves and after Holm's correction for all pairs, and what would halve its interval"
)


def planning_in_words(rows: Sequence[Row]) -> str:
    """Returns the table `planning` for reading; nothing where it is empty."""
    if not rows:
        return ""
    alike: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        about = tuple(row[name] for name in ("protocol", "measure", "n_utterances", "what", "judge", "note"))
        alike.setdefault((*about, _shown(row), _halved(row)), []).append(row)
    notes: dict[str, list[str]] = {}
    lines = [HEAD]
    for (*_, note, shown, halved), of in alike.items():
        lines.append(f"{_whose(of)}: {shown}; {halved}")
        for one in filter(None, (note or "").split("; ")):
            if one not in (NEVER_BY_LABELS, NEVER_BY_SEEDS):  # which the line says
                notes.setdefault(one, []).append(_whose(of))
    every = {"all": [_whose(of) for of in alike.values()]}
    every["people"] = [_whose(of) for of in alike.values() if of[0]["what"] == PEOPLE]
    lines += [f"{_few(about, every)}: {note}" for note, about in notes.items()]
    return "\n".join(lines)


def _whose(rows: Sequence[Row]) -> str:
    """Returns what rows are about that differ in their criteria alone."""
    row, n = rows[0], rows[0]["n_utterances"]
    of = ", ".join(filter(None, [*(one["criterion"] for one in rows), f"N = {n}" if n else ""]))
    number = f"{row['protocol']} {row['measure'].replace('_', ' ')}" + (f" ({of})" if of else "")
    return f"{number}, people with {row['judge']}" if row["what"] == PEOPLE else f"{number}, {row['judge']}"


def _shown(row: Row) -> str:
    smallest, half = row["smallest_difference"], row["half_width"]
    if smallest is None or math.isnan(smallest):
        return "nothing can be said"
    what = f"{row['n_seeds']:,} cases"
    if row["what"] == PEOPLE:
        what = f"{row['n_labels']:,} labels, {what}"
    n_pairs = row["n_systems"] * (row["n_systems"] - 1) // 2
    corrected = row["smallest_difference_holm"]
    if n_pairs > 1 and corrected is not None and not math.isnan(corrected):
        what = f"{_written(corrected)} with Holm over {n_pairs:,} pairs; {what}"
    return f"{_written(smallest)} ({what}; interval ±{_written(half)}; from {row['basis']})"


def _halved(row: Row) -> str:
    ways = []
    for count, noun, cost in (
        (row["seeds_to_halve"], "cases", row["cost_of_seeds"]),
        (row.get("labels_to_halve"), "labels", row.get("cost_of_labels")),
    ):
        if count is not None:
            ways.append(f"{count:,} {noun} more" + ("" if cost is None else f" (about {cost:,.2f})"))
    if not ways and row["what"] == PEOPLE:
        return "neither cases nor labels alone would halve it, but four times as many of both"
    if not ways:
        return "nothing is known that would halve it"
    words = f"{' or '.join(ways)} would halve it"
    return f"{words}, {row['cheaper']} being cheaper" if len(ways) > 1 and row.get("cheaper") else words


def _few(about: Sequence[str], every: Mapping[str, Sequence[str]]) -> str:
    """Returns the rows that a note is about, in a word where these are all, or all on people."""
    for word, rows in every.items():
        if about == rows and len(rows) > 1:
            return word
    return "; ".join(about) if len(about) <= 3 else f"{'; '.join(about[:2])} and {len(about) - 2} others"


def _written(number: float) -> str:
    return f"{number:.0f}" if number >= 20 else f"{number:.2g}"
