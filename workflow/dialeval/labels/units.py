"""Everything that people can be asked about, and what one annotator is shown.

Nothing on a sheet says whose a dialogue is: its key is a digest, and of a pair the first shown is not always the same.

These are the units of which some are drawn: a system's dialogue or response, or two systems' dialogues on one case.
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

# What one annotator is shown: things in a random order of the annotator's own, and questions about each.

Kind = Literal["scale", "pair", "locate"]


@dataclass(frozen=True, slots=True)
class Option:
    """One answer that can be given.

    Attributes:
        label: what the annotator reads, and what is exported.
        meaning: what it stands for, where a rubric says it.
    """

    label: str
    meaning: str = ""


@dataclass(frozen=True, slots=True)
class SheetQuestion:
    """One question about every thing of the sheet.

    Attributes:
        criterion: its name, exported with the answer; empty where the question has none.
        text: the question.
        options: the answers; none for numbers.
        low, high: ends of a scale of numbers without options; any number between them is an answer.
    """

    criterion: str
    text: str
    options: tuple[Option, ...] = ()
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class ShownTurn:
    """One utterance as it is shown."""

    speaker: str
    text: str
    judged: bool = True


@dataclass(frozen=True, slots=True)
class Thing:
    """A dialogue, a response in its context, or two dialogues side by side.

    Attributes:
        key: what it is exported under; of a pair it also tells which was shown first.
        dialogues: one, or two of a pair, the first shown first.
    """

    key: str
    dialogues: tuple[tuple[ShownTurn, ...], ...]


@dataclass(frozen=True, slots=True)
class Sheet:
    """One annotator's work under one protocol.

    Attributes:
        protocol, annotator: their names.
        draw: which draw the things are of; exported, so that labels of another draw are known.
        kind: scale (an answer to each question), pair (which of two), locate (whether an AI took part, and where).
        level: of single things: turn (the last utterance is asked about) or dialogue.
        questions: asked about every thing.
        things: in the order in which they are shown.
        language: of the dialogues, for the page.
    """

    protocol: str
    annotator: str
    draw: str
    kind: Kind
    level: Literal["turn", "dialogue"]
    questions: tuple[SheetQuestion, ...]
    things: tuple[Thing, ...]
    language: str = "en"


# Everything that people can be asked about under a protocol: what judges are asked about, with the same ids.

Dialogue = tuple[ShownTurn, ...]
Identity = tuple[str, str, str, str, str, int | None, Level]
"""Corpus, item, case, system, the other system, length and level: what a unit is, whatever is said in it."""


@dataclass(frozen=True, slots=True)
class Unit:
    """What an annotator can be asked about; ids are those of judgements about the same.

    Attributes:
        level: whether the last utterance or the whole is asked about.
        system: whose it is; of a pair the first in the alphabet.
        opponent: the other system of a pair.
        corpus, item_id: of what is single.
        case_id: the case that was met; empty where there is none.
        n_utterances: as judgements give it.
        language: code of its language.
        dialogues: what is shown: one, or those of `system` and of `opponent`.
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
        """Returns what it is, whatever is said in it."""
        return (self.corpus, self.item_id, self.case_id, self.system, self.opponent, self.n_utterances, self.level)

    @property
    def words(self) -> str:
        """Returns how a message names it."""
        if self.opponent:
            cut = f" at {self.n_utterances} utterances" if self.n_utterances else ""
            return f"'{self.system}' and '{self.opponent}' on case '{self.case_id}'{cut}"
        return f"item '{self.item_id}' of {self.corpus}"


@dataclass(frozen=True)
class Frame:
    """All units of a protocol.

    Attributes:
        units: in the order of their tables.
        criteria: what is asked about units of each level, in the protocol's order; none where the question needs none.
        skipped: pairs that judges are not asked about either, by reason.
    """

    units: list[Unit]
    criteria: dict[Level, list[Criterion]] = field(default_factory=dict)
    skipped: Counter[str] = field(default_factory=Counter)


def frame_of(settings: PlanSettings, paths: Iterable[Path]) -> Frame:
    """Returns what judges are asked about under a protocol, as far as it is a system's.

    Args:
        settings: the protocol and the criteria that it names.
        paths: the tables of items that it is about, without damaged ones.

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


def key_of(draw: str, unit: Unit) -> str:
    """Returns a unit's key in a draw: a digest of what it is and of every word in it, which tells nobody whose it is.

    It begins with a letter that no number has, since spreadsheets take `12e45678` for one.
    """
    told = [draw, unit.identity, [[(turn.speaker, turn.text) for turn in said] for said in unit.dialogues]]
    digest = hashlib.sha256(json.dumps(told, ensure_ascii=False).encode()).hexdigest()
    return f"t{digest[:16]}"


def keyed(units: Iterable[Unit], draws: Mapping[Level, str]) -> dict[str, Unit]:
    """Returns units by their keys in the draws of their levels; a level without a draw has none."""
    return {key_of(draws[unit.level], unit): unit for unit in units if unit.level in draws}


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
    """Returns the unit of an item; judgements about a system's item bear its length."""
    n = len(item.utterances)
    shown = _shown(item, n)
    return Unit(item.level, item.system, "", item.corpus, item.item_id, item.case_id, n, item.language, (shown,))


def _pairs(settings: PlanSettings, paths: Iterable[Path]) -> Frame:
    question, skipped = settings.question(), Counter[str]()
    cases = by_case(chain.from_iterable(iterate_items(path) for path in paths))
    if not question.shipped:
        refuse_strangers(cases, question.protocol.data, question.name)
    units = list(_compared(settings, compared(cases, question.protocol.data, skipped), skipped))
    return Frame(units, {"dialogue": list(settings.criteria)}, +skipped)


def _compared(settings: PlanSettings, pairs: Iterable[Compared], skipped: Counter[str]) -> Iterator[Unit]:
    shown: dict[tuple[str, str, int | None], Dialogue] = {}
    for meeting, n, length in pairs:
        if meeting.about != meeting.left.case_id:
            skipped["a system's second dialogue on a case, which judgements do not tell from its first"] += 1
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
    """Returns a dialogue as people see it: speakers are letters, since a name may tell whose it is."""
    letters = letters_of(item.speakers)
    last = len(item.utterances) - 1
    turns = []
    for place, (letter, speaker, text) in enumerate(zip(letters, item.speakers, item.utterances, strict=True)):
        judged = place == last if item.level == "turn" else item.judged in ("", speaker)
        turns.append(ShownTurn(letter, text, judged))
    return tuple(turns[:length])
