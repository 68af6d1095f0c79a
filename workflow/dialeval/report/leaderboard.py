"""Leaderboards of systems, by judges and by people.

Human-corrected estimates take precedence: they order the rows of a leaderboard and give its headline.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

from dialeval.report.board import (
    Board,
    Measure,
    Value,
    is_missing,
    listed,
    of_chats,
    of_estimate,
    of_systems,
    ordered_board,
    placed,
    write_interval,
    write_number,
)
from dialeval.report.inputs import LABELS, SELFCHAT, EvaluatedProtocol, ReportInputs, Row, title_of
from dialeval.report.summary import (
    PANEL,
    Leaderboard,
    Summary,
    headline,
    judge_checks,
    rests_on,
    spread_of_labels,
    who_is_best,
)
from dialeval.stats.comparisons import not_identifiable, without_start_note
from dialeval.tables.files import HUMAN
from dialeval.tables.labels import ESTIMATES
from dialeval.tables.schema import Kind, scope

OVERALL = "overall"
"""The criterion that orders a leaderboard of several criteria."""


def build_boards(inputs: ReportInputs) -> tuple[Board, ...]:
    """Return a leaderboard for each source of dialogues and judge; without a judge, one of utterance lengths.

    Annotations, such as failures, are on none: their rates have no best.
    """
    boards = []
    for sources in inputs.board_sources():
        protocols = [one for one in inputs.protocols if one.sources == sources and one.form != "annotate"]
        judges: list[str | None] = [judge for judge in inputs.judges if _has_rows(inputs, protocols, judge)]
        if sources == (SELFCHAT,):
            judges = [name for name in inputs.judges if name in judges or name not in inputs.ensembles] or [None]
        boards += [_board(inputs, sources, protocols, judge) for judge in judges]
    return tuple(boards)


def _has_rows(inputs: ReportInputs, protocols: list[EvaluatedProtocol], judge: str) -> bool:
    return any(rows for protocol in protocols for rows in _tables(inputs, protocol, judge).values())


def _tables(inputs: ReportInputs, protocol: EvaluatedProtocol, judge: str | None) -> dict[str, list[Row]]:
    """Return the rows of one judge in every table of a protocol, by measure."""
    return {
        measure: [row for row in inputs.rows(f"{protocol.name}/{measure}") if row.get("judge", judge) == judge]
        for measure in protocol.measures
    }


def _board(
    inputs: ReportInputs, sources: tuple[str, ...], protocols: list[EvaluatedProtocol], judge: str | None
) -> Board:
    measures = [column for protocol in protocols for column in people_columns(inputs, protocol, judge)]
    unparsed: dict[str, list[tuple[str, int]]] = {}
    in_all: list[tuple[str, int]] = []
    for protocol in protocols:
        tables = _tables(inputs, protocol, judge)
        own = [with_validity(inputs, protocol, judge, measure) for measure in measured(protocol, tables)]
        measures += [placed(inputs, protocol.name, judge, measure) for measure in own]
        for system, count in count_unparsed(tables).items():
            unparsed.setdefault(system, []).append((protocol.title, count))
        in_all.append((protocol.title, n_unparsed_in_all(tables)))
    if sources == (SELFCHAT,):
        measures += _lengths(inputs)
    return ordered_board(
        judge,
        measures,
        _ordering(measures),
        inputs.chatbots if SELFCHAT in sources else (),
        unparsed={system: tuple(counts) for system, counts in unparsed.items()},
        sources=sources,
        unparsed_by_protocol=tuple(in_all),
    )


def _lengths(inputs: ReportInputs) -> Iterator[Measure]:
    lengths = inputs.rows("botchat/utterance_lengths")
    if lengths:
        tokens = {
            row["model"]: Value(row["mean"], published=row["published_mean"], cases=of_chats(row)) for row in lengths
        }
        yield Measure("Tokens per utterance", "tokens", False, tokens)


def _ordering(measures: list[Measure]) -> int | None:
    """Return the place of the primary measure, which orders the rows; None if no measure decides.

    Human-corrected measures come before a judge's own, identifiable ones before others, ranked ones before others, the
    criterion overall before others, ratings before others.
    """
    deciding = [place for place, measure in enumerate(measures) if measure.decides]
    deciding = [place for place in deciding if measures[place].by_people] or deciding
    deciding = [place for place in deciding if not _lacks_somebody(measures[place])] or deciding
    deciding = [place for place in deciding if measures[place].places] or deciding
    deciding = [place for place in deciding if measures[place].criterion == OVERALL] or deciding
    ratings = [place for place in deciding if measures[place].kind == "rating"]
    return next(iter(ratings + deciding), None)


def _lacks_somebody(measure: Measure) -> bool:
    return any(is_missing(value.value) and bool(not_identifiable(value.note)) for value in measure.values.values())


# What one judge's answers under one protocol amount to, as columns of a leaderboard: one way for every protocol.

BY_SHARE = "share of all comparisons won, ties half; ratings of some systems are not identifiable"
NONE_READ = "none of the verdicts could be parsed, so there is no rate to show"


class Column(NamedTuple):
    """The description of a column.

    Attributes:
        words: behind the protocol's title.
        kind: how its numbers are written.
        compared_as: table and measure in tables of differences; that of a rate ends with the answer.
        numbers: the columns of value, low and high in the protocol's table.
        fields: the other columns of that table that a value has: `published`, `n` and `note`.
        decides: whether its numbers at the greatest length decide who is best.
    """

    words: str
    kind: Kind
    compared_as: tuple[str, str]
    fields: tuple[str, ...]
    numbers: tuple[str, str, str] = ("estimate", "ci_low", "ci_high")
    decides: bool = True


_RATE_FIELDS, _SCORE_FIELDS = ("published", "n"), ("n", "note")
_PASS_RATE = Column("pass rate", "share", ("pass_rates", "pass_rate"), _RATE_FIELDS)
_WIN_RATE = Column("win rate", "share", ("win_rates", "won"), _SCORE_FIELDS)
_ELO = Column("Elo", "rating", ("ratings", "elo"), ("published", "note"))
_STRENGTH = Column("Bradley-Terry", "rating", ("ratings", "bradley_terry"), ("note",),
                   ("bradley_terry", "bradley_terry_ci_low", "bradley_terry_ci_high"), decides=False)  # fmt: skip
_NOT_LOST = Column("win or tie", "share", ("win_rates", "win_or_tie"), _RATE_FIELDS,
                   ("win_or_tie", "win_or_tie_ci_low", "win_or_tie_ci_high"))  # fmt: skip
_SCORE = Column("", "number", ("means", "mean"), _SCORE_FIELDS)
_CHECKLIST = Column("checklist", "share", ("checklist", "share of yes"), _SCORE_FIELDS)
_RATE = Column("rate", "share", ("rates", "rate of "), _RATE_FIELDS, decides=False)


def measured(protocol: EvaluatedProtocol, tables: Mapping[str, list[Row]]) -> Iterator[Measure]:
    """Yield the columns of a protocol: those that decide who is best, and others beside them.

    Args:
        protocol: whose.
        tables: by measure, the rows of one judge.
    """
    ratings, win_rates = tables.get("ratings", []), tables.get("win_rates", [])
    rated = all(not is_missing(row["estimate"]) for row in ratings if row["n"])
    yield from _columns(protocol, tables.get("pass_rates", []), _PASS_RATE)
    yield from _columns(protocol, [] if rated else list(_against_all(win_rates)), _WIN_RATE)
    yield from _columns(protocol, ratings, _ELO._replace(decides=rated))
    yield from _columns(protocol, ratings, _STRENGTH)
    yield from _columns(protocol, win_rates if len({row["opponent"] for row in win_rates}) == 1 else [], _NOT_LOST)
    for column in (_SCORE, _CHECKLIST, _RATE):
        yield from _columns(protocol, tables.get(column.compared_as[0], []), column)


def _columns(protocol: EvaluatedProtocol, rows: list[Row], column: Column) -> Iterator[Measure]:
    """Yield one measure for each criterion, answer and length N that the numbers are of."""
    table, compared = column.compared_as
    lengths = [row["n_utterances"] for row in rows if not is_missing(row.get("n_utterances"))]
    groups: dict[tuple[str, str, int], dict[str, Value]] = {}
    for row in rows:
        n = row.get("n_utterances")
        key = (str(row.get("criterion") or ""), str(row.get("label") or ""), 0 if is_missing(n) else int(n or 0))
        groups.setdefault(key, {})[row["system"]] = replace(_value(row, column), cases=of_systems(protocol, row))
    for (criterion, answer, n), values in sorted(groups.items(), key=lambda group: group[0][2]):
        if all(value.value is None and not value.note for value in values.values()):
            continue
        decides = column.decides and (not lengths or n == max(lengths))
        family = (table, f"{compared}{answer}", scope({"criterion": criterion, "n_utterances": n or None}))
        label = _label(protocol.title, column.words, criterion, answer, n)
        yield Measure(label, column.kind, decides, values, criterion, compared_as=family)


def _value(row: Row, column: Column) -> Value:
    """Return the number of a row; the reason, if none of a rate's verdicts was parsed."""
    if column.fields == _RATE_FIELDS:
        unparsed = row.get("unparsed")
        none_parsed = row["n"] and row["n_unparsed"] >= row["n"] if "n_unparsed" in row else (unparsed or 0) >= 1
        if none_parsed:
            return Value(None, published=row.get("published"), note=NONE_READ)
    value, low, high = (row[name] for name in column.numbers)
    found = {name: row.get(name) for name in column.fields}
    note = found.get("note") or ""
    note = without_start_note(note) if column is _STRENGTH else note
    return Value(value, low, high, found.get("published"), found.get("n"), note)


