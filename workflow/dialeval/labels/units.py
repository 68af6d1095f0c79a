"""Units of labels and sheets of annotators.

A unit is a system's dialogue or response, or two systems' dialogues on one case. A sheet hides the system of a
dialogue: the key is a digest, and the order of a pair is random.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Literal

from dialeval.corpora.items import Item, iterate_items
from dialeval.criteria import Criterion, Level
from dialeval.prompts.rendering import letters_of
from dialeval.protocols.item_prompts import PlanSettings, item_criteria, scored_items
from dialeval.protocols.pair import Compared, by_case, compared, refuse_strangers

# The sheet of one annotator: units in a random order and questions about each.

SheetForm = Literal["scale", "pair", "locate"]


@dataclass(frozen=True, slots=True)
class Sheet:
    """One annotator's work under one protocol.

    Attributes:
        protocol, annotator: their names.
        draw: id of the sample, exported with the labels.
        form: scale (an answer to each question), pair (which of two), locate (whether an AI took part, and where).
        level: turn (the last utterance is evaluated) or dialogue.
        questions: questions about every unit.
        units: units in the order shown.
        language: language of the dialogues.
        guidelines: Markdown beside the questions.
    """

    protocol: str
    annotator: str
    draw: str
    form: SheetForm
    level: Literal["turn", "dialogue"]
    questions: tuple[SheetQuestion, ...]
    units: tuple[ShownUnit, ...]
    language: str = "en"
    guidelines: str = ""


@dataclass(frozen=True, slots=True)
class ShownUnit:
    """A unit on a sheet: a dialogue, a response in its context, or two dialogues side by side.

    Attributes:
        key: key in the export; the key of a pair depends on its order.
        dialogues: one dialogue, or the two of a pair in the order shown.
    """

    key: str
    dialogues: tuple[tuple[ShownTurn, ...], ...]


@dataclass(frozen=True, slots=True)
class ShownTurn:
    """One utterance of a dialogue on a sheet.

    Attributes:
        speaker: letter of the speaker, which the key and the CSV file have.
        text: the utterance.
        judged: whether it is evaluated.
        role: name of the speaker on the page, User or Assistant; empty for the letter.
    """

    speaker: str
    text: str
    judged: bool = True
    role: str = ""


@dataclass(frozen=True, slots=True)
class SheetQuestion:
    """One question about every unit of the sheet.

    Attributes:
        criterion: name of its criterion, exported with the answer; empty without one.
        text: the question.
        options: possible answers; empty for a scale of numbers.
        low, high: limits of a scale of numbers; any number between them is an answer.
    """

    criterion: str
    text: str
    options: tuple[Option, ...] = ()
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Option:
    """One answer that can be given.

    Attributes:
        label: text of the answer, on the page and in the export.
        meaning: its meaning in the rubric; empty without one.
        shown: text of its button on the page, with the meaning; empty for label and meaning.
    """

    label: str
    meaning: str = ""
    shown: str = ""


# The units of a protocol, with the ids of the judgements.

_ASSISTANTS = ("assistant", "chatbot", "bot", "system", "agent")
Dialogue = tuple[ShownTurn, ...]
Identity = tuple[str, str, str, str, str, int | None, Level]
"""Corpus, item, case, system, opponent, length and level, which identify a unit."""


def identity_columns(identity: Identity) -> dict[str, str | int | None]:
    """Return the columns of tables that identify a unit; None for what it has not."""
    names = ("corpus", "item_id", "case_id", "system", "opponent", "n_utterances")
    return {name: None if value == "" else value for name, value in zip(names, identity, strict=False)}


@dataclass(frozen=True)
class Frame:
    """All units of a protocol.

    Attributes:
        units: units in the order of their tables.
        criteria: criteria by level, in the protocol's order; empty if the question has none.
        skipped: number of pairs left out, by reason.
    """

    units: list[Unit]
    criteria: dict[Level, list[Criterion]] = field(default_factory=dict)
    skipped: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Unit:
    """One unit of labels, with the ids of the judgements about it.

    Attributes:
        level: turn (the last utterance is evaluated) or dialogue.
        system: its system; of a pair the alphabetically first.
        opponent: the other system of a pair.
        corpus, item_id: ids of a single dialogue or response.
        case_id: id of the case; empty without one.
        n_utterances: length as in judgements.
        language: code of its language.
        dialogues: one dialogue, or those of `system` and of `opponent`.
    """

    level: Level
    system: str
    opponent: str
    corpus: str
    item_id: str
    case_id: str
    n_utterances: int | None
    language: str
    dialogues: tuple[Dialogue, ...]

    @property
    def identity(self) -> Identity:
        """Return the fields that identify the unit."""
        return (self.corpus, self.item_id, self.case_id, self.system, self.opponent, self.n_utterances, self.level)

    @property
    def words(self) -> str:
        """Return the unit's description for messages."""
        if self.opponent:
            cut = f" at {self.n_utterances} utterances" if self.n_utterances else ""
            return f"'{self.system}' and '{self.opponent}' on case '{self.case_id}'{cut}"
        return f"item '{self.item_id}' of {self.corpus}"


