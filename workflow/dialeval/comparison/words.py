"""What a comparison amounts to, in sentences and in the few lines that a terminal shows."""

from __future__ import annotations

import math
from pathlib import Path

from dialeval.comparison.findings import Comparison, Row
from dialeval.comparison.numbers import ALPHA, PERHAPS, YES
from dialeval.schemas.every import table_named
from dialeval.text.counting import counted

N_LINES = 8


def answer(comparison: Comparison) -> str:
    """Returns what became of the numbers, in one sentence or two."""
    tested = [row for row in comparison.numbers if not math.isnan(row["p"])]
    n_yes, n_perhaps = (sum(row["moved"] == moved for row in tested) for moved in (YES, PERHAPS))
    if not tested:
        return "No number could be tested: no two of them have intervals."
    of = f"Of {counted(len(tested), 'number')} of both runs that could be tested"
    if not n_yes and not n_perhaps:
        return f"{of}, none moved beyond its interval."
    by_chance = f"by chance alone one would expect up to about {len(tested) * ALPHA:.0f}"
    beyond = f"{n_yes + n_perhaps} moved beyond {'their' if n_yes + n_perhaps > 1 else 'its'} own 95% interval"
    sure = f"{n_yes or 'none'} of them also when all {len(tested):,} are tested at once (Holm)"
    return f"{of}, {beyond} ({by_chance}), {sure}."


def about_verdicts(comparison: Comparison) -> str:
    """Returns how many verdicts are the same, in a sentence; empty where there are none."""
    both, same, flipped = (sum(row[name] for row in comparison.verdicts) for name in ("n_both", "n_same", "n_flipped"))
    if not both:
        return ""
    of = f"Of {counted(both, 'verdict')} on the same cases"
    unread = sum(row[name] for row in comparison.verdicts for name in ("n_lost", "n_gained"))
    less = both - same - flipped - unread
    rest = [f"{unread:,} could be read in one run alone"] if unread else []
    rest += [f"{less:,} differ by less than a flip, such as half a scale"] if less > 0 else []
    return f"{of} {same:,} are the same ({same / both:.1%}), and {flipped:,} flipped{'; '.join(['', *rest])}."


def about_changes(comparison: Comparison) -> str:
    """Returns what was set otherwise, by kind, in a sentence."""
    kinds = list(dict.fromkeys(row["kind"] for row in comparison.changes))
    if not kinds:
        return "Nothing is known to have been set otherwise."
    counts = [f"{kind} ({sum(row['kind'] == kind for row in comparison.changes)})" for kind in kinds]
    return f"Set otherwise: {', '.join(counts)}."


def shown(value: float | None, row: Row) -> str:
    """Returns a number as the table that has it writes it."""
    if value is None or math.isnan(value):
        return "–"
    kind_name = row["table"]
    kind = table_named(kind_name)
    column = row["measure"] if kind and row["measure"] in kind.schema.names else "estimate"
    how = kind.kind_of(column) if kind and column in kind.schema.names else "number"
    return f"{value:.1%}" if how == "share" else f"{value:.0f}" if how == "rating" else f"{value:.3g}"


def interval(row: Row) -> str:
    """Returns the interval of a difference; empty where there is none."""
    low, high = shown(row["low"], row), shown(row["high"], row)
    return "" if low == "–" or high == "–" else f"{low} to {high}"


def words_of(comparison: Comparison, page: Path) -> str:
    """Returns what to say in a terminal."""
    first, second = comparison.names
    lines = [f"a: {first}", f"b: {second}", answer(comparison)]
    moved = [row for row in comparison.numbers if row["moved"] in (YES, PERHAPS)]
    moved.sort(key=lambda row: row["p"])
    for row in moved[:N_LINES]:
        judge = row["judge"] and f"judge {row['judge']}"
        of = ", ".join(filter(None, (row["table"], row["system"], judge, row["scope"])))
        move = f"{shown(row['value_a'], row)} -> {shown(row['value_b'], row)}"
        lines.append(f"  {of}: {move}, p {row['p']:.2g}{'' if row['moved'] == YES else ' (perhaps)'}")
    if len(moved) > N_LINES:
        lines.append(f"  and {len(moved) - N_LINES} more")
    lines += [sentence for sentence in (about_verdicts(comparison), about_changes(comparison)) if sentence]
    lines += [f"not compared: {problem}" for problem in comparison.problems]
    for name, only in zip(comparison.names, comparison.only, strict=True):
        if only:
            lines.append(f"only {name} has {counted(len(only), 'table')}: {_first(only)}")
    return "\n".join([*lines, f"page: {page}"])


def _first(names: list[str], most: int = 5) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
