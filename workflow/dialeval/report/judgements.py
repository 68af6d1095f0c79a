"""Judgements of the dialogues in the viewer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, Literal, get_args

import pyarrow as pa
import pyarrow.compute as pc

from dialeval.criteria import NO_FAILURE
from dialeval.protocols.locate import passes
from dialeval.report.dialogues import Dialogues
from dialeval.report.exchanges import Exchange, Exchanges, how_read
from dialeval.report.inputs import EvaluatedProtocol, ReportInputs
from dialeval.report.packing import Columns, Grouped, Names, Pool, Prompts, zipped
from dialeval.tables.dialogues import Form, Outcome

Case = tuple[str, str, int, str]
"""Judge, protocol, N (0 unless the protocol has several), system."""
MOST_ANSWERS = 120_000
"""The page holds at most so many requests and responses in full; the tables have all."""
OUTCOMES: tuple[Result, ...] = ("won", "tied", "lost", "none", "answered")
_COLUMNS = [
    "judge", "protocol", "request_id", "case_id", "left", "right", "n_utterances", "choice", "outcome", "place",
    "reason", "status", "item_id", "criterion", "value", "scale_min", "scale_max", "repeat", "places",
]  # fmt: skip
_ORDER = [
    "case", "judge", "protocol", "criterion", "n_utterances", "left", "right", "item_id", "repeat", "request_id"
]  # fmt: skip


def judgements_piece(
    names: Names, rows: Columns, lookup: FirstExchanges, exchanges: Exchanges, prompts: Prompts
) -> dict[str, Any]:
    """Return the judgements on one case, column by column; texts are places in `strings`, -1 where there is none.

    Args:
        names: numbers of systems and judges.
        rows: the judgements.
        lookup: how responses were parsed.
        exchanges: requests and responses.
        prompts: prompts of the page, to which these are added; `prompt` is a number in it.
    """
    pool = Pool()
    found = [exchanges.get(key) for key in zipped(rows, "judge", "request_id")]

    return {
        "dialogue": rows["dialogue"],
        "judge": [names.judge(judge) for judge in rows["judge"]],
        "protocol": pool.places(rows["protocol"]),
        "criterion": pool.places(rows["criterion"]),
        "n": [n or 0 for n in rows["n_utterances"]],
        "left": [names.model(left) for left in rows["left"]],
        "right": [-1 if right is None else names.model(right) for right in rows["right"]],
        "choice": pool.places(rows["choice"]),
        "outcome": [-1 if outcome is None else SIDES.index(outcome) for outcome in rows["outcome"]],
        "place": [place or 0 for place in rows["place"]],
        "places": rows["places"],
        "value": [None if value is None else round(value, 4) for value in rows["value"]],
        "scale": [
            pool.place(None if low is None or high is None else f"{low:g}–{high:g}")
            for low, high in zipped(rows, "scale_min", "scale_max")
        ],
        "reason": pool.places(reason or None for reason in rows["reason"]),
        "status": pool.places(rows["status"]),
        "repeat": rows["repeat"],
        "answer": pool.places((one.answer["text"] or None) if one else None for one in found),
        "thoughts": pool.places((one.answer["reasoning"] or None) if one else None for one in found),
        "read": pool.places(
            how_read(lookup.forms.get(protocol), status, one) or None
            for protocol, status, one in zip(rows["protocol"], rows["status"], found, strict=True)
        ),
        "facts": pool.places(lookup.facts(judge, one) for judge, one in zip(rows["judge"], found, strict=True)),
        "probabilities": [one.probabilities() if one else None for one in found],
        "prompt": [prompts.place(one.prompt()) if one else -1 for one in found],
        "strings": pool.strings(),
    }


class Judged:
    """The judgements about the dialogues of one source, by their case."""

    def __init__(self, inputs: ReportInputs, dialogues: Dialogues) -> None:
        table = inputs.verdicts
        elsewhere = [one.name for one in inputs.protocols if dialogues.source not in one.sources]
        if elsewhere:
            table = table.filter(pc.invert(pc.is_in(table["protocol"], value_set=pa.array(elsewhere, pa.string()))))
        table = table.filter(pc.fill_null(pc.equal(table["corpus"], dialogues.source), True)).select(_COLUMNS)
        case = pc.if_else(pc.equal(pc.fill_null(table["case_id"], ""), ""), table["item_id"], table["case_id"])
        table = table.append_column("case", pc.fill_null(case, ""))
        self._rows = Grouped(table, _ORDER, large=["reason", "request_id"])
        self._dialogues = dialogues

    def rows(self, case: str) -> Columns:
        """Return the judgements on a case, each with the system that it is about."""
        rows = self._rows.rows(case)
        rows["left"] = [
            self._dialogues.system_of(item_id or "", case_id or "") if left is None else left
            for left, item_id, case_id in zipped(rows, "left", "item_id", "case_id")
        ]
        rows["dialogue"] = [
            self._dialogues.number_of(item_id) if item_id and right is None else -1
            for item_id, right in zipped(rows, "item_id", "right")
        ]
        return rows


def score_and_disagreement(rows: Columns) -> tuple[float | None, float | None]:
    """Return the mean score of a case, and how far judgements of the same question differ; None without any.

    Scores are scaled to 0 to 1: a value on its scale, or 1 for a dialogue in which the judge sees no AI. The
    disagreement is the mean range of the scores, or of the outcomes of a pair, by several judges, orders or repeats.
    """
    scores: dict[tuple[Any, ...], list[float]] = defaultdict(list)
    outcomes: dict[tuple[Any, ...], list[float]] = defaultdict(list)
    for row in (dict(zip(rows, values, strict=True)) for values in zipped(rows, *rows)):
        about = (row["protocol"], row["criterion"], row["n_utterances"])
        if row["right"] is not None:
            if row["outcome"] is not None:
                share = {"left": 1.0, "right": 0.0}.get(row["outcome"], 0.5)
                is_first = row["left"] <= row["right"]
                pair = (row["left"], row["right"]) if is_first else (row["right"], row["left"])
                outcomes[(*about, *pair)].append(share if is_first else 1.0 - share)
        elif row["value"] is not None and (row["scale_max"] or 0.0) > (row["scale_min"] or 0.0):
            low, high = row["scale_min"] or 0.0, row["scale_max"]
            scores[(*about, row["item_id"], row["left"])].append((row["value"] - low) / (high - low))
        elif row["choice"] in ("Yes", "No") and not row["criterion"]:
            scores[(*about, row["item_id"], row["left"])].append(float(row["choice"] == "No"))
    ranges = [max(of) - min(of) for of in (*scores.values(), *outcomes.values()) if len(of) > 1]
    return mean(score for of in scores.values() for score in of), mean(ranges)


def mean(values: Iterable[float]) -> float | None:
    """Return the mean to four digits; None of none."""
    known = list(values)
    return round(sum(known) / len(known), 4) if known else None


def orders_of(labels: Iterable[str], values: Iterable[tuple[float | None, ...]]) -> list[list[Any]]:
    """Return the orders by which cases can be sorted, as the page's index has them: label and value of each case.

    An order in which all cases are equal is left out.
    """
    by_order = list(map(list, zip(*values, strict=True)))
    return [[label, of] for label, of in zip(labels, by_order, strict=False) if len({*of} - {None}) > 1]


class Counts:
    """How often each system won, tied, lost, got no verdict or a value on each case, by judge and protocol.

    Attributes:
        at_lengths: protocols with several N.
        marking: annotation protocols; each of their labels counts like a protocol, lost if the label is present.
        by_case: by system under a judge and protocol (`Case`), and by result: counts by the place of a seed or case.
        against: by case and opponent, of each of its comparisons the place of the case and that of the result in
            `OUTCOMES`.
    """

    def __init__(self, protocols: Iterable[EvaluatedProtocol]) -> None:
        protocols = list(protocols)
        self.at_lengths = {one.name for one in protocols if one.lengths}
        self.marking = {one.name for one in protocols if one.form == "annotate"}
        self._read_at = {one.name: one.at for one in protocols}
        self.by_case: dict[Case, dict[Result, dict[int, int]]] = defaultdict(
            lambda: {outcome: defaultdict(int) for outcome in OUTCOMES}
        )
        self.against: dict[Case, dict[str, list[tuple[int, int]]]] = defaultdict(lambda: defaultdict(list))

    def add(self, place: int, rows: Columns) -> None:
        """Count the judgements on the case at a place."""
        for judge, protocol, n, left, right, choice, outcome, criterion, value, first_ai in zipped(
            rows, "judge", "protocol", "n_utterances", "left", "right", "choice", "outcome", "criterion", "value",
            "place",
        ):  # fmt: skip
            at = n if protocol in self.at_lengths and n is not None else 0
            if right is not None:
                results = comparison_outcomes(outcome)
                for system, other, result in zip((left, right), (right, left), results, strict=True):
                    case = judge, protocol, at, system
                    self.by_case[case][result][place] += 1
                    self.against[case][other].append((place, OUTCOMES.index(result)))
            elif protocol in self.marking:
                self.by_case[judge, kind_of(protocol, criterion), at, left][marked(criterion, choice)][place] += 1
            elif criterion is None:
                self.by_case[judge, protocol, at, left][single_outcome(choice)][place] += 1
                for length in self._read_at.get(protocol, ()):
                    if n is not None and n >= length:
                        self.by_case[judge, protocol, length, left][outcome_at(choice, first_ai, length)][place] += 1
            else:
                result = "none" if value is None and choice is None else "answered"
                self.by_case[judge, protocol, at, left][result][place] += 1


def kind_of(protocol: str, criterion: str) -> str:
    """Return the name of a criterion of an annotating protocol in the filter of protocols."""
    return f"{protocol}: {criterion}"


class FirstExchanges:
    """Requests to judges and their responses, looked up for the first cases until a limit of responses.

    Attributes:
        forms: of the questions, by protocol.
    """

    def __init__(self, inputs: ReportInputs) -> None:
        self.forms: Mapping[str, Form] = {one.name: one.form for one in inputs.protocols}
        self._source = inputs.exchange_source
        self._n_answers = 0
        folder = inputs.results_dir
        self._elsewhere = (
            f"requests and responses are not in this page, but in {folder}/requests and {folder}/responses"
        )
        self._answering = {*self._source.judges, *self._source.together} if self._source else set()

    def about(self, cases: Iterable[Columns]) -> Exchanges:
        """Return requests and responses about cases with the given judgements, in order."""
        wanted: dict[str, set[str]] = {}
        for rows in cases:
            if self._n_answers >= MOST_ANSWERS:
                break
            self._n_answers += len(rows["judge"])
            for judge, request_id in zipped(rows, "judge", "request_id"):
                wanted.setdefault(judge, set()).add(request_id)
        return self._source.exchanges(wanted) if self._source and wanted else {}

    def facts(self, judge: str, exchange: Exchange | None) -> str | None:
        """Return tokens and cost of a response, or its file."""
        if exchange is None:
            return self._elsewhere if judge in self._answering else None
        return exchange.facts() or None


# Outcome of a verdict for each of its dialogues: won, tied, lost, none, or answered (a score or label).

Result = Literal["won", "tied", "lost", "none", "answered"]

SIDES: tuple[str, ...] = get_args(Outcome)
"""Values of a judgement's `outcome`."""


