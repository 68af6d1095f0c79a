"""What one judge's answers under one protocol amount to, as columns of a leaderboard: one way for every protocol."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from dialeval.report.board import Measure, Value
from dialeval.report.links import of_systems
from dialeval.report.numbers import is_missing
from dialeval.report.protocols import AskedProtocol
from dialeval.schemas.differences import scope
from dialeval.schemas.table import Kind

Row = dict[str, Any]
PASS, ELO, BRADLEY_TERRY = ("pass_rates", "pass_rate"), ("ratings", "elo"), ("ratings", "bradley_terry")
WON = ("win_rates", "won")
WIN_OR_TIE, MEAN = ("win_rates", "win_or_tie"), ("means", "mean")
CHECKLIST, RATE = ("checklist", "share of yes"), ("rates", "rate of ")
"""Table and measure by which tables of differences call a number; that of a rate ends with the answer."""
BY_SHARE = "share of all comparisons won, ties half; ratings of some systems are not identifiable"
NONE_READ = "none of the verdicts could be read, so there is no rate to show"


def measured(protocol: AskedProtocol, tables: Mapping[str, list[Row]]) -> Iterator[Measure]:
    """Yields the columns of a protocol: those that decide who is best, and others beside them.

    Args:
        protocol: whose.
        tables: by measure, the rows of one judge.
    """
    title = protocol.title
    columns = partial(_columns, protocol)
    yield from columns(tables.get("pass_rates", []), f"{title} pass rate", "share", _share, PASS, longest_decides=True)
    ratings = tables.get("ratings", [])
    win_rates = tables.get("win_rates", [])
    rated = all(not is_missing(row["estimate"]) for row in ratings if row["n"])
    if not rated:
        yield from columns(_against_all(win_rates), f"{title} win rate", "share", _mean, WON, longest_decides=True)
    yield from columns(ratings, f"{title} Elo", "rating", _elo, ELO, longest_decides=rated)
    yield from columns(ratings, f"{title} Bradley-Terry", "rating", _bradley_terry, BRADLEY_TERRY)
    if len({row["opponent"] for row in win_rates}) == 1:
        yield from columns(win_rates, f"{title} win or tie", "share", _win_or_tie, WIN_OR_TIE, longest_decides=True)
    yield from columns(tables.get("means", []), title, "number", _mean, MEAN, longest_decides=True)
    checklist = tables.get("checklist", [])
    yield from columns(checklist, f"{title} checklist", "share", _mean, CHECKLIST, longest_decides=True)
    yield from columns(tables.get("rates", []), f"{title} rate", "share", _share, RATE)


def _columns(
    protocol: AskedProtocol,
    rows: Iterable[Row],
    label: str,
    kind: Kind,
    read: Callable[[Row], Value],
    compared_as: tuple[str, str],
    *,
    longest_decides: bool = False,
) -> Iterator[Measure]:
    """Yields one column for whatever else the numbers are of: criterion, answer and length N."""
    rows = list(rows)
    table, compared = compared_as
    lengths = [row["n_utterances"] for row in rows if not is_missing(row.get("n_utterances"))]
    groups: dict[tuple[str, str, int], dict[str, Value]] = {}
    for row in rows:
        n = row.get("n_utterances")
        key = (str(row.get("criterion") or ""), str(row.get("label") or ""), 0 if is_missing(n) else int(n or 0))
        groups.setdefault(key, {})[row["system"]] = replace(read(row), cases=of_systems(protocol, row))
    for (criterion, answer, n), values in sorted(groups.items(), key=lambda group: group[0][2]):
        if all(value.value is None and not value.note for value in values.values()):
            continue
        words = [label, *(f"({one})" for one in (", ".join(filter(None, (criterion, answer))),) if one)]
        where = f" at {length_label(n)}" if n else ""
        decides = longest_decides and (not lengths or n == max(lengths))
        family = (table, f"{compared}{answer}", scope({"criterion": criterion, "n_utterances": n or None}))
        yield Measure(" ".join(words) + where, kind, decides, values, criterion, compared_as=family)


def length_label(n: int) -> str:
    """Returns `N = 16`, which no line break may part."""
    return f"N\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}{n}"


def _share(row: Row) -> Value:
    if row["n"] and row["n_unparsed"] >= row["n"]:
        return Value(None, published=row.get("published"), note=NONE_READ)
    return Value(row["estimate"], row["low"], row["high"], row.get("published"), row["n"])


def _elo(row: Row) -> Value:
    return Value(row["estimate"], row["low"], row["high"], row.get("published"), note=row["note"] or "")


def _bradley_terry(row: Row) -> Value:
    return Value(row["bradley_terry"], row["bradley_terry_low"], row["bradley_terry_high"], note=row["note"] or "")


def _against_all(win_rates: list[Row]) -> Iterator[Row]:
    """Yields, per system, the share of all its comparisons that it won, a tie being half a win."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in win_rates:
        groups.setdefault(tuple(row.get(name) for name in ("system", "criterion", "n_utterances")), []).append(row)
    for (system, criterion, n_utterances), rows in groups.items():
        n = sum(row["n"] for row in rows)
        won = sum(((row["win"] or 0.0) + 0.5 * (row["tie"] or 0.0)) * row["n"] for row in rows if row["n"])
        about = {"system": system, "criterion": criterion, "n_utterances": n_utterances}
        share = {"estimate": won / n if n else None, "low": None, "high": None, "n": n, "note": BY_SHARE}
        yield about | share


def _win_or_tie(row: Row) -> Value:
    if not is_missing(row["unparsed"]) and row["unparsed"] >= 1:
        return Value(None, published=row.get("published"), note=NONE_READ)
    return Value(row["win_or_tie"], row["win_or_tie_low"], row["win_or_tie_high"], row.get("published"), row["n"])


def _mean(row: Row) -> Value:
    return Value(row["estimate"], row["low"], row["high"], n=row["n"], note=row["note"] or "")


def unread(tables: Mapping[str, list[Row]]) -> dict[str, int]:
    """Returns how many answers about each system could not be read, each counted once whatever is made of it.

    Args:
        tables: of one protocol and judge, by measure.
    """
    if rows := tables.get("pass_rates") or tables.get("rates"):  # one answer serves every N and every label
        return _of_each(rows, lambda counts: max(counts), "n_unparsed")
    if rows := tables.get("ratings"):
        return _of_each(rows, sum, "n_unparsed")
    if rows := tables.get("win_rates"):
        shares = [{**row, "n_unparsed": round((row["unparsed"] or 0.0) * row["n"])} for row in rows]
        return _of_each(shares, sum, "n_unparsed")
    return _of_each(tables.get("means") or tables.get("checklist") or [], sum, "n_missing")


def unread_in_all(tables: Mapping[str, list[Row]]) -> int:
    """Returns how many answers could not be read, where one on a pair counts for both of its systems.

    Args:
        tables: of one protocol and judge, by measure.
    """
    counts = sum(unread(tables).values())
    if tables.get("pass_rates") or tables.get("rates"):
        return counts
    pairs = {(row["system"], row["opponent"]) for row in tables.get("win_rates", ())}
    both_ways = bool(pairs) and all((opponent, system) in pairs for system, opponent in pairs)
    return counts // 2 if tables.get("ratings") or both_ways else counts


def _of_each(rows: list[Row], over: Callable[[Iterable[int]], int], column: str) -> dict[str, int]:
    counts: dict[str, list[int]] = {}
    for row in rows:
        counts.setdefault(row["system"], []).append(row[column])
    return {system: over(of_system) for system, of_system in counts.items()}