def _label(protocol: str, words: str, criterion: str | None, answer: str | None, n: int | None) -> str:
    """Return the label of a column, such as `Arena Elo (empathy) at N = 16`; no line break parts `N = 16`."""
    about = ", ".join(filter(None, (criterion, answer)))
    length = f"at N\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}{n}" if n else ""
    return " ".join(filter(None, (protocol, words, about and f"({about})", length)))


def _against_all(win_rates: list[Row]) -> Iterator[Row]:
    """Yield, per system, the share of all its comparisons that it won, a tie being half a win."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in win_rates:
        groups.setdefault(tuple(row.get(name) for name in ("system", "criterion", "n_utterances")), []).append(row)
    for (system, criterion, n_utterances), rows in groups.items():
        n = sum(row["n"] for row in rows)
        won = sum(((row["win"] or 0.0) + 0.5 * (row["tie"] or 0.0)) * row["n"] for row in rows if row["n"])
        about = {"system": system, "criterion": criterion, "n_utterances": n_utterances}
        share = {"estimate": won / n if n else None, "ci_low": None, "ci_high": None, "n": n, "note": BY_SHARE}
        yield about | share


def count_unparsed(tables: Mapping[str, list[Row]]) -> dict[str, int]:
    """Return the number of unparsed responses about each system; each response counts once.

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


