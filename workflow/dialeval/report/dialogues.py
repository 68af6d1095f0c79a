"""The dialogues of the viewer, case by case: chatbots' own on each seed, and transcripts; with human labels."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from dialeval.report.inputs import SELFCHAT, ReportInputs
from dialeval.report.packing import Columns, Grouped, Names, Pool, zipped
from dialeval.tables.dialogues import JUDGEMENTS
from dialeval.tables.files import HUMAN, to_table

_UNREMARKABLE = frozenset({"stop", ""})
_BEGINNING = 120


class Dialogues(Protocol):
    """The dialogues of one source.

    Attributes:
        source: its name.
        noun: noun for one of its cases.
        cases: summary of each case: id, first utterance, language, n_utterances.
    """

    source: str
    noun: str
    cases: list[dict[str, Any]]

    def piece(self, names: Names, place: int) -> dict[str, Any]:
        """Return the dialogues on the case at a place.

        `models` and `utterances` go together: one list of places in `strings` per dialogue. `speakers` are the first
        dialogue's, or by dialogue where `speakers_of` is there. `remarks` are [dialogue, turn, finish reason, dropped]
        where an utterance did not end by itself or its history was cut. `hidden_messages` are [dialogue, turn that
        follows, kind, text].
        """

    def system_of(self, item_id: str, case_id: str) -> str:
        """Return whose a dialogue is."""

    def number_of(self, item_id: str) -> int:
        """Return which of the dialogues on its case an item is; -1 where a system has but one."""


class Selfchat:
    """Chatbots' own dialogues, seed by seed, the human one first."""

    source = SELFCHAT
    noun = "seed"

    def __init__(self, inputs: ReportInputs) -> None:
        self._seeds = inputs.seeds.to_pylist()
        self._people = _human_dialogues(inputs, self._seeds)
        self._generated = Grouped(inputs.generated, ["seed_id", "chatbot", "turn"], large=["text"])
        self.cases = [
            {
                "id": seed["seed_id"],
                "first": (seed["utterances"] or [""])[0][:_BEGINNING],
                "language": seed["language"],
                "n_utterances": seed["n_human"],
            }
            for seed in self._seeds
        ]

    def piece(self, names: Names, place: int) -> dict[str, Any]:
        """Return the dialogues on a seed."""
        seed = self._seeds[place]
        rows = self._generated.rows(seed["seed_id"])
        return _on_seed(names, seed, self._people.get(seed["seed_id"], {}), rows)

    def system_of(self, item_id: str, case_id: str) -> str:
        """Return the chatbot that an item is of."""
        return item_id.removeprefix(f"{case_id}/")

    def number_of(self, item_id: str) -> int:
        """Return -1: a chatbot has one dialogue on a seed."""
        return -1


class Transcripts:
    """The dialogues of one source of transcripts, those on one case together."""

    noun = "case"

    def __init__(self, inputs: ReportInputs, source: str) -> None:
        self.source = source
        table = inputs.transcripts[source]
        alone = pc.if_else(pc.equal(table["case_id"], ""), table["item_id"], table["case_id"])
        table = table.append_column("case", alone)
        self._items = Grouped(table, ["case", "system", "item_id"], large=[])
        hidden_messages = inputs.hidden_messages.get(source)
        self._hidden = (
            None if hidden_messages is None else Grouped(hidden_messages, ["item_id", "before"], large=["text"])
        )
        self._systems: dict[str, str] = dict(
            zip(table["item_id"].to_pylist(), table["system"].to_pylist(), strict=True)
        )
        self._numbers: dict[str, int] = {}
        self.cases = []
        for case in dict.fromkeys(alone.to_pylist()):
            rows = self._items.rows(case)
            self._numbers |= {item_id: number for number, item_id in enumerate(rows["item_id"])}
            first = rows["utterances"][0]
            about = {"language": rows["language"][0], "n_utterances": max(map(len, rows["utterances"]))}
            self.cases.append({"id": case, "first": (first or [""])[0][:_BEGINNING], **about})

    def piece(self, names: Names, place: int) -> dict[str, Any]:
        """Return the dialogues on a case."""
        pool = Pool()
        rows = self._items.rows(self.cases[place]["id"])
        hidden_messages: list[list[Any]] = []
        for number, item_id in enumerate(rows["item_id"]):
            beside = self._hidden.rows(item_id) if self._hidden else {"before": [], "kind": [], "text": []}
            for before, kind, text in _not_among(rows["utterances"][number], beside):
                hidden_messages.append([number, before, kind, pool.place(text)])
        return {
            "opening": [],
            "speakers": [],
            "speakers_of": rows["speakers"],
            "models": [names.model(system) for system in rows["system"]],
            "utterances": [[pool.place(text) for text in spoken] for spoken in rows["utterances"]],
            "remarks": [],
            "hidden_messages": hidden_messages,
            "strings": pool.strings(),
        }

    def system_of(self, item_id: str, case_id: str) -> str:
        """Return the system that an item is of."""
        return self._systems.get(item_id, "")

    def number_of(self, item_id: str) -> int:
        """Return which of the dialogues on its case an item is."""
        return self._numbers.get(item_id, -1)


