"""The dialogues and verdicts of the viewer, packed so that a browser opens only what it shows.

Every seed is a piece of its own: two lines of compressed JSON, its dialogues and its verdicts. In a piece, strings
stand once in a pool and columns hold places in it. An index over all pieces holds what is needed to list and filter
the seeds. All of it is base64 of a zlib stream, so no character of a dialogue can mean anything to an HTML parser.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dialeval.report.inputs import ReportInputs, Table
from dialeval.report.outcomes import SIDES, Result, comparison_outcomes, single_outcome
from dialeval.tables import HUMAN

Columns = dict[str, list[Any]]
Case = tuple[str, str, int, str]
"""Judge, protocol, N (0 unless the protocol is asked at several), model."""

OUTCOMES: tuple[Result, ...] = ("won", "tied", "lost", "none")
_PROTOCOLS_AT_SEVERAL_N = frozenset({"arena"})
_VERDICT_COLUMNS = [
    "judge", "protocol", "request_id", "case_id", "left", "right", "n_utterances", "choice", "outcome",
    "place", "reason", "status",
]  # fmt: skip
_VERDICT_ORDER = ["case_id", "judge", "protocol", "n_utterances", "left", "right", "request_id"]


@dataclass(frozen=True)
class Archive:
    """What is embedded in the page.

    Attributes:
        index: the packed index.
        dialogues, verdicts: packed lines, one per seed that found room.
        n_seeds: how many seeds there are.
    """

    index: str
    dialogues: tuple[str, ...]
    verdicts: tuple[str, ...]
    n_seeds: int

    @property
    def size(self) -> int:
        """Bytes that it takes in the page."""
        return len(self.index) + sum(len(line) + 1 for line in (*self.dialogues, *self.verdicts))


def build_archive(inputs: ReportInputs, budget: int) -> Archive:
    """Packs the dialogues and verdicts of as many seeds, from the first on, as fit.

    Args:
        inputs: the run.
        budget: bytes that the archive may take.
    """
    names = _Names(inputs)
    seeds = inputs.seeds.to_pylist()
    people = _human_dialogues(inputs, seeds)
    generated = _BySeed(inputs.generated, ["seed_id", "chatbot", "turn"], large=["text"])
    verdicts = _BySeed(inputs.verdicts.select(_VERDICT_COLUMNS), _VERDICT_ORDER, large=["reason", "request_id"])
    raw_answers = _raw_answers(inputs)
    counts = _Counts()
    dialogue_lines: list[str] = []
    verdict_lines: list[str] = []
    size = 0
    for place, seed in enumerate(seeds):
        rows = verdicts.rows(seed["seed_id"])
        pieces = (
            _dialogues_piece(names, seed, people.get(seed["seed_id"], {}), generated.rows(seed["seed_id"])),
            _verdicts_piece(names, rows, raw_answers),
        )
        lines = [pack(piece) for piece in pieces]
        size += sum(len(line) + 1 for line in lines)
        if size > budget:
            break
        dialogue_lines.append(lines[0])
        verdict_lines.append(lines[1])
        counts.add(place, rows)
    kept = len(dialogue_lines)
    while True:
        archive = Archive(
            pack(_index(names, seeds[:kept], counts)),
            tuple(dialogue_lines[:kept]),
            tuple(verdict_lines[:kept]),
            len(seeds),
        )
        if archive.size <= budget or kept == 0:
            return archive
        kept -= 1 + kept // 50


def pack(content: Any) -> str:
    """Returns content as base64 of a zlib stream of compact JSON; the same content always gives the same text."""
    plain = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return base64.b64encode(zlib.compress(plain.encode("utf-8", "surrogatepass"), 6)).decode("ascii")


def unpack(packed: str) -> Any:
    """Returns what `pack` was given, tuples as lists."""
    return json.loads(zlib.decompress(base64.b64decode(packed)))


class _Names:
    """Numbers of models and judges; a name that the run does not list gets the next number."""

    def __init__(self, inputs: ReportInputs) -> None:
        self.models = {model: place for place, model in enumerate((HUMAN, *inputs.chatbots))}
        self.judges = {judge: place for place, judge in enumerate(inputs.judges)}
        self.embedded = inputs.embedded
        for judge in sorted(pc.unique(inputs.verdicts["judge"]).to_pylist()):
            self.judge(judge)

    def model(self, name: str) -> int:
        return self.models.setdefault(name, len(self.models))

    def judge(self, name: str) -> int:
        return self.judges.setdefault(name, len(self.judges))


class _Pool:
    """Strings that stand once."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}

    def place(self, text: str | None) -> int:
        """Returns the place of a string, -1 for None."""
        return -1 if text is None else self._places.setdefault(text, len(self._places))

    def strings(self) -> list[str]:
        return list(self._places)


