"""Readings of rated items, and the checks that all rated sources share."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple

from dialeval.corpora import clusters
from dialeval.corpora.items import Item, RaterKind, Rating, speakers_before_response
from dialeval.corpora.text_files import listed, number_in
from dialeval.criteria import DIMENSIONS, LEVELS, SHIPPED, SHOWN_LEVELS, Level
from dialeval.errors import UserError
from dialeval.languages import LANGUAGES
from dialeval.text import counted

_KNOWN_BY = (
    ("usr", {"response", "model", "Maintains Context"}),  # one of its responses
    ("fed_turn or fed_dialogue", {"context", "system", "annotations"}),
    ("usr", {"context", "responses", "fact"}),
    ("conture_turn or conture_dialogue", {"turns", "dialog_ratings"}),
    ("grade_convai2, grade_dailydialog or grade_empathetic", {"Context", "Response", "HumanScores"}),
    ("zhao", {"context", "reference", "responses"}),
    ("dstc10_json or dstc11_json", {"response", "annotations"}),
    ("dstc10_json or dstc11_json", {"dialog", "annotations"}),
    ("rated_jsonl", {"item_id", "ratings"}),
)
"""Readers, and the fields that all objects of their files have."""

PEOPLE = "people"
"""The rater's name where a source does not name its raters."""


class Scale(NamedTuple):
    """The lowest and the highest value that a rater could give."""

    low: float
    high: float


@dataclass
class RatedReading:
    """The result of a reader of rated items.

    Attributes:
        source: the file, for messages.
        items: what judges score, once per language.
        ratings: of the items, by humans or a model, once for all languages.
        notes: how often something was met that is kept as it is and worth knowing.
        skipped: how many records were left out for which reason.
        left_out: which items these are and why, by language and id; there may be ready scores of them.
    """

    source: str
    items: list[Item] = field(default_factory=list)
    ratings: list[Rating] = field(default_factory=list)
    notes: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    left_out: dict[tuple[str, str], str] = field(default_factory=dict)
    _places: dict[tuple[str, str], str] = field(default_factory=dict, repr=False)

    def add(self, item: Item, place: str) -> None:
        """Add an item that has its `place` in the source.

        Raises:
            UserError: it has no id, an id used before in its language, nothing to score, or an empty utterance.
        """
        where = f"{self.source}, {place}"
        if not item.item_id:
            raise UserError(f"{where}: the item has no id; give every item an id")
        key = (item.language, item.item_id)
        if key in self._places:
            raise UserError(
                f"{where}: the id '{item.item_id:.60}' already occurs at {self._places[key]}; ids must be unique"
            )
        if not item.utterances:
            raise UserError(f"{where}: item '{item.item_id:.60}' has no utterances; add one or remove the item")
        for number, text in enumerate(item.utterances, start=1):
            if not text.strip():
                raise UserError(
                    f"{where}: item '{item.item_id:.60}', utterance {number} is empty; add its text or remove the item"
                )
        self._places[key] = place
        self.items.append(item)

    def leave_out(self, language: str, item_id: str, reason: str) -> None:
        """Leave out an item of the source, and count it."""
        self.skipped[reason] += 1
        self.left_out[language, item_id] = reason

    def summary(self) -> str:
        """Return one line: counts of read and left-out records with reasons, and notes on the rest."""
        languages = list(dict.fromkeys(item.language for item in self.items))
        n_human = sum(rating.rater_kind == "human" for rating in self.ratings)
        line = (
            f"{self.source}: {counted(len(self.items), 'item')} in {counted(len(languages), 'language')} "
            f"({listed(languages)}) and {counted(len(self.ratings), 'rating')} read, {n_human:,} of them by people"
        )
        if self.skipped:
            line += f"; {counted(sum(self.skipped.values()), 'record')} left out ({_counted(self.skipped)})"
        if self.notes:
            line += f"; kept unchanged: {_counted(self.notes)}"
        return line