def n_unparsed_in_all(tables: Mapping[str, list[Row]]) -> int:
    """Return the number of unparsed responses; one on a pair counts for both systems.

    Args:
        tables: of one protocol and judge, by measure.
    """
    counts = sum(count_unparsed(tables).values())
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


# Judge validity on a criterion, in words, from the table `judge_validity` of a protocol.

_RATERS = {"human": "human ratings", "construction": "references by construction", "model": "a model's ratings"}


def with_validity(inputs: ReportInputs, protocol: EvaluatedProtocol, judge: str | None, measure: Measure) -> Measure:
    """Return a column with the sentence on its judge's validity, if it is about a criterion."""
    for row in inputs.rows(f"{protocol.name}/judge_validity") if measure.criterion else ():
        if (row["judge"], row["criterion"]) != (judge, measure.criterion):
            continue
        if row["pearson"] is None:
            words = f"Validity of {judge} on {measure.criterion} is not known: {row['reason']}"
        else:
            interval = write_interval(row["ci_low"], row["ci_high"], "correlation")
            words = (
                f"Validity of {judge} on {measure.criterion}: its scores ({title_of(row['method'])}, "
                f"{row['level']} level) of {row['n']:,} rated items of {row['corpora']} have a "
                f"Pearson correlation of {write_number(row['pearson'], 'correlation')}"
                + (f" ({interval})" if interval else "")
                + f" with {_RATERS[row['rater_kind']]}"
            )
        return replace(measure, words=words)
    return measure


