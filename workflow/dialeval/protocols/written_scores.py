"""The grammar of written scores: lines, tables, lists and JSON with values by criterion.

docs/criteria.md has the grammar. A line that begins with a criterion's name gives its score where one value stands
behind the name and no other; so do fields of JSON, a row below a row of names, and a list with a value for every name.
A criterion that is missing, or given two different scores, has none. An answer to a request for one
criterion may be a score alone, `6/7`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from dialeval.criteria import Criterion
from dialeval.protocols.score_values import (
    CALLED,
    Value,
    ValueReader,
    WrittenScore,
    cleaned,
    reader_of,
    score_of_label,
    spelled,
)
from dialeval.protocols.verdicts import ENOUGH, is_second_thought, normalized, own_words, plain_text

_LINE_ENDS = re.compile(r"[\n\v\f\x1c-\x1e\x85\u2028\u2029]")
_FENCE = re.compile(r"\s*(?:```|~~~)[\w ]*")
_BULLETS = r"[\s#•·◦▪●○■□✓✔✅⭐★►➤→'(\[{|+-]*"
_LIST_MARK = r"(?:\(?(?:\d{1,2}|[a-z])[.):、]|\d{1,2}\s*\||[①-⑳])"
_BEFORE_NAME = re.compile(
    rf"{_BULLETS}(?:{_LIST_MARK}{_BULLETS})?"
    rf"(?:(?:final\s+|my\s+)?(?:ratings?|scores?|answers?|results?|evaluation)\s*:{_BULLETS})?",
    re.IGNORECASE,
)
_LISTED = re.compile(r"\s*1[.)]\s+\S")
"""The beginning of a list of remarks, whose number is no score."""
_ALSO = re.compile(r"(?<![\w.])(?P<number>\d+(?:\.\d+)?)\s+(?:would|could|might|may)\b", re.IGNORECASE)
_MARK_ALONE = re.compile(rf"\s*{_LIST_MARK}\s*", re.IGNORECASE)
_SENTENCE_END = ".!?。"
_BETWEEN_PARTS = "\t,;|/.!?。、·•)]}"
_BARE_NAME = rf"{CALLED}(?:\s|[:=|,;/)\]}}&'-]|\band\b)*"
_MEANT = re.compile(CALLED + r"\s*[:=|('\[-]", re.IGNORECASE)
_BARE = re.compile(r"[-+]?\d+(?:\.\d+)?(?: ?/ ?\d+| out of \d+)?")
_AROUND = " \t\r\n'.。()[]"
_OF_ALL = re.compile(
    r"\W*(?:(?:the|my|final|revised)\s+)*(?:answer|rating|score|verdict)\s*(?::|=|\bis\b)", re.IGNORECASE
)
_VALUE_FIELDS = ("score", "rating", "value", "label")
_END_FIELDS = ("max", "maximum", "out_of", "scale", "max_score")
_MOST_BROKEN = 50
"""Brackets that begin no JSON object after which no other is tried."""


class _Fields(list[tuple[str, Any]]):
    """The fields of a JSON object in order, including repeated ones."""


_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=_Fields, parse_int=str, parse_float=str, parse_constant=str)


class _Part(NamedTuple):
    """A criterion's name at the beginning of a line or part, with the span of its text."""

    number: int
    start: int
    end: int


@dataclass
class _Claims:
    """What an answer says of a criterion.

    Attributes:
        own: what stands behind its name; None is unclear.
        mentioned: what sentences say, which give no score but can contradict one.
    """

    own: set[WrittenScore | None] = field(default_factory=set)
    mentioned: set[WrittenScore | None] = field(default_factory=set)


def parse_scores(text: str, criteria: Sequence[Criterion], *, cut: bool = False) -> dict[str, WrittenScore]:
    """Return the scores that an answer gives, by criterion; one that is not given, or not clearly, is absent.

    Args:
        criteria: what is scored.
        cut: whether the answer was cut off, so that a score at its end may not be whole.
    """
    plain = own_words(plain_text(text))
    if len(criteria) == 1 and _is_bare(cleaned(plain).strip(_AROUND), criteria[0]):
        plain = f"{normalized(criteria[0].name)}: {plain.lstrip()}"
    answer = _Answer(criteria, cut=cut)
    answer.take(plain)
    return answer.scores()