def check(reading: RatedReading) -> RatedReading:
    """Refuse a reading that no later stage could use.

    Raises:
        UserError: there is no item or no rating; a rating is of no item, off its scale or given twice; an item is of
            another level or cluster in another language.
    """
    source = reading.source
    if not reading.items:
        left_out = f" ({_counted(reading.skipped)} left out)" if reading.skipped else ""
        raise UserError(f"{source} has no rated items{left_out}; add some, or correct the path")
    kind: dict[str, tuple[str, str]] = {}
    for item in reading.items:
        if kind.setdefault(item.item_id, (item.level, item.cluster)) != (item.level, item.cluster):
            raise UserError(
                f"{source}: the level or cluster of item '{item.item_id:.60}' in '{item.language:.60}' differs from "
                f"that in the previous language; both must be the same in every language"
            )
    seen: set[tuple[str, str, str, str, int | None]] = set()
    for rating in reading.ratings:
        name = f"{source}: the rating of item '{rating.item_id:.60}' on {rating.dimension} by {rating.rater:.60}"
        key = (rating.item_id, rating.dimension, rating.rater_kind, rating.rater, rating.round)
        if rating.item_id not in kind:
            raise UserError(f"{name} belongs to an item that is missing; add the item or remove the rating")
        if key in seen:
            raise UserError(f"{name} occurs twice; remove one of the two")
        seen.add(key)
        rating_value(rating.value, Scale(rating.scale_min, rating.scale_max), name)
    if not reading.ratings:
        raise UserError(f"{source} has no item with a rating; add ratings, or correct the path")
    return reading


def check_joined(reading: RatedReading, rated_as: Mapping[str, str], field: str) -> None:
    """Refuse criteria that fit no item or have no rating.

    Args:
        rated_as: judged criterion -> rated criterion.

    Raises:
        UserError: none of the items is at the criterion's level, or there is no rating on the other.
    """
    levels = {item.level for item in reading.items}
    rated = list(dict.fromkeys(rating.dimension for rating in reading.ratings))
    for criterion, wanted in rated_as.items():
        if criterion in SHIPPED and not any(SHIPPED[criterion].is_at(level) for level in levels):
            there = [level for level in LEVELS if level in levels]
            found_levels = " and ".join(f"{SHOWN_LEVELS[level]}s" for level in there)
            names = listed(dict.fromkeys(name for level in there for name in DIMENSIONS[level]))
            raise UserError(
                f"{field}: {reading.source} has {found_levels}, and '{criterion}' is not a criterion of this level; "
                f"choose from {names}"
            )
        if wanted not in rated:
            raise UserError(
                f"{field}: scores on '{criterion}' are compared with ratings on '{wanted:.60}', which "
                f"{reading.source} does not have; choose from its ratings: {listed(rated)}"
            )


def rating_value(value: object, scale: Scale, place: str) -> float:
    """Return a rating as a number, which a text may hold, too; fractions stay fractions.

    Raises:
        UserError: it is no finite number, or off its scale; the message begins with `place`.
    """
    number = number_in(value) if isinstance(value, str) else value
    if isinstance(number, bool) or not isinstance(number, int | float) or not math.isfinite(number):
        shown = value if number is None else number
        raise UserError(
            f"{place}: {shown!r:.60} is not a rating; a number from {scale.low:g} to {scale.high:g} is needed"
        )
    if not scale.low <= number <= scale.high:
        raise UserError(
            f"{place}: the rating {number:g} is outside its scale, {scale.low:g} to {scale.high:g}; correct one of them"
        )
    return float(number)


def repeated_ratings(
    item: tuple[str, str, str], rater: tuple[RaterKind, str], values: Sequence[float | None], scale: Scale
) -> list[Rating]:
    """Return the ratings of several raters or rounds singly, and their mean; empty without a rating.

    Args:
        item: corpus, item id and dimension.
        rater: kind and name.
        values: by rater or round; None where one is missing.
    """
    given = [value for value in values if value is not None]
    if not given:
        return []
    singles = [
        Rating(*item, *rater, number, value, 1, *scale) for number, value in enumerate(values) if value is not None
    ]
    return [*singles, Rating(*item, *rater, None, math.fsum(given) / len(given), len(given), *scale)]


def only(language: str, languages: Iterable[str] | None, source: str) -> None:
    """Check that the wanted languages include that of a source.

    Raises:
        UserError: `languages` are given and `language` is not among them.
    """
    if languages is not None and language not in (wanted := list(languages)):
        raise UserError(
            f"{source} is in {LANGUAGES[language].name} only, and languages is {', '.join(wanted)}; add {language} or "
            "remove the field"
        )


def left_out_rows(corpus: str, reading: RatedReading) -> list[dict[str, str]]:
    """Return rows of the table `left_out_items`."""
    return [
        {"corpus": corpus, "language": language, "item_id": item_id, "reason": reason}
        for (language, item_id), reason in reading.left_out.items()
    ]


