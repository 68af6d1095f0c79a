"""What a protocol's labels can be about, parts without labels, and what the stages of labels are told."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from pydantic import BaseModel

from dialeval.criteria import Criterion, Level
from dialeval.errors import nearest
from dialeval.labels.answers import Shown
from dialeval.labels.draw import By
from dialeval.labels.exports import RawLabel
from dialeval.labels.ledger import Ledger
from dialeval.labels.sheets import is_same_text, other_order, shown_columns, shown_texts
from dialeval.labels.units import Frame, Unit, keyed
from dialeval.protocols.item_prompts import PlanSettings
from dialeval.protocols.questions import Question
from dialeval.tables.files import unescaped_cell

# What a protocol's labels can be about: its units, by key or by the ids of other tools, and its draw.

_SHOWN = 3
_LONGEST_TEXT = 60


class UnknownUnitError(Exception):
    """What is wrong with what a label says it is about, in words."""


class GoneUnitError(Exception):
    """The label is about what was drawn and is not there any more."""


@dataclass(frozen=True)
class Found:
    """What a label is about.

    Attributes:
        unit: the dialogue, response or pair.
        key: its key in the draw on record; empty where there is none.
        shown: of a pair, who stood first.
    """

    unit: Unit
    key: str
    shown: Shown


@dataclass(frozen=True)
class AskedProtocol:
    """A protocol, everything that people can be asked about under it, and what was drawn of that.

    Attributes:
        question: the protocol.
        frame: its units and criteria.
        ledger: its draw; empty where there is none on record.
        instead: what annotators are asked in place of our words, of several criteria by name.
    """

    question: Question
    frame: Frame
    ledger: Ledger
    instead: str | Mapping[str, str] = ""

    @cached_property
    def criteria(self) -> dict[str, Criterion]:
        """Returns what is asked about, by name."""
        return {one.name: one for each in self.frame.criteria.values() for one in each}

    @cached_property
    def units(self) -> dict[str, Unit]:
        """Returns the units that are in the draw on record and still there, by key."""
        return {
            key: unit
            for key, unit in keyed(self.frame.units, self.ledger.draws()).items()
            if key in self.ledger.entries
        }

    @cached_property
    def known_keys(self) -> frozenset[str]:
        """Returns every key of the draw, of pairs those of both orders."""
        return frozenset([*self.ledger.entries, *self._first_orders])

    def criterion(self, said: RawLabel) -> Criterion | None:
        """Returns what a label is about, None where the question needs none.

        Raises:
            UnknownUnitError: it is not asked about, or there are several and none is named.
        """
        names = {name.casefold(): one for name, one in self.criteria.items()}
        if said.criterion and said.criterion.casefold() in names:
            return names[said.criterion.casefold()]
        if said.criterion:
            remedy = nearest(said.criterion, self.criteria) if self.criteria else "it asks about none"
            raise UnknownUnitError(
                f"'{said.criterion:.60}' is no criterion of protocol {self.question.name}; {remedy} (if it was one, "
                "name it there again, or take these labels away)"
            )
        if len(names) > 1:
            raise UnknownUnitError(
                f"no criterion is named, and protocol {self.question.name} asks about {', '.join(self.criteria)}; "
                "add a column 'criterion'"
            )
        return next(iter(names.values()), None)

    def find(self, said: RawLabel, criterion: Criterion | None) -> Found:
        """Returns what a label is about.

        Raises:
            UnknownUnitError: there is no such unit, there are several, or it has other words now.
            GoneUnitError: it was drawn and is not there any more.
        """
        found = self._by_key(said) if said.key else self._by_ids(said.about, criterion)
        asked = self.frame.criteria.get(found.unit.level, [])
        if criterion is not None and criterion.name not in {one.name for one in asked}:
            raise UnknownUnitError(f"{found.unit.words} is not asked about {criterion.name}")
        return found

    def key_drawn(self, key: str) -> str:
        """Returns the key in the draw on record, of a pair shown in either order; empty for a key that is not there."""
        return key if key in self.ledger.entries else self._first_orders.get(key, "")

    def shown_fault(self, said: RawLabel) -> str:
        """Returns what is wrong where the texts beside a key on a sheet are not those of the key; empty if they are."""
        unit = self.units.get(self.key_drawn(said.key))
        if unit is None or not said.shown:
            return ""
        form = self.question.protocol.form
        dialogues = unit.dialogues if said.key in self.ledger.entries else unit.dialogues[::-1]
        texts = zip(shown_columns(form, unit.level), shown_texts(form, dialogues), strict=True)
        for column, text in texts:
            if column in said.shown and not is_same_text(said.shown[column], text):
                return (
                    f"the text in column {column}, '{_beginning(said.shown[column])}', is not that of key "
                    f"'{said.key:.40}', '{_beginning(text)}'; cells were moved, sorted or edited: undo that, or copy "
                    "the row's key and text anew from the sheet"
                )
        return ""

    def _by_key(self, said: RawLabel) -> Found:
        key = self.key_drawn(said.key)
        entry = self.ledger.entries.get(key)
        if entry is None:
            raise UnknownUnitError(
                f"key '{said.key:.40}' is not in {self.ledger.path.name}; it was changed, or is of another draw: copy "
                "it from the page or sheet of this draw, or take the row out"
            )
        unit = self.units.get(key)
        if unit is None and entry.identity in self._identities:
            raise UnknownUnitError(
                f"{self._identities[entry.identity].words} has other words now than when it was drawn, so that the "
                "label is about another text; bring the dialogues back, or take this file away and label anew"
            )
        if unit is None:
            raise GoneUnitError
        if unit.identity != entry.identity:
            raise UnknownUnitError(
                f"key '{said.key:.40}' is of {unit.words}, and {self.ledger.path.name} has it for another; bring back "
                "the ledger as it was"
            )
        first = said.key == key
        shown = Shown(unit.system, unit.opponent) if first else Shown(unit.opponent, unit.system)
        return Found(unit, key, shown if unit.opponent else Shown())

    def _by_ids(self, about: Mapping[str, str], criterion: Criterion | None) -> Found:
        left, right = about.get("left") or about.get("system", ""), about.get("right") or about.get("opponent", "")
        if self.question.protocol.form == "pair":
            if not (left and right and about.get("case_id")):
                raise UnknownUnitError("a pair is known by case_id, and by left and right (or system and opponent)")
            candidates: Sequence[Unit] = self._pairs.get((*sorted((left, right)), about["case_id"]), ())
        elif about.get("item_id"):
            candidates = self._items.get(about["item_id"], ())
        else:
            candidates = self._of_cases.get((left, about.get("case_id", "")), ())
        level_asks = {level: {one.name for one in asked} for level, asked in self.frame.criteria.items()}
        fitting = [
            unit
            for unit in candidates
            if about.get("corpus", unit.corpus) == unit.corpus
            and about.get("n_utterances", str(unit.n_utterances)) == str(unit.n_utterances)
            and (not about.get("item_id") or not left or left == unit.system or unit.opponent)
            and (criterion is None or criterion.name in level_asks.get(unit.level, ()))
        ]
        if len(fitting) > 1:
            raise UnknownUnitError(
                f"{_described(about)} could be {' or '.join(unit.words for unit in fitting[:_SHOWN])}; add a column "
                "item_id, corpus or n_utterances that tells"
            )
        plain = {name: unescaped_cell(value) for name, value in about.items()}
        if not fitting and plain != about:  # copied from a CSV file of ours
            return self._by_ids(plain, criterion)
        if not fitting:
            raise UnknownUnitError(
                f"there is no {_described(about)} under protocol {self.question.name}; {self._such_as()}: correct it, "
                "or take the row out"
            )
        unit = fitting[0]
        return Found(unit, self._keys.get(unit.identity, ""), Shown(left, right) if unit.opponent else Shown())

    def _such_as(self) -> str:
        units = self.frame.units
        return f"there is, for example, {units[0].words}" if units else "there is nothing to be labelled"

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
        found: defaultdict[str, list[Unit]] = defaultdict(list)
        for unit in self.frame.units:
            found[unit.item_id].append(unit)
        return found

    @cached_property
    def _of_cases(self) -> Mapping[tuple[str, str], list[Unit]]:
        found: defaultdict[tuple[str, str], list[Unit]] = defaultdict(list)
        for unit in self.frame.units:
            if unit.case_id:
                found[unit.system, unit.case_id].append(unit)
        return found

    @cached_property
    def _pairs(self) -> Mapping[tuple[str, ...], list[Unit]]:
        found: defaultdict[tuple[str, ...], list[Unit]] = defaultdict(list)
        for unit in self.frame.units:
            if unit.opponent:
                found[unit.system, unit.opponent, unit.case_id].append(unit)
        return found


def _beginning(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= _LONGEST_TEXT else f"{plain[:_LONGEST_TEXT]}..."


def _described(about: Mapping[str, str]) -> str:
    return ", ".join(f"{name} '{value:.60}'" for name, value in about.items()) or "item (no column says which)"


# Parts of a draw of which nothing has a label yet: people's numbers know nothing of these.

_MOST_NAMED = 5


def unlabelled_parts(asked: AskedProtocol, labelled: Collection[str]) -> str:
    """Returns in words which strata of a draw have no label at all; empty where each has one, or none has.

    Args:
        asked: the protocol, with its draw.
        labelled: keys of what has a label.
    """
    entries = asked.ledger.entries
    sizes = Counter(entries[key].stratum for key in asked.units)
    told = {entries[key].stratum for key in labelled if key in entries}
    empty = [stratum for stratum in sizes if stratum not in told]
    if not told or not empty:
        return ""
    named = ", ".join(f"'{stratum}'" for stratum in empty[:_MOST_NAMED])
    more = f" and {len(empty) - _MOST_NAMED} more" if len(empty) > _MOST_NAMED else ""
    return (
        f"{asked.question.name}: nothing is labelled yet of {sum(sizes[one] for one in empty)} of {sizes.total()} that "
        f"could be drawn ({named}{more}), and what people would say is said of the others alone"
    )


# What the stages of labels are told of the protocol that people label under.


class DrawSettings(PlanSettings):
    """A protocol, and how units are drawn.

    Attributes:
        n: how many.
        by: what the draw goes by.
        random_seed: of a draw that is not on record yet.
    """

    n: int
    by: By
    random_seed: int = 0


class SheetSettings(PlanSettings):
    """A protocol, and whose sheet is made.

    Attributes:
        level: of the units on the sheet.
        annotator: whose it is.
        annotators: all, in the order of the configuration.
        annotators_per_item: how many label each unit; None for all.
        instead: what is asked in place of our words, of several criteria by name.
    """

    level: Level
    annotator: str
    annotators: list[str]
    annotators_per_item: int | None = None
    instead: str | dict[str, str] = ""


class LabelledSettings(PlanSettings):
    """A protocol that people label under.

    Attributes:
        items: which of the tables that the stage is given it is about, from 0.
        instead: as in `SheetSettings`.
    """

    items: list[int]
    instead: str | dict[str, str] = ""


class ReadSettings(BaseModel, defer_build=True):
    """What labels are about, and who gave them.

    Attributes:
        protocols: those that people label under.
        annotators: all that the configuration names.
        simulated: those of them who are no people.
    """

    protocols: list[LabelledSettings]
    annotators: list[str]
    simulated: list[str] = []