# Human-corrected estimates: columns of a judge's leaderboard, and leaderboards of the part on labels.

WHOSE = {"people": "Human-corrected", "simulated": "Simulated labels:"}
"""The beginning of a column's heading, by the annotators."""
_MIXED = "Real and simulated labels:"
LABELS_ONLY, JUDGE_ONLY = "Labels only", "Judge only"
"""Groups of columns beside human-corrected estimates."""
_KINDS: Mapping[str, tuple[str, Kind]] = MappingProxyType(
    {
        "pass_rate": ("pass rate", "share"),
        "rating": ("rating", "rating"),
        "win_or_tie": ("win or tie", "share"),
        "win_rate": ("win rate", "share"),
        "mean": ("", "number"),
        "checklist": ("checklist", "share"),
        "rate": ("rate", "share"),
    }
)
"""Measures that have a column, in order, with their words and how they are written."""
_OF_PAIRS = ("rating", "win_or_tie", "win_rate")


def people_columns(inputs: ReportInputs, protocol: EvaluatedProtocol, judge: str | None) -> Iterator[Measure]:
    """Yield the human-corrected estimates under a protocol, from labels and the scores of one judge.

    These are the measures that decide, or all if none does; the part on labels has the others.
    """
    rows = [row for row in _corrected(inputs) if (row["protocol"], row["judge"]) == (protocol.name, judge)]
    columns = [_human_corrected(inputs, label, of, decides=decides) for label, of, decides in _columns_people(rows)]
    yield from [column for column in columns if column.decides] or columns


def people_boards(inputs: ReportInputs) -> tuple[Leaderboard, ...]:
    """Return a leaderboard for each protocol with labels: human-corrected, labels only, and a judge only.

    The judge is the panel of all judges where there is one, else the first.
    """
    by_protocol: dict[str, list[Row]] = {}
    for row in _corrected(inputs):
        by_protocol.setdefault(row["protocol"], []).append(row)
    return tuple(_board_people(inputs, name, rows) for name, rows in by_protocol.items())


def _corrected(inputs: ReportInputs) -> list[Row]:
    """Return the rows that are of a single system; win rates against one of many are left to the table."""
    rows = [row for row in inputs.rows(ESTIMATES.name) if row["measure"] in _KINDS]
    fields = {_group(row, "protocol", "judge") for row in rows if row["measure"] == "win_rate" and not row["opponent"]}
    return [row for row in rows if not row["opponent"] or _group(row, "protocol", "judge") not in fields]


def _group(row: Row, *names: str) -> tuple[Any, ...]:
    return tuple(row[name] for name in (*names, "measure", "criterion", "answer", "n_utterances"))


def _columns_people(rows: list[Row]) -> Iterator[tuple[str, list[Row], bool]]:
    """Yield the rows of each column, its label without the words on whose it is, and whether it decides.

    Those of the greatest length decide, and of pairs the first of rating, win or tie, and win rate that is there and
    has a number for every system.
    """
    groups: dict[tuple[Any, ...], list[Row]] = {}
    order = list(_KINDS)
    for row in sorted(rows, key=lambda row: (order.index(row["measure"]), row["n_utterances"] or 0)):
        groups.setdefault(_group(row, "protocol"), []).append(row)
    measured = [measure for measure in order if measure in {row["measure"] for row in rows}]
    lacking = {row["measure"] for row in rows if is_missing(row["estimate"]) and not_identifiable(row["note"])}
    of_pairs = sorted((measure for measure in measured if measure in _OF_PAIRS), key=lambda measure: measure in lacking)
    beside = {"rate", *of_pairs[1:]}
    longest = {row["measure"]: row["n_utterances"] or 0 for of in groups.values() for row in of}  # the last stays
    for (protocol, measure, criterion, given, n), of in groups.items():
        label = _label(title_of(protocol), _KINDS[measure][0], criterion, given, n)
        yield label, of, measure not in beside and (n or 0) == longest[measure]