class _BySeed:
    """A table's rows, seed by seed, in a fixed order within each; the first column of that order says which seed."""

    def __init__(self, table: Table, order: list[str], large: list[str]) -> None:
        for name in large:  # so that sorting can join more than 2 GB of text
            table = table.set_column(table.column_names.index(name), name, table[name].cast(pa.large_string()))
        self._table = table.sort_by([(name, "ascending") for name in order])
        counts = pc.value_counts(self._table[order[0]])
        sizes = sorted((entry["values"], entry["counts"]) for entry in counts.to_pylist())
        self._slices: dict[str, tuple[int, int]] = {}
        start = 0
        for seed_id, size in sizes:
            self._slices[seed_id] = (start, size)
            start += size

    def rows(self, seed_id: str) -> Columns:
        """Returns the columns of one seed's rows."""
        columns: Columns = self._table.slice(*self._slices.get(seed_id, (0, 0))).to_pydict()
        return columns


@dataclass
class _Counts:
    """How often each model won, tied, lost or got no verdict on each seed, by judge and protocol."""

    by_case: dict[Case, dict[Result, dict[int, int]]] = field(
        default_factory=lambda: defaultdict(lambda: {outcome: defaultdict(int) for outcome in OUTCOMES})
    )

    def add(self, place: int, rows: Columns) -> None:
        """Counts the verdicts on the seed at a place."""
        for judge, protocol, n, left, right, choice, outcome in _zipped(
            rows, "judge", "protocol", "n_utterances", "left", "right", "choice", "outcome"
        ):
            at = n if protocol in _PROTOCOLS_AT_SEVERAL_N and n is not None else 0
            if right is None:
                self.by_case[judge, protocol, at, left][single_outcome(choice)][place] += 1
                continue
            for model, result in zip((left, right), comparison_outcomes(outcome), strict=True):
                self.by_case[judge, protocol, at, model][result][place] += 1


def _zipped(rows: Columns, *names: str) -> Iterator[tuple[Any, ...]]:
    return zip(*(rows[name] for name in names), strict=True)


def _human_dialogues(inputs: ReportInputs, seeds: list[dict[str, Any]]) -> dict[str, dict[int, tuple[str, str]]]:
    """Returns speaker and text by turn of the human dialogue of every seed."""
    wanted = {(seed["corpus"], seed["seed_id"]) for seed in seeds}
    people: dict[str, dict[int, tuple[str, str]]] = defaultdict(dict)
    rows = inputs.human.to_pydict()
    for corpus, dialogue_id, turn, speaker, text in _zipped(rows, "corpus", "dialogue_id", "turn", "speaker", "text"):
        if (corpus, dialogue_id) in wanted:
            people[dialogue_id][turn] = (speaker, text)
    return people


def _raw_answers(inputs: ReportInputs) -> dict[tuple[str, str], str]:
    """Returns what judges wrote where no verdict could be read, by judge and request."""
    unread = inputs.verdicts.filter(pc.not_equal(inputs.verdicts["status"], "ok"))
    answers = {}
    for judge, responses in inputs.responses.items():
        asked = unread.filter(pc.equal(unread["judge"], judge))["request_id"].combine_chunks()
        rows = responses.filter(pc.is_in(responses["request_id"], value_set=asked)).to_pydict()
        answers.update({(judge, request): text for request, text in _zipped(rows, "request_id", "text") if text})
    return answers


