"""What judges said of the dialogues of the viewer, case by case."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dialeval.report.dialogues import Dialogues
from dialeval.report.inputs import ReportInputs
from dialeval.report.outcomes import SIDES, Result, comparison_outcomes, marked, single_outcome
from dialeval.report.packing import Columns, Grouped, Names, Pool, zipped

Case = tuple[str, str, int, str]
"""Judge, protocol, N (0 unless the protocol is asked at several), system."""
OUTCOMES: tuple[Result, ...] = ("won", "tied", "lost", "none")
_COLUMNS = [
    "judge", "protocol", "request_id", "case_id", "left", "right", "n_utterances", "choice", "outcome", "place",
    "reason", "status", "item_id", "criterion", "value", "scale_min", "scale_max", "repeat", "places",
]  # fmt: skip
_ORDER = [
    "case", "judge", "protocol", "criterion", "n_utterances", "left", "right", "item_id", "repeat", "request_id"
]  # fmt: skip


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
        """Returns the judgements on a case, each with the system that it is about."""
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


@dataclass
class Counts:
    """How often each system won, tied, lost or got no verdict on each case, by judge and protocol.

    Attributes:
        at_lengths: protocols that are asked at several N.
        marking: protocols that mark kinds, each of which counts like a protocol: lost is where it shows.
    """

    at_lengths: frozenset[str]
    marking: frozenset[str] = frozenset()
    by_case: dict[Case, dict[Result, dict[int, int]]] = field(
        default_factory=lambda: defaultdict(lambda: {outcome: defaultdict(int) for outcome in OUTCOMES})
    )

    def add(self, place: int, rows: Columns) -> None:
        """Counts the judgements on the case at a place."""
        for judge, protocol, n, left, right, choice, outcome, criterion, value in zipped(
            rows, "judge", "protocol", "n_utterances", "left", "right", "choice", "outcome", "criterion", "value"
        ):
            at = n if protocol in self.at_lengths and n is not None else 0
            if right is not None:
                for system, result in zip((left, right), comparison_outcomes(outcome), strict=True):
                    self.by_case[judge, protocol, at, system][result][place] += 1
            elif protocol in self.marking:
                self.by_case[judge, kind_of(protocol, criterion), at, left][marked(criterion, choice)][place] += 1
            elif criterion is None:
                self.by_case[judge, protocol, at, left][single_outcome(choice)][place] += 1
            elif value is None and choice is None:
                self.by_case[judge, protocol, at, left]["none"][place] += 1


def kind_of(protocol: str, criterion: str) -> str:
    """Returns what a kind under a protocol that marks several is called, among protocols."""
    return f"{protocol}: {criterion}"


def raw_answers(inputs: ReportInputs) -> dict[tuple[str, str], str]:
    """Returns what judges wrote where no verdict could be read, by judge and request."""
    unread = inputs.verdicts.filter(pc.not_equal(inputs.verdicts["status"], "ok"))
    answers = {}
    for judge, responses in inputs.responses.items():
        asked = unread.filter(pc.equal(unread["judge"], judge))["request_id"].combine_chunks()
        rows = responses.filter(pc.is_in(responses["request_id"], value_set=asked)).to_pydict()
        answers.update({(judge, request): text for request, text in zipped(rows, "request_id", "text") if text})
    return answers


def judgements_piece(names: Names, rows: Columns, answers: Mapping[tuple[str, str], str]) -> dict[str, Any]:
    """Returns the judgements on one case, column by column; texts are places in `strings`, -1 where there is none."""
    pool = Pool()

    def places(texts: Iterable[str | None]) -> list[int]:
        return [pool.place(text) for text in texts]

    return {
        "dialogue": rows["dialogue"],
        "judge": [names.judge(judge) for judge in rows["judge"]],
        "protocol": places(rows["protocol"]),
        "criterion": places(rows["criterion"]),
        "n": [n or 0 for n in rows["n_utterances"]],
        "left": [names.model(left) for left in rows["left"]],
        "right": [-1 if right is None else names.model(right) for right in rows["right"]],
        "choice": places(rows["choice"]),
        "outcome": [-1 if outcome is None else SIDES.index(outcome) for outcome in rows["outcome"]],
        "place": [place or 0 for place in rows["place"]],
        "places": rows["places"],
        "value": [None if value is None else round(value, 4) for value in rows["value"]],
        "scale": [
            pool.place(None if low is None or high is None else f"{low:g}–{high:g}")
            for low, high in zipped(rows, "scale_min", "scale_max")
        ],
        "reason": places(reason or None for reason in rows["reason"]),
        "status": places(rows["status"]),
        "answer": places(answers.get(asked) for asked in zipped(rows, "judge", "request_id")),
        "strings": pool.strings(),
    }