class _Answer:
    """The claims of one answer.

    Args:
        criteria: what is scored.
        cut: whether the answer was cut off.
    """

    def __init__(self, criteria: Sequence[Criterion], *, cut: bool) -> None:
        self._readers = [reader_of(one) for one in criteria]
        self._names, self._owners = _names(tuple(one.names for one in criteria))
        self._claims = [_Claims() for _ in criteria]
        self._cut = cut
        self._others: list[str] = []

    def take(self, plain: str) -> None:
        """Take the JSON objects of an answer by their fields, and the rest line by line."""
        rest = _take_objects(plain, self._take_object, cut=self._cut)
        lines = ["" if _FENCE.fullmatch(line) else cleaned(line) for line in _LINE_ENDS.split(rest)]
        place = 0
        while place < len(lines):
            place = self._take_line(lines, place)

    def scores(self) -> dict[str, WrittenScore]:
        """Return the score of each criterion that has one and no other."""
        found = {}
        for reader, claims in zip(self._readers, self._claims, strict=True):
            score = next(iter(claims.own)) if len(claims.own | claims.mentioned) == 1 and claims.own else None
            if score is not None and not any(self._contradicts(line, reader, score) for line in self._others):
                found[reader.criterion.name] = score
        return found

    def _take_object(self, fields: _Fields) -> None:
        waiting: list[Any] = [fields]
        while waiting:
            one = waiting.pop()
            if isinstance(one, str):
                for line in _LINE_ENDS.split(one):
                    self._mention(cleaned(line), frozenset())
            elif not isinstance(one, _Fields):
                waiting += one if isinstance(one, list) else []
            else:
                for name, value in one:
                    owner = self._owner(cleaned(name))
                    waiting += [value] if owner is None else self._take_field(owner, value, beside=one)

    def _take_field(self, owner: int, value: Any, *, beside: _Fields) -> list[Any]:
        """Claim the value of a criterion's field and return the rest of the field."""
        if isinstance(value, list) and not isinstance(value, _Fields) and len(value) == 1:
            (value,) = value
        if isinstance(value, _Fields):
            for name, one in value:
                if _key(name) in _VALUE_FIELDS and not isinstance(one, _Fields):
                    self._take_field(owner, one, beside=value)
            return [one for name, one in value if _key(name) not in _VALUE_FIELDS]
        reader = self._readers[owner]
        high = f"{reader.criterion.scale.high:g}"
        is_of_another = any(_key(name) in _END_FIELDS and one != high for name, one in beside)
        if isinstance(value, str) and (read := reader.read(f": {cleaned(value)}")) is not None:
            self._claims[owner].own.add(None if is_of_another else read.score)
        elif isinstance(value, list):
            self._claims[owner].own.add(None)
        return []

    def _take_line(self, lines: list[str], place: int) -> int:
        """Take the line at a place and those that belong to it; returns the place of the next."""
        line = lines[place]
        parts = list(self._parts(line))
        self._mention(line, frozenset(part.start for part in parts))
        if not parts:
            is_mark = len(self._readers) > 1 and _MARK_ALONE.fullmatch(line) and self._parts_below(lines, place)
            self._others += [line] if line.strip() and not is_mark else []
            return place + 1
        bare = [self._is_bare_name(part, line) for part in parts]
        if all(bare):
            is_row = len(parts) > 1 or "|" in line
            return self._take_rows(lines, place, parts) if is_row else self._take_below(lines, place, parts[0].number)
        valued = len(bare) - bare[::-1].index(False)
        if any(bare[:valued]):
            self._take_list(line, parts[:valued], bare[:valued], is_last=place == len(lines) - 1)
            return place + 1
        for part in parts:
            reader, text = self._readers[part.number], _without_end(line[part.start : part.end])
            if reader.patterns.value.match(text) is None and _MEANT.match(text) is None:
                self._note(part.number, line, part.start)
                continue
            value = reader.read(text)
            if value is not None:
                more = part is not parts[-1] or len(line) - part.start - value.end >= ENOUGH
                complete = more or not self._cut or place < len(lines) - 1
                self._claims[part.number].own.add(value.score if complete else None)
        return place + 1

    def _parts_below(self, lines: list[str], place: int) -> bool:
        """Return whether the next line that is not blank begins with a name."""
        below = next((lines[number] for number in range(place + 1, len(lines)) if lines[number].strip()), "")
        return any(True for _ in self._parts(below))

    def _take_rows(self, lines: list[str], place: int, parts: list[_Part]) -> int:
        """Take the row of values below a row of names; of two rows, or one that does not fit, none is clear."""
        mark = next((mark for mark in "|\t;," if mark in lines[place]), ",")
        header = _cells(lines[place], mark)
        rows: list[list[str]] = []
        place += 1
        while place < len(lines):
            line = lines[place]
            if line.strip(" \t|:+=-"):
                cells = _cells(line, mark)
                if len(cells) != len(header) or self._names.search(line):
                    break
                rows.append(cells)
            elif rows and not line.strip():
                break
            place += 1
        if not rows:
            return place
        owners = [self._owner(cell) for cell in header]
        named = [
            (owner, self._readers[owner].read_alone(cell))
            for owner, cell in zip(owners, rows[0], strict=True)
            if owner is not None
        ]
        complete = not self._cut or place < len(lines)
        if len(rows) == 1 and complete and len(named) == len(parts) and all(score is not None for _, score in named):
            for owner, score in named:
                self._claims[owner].own.add(score)
        else:
            for part in parts:
                self._claims[part.number].own.add(None)
        return place

    def _take_below(self, lines: list[str], place: int, number: int) -> int:
        """Take the value that the lines below a name, which has its line to itself, begin with."""
        start = place + 1
        while start < len(lines) and not lines[start].strip():
            start += 1
        end = start
        while end < len(lines) and lines[end].strip() and not any(True for _ in self._parts(lines[end])):
            end += 1
        text, reader = "\n".join(["", *lines[start:end]]), self._readers[number]
        if start == end or reader.patterns.value.match(text) is None:
            return start
        value = reader.read(text) if not _LISTED.match(lines[start]) else Value(None, 0)
        if value is not None:
            complete = not self._cut or end < len(lines) or len(text) - value.end >= ENOUGH
            self._claims[number].own.add(value.score if complete else None)
        return end

    def _take_list(self, line: str, parts: list[_Part], bare: list[bool], *, is_last: bool) -> None:
        """Take `one, two, three: 4, 2, 5`: as many values as names, or none is clear."""
        text = line[parts[-1].start : parts[-1].end]
        if not any(self._readers[part.number].contains_value(text) for part in parts):
            return
        values: list[WrittenScore | None] = []
        if all(bare[:-1]) and not (self._cut and is_last):
            behind = re.sub(r",?\s+(?:and|&)\s+", ", ", text.strip(" \t:=-|."))
            mark = next((mark for mark in ",;|/" if mark in behind), None)
            each = [one.strip() for one in behind.split(mark)]
            if len(each) == len(parts):
                values = [self._readers[part.number].read_alone(one) for part, one in zip(parts, each, strict=True)]
        clear = bool(values) and None not in values
        for place, part in enumerate(parts):
            self._claims[part.number].own.add(values[place] if clear else None)

    def _parts(self, line: str) -> Iterator[_Part]:
        """Yield the names that a line, or a part of it behind another name's value, begins with."""
        starts: list[re.Match[str]] = []
        for name in self._names.finditer(line):
            if self._begins(line, name.start(), first=not starts):
                starts.append(name)
        stops = [*(name.start() for name in starts[1:]), len(line)]
        for name, end in zip(starts, stops, strict=False):
            yield _Part(self._number(name), name.end(), end)

    def _begins(self, line: str, place: int, *, first: bool) -> bool:
        """Return whether the name at a place of a line begins a part of it."""
        position = _back_over(line, place, " '([{")
        if first:
            if (mark := _BEFORE_NAME.match(line)) is not None and mark.end() >= place:
                return True
            ended = position > 0 and line[position - 1] in _SENTENCE_END
            return ended and not any(reader.contains_value(line, place) for reader in self._readers)
        if line[max(0, position - 3) : position].lower() == "and":
            position = _back_over(line, position - 3, " ")
        return line[position - 1] in _BETWEEN_PARTS or (line[position - 1].isdecimal() and position < place)

    def _is_bare_name(self, part: _Part, line: str) -> bool:
        """Return whether a name is followed only by marks or by the ends of the scale."""
        text, reader = line[part.start : part.end], self._readers[part.number]
        if reader.criterion.scale.labels and reader.patterns.value.match(text):  # a label may be a mark
            return False
        return re.fullmatch(f"{CALLED}(?:{reader.patterns.ends.pattern})?{_BARE_NAME}", text, re.IGNORECASE) is not None

    def _mention(self, line: str, parts: frozenset[int]) -> None:
        """Note the values that a line gives to names other than those that its parts begin with."""
        for name in self._names.finditer(line):
            if name.end() not in parts:
                self._note(self._number(name), line, name.end())

    def _note(self, number: int, line: str, place: int) -> None:
        score = self._readers[number].mentioned(line, place)
        if score is not None:
            self._claims[number].mentioned.add(score)

    def _number(self, name: re.Match[str]) -> int:
        return self._owners[(name.lastindex or 1) - 1]

    def _owner(self, name: str) -> int | None:
        """Return which criterion a text names that is a name and nothing else."""
        found = self._names.match(name.strip())
        if found is None:
            return None
        part = _Part(self._number(found), found.end(), len(found.string))
        return part.number if self._is_bare_name(part, found.string) else None

    def _contradicts(self, line: str, reader: ValueReader, score: WrittenScore) -> bool:
        """Return whether a line that begins with no name gives another value: alone, or on second thought."""
        bare = line.strip(_AROUND + "|:!,~")
        if score.label is not None and (alone := score_of_label(bare, reader.criterion)) is not None:
            return alone != score
        if score.label is None and _BARE.fullmatch(bare):
            return reader.read_alone(bare) != score
        if any(float(one["number"]) != score.value for one in _ALSO.finditer(line)) and score.label is None:
            return True
        is_of_all = len(self._readers) == 1 and _OF_ALL.match(line) is not None
        return (is_of_all or is_second_thought(line)) and reader.others(f"{line} ", score)