def _human_corrected(inputs: ReportInputs, label: str, rows: list[Row], *, decides: bool) -> Measure:
    first = rows[0]
    column = Measure(
        f"{WHOSE.get(first['annotators'], _MIXED)} {label}",
        _KINDS[first["measure"]][1],
        decides,
        {
            row["system"]: Value(
                row["estimate"], row["ci_low"], row["ci_high"], note=row["note"] or "", cases=of_estimate(inputs, row)
            )
            for row in rows
        },
        first["criterion"] or "",
        _words(label, rows),
        compared_as=(first["protocol"], first["measure"], scope(first)),
        by_people=first["annotators"],
        short=label,
    )
    return placed(inputs, LABELS, first["judge"], column)


def _words(label: str, rows: list[Row]) -> str:
    """Return how many labels a column rests on, and the judge's bias."""
    first, kind = rows[0], _KINDS[rows[0]["measure"]][1]
    counts = sorted(row["n_labelled"] for row in rows)
    labels = f"{counts[0]:,}" if counts[0] == counts[-1] else f"{counts[0]:,} to {counts[-1]:,}"
    biases = sorted(row["judge_bias"] for row in rows if not is_missing(row["judge_bias"]))
    judge = "all judges together" if first["judge"] == PANEL else f"judge {first['judge']}"
    bias = f"; bias of {judge}: {_range(biases, kind)}" if biases else ""
    return f"{label}: {labels} labelled items per system{bias}"


def _range(values: list[float], kind: Kind) -> str:
    rounded = [float(f"{value:.2g}") for value in (values[0], values[-1])]
    return " to ".join(dict.fromkeys(("+" if value > 0 else "") + write_number(value, kind) for value in rounded))


def _board_people(inputs: ReportInputs, protocol: str, rows: list[Row]) -> Leaderboard:
    judges = list(dict.fromkeys(row["judge"] for row in rows))
    judge = PANEL if PANEL in judges else judges[0]
    measures: list[Measure] = []
    alone = "All judges" if judge == PANEL else JUDGE_ONLY
    for label, of, decides in _columns_people([row for row in rows if row["judge"] == judge]):
        measures += [
            _human_corrected(inputs, label, of, decides=decides),
            _alone(LABELS_ONLY, label, of, "human_only", LABELS_ONLY),
            _alone(alone, label, of, "judge_only", JUDGE_ONLY),
        ]
    sources = next((one.sources for one in inputs.protocols if one.name == protocol), ())
    board = ordered_board(judge, measures, _ordering(measures), sources=sources)
    deciding = [measure for measure in measures if measure.decides and _first(measure)]
    basis = [*_significance(board, deciding, measures), *rests_on(board)]
    details = (
        *(f"{measure.words}." for measure in measures if measure.words),
        *judge_checks(inputs, protocol, judge),
        *spread_of_labels(inputs, protocol),
    )
    summary = Summary(who_is_best(board, deciding), tuple(basis), details, headline(board))
    return Leaderboard(LABELS, title_of(protocol), "System", board, summary, {HUMAN: ("people",)})


def _alone(whose: str, label: str, rows: list[Row], column: str, group: str) -> Measure:
    names = (column, f"{column}_ci_low", f"{column}_ci_high")
    values = {row["system"]: Value(*(row[name] for name in names)) for row in rows}
    return Measure(f"{whose}: {label}", _KINDS[rows[0]["measure"]][1], False, values, group=group)


def _significance(board: Board, deciding: list[Measure], measures: list[Measure]) -> Iterator[str]:
    """Yield a sentence where the judge alone would name another winner."""
    differing = []
    for measure in deciding:
        alone = measures[measures.index(measure) + 2]
        firsts = [_first(one) for one in (measure, alone)]
        if None not in firsts and firsts[0] != firsts[1]:
            differing.append(f"{firsts[1]} by {alone.label.partition(': ')[2]}")
    if differing:
        who = "all judges" if board.judge == PANEL else f"judge {board.judge}"
        yield f"According to {who} alone, the first is {listed(differing)}."


def _first(measure: Measure) -> str | None:
    known = {name: number for name in measure.values if (number := measure.number(name)) is not None}
    return max(known, key=lambda name: known[name]) if known else None
