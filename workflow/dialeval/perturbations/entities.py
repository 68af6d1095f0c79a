"""Named entities and numbers in English text, by closed lists, capitals and digits, with coarse categories.

Categories: person, place, people (nationalities and languages), organisation, weekday, month, day, festivity, time,
money, percent, year, number, and `name` for any other capitalised name.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from importlib.resources import files
from types import MappingProxyType
from typing import NamedTuple

from dialeval.perturbations.words import STOP_WORDS, Word, starts_sentence, unnatural_synonyms, word_set, words

_DIGITS = r"\d+(?:,\d{3})*(?:\.\d+)?"
_AMOUNT = rf"(?<![\w.,:$£€¥-]){_DIGITS}(?![\w:])"
_HALF_DAY = r"(?:[ap]m\b|[ap]\s?\.\s?m\b(?:\s?\.)?)"
_CLOCK = r"o\s?['’]?\s?clock\b"
_NUMERIC = re.compile(
    rf"(?P<time>(?<![\w.,:])\d{{1,2}}[:.]\d{{2}}(?:\s?(?:{_HALF_DAY}|{_CLOCK}))?(?!\w|\.\d)"
    rf"|(?<![\w.,:])\d{{1,2}}\s?(?:{_HALF_DAY}|{_CLOCK}))"
    rf"|(?P<money>[$£€¥]\s?{_DIGITS}|{_AMOUNT}\s(?:dollars|pounds|euros|yuan|yen|cents|bucks)\b)"
    rf"|(?P<percent>{_AMOUNT}\s?(?:%|percent\b))"
    r"|(?P<year>(?<![\w.,:$-])(?:1[6-9]|20)\d\d(?![\w:,]))"
    rf"|(?P<number>{_AMOUNT})",
    re.IGNORECASE,
)
_TITLES = word_set("mr mrs ms miss dr professor uncle aunt")
_PLACE_CUES = word_set("in from near to at")
_PERSON_CUES = word_set("named called by with")
_PLACE_ENDS = word_set("street avenue road park beach lake river airport island city square mall station")
_ORGANISATION_ENDS = word_set("hotel university bank company inc restaurant college hospital library school")
_NO_NAMES = word_set(
    """i i'm i'd i'll i've ok okay tv pc cd dvd mom mum dad mam sir madam mr mrs ms miss dr yes no oh well thanks god
    lol hi hello hey wow haha ha hmm yeah sure ai faq id asap btw omg a.m p.m am pm please sorry
    redacted redacted_term unk"""
)


class Entity(NamedTuple):
    """A name or number with its place in the text and its category."""

    text: str
    start: int
    end: int
    category: str

    @property
    def key(self) -> str:
        """Return the key that mentions of one entity share."""
        return self.text.lower()


@lru_cache(maxsize=65536)
def find_entities(text: str) -> tuple[Entity, ...]:
    """Return the entities of an English text, in order, none overlapping another."""
    found = list(_numbers(text))
    taken = [(entity.start, entity.end) for entity in found]
    free = [word for word in words(text) if not any(start < word.end and word.start < end for start, end in taken)]
    shouted = _mostly_capitals(free)
    place = 0
    while place < len(free):
        entity, n_words = _named(text, free, place, shouted)
        if entity:
            found.append(entity)
        place += n_words
    return tuple(sorted(found, key=lambda entity: entity.start))


def category_of(entities: Iterable[Entity]) -> dict[str, str]:
    """Return the category of each entity by its key; where mentions differ, the first that is more than a name."""
    found: dict[str, str] = {}
    for entity in entities:
        if found.get(entity.key, "name") == "name":
            found[entity.key] = entity.category
    return found


@cache
def listed_names() -> MappingProxyType[str, _Listed]:
    """Return the names of our own list by their lower-case form."""
    text = files("dialeval.perturbations").joinpath("names.csv").read_text(encoding="utf-8")
    rows = csv.DictReader(text.splitlines())
    return MappingProxyType(
        {row["name"].lower(): _Listed(row["name"], row["category"], row["capital_only"] == "yes") for row in rows}
    )


@cache
def listed_by_category() -> MappingProxyType[str, tuple[str, ...]]:
    """Return the names of our own list by category."""
    found: dict[str, list[str]] = {}
    for listed in listed_names().values():
        found.setdefault(listed.category, []).append(listed.name)
    return MappingProxyType({category: tuple(names) for category, names in found.items()})


class _Listed(NamedTuple):
    name: str
    category: str
    capital_only: bool


def _numbers(text: str) -> Iterator[Entity]:
    for match in _NUMERIC.finditer(text):
        yield Entity(
            match.group().rstrip(),
            match.start(),
            match.start() + len(match.group().rstrip()),
            match.lastgroup or "number",
        )


def _mostly_capitals(found: list[Word]) -> bool:
    """Return whether capitals are no evidence, as in shouting or a headline."""
    capitals = [word for word in found if word.text[0].isupper() and _plain(word) not in _NO_NAMES]
    return len(capitals) > max(3, 0.7 * len(found))


def _plain(word: Word) -> str:
    """Return a word in lower case without a possessive ending."""
    return word.lower.removesuffix("'s")


def _named(text: str, free: list[Word], place: int, shouted: bool) -> tuple[Entity | None, int]:
    """Return the entity that begins with a word, if one does, and how many words to go on."""
    word = free[place]
    for n_words in (2, 1):
        listed = listed_names().get(" ".join(map(_plain, free[place : place + n_words])))
        if listed and len(free) >= place + n_words and _written_as_name(text, word, listed):
            run = (
                max(n_words, _run(text, free, place))
                if listed.category in ("person", "place") and not shouted
                else n_words
            )
            if listed.category == "number":
                run = _number_run(text, free, place)
            category = _by_ending(free[place + run - 1]) or listed.category
            return _entity(text, free[place : place + run], category), run
    if shouted or not _is_capitalised(word):
        return None, 1
    n_words = _run(text, free, place)
    everyday = word.lower in STOP_WORDS or _plain(word) in unnatural_synonyms()
    if starts_sentence(text, word.start) and (n_words < 2 or everyday or place + n_words == len(free)):
        return None, 1
    run_of_words = free[place : place + n_words]
    if all(_plain(part) in unnatural_synonyms() for part in run_of_words):
        return None, 1  # everyday words in capitals
    before = free[place - 1].lower if place else ""
    return _entity(text, run_of_words, _by_ending(run_of_words[-1]) or _by_cue(before)), n_words


def _written_as_name(text: str, word: Word, listed: _Listed) -> bool:
    if listed.category in ("number", "day"):
        return True
    if not word.text[0].isupper():
        return not listed.capital_only
    return not (listed.capital_only and starts_sentence(text, word.start))


def _run(text: str, free: list[Word], place: int) -> int:
    """Return how many capitalised words follow each other from here with only blanks between them."""
    n_words = 1
    while place + n_words < len(free) and n_words < 4:
        last, following = free[place + n_words - 1], free[place + n_words]
        if (
            text[last.end : following.start].strip()
            or not _is_capitalised(following)
            or last.text.endswith(("'s", "’s"))
        ):
            break
        n_words += 1
    return n_words


def _is_capitalised(word: Word) -> bool:
    plain = _plain(word)
    return (
        word.text[0].isupper()
        and len(word.text) > 1
        and plain not in _NO_NAMES
        and plain not in STOP_WORDS
        and not any(character.isdigit() for character in word.text)
    )


def _number_run(text: str, free: list[Word], place: int) -> int:
    """Return how many number words follow each other from here, as in `two hundred`."""
    n_words = 1
    while place + n_words < len(free):
        last, following = free[place + n_words - 1], free[place + n_words]
        listed = listed_names().get(following.lower)
        if text[last.end : following.start].strip() or listed is None or listed.category != "number":
            break
        n_words += 1
    return n_words


def _by_ending(word: Word) -> str:
    if word.lower in _PLACE_ENDS:
        return "place"
    return "organisation" if word.lower in _ORGANISATION_ENDS else ""


def _entity(text: str, run: list[Word], category: str) -> Entity:
    start, end = run[0].start, run[-1].end
    if text[start:end].endswith(("'s", "’s")):
        end -= 2
    return Entity(text[start:end], start, end, category)


def _by_cue(before: str) -> str:
    if before in _TITLES or before in _PERSON_CUES:
        return "person"
    return "place" if before in _PLACE_CUES else "name"
