"""A protocol with its units and sample, the unit of a label, and the settings of the labelling stages."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from pydantic import BaseModel

from dialeval.criteria import Criterion, Level
from dialeval.errors import nearest
from dialeval.labels.answers import Shown
from dialeval.labels.draw import SamplingDesign
from dialeval.labels.exports import RawLabel
from dialeval.labels.ledger import Ledger
from dialeval.labels.sheets import is_same_text, other_order, shown_columns, shown_texts
from dialeval.labels.units import Frame, Unit, keyed
from dialeval.protocols.item_prompts import PlanSettings
from dialeval.protocols.questions import Question
from dialeval.tables.files import unescaped_cell

_Key = TypeVar("_Key")
_SHOWN = 3
_LONGEST_TEXT = 60


@dataclass(frozen=True)
class LabelledProtocol:
    """A protocol with human labels: its units and the sample drawn from them.

    Attributes:
        question: the protocol.
        frame: its units and criteria.
        ledger: its sampling record; empty without one.
        instead: text that replaces the default question for annotators; by criterion if there are several.
    """

    question: Question
    frame: Frame
    ledger: Ledger
    instead: str | Mapping[str, str] = ""

    @cached_property
    def criteria(self) -> dict[str, Criterion]:
        """Return the criteria of all levels, by name."""
        return {one.name: one for each in self.frame.criteria.values() for one in each}

    @cached_property
    def units(self) -> dict[str, Unit]:
        """Return the units of the sampling record that still exist, by key."""
        return {
            key: unit
            for key, unit in keyed(self.frame.units, self.ledger.draws()).items()
            if key in self.ledger.entries
        }

    @cached_property
    def known_keys(self) -> frozenset[str]:
        """Return every key of the draw, of pairs those of both orders."""
        return frozenset([*self.ledger.entries, *self._first_orders])

    def criterion(self, label: RawLabel) -> Criterion | None:
        """Return the criterion of a label, None if the question has no criterion.

        Raises:
            UnknownUnitError: the protocol lacks it, or has several and the label names none.
        """
        names = {name.casefold(): one for name, one in self.criteria.items()}
        if label.criterion and label.criterion.casefold() in names:
            return names[label.criterion.casefold()]
        if label.criterion:
            remedy = nearest(label.criterion, self.criteria) if self.criteria else "the protocol has no criteria"
            raise UnknownUnitError(
                f"'{label.criterion:.60}' is no criterion of protocol {self.question.name}; {remedy} (if it was "
                f"removed, add it to the protocol again, or remove these labels)"
            )
        if len(names) > 1:
            raise UnknownUnitError(
                f"the label has no criterion, and protocol {self.question.name} has the criteria "
                f"{', '.join(self.criteria)}; add a column 'criterion'"
            )
        return next(iter(names.values()), None)

    def find(self, label: RawLabel, criterion: Criterion | None) -> Found:
        """Return the unit of a label.

        Raises:
            UnknownUnitError: there is no such unit, there are several, or it has other words now.
            GoneUnitError: it was drawn and no longer exists.
        """
        found = self._by_key(label) if label.key else self._by_ids(label.about, criterion)
        criteria = self.frame.criteria.get(found.unit.level, [])
        if criterion is not None and criterion.name not in {one.name for one in criteria}:
            raise UnknownUnitError(
                f"{criterion.name} is not a criterion of {found.unit.words}; correct it, or remove the row"
            )
        return found

    def key_drawn(self, key: str) -> str:
        """Return the key in the draw on record, of a pair shown in either order; empty for a key that is not there."""
        return key if key in self.ledger.entries else self._first_orders.get(key, "")

    def shown_fault(self, label: RawLabel) -> str:
        """Return the fault of a label whose texts on the sheet are not those of its key; empty without one."""
        unit = self.units.get(self.key_drawn(label.key))
        if unit is None or not label.shown:
            return ""
        form = self.question.protocol.form
        dialogues = unit.dialogues if label.key in self.ledger.entries else unit.dialogues[::-1]
        by_letter, by_role = shown_texts(form, dialogues), shown_texts(form, dialogues, by_role=True)
        for column, text, of_page in zip(shown_columns(form, unit.level), by_letter, by_role, strict=True):
            cell = label.shown.get(column)
            if cell is not None and not (is_same_text(cell, text) or is_same_text(cell, of_page)):
                return (
                    f"the text in column {column}, '{_beginning(cell)}', differs from the text of key "
                    f"'{label.key:.40}', '{_beginning(text)}'; cells were moved, sorted or edited: undo that, or "
                    f"copy the key and text of the row again from the sheet"
                )
        return ""

    def _by_key(self, label: RawLabel) -> Found:
        key = self.key_drawn(label.key)
        entry = self.ledger.entries.get(key)
        if entry is None:
            raise UnknownUnitError(
                f"key '{label.key:.40}' is not in {self.ledger.path.name}; it was changed, or belongs to another "
                f"sample: copy it from the page or sheet of this sample, or remove the row"
            )
        unit = self.units.get(key)
        if unit is None and entry.identity in self._identities:
            raise UnknownUnitError(
                f"{self._identities[entry.identity].words} was changed after the sample was drawn, so the label is "
                f"about a different text; restore the dialogues, or remove this file and label again"
            )
        if unit is None:
            raise GoneUnitError
        if unit.identity != entry.identity:
            raise UnknownUnitError(
                f"key '{label.key:.40}' belongs to {unit.words}, and in {self.ledger.path.name} to a different "
                f"dialogue; restore {self.ledger.path.name}"
            )
        first = label.key == key
        shown = Shown(unit.system, unit.opponent) if first else Shown(unit.opponent, unit.system)
        return Found(unit, key, shown if unit.opponent else Shown())

    def _by_ids(self, about: Mapping[str, str], criterion: Criterion | None) -> Found:
        left, right = about.get("left") or about.get("system", ""), about.get("right") or about.get("opponent", "")
        if self.question.protocol.form == "pair":
            if not (left and right and about.get("case_id")):
                raise UnknownUnitError("the row names no pair; add case_id, left and right (or system and opponent)")
            candidates: Sequence[Unit] = self._pairs.get((*sorted((left, right)), about["case_id"]), ())
        elif about.get("item_id"):
            candidates = self._items.get(about["item_id"], ())
        else:
            candidates = self._of_cases.get((left, about.get("case_id", "")), ()) if about.get("case_id") else ()
        criteria_by_level = {level: {one.name for one in criteria} for level, criteria in self.frame.criteria.items()}
        fitting = [
            unit
            for unit in candidates
            if about.get("corpus", unit.corpus) == unit.corpus
            and about.get("n_utterances", str(unit.n_utterances)) == str(unit.n_utterances)
            and (not about.get("item_id") or not left or left == unit.system or unit.opponent)
            and (criterion is None or criterion.name in criteria_by_level.get(unit.level, ()))
        ]
        if len(fitting) > 1:
            raise UnknownUnitError(
                f"{_described(about)} could be {' or '.join(unit.words for unit in fitting[:_SHOWN])}; add a column "
                "item_id, corpus or n_utterances"
            )
        plain = {name: unescaped_cell(value) for name, value in about.items()}
        if not fitting and plain != about:  # copied from a CSV file of ours
            return self._by_ids(plain, criterion)
        if not fitting:
            units = self.frame.units
            known = f"it has, for example, {units[0].words}" if units else "the protocol has no dialogues to label"
            raise UnknownUnitError(
                f"protocol {self.question.name} has no {_described(about)}; {known}: correct it, or remove the row"
            )
        unit = fitting[0]
        return Found(unit, self._keys.get(unit.identity, ""), Shown(left, right) if unit.opponent else Shown())

    @cached_property
    def _first_orders(self) -> dict[str, str]:
        return {other_order(key): key for key, entry in self.ledger.entries.items() if entry.identity[4]}

    @cached_property
    def _identities(self) -> Mapping[object, Unit]:
        return {unit.identity: unit for unit in self.frame.units}

    @cached_property
    def _keys(self) -> Mapping[object, str]:
        return {unit.identity: key for key, unit in self.units.items()}

    @cached_property
    def _items(self) -> Mapping[str, list[Unit]]:
        return _grouped(self.frame.units, lambda unit: unit.item_id)

    @cached_property
    def _of_cases(self) -> Mapping[tuple[str, str], list[Unit]]:
        return _grouped(self.frame.units, lambda unit: (unit.system, unit.case_id))

    @cached_property
    def _pairs(self) -> Mapping[tuple[str, ...], list[Unit]]:
        return _grouped(self.frame.units, lambda unit: (unit.system, unit.opponent, unit.case_id))


def _grouped(units: Iterable[Unit], key: Callable[[Unit], _Key]) -> Mapping[_Key, list[Unit]]:
    found: defaultdict[_Key, list[Unit]] = defaultdict(list)
    for unit in units:
        found[key(unit)].append(unit)
    return found


@dataclass(frozen=True)
class Found:
    """The unit of a label.

    Attributes:
        unit: the dialogue, response or pair.
        key: its key in the draw on record; empty where there is none.
        shown: of a pair, the systems in the order shown.
    """

    unit: Unit
    key: str
    shown: Shown


class GoneUnitError(Exception):
    """The unit of a label was drawn and no longer exists."""


class UnknownUnitError(Exception):
    """A label names no unit or criterion of its protocol; the message says why."""


def _beginning(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= _LONGEST_TEXT else f"{plain[:_LONGEST_TEXT]}..."


def _described(about: Mapping[str, str]) -> str:
    return ", ".join(f"{name} '{value:.60}'" for name, value in about.items()) or "item (no column identifies it)"


# Strata of a sample without any label.

_MOST_NAMED = 5


def unlabelled_strata(protocol: LabelledProtocol, labelled: Collection[str]) -> str:
    """Return a sentence about the strata without any label; empty if every stratum has one, or none has.

    Args:
        protocol: the protocol with its sampling record.
        labelled: keys of the labelled units.
    """
    entries = protocol.ledger.entries
    sizes = Counter(entries[key].stratum for key in protocol.units)
    labelled_strata = {entries[key].stratum for key in labelled if key in entries}
    empty = [stratum for stratum in sizes if stratum not in labelled_strata]
    if not labelled_strata or not empty:
        return ""
    named = ", ".join(f"'{stratum}'" for stratum in empty[:_MOST_NAMED])
    more = f" and {len(empty) - _MOST_NAMED} more" if len(empty) > _MOST_NAMED else ""
    return (
        f"{protocol.question.name}: no label yet for {sum(sizes[one] for one in empty)} of {sizes.total()} "
        f"dialogues or pairs ({named}{more}); the human-corrected estimates leave these out"
    )


# Settings of the labelling stages.


class DrawSettings(PlanSettings):
    """A protocol and its sampling design.

    Attributes:
        n: number of units to draw.
        by: the sampling design.
        random_seed: seed of a new draw.
    """

    n: int
    by: SamplingDesign
    random_seed: int = 0


class SheetSettings(PlanSettings):
    """A protocol and the annotator of a sheet.

    Attributes:
        level: of the units on the sheet.
        annotator: name of the annotator.
        annotators: all, in the order of the configuration.
        annotators_per_item: number of annotators of each unit; None for all.
        instead: text that replaces the default question; by criterion if there are several.
        guidelines: Markdown that the page shows beside the questions.
    """

    level: Level
    annotator: str
    annotators: list[str]
    annotators_per_item: int | None = None
    instead: str | dict[str, str] = ""
    guidelines: str = ""


class LabelledSettings(PlanSettings):
    """A protocol with human labels.

    Attributes:
        items: indices of its tables among the stage's inputs, from 0.
        instead: as in `SheetSettings`.
    """

    items: list[int]
    instead: str | dict[str, str] = ""


class ReadSettings(BaseModel, defer_build=True):
    """Protocols and annotators of the labels to read.

    Attributes:
        protocols: protocols with human labels.
        annotators: all annotators of the configuration.
        simulated: names of the simulated annotators.
    """

    protocols: list[LabelledSettings]
    annotators: list[str]
    simulated: list[str] = []