def rating_rows(ratings: Iterable[Rating]) -> list[dict[str, Any]]:
    """Return ratings as rows of a table, with exactly the fields of `Rating`."""
    names = [part.name for part in fields(Rating)]
    return [{name: getattr(rating, name) for name in names} for rating in ratings]


def _counted(counts: Counter[str]) -> str:
    return "; ".join(f"{count} {reason}" for reason, count in counts.most_common())


# The items of a file are gathered before they are clustered: which depend on each other shows only at its end.


class _Rated(NamedTuple):
    item_id: str
    level: Level
    place: str
    speakers: tuple[str, ...]
    texts: tuple[str, ...]
    cluster: str
    dialogue: str


@dataclass
class Gathering:
    """The items of a file in one language, in order.

    Attributes:
        corpus: name of the corpus in the configuration.
        path: the file.
        language: of all items.
        reading: the result, without its items.
    """

    corpus: str
    path: Path
    language: str = "en"
    reading: RatedReading = field(init=False)
    _found: list[_Rated] = field(default_factory=list, init=False, repr=False)

    def __post_init__(self) -> None:
        self.reading = RatedReading(str(self.path))

    def take(
        self,
        item_id: str,
        level: Level,
        where: str,
        turns: Sequence[tuple[str, str]],
        ratings: list[Rating],
        *,
        cluster: str = "",
        dialogue: str = "",
    ) -> None:
        """Take an item with its ratings; one without a rating or with an empty utterance is left out and counted.

        Args:
            turns: speaker and text of each utterance.
            cluster: the cluster in the file; empty to derive it from the texts.
            dialogue: the dialogue in the file, of which all items are one cluster; empty where the file has none.
        """
        if not ratings:
            self.reading.leave_out(self.language, item_id, "records without a rating")
        elif not turns or not all(text for _, text in turns):
            self.reading.leave_out(self.language, item_id, "records with an empty utterance")
        else:
            self.reading.ratings += ratings
            speakers, texts = zip(*turns, strict=True)
            place = where.removeprefix(f"{self.path}, ")
            self._found.append(_Rated(item_id, level, place, speakers, texts, cluster, dialogue))

    def checked(self) -> RatedReading:
        """Return all that was found, items that depend on each other being one cluster.

        Raises:
            UserError: as in `RatedReading.add` and `check`.
        """
        found = self._found
        firsts = clusters.item_clusters(
            [one.texts for one in found],
            [one.level == "turn" for one in found],
            [one.dialogue or number for number, one in enumerate(found)],
        )
        for one, first in zip(found, firsts, strict=True):
            cluster = one.cluster or found[first].item_id
            item = Item(self.corpus, one.item_id, self.language, one.level, cluster, one.speakers, one.texts)
            self.reading.add(item, one.place)
        return check(self.reading)


def before_response(texts: Sequence[str]) -> list[tuple[str, str]]:
    """Return utterances with their speakers where the last is the chatbot's and two alternate before it."""
    return list(zip(speakers_before_response(len(texts)), texts, strict=True))


def advice(record: object, tried: str) -> str:
    """Return the end of a message that names the reader of such a file; empty if none is known.

    Args:
        tried: the reader that could not take it.
    """
    readers = reader_of(record)
    if not readers or tried in readers:
        return ""
    return f"; reader {readers} reads a file with these fields"


def reader_of(record: object) -> str:
    """Return the readers of rated items that fit an object of a file; empty if none does."""
    if not isinstance(record, dict):
        return ""
    for readers, fields_of_all in _KNOWN_BY:
        if fields_of_all <= record.keys():
            return readers
    inner = next(iter(record.values()), None)
    return "zhao" if isinstance(inner, dict) and reader_of(inner) == "zhao" else ""


def reader_of_table(path: Path, first_row: Sequence[str]) -> str:
    """Return the reader of rated items that fits a table, by its name and its first row; empty if none does."""
    names = [name.strip() for name in first_row]
    if "ratings" in names and any(name.endswith(("_ctx", "_dial")) for name in names):
        return "xdial"
    if "CID" in names and "LANGUAGE" in names:
        return "dstc11_csv"
    if path.name == "human_ctx.txt":
        return "grade_texts"
    if path.name.endswith("_text.txt") and len(names) > 1:
        return "comp_dialogue" if ": " in names[1] else "comp_turn"
    return ""