def comparison_outcomes(outcome: str | None) -> tuple[Result, Result]:
    """Return the result for the left and for the right dialogue of a comparison.

    Raises:
        ValueError: the outcome is not a value of the table `judgements`.
    """
    if outcome is None:
        return "none", "none"
    if outcome not in SIDES:
        raise ValueError(f"outcome {outcome!r} is none of {', '.join(SIDES)}")
    if outcome == "tie":
        return "tied", "tied"
    return ("won", "lost") if outcome == "left" else ("lost", "won")


def outcome_at(choice: str | None, first_ai: int | None, n: int) -> Result:
    """Return the same at a length N, at which an AI that is seen after N counts for human (`forms.locate.passes`)."""
    if choice is None:
        return "none"
    return "won" if passes(choice, first_ai, n) else "lost"


def marked(criterion: str, choice: str | None) -> Result:
    """Return whether a dialogue shows a kind (lost) or not (won); for good_case the reverse.

    Raises:
        ValueError: the choice is neither Yes nor No.
    """
    found = single_outcome(choice)
    if criterion != NO_FAILURE or found == "none":
        return found
    return "lost" if found == "won" else "won"


def single_outcome(choice: str | None) -> Result:
    """Return whether a single dialogue passed as human (won) or not (lost).

    Args:
        choice: `No` if the judge saw no AI, `Yes` if it did, None if its verdict could not be read.

    Raises:
        ValueError: the choice is not one of UniEval's.
    """
    if choice is None:
        return "none"
    if choice not in {"Yes", "No"}:
        raise ValueError(f"choice {choice!r} is neither Yes nor No")
    return "won" if choice == "No" else "lost"