def frame_of(settings: PlanSettings, paths: Iterable[Path]) -> Frame:
    """Return all units of a protocol: the systems' dialogues and responses that judges evaluate.

    Args:
        settings: the protocol and the criteria that it names.
        paths: its tables of items, without perturbed ones.

    Raises:
        UserError: no two systems of a pair met the same case.
    """
    if settings.protocol.form == "pair":
        return _pairs(settings, paths)
    if settings.protocol.form == "locate":
        items = chain.from_iterable(iterate_items(path) for path in paths)
        units = [_single(item) for item in items if item.system]
        return Frame(units, {"dialogue": list(settings.criteria)})
    return _scored(settings, paths)


def keyed(units: Iterable[Unit], draws: Mapping[Level, str]) -> dict[str, Unit]:
    """Return units by their keys in the draws of their levels; a level without a draw has none."""
    return {key_of(draws[unit.level], unit): unit for unit in units if unit.level in draws}


def key_of(draw: str, unit: Unit) -> str:
    """Return a unit's key in a draw: a digest of its identity and text, which hides the system.

    The key begins with `t`, since spreadsheets read `12e45678` as a number.
    """
    content = [draw, unit.identity, [[(turn.speaker, turn.text) for turn in turns] for turns in unit.dialogues]]
    digest = hashlib.sha256(json.dumps(content, ensure_ascii=False).encode()).hexdigest()
    return f"t{digest[:16]}"


def _scored(settings: PlanSettings, paths: Iterable[Path]) -> Frame:
    about = item_criteria(settings, ())
    frame = Frame([])
    for item in scored_items(settings, paths):
        if not item.system:
            continue
        groups = about.groups_of_rated(item) if settings.protocol.form == "scale" else [about.of_rated(item)]
        if criteria := [one for group in groups for one in group]:
            frame.criteria.setdefault(item.level, criteria)
            frame.units.append(_single(item))
    return frame


def _single(item: Item) -> Unit:
    """Return the unit of an item; judgements about a system's item bear its length."""
    n = len(item.utterances)
    shown = _shown(item, n)
    return Unit(item.level, item.system, "", item.corpus, item.item_id, item.case_id, n, item.language, (shown,))


def _pairs(settings: PlanSettings, paths: Iterable[Path]) -> Frame:
    question, skipped = settings.question(), Counter[str]()
    cases = by_case(chain.from_iterable(iterate_items(path) for path in paths))
    if not question.shipped:
        for notice in refuse_strangers(cases, question.protocol.data, question.name):
            print(notice)
    units = list(_compared(settings, compared(cases, question.protocol.data, skipped), skipped))
    return Frame(units, {"dialogue": list(settings.criteria)}, +skipped)


def _compared(settings: PlanSettings, pairs: Iterable[Compared], skipped: Counter[str]) -> Iterator[Unit]:
    shown: dict[tuple[str, str, int | None], Dialogue] = {}
    for meeting, n, length in pairs:
        if meeting.about != meeting.left.case_id:
            skipped["a system's second dialogue on a case, which judgements do not distinguish from its first"] += 1
            continue
        sides = sorted((meeting.left, meeting.right), key=lambda item: item.system)
        dialogues = []
        for item in sides:
            key = (item.corpus, item.item_id, length)
            if key not in shown:
                shown[key] = _shown(item, length)
            dialogues.append(shown[key])
        left, right = sides
        at = len(dialogues[0]) if settings.shipped else n
        yield Unit("dialogue", left.system, right.system, "", "", left.case_id, at, left.language, tuple(dialogues))


def _shown(item: Item, length: int | None) -> Dialogue:
    """Return a dialogue for annotators: letters replace the speakers' names, which may reveal the system."""
    letters, roles = letters_of(item.speakers), _roles(item)
    last = len(item.utterances) - 1
    turns = []
    for place, (letter, speaker, text) in enumerate(zip(letters, item.speakers, item.utterances, strict=True)):
        judged = place == last if item.level == "turn" else item.judged in ("", speaker)
        turns.append(ShownTurn(letter, text, judged, roles.get(speaker, "")))
    return tuple(turns[:length])


def _roles(item: Item) -> dict[str, str]:
    """Return User and Assistant by speaker, if the two speakers are known as such; else nothing."""
    speakers = list(dict.fromkeys(item.speakers))
    assistants = [name for name in speakers if name == item.judged or name.casefold() in _ASSISTANTS]
    users = [name for name in speakers if name not in assistants]
    if len(assistants) != 1 or len(users) > 1:
        return {}
    return {assistants[0]: "Assistant"} | dict.fromkeys(users, "User")