def _take_objects(plain: str, take: Callable[[_Fields], None], *, cut: bool) -> str:
    """Give the JSON objects of a text to a function, their numbers as texts; returns the text without them.

    Of an object that was cut off its whole fields are taken.
    """
    rest: list[str] = []
    end = n_broken = 0
    place = plain.find("{")
    while place >= 0 and n_broken < _MOST_BROKEN:
        try:
            fields, stop = _DECODER.raw_decode(plain, place)
        except (ValueError, RecursionError):
            if cut and not n_broken and (complete := _whole_fields(plain[place:])) is not None:
                take(complete)
                return "\n".join([*rest, plain[end:place]])
            n_broken += 1
            place = plain.find("{", place + 1)
            continue
        take(fields)
        rest.append(plain[end:place])
        end = stop
        place = plain.find("{", end)
    return "\n".join([*rest, plain[end:]])


def _whole_fields(text: str) -> _Fields | None:
    """Return the fields before the last one of an object that was cut off."""
    end = len(text)
    for _ in range(_MOST_BROKEN):
        end = text.rfind(",", 0, end)
        if end < 0:
            return None
        try:
            fields = _DECODER.decode(f"{text[:end]}}}")
        except (ValueError, RecursionError):
            continue
        return fields if isinstance(fields, _Fields) else None
    return None