def _not_among(utterances: list[str], beside: Columns) -> Iterator[tuple[int, str, str]]:
    """Yield the hidden messages that are not shown among the utterances, with their kind."""
    hidden_messages = list(zipped(beside, "before", "kind", "text"))
    shown = {f" {text}" for _, _, text in hidden_messages}
    is_hidden = [text.startswith("[") and text[text.find("]") + 1 :] in shown for text in utterances]
    spoken = [place for place, hidden in enumerate(is_hidden) if not hidden]
    there = {text[text.find("]") + 1 :] for text, hidden in zip(utterances, is_hidden, strict=True) if hidden}
    for before, kind, text in hidden_messages:
        if f" {text}" not in there:
            yield spoken[before] if before < len(spoken) else len(utterances), kind, text


def sources_of(inputs: ReportInputs) -> list[Dialogues]:
    """Return the sources of dialogues that a run has."""
    found: list[Dialogues] = [Selfchat(inputs)] if inputs.chatbots or len(inputs.seeds) else []
    return found + [Transcripts(inputs, source) for source in inputs.transcripts]


def _human_dialogues(inputs: ReportInputs, seeds: list[dict[str, Any]]) -> dict[str, dict[int, tuple[str, str]]]:
    """Return speaker and text by turn of the human dialogue of every seed."""
    wanted = {(seed["corpus"], seed["seed_id"]) for seed in seeds}
    people: dict[str, dict[int, tuple[str, str]]] = defaultdict(dict)
    rows = inputs.human.to_pydict()
    for corpus, dialogue_id, turn, speaker, text in zipped(rows, "corpus", "dialogue_id", "turn", "speaker", "text"):
        if (corpus, dialogue_id) in wanted:
            people[dialogue_id][turn] = (speaker, text)
    return people


def _on_seed(
    names: Names, seed: Mapping[str, Any], people: Mapping[int, tuple[str, str]], rows: Columns
) -> dict[str, Any]:
    pool = Pool()
    opening = [pool.place(text) for text in seed["utterances"]]
    models: list[int] = []
    utterances: list[list[int]] = []
    remarks: list[list[Any]] = []
    if people:
        models.append(names.model(HUMAN))
        utterances.append([pool.place(people[turn][1]) for turn in sorted(people)])
    for chatbot, turn, text, finish_reason, dropped in zipped(
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


# Labels and annotators' comments in the dialogue viewer.

_SAME = ("protocol", "corpus", "item_id", "case_id", "n_utterances", "criterion", "choice", "outcome", "place", "value",
         "scale_min", "scale_max")  # fmt: skip
"""Columns that labels and judgements have in common."""


def with_labels(inputs: ReportInputs) -> ReportInputs:
    """Return the run with every annotator as one more judge, before the others, for the dialogue viewer alone."""
    if not inputs.labels.num_rows:
        return inputs
    rows = to_table(JUDGEMENTS, [_judgement(row) for row in inputs.labels.to_pylist()])
    return replace(
        inputs,
        judges=(*people_of(inputs), *inputs.judges),
        verdicts=pa.concat_tables([rows.replace_schema_metadata(), inputs.verdicts.replace_schema_metadata()]),
    )


def people_of(inputs: ReportInputs) -> list[str]:
    """Return the viewer's names of the annotators."""
    names = zip(inputs.labels["annotator"].to_pylist(), inputs.labels["simulated"].to_pylist(), strict=True)
    return sorted({_called(annotator, simulated) for annotator, simulated in names})


def _called(annotator: str, simulated: bool) -> str:
    return f"{'simulated annotator' if simulated else 'annotator'} {annotator}"


def _judgement(label: Mapping[str, Any]) -> dict[str, Any]:
    again = "Labelled a second time." if label["round"] else ""
    return {
        **{name: label[name] for name in _SAME},
        "judge": _called(label["annotator"], label["simulated"]),
        "request_id": f"{label['file']}/{label['row']}",
        "left": label["system"],
        "right": label["opponent"],
        "repeat": label["round"],
        "reason": " ".join(words for words in (again, label["comment"]) if words),
        "status": "skipped" if label["skipped"] else "ok",
    }