def _dialogues_piece(
    names: _Names, seed: Mapping[str, Any], people: Mapping[int, tuple[str, str]], rows: Columns
) -> dict[str, Any]:
    """Returns the dialogues of one seed.

    `models` and `utterances` go together: one list of places in `strings` per dialogue. `speakers` are the human
    dialogue's. `remarks` are [dialogue, turn, finish reason, dropped] where an utterance did not end by itself or
    its history was cut.
    """
    pool = _Pool()
    opening = [pool.place(text) for text in seed["utterances"]]
    models: list[int] = []
    utterances: list[list[int]] = []
    remarks: list[list[Any]] = []
    if people:
        models.append(names.model(HUMAN))
        utterances.append([pool.place(people[turn][1]) for turn in sorted(people)])
    for chatbot, turn, text, finish_reason, dropped in _zipped(
        rows, "chatbot", "turn", "text", "finish_reason", "dropped"
    ):
        model = names.model(chatbot)
        if not models or models[-1] != model:
            models.append(model)
            utterances.append(opening[:])
        if turn < len(opening):
            continue
        utterances[-1].append(pool.place(text))
        if dropped or finish_reason not in _UNREMARKABLE:
            remarks.append([len(models) - 1, turn, finish_reason, dropped])
    return {
        "strings": pool.strings(),
        "opening": opening,
        "speakers": [people[turn][0] for turn in sorted(people)],
        "models": models,
        "utterances": utterances,
        "remarks": remarks,
    }


_UNREMARKABLE = frozenset({"stop", ""})


def _verdicts_piece(names: _Names, rows: Columns, raw_answers: Mapping[tuple[str, str], str]) -> dict[str, Any]:
    """Returns the verdicts on one seed, column by column; texts are places in `strings`, -1 where there is none."""
    pool = _Pool()

    def places(texts: Iterable[str | None]) -> list[int]:
        return [pool.place(text) for text in texts]

    return {
        "judge": [names.judge(judge) for judge in rows["judge"]],
        "protocol": places(rows["protocol"]),
        "n": [n or 0 for n in rows["n_utterances"]],
        "left": [names.model(left) for left in rows["left"]],
        "right": [-1 if right is None else names.model(right) for right in rows["right"]],
        "choice": places(rows["choice"]),
        "outcome": [-1 if outcome is None else SIDES.index(outcome) for outcome in rows["outcome"]],
        "place": [place or 0 for place in rows["place"]],
        "reason": places(reason or None for reason in rows["reason"]),
        "status": places(rows["status"]),
        "answer": places(raw_answers.get(asked) for asked in _zipped(rows, "judge", "request_id")),
        "strings": pool.strings(),
    }


def _index(names: _Names, seeds: list[dict[str, Any]], counts: _Counts) -> dict[str, Any]:
    """Returns what is known of all seeds without opening them.

    `cases` are [judge, protocol, N, model]; `outcomes` goes with them: for each of won, tied, lost and none a list of
    places of seeds and, after them, as many counts.
    """
    cases = sorted(counts.by_case, key=lambda case: (names.judge(case[0]), case[1], case[2], names.model(case[3])))
    outcomes = []
    for case in cases:
        by_outcome = [
            sorted((place, count) for place, count in counts.by_case[case][outcome].items() if place < len(seeds))
            for outcome in OUTCOMES
        ]
        outcomes.append([[*(place for place, _ in pairs), *(count for _, count in pairs)] for pairs in by_outcome])
    return {
        "ids": [seed["seed_id"] for seed in seeds],
        "first": [(seed["utterances"] or [""])[0][:120] for seed in seeds],
        "languages": [seed["language"] for seed in seeds],
        "n_human": [seed["n_human"] for seed in seeds],
        "models": list(names.models),
        "judges": list(names.judges),
        "embedded": sorted(names.embedded),
        "cases": [[names.judge(judge), protocol, n, names.model(model)] for judge, protocol, n, model in cases],
        "outcomes": outcomes,
    }