def _key(name: str) -> str:
    return name.strip().casefold()


def _is_bare(text: str, criterion: Criterion) -> bool:
    """Return whether a text is a score and nothing else."""
    return _BARE.fullmatch(text) is not None or score_of_label(text, criterion) is not None


def _cells(line: str, mark: str) -> list[str]:
    inside = line.strip()
    if mark == "|":
        inside = inside.removeprefix("|").removesuffix("|")
    return [cell.strip() for cell in inside.split(mark)]


def _without_end(text: str) -> str:
    """Return the text of a name without the marks before the next name."""
    text = text.rstrip(" \t,;|/.、·•")
    return text[:-4].rstrip(" \t,;|/.、·•") if text.lower().endswith(" and") else text


def _back_over(line: str, place: int, marks: str) -> int:
    while place and line[place - 1] in marks:
        place -= 1
    return place


@lru_cache(maxsize=256)
def _names(criteria: tuple[tuple[str, ...], ...]) -> tuple[re.Pattern[str], tuple[int, ...]]:
    """Return the pattern of any criterion's names, a group for each, and whose name each group is."""
    each = sorted(
        ((name, number) for number, names in enumerate(criteria) for name in names),
        key=lambda pair: len(pair[0]),
        reverse=True,  # a name that another one begins with would be taken for it
    )
    any_name = "|".join(f"({spelled(name)})" for name, _ in each)
    return re.compile(rf"(?<![\w-])(?:{any_name})(?![^\W_])", re.IGNORECASE), tuple(number for _, number in each)
