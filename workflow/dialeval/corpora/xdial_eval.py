"""xDial-Eval's rated data sets: one CSV per set, with a column per language.

Turn level: `<language>_ctx` (utterances parted by line feeds) and `<language>_res`; dialogue level: `<language>_dial`,
each cell of which begins with a line feed. No speakers: at turn level the response is the chatbot's, dialogues are
begun by the human. Items have the same id in every language: data set and row, counted from 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from dialeval.corpora import clusters
from dialeval.corpora.items import Item, Rating
from dialeval.corpora.rated_sources import (
    PEOPLE,
    RatedReading,
    Scale,
    check,
    rating_value,
    speakers_before_response,
    speakers_in_turn,
)
from dialeval.corpora.rating_scales import N_RATERS, scales_of, single_dimension
from dialeval.corpora.text_files import listed, number_in, read_columns
from dialeval.criteria import Level
from dialeval.errors import UserError, nearest

LANGUAGES = {
    "en": "english",
    "zh": "chinese",
    "es": "spanish",
    "de": "german",
    "fr": "french",
    "ja": "japanese",
    "ko": "korean",
    "hi": "hindi",
    "ar": "arabic",
    "ru": "russian",
}
"""Codes and the names in the files, in the paper's order."""

_SUFFIXES: dict[Level, tuple[str, ...]] = {"turn": ("_ctx", "_res"), "dialogue": ("_dial",)}
_RATINGS = "ratings"


def read(corpus: str, path: Path, languages: Iterable[str] | None = None) -> RatedReading:
    """Reads a data set.

    Args:
        corpus: its name in the configuration.
        path: the CSV file.
        languages: codes of the languages to read; None for all that the file has.

    Raises:
        UserError: the file, the row or column, what is wrong there, and the remedy.
    """
    dimension, scale = _rated(path)
    columns = _columns(path)
    level = _level(path, columns)
    codes = _selected(path, columns, level, languages)
    texts = {code: _utterances(columns, level, LANGUAGES[code]) for code in codes}
    reference = "en" if _has(columns, level, "english") else codes[0]
    original = texts.get(reference) or _utterances(columns, level, LANGUAGES[reference])
    ids = [f"{path.stem}-{row:06d}" for row in range(len(original))]
    firsts = _clusters(path.stem, level, original)

    reading = RatedReading(str(path))
    kept: set[str] = set()
    for code in codes:
        for row, utterances in enumerate(texts[code]):
            if not utterances or not all(utterances):
                reading.leave_out(code, ids[row], f"{LANGUAGES[code]} texts that are empty")
                continue
            speakers = (
                speakers_before_response(len(utterances)) if level == "turn" else speakers_in_turn(len(utterances))
            )
            reading.add(Item(corpus, ids[row], code, level, ids[firsts[row]], speakers, utterances), f"row {row}")
            kept.add(ids[row])
            if code != reference and len(utterances) != len(original[row]):
                reading.notes[f"{LANGUAGES[code]} texts with another number of utterances than the original"] += 1
            if code != reference and utterances[-1:] == original[row][-1:]:
                reading.notes[f"{LANGUAGES[code]} texts whose last utterance is the original's"] += 1
    for row, cell in enumerate(columns[_RATINGS]):
        number = number_in(cell)
        value = rating_value(cell if number is None else number, scale, f"{path}, column {_RATINGS}, row {row}")
        if ids[row] in kept:
            people = N_RATERS.get(path.stem)
            reading.ratings.append(Rating(corpus, ids[row], dimension, "human", PEOPLE, None, value, people, *scale))
    return check(reading)


def _rated(path: Path) -> tuple[str, Scale]:
    """Returns the dimension of the ratings and their scale."""
    dimension = single_dimension(path.stem)
    return dimension, scales_of(path.stem, str(path))[dimension]


def _columns(path: Path) -> dict[str, list[str]]:
    """Returns the cells of every column as text: a response may say 'None' or 'nan'."""
    rows = [row for _, row in read_columns(path, [_RATINGS])]
    if not rows:
        raise UserError(f"{path}: there are no rows in it")
    return {name: [row[name] for row in rows] for name in rows[0]}


def _level(path: Path, columns: dict[str, list[str]]) -> Level:
    for level in _SUFFIXES:
        if any(_has(columns, level, name) for name in LANGUAGES.values()):
            return level
    raise UserError(
        f"{path}: there are neither columns <language>_ctx and <language>_res nor <language>_dial of a known language; "
        f"the columns are: {listed(columns)}"
    )


def _has(columns: dict[str, list[str]], level: Level, language: str) -> bool:
    return all(language + suffix in columns for suffix in _SUFFIXES[level])


def _selected(path: Path, columns: dict[str, list[str]], level: Level, languages: Iterable[str] | None) -> list[str]:
    present = [code for code, name in LANGUAGES.items() if _has(columns, level, name)]
    if languages is None:
        return present
    wanted = list(dict.fromkeys(languages))
    for code in wanted:
        if code not in LANGUAGES:
            raise UserError(f"{path}: xDial-Eval has no language '{code}'; {nearest(code, LANGUAGES)}")
        if code not in present:
            names = " and ".join(LANGUAGES[code] + suffix for suffix in _SUFFIXES[level])
            raise UserError(f"{path}: the file has no {names}; leave '{code}' out of the languages")
    if not wanted:
        raise UserError(f"{path}: no language is asked for; name some of {', '.join(present)}")
    return wanted


def _utterances(columns: dict[str, list[str]], level: Level, language: str) -> list[tuple[str, ...]]:
    """Returns the utterances of every row; an empty response or dialogue stays empty."""
    if level == "dialogue":
        return [_lines(cell) for cell in columns[f"{language}_dial"]]
    pairs = zip(columns[f"{language}_ctx"], columns[f"{language}_res"], strict=True)
    return [(*_lines(context), response.strip()) for context, response in pairs]


def _lines(cell: str) -> tuple[str, ...]:
    """Returns the lines between line feeds, without empty ones at both ends; other line ends are ordinary text."""
    cell = cell.strip()
    return tuple(line.strip() for line in cell.split("\n")) if cell else ()


def _clusters(dataset: str, level: Level, original: list[tuple[str, ...]]) -> list[int]:
    if level == "dialogue":
        return clusters.identical_clusters(original)
    if dataset == "conture-turn":  # three utterances of context before each response of a dialogue, in order
        return clusters.continuation_clusters(original)
    return clusters.context_clusters(original)
