"""DSTC11's test set in Chinese (HCChinese): ratings in one CSV file, the utterances in another beside it.

    UID,UID_TEST,CID,SID,LANGUAGE,SUPERVISED,APPROPRIATENESS,CONTENT_RICHNESS,GRAMMATICAL_CORRECTNESS,RELEVANCE
    UID_TEST,CID,LANGUAGE,SUPERVISED,COHERENCE,ENGAGENESS,INFORMATIVENESS,OVERALL
    UID,SID,SEG

The first has a row for every utterance, of which those by `Chatbot` are judged; the second a row for every dialogue;
the third, the utterances, is the file beside them that has these three columns. An id is `TEST-<dialogue>-<utterance>`,
six and four digits, without the last at dialogue level. `CID` names the set (`HCCHNS`) and `LANGUAGE` the language
(`ZH`): other sets, and translations, are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from dialeval.corpora.dstc11_sets import CHATBOTS, LANGUAGE, SCALE, SETS, dimension_named, only_chinese
from dialeval.corpora.items import Item, Rating
from dialeval.corpora.rated import PEOPLE, RatedReading, check, rating_value
from dialeval.corpora.text_files import listed, number_in, read_csv
from dialeval.criteria import Level
from dialeval.errors import UserError

DIMENSIONS: Mapping[Level, tuple[str, ...]] = {
    "turn": ("APPROPRIATENESS", "CONTENT_RICHNESS", "GRAMMATICAL_CORRECTNESS", "RELEVANCE"),
    "dialogue": ("COHERENCE", "ENGAGENESS", "INFORMATIVENESS", "OVERALL"),
}
_UTTERANCES = ("UID", "SID", "SEG")
_IDS = ("UID_TEST", "DID_TEST", "UID", "DID")
_ID = re.compile(r"(.+-[0-9]{6})(?:-([0-9]{4,9}))?")
_SPEAKERS = {"human": "human", "user": "human", "chatbot": "chatbot", "system": "chatbot", "bot": "chatbot"}
_CHATBOT = "chatbot"
_LONGEST_HEADER = 10_000


class _Said(NamedTuple):
    """One utterance: its number in the dialogue, who says it, and what."""

    number: int
    speaker: str
    text: str


def read(corpus: str, path: Path, languages: Iterable[str] | None = None) -> RatedReading:
    """Reads the ratings of replies or of dialogues.

    Args:
        corpus: its name in the configuration.
        path: the file of ratings.
        languages: must hold `zh` where it is given.

    Raises:
        UserError: the file, the line, what is wrong there, and the remedy.
    """
    only_chinese(languages, str(path))
    rows = list(_rows(path))
    if not rows:
        raise UserError(f"{path}: there are no rows in it")
    columns = tuple(rows[0][1])
    level = _level(path, columns)
    id_column = next((name for name in _IDS if name in columns), None)
    if id_column is None or "CID" not in columns:
        needed = "CID" if id_column else f"ids ({' or '.join(_IDS)})"
        raise UserError(f"{path}: the column of {needed} is missing; the columns are: {listed(columns)}")
    file = _file_of_utterances(path)
    dialogues = _dialogues(file)
    reading = RatedReading(str(path))
    sets: dict[str, None] = {}
    for line, row in rows:
        where = f"{path}, line {line}"
        item_id = row[id_column].strip()
        sets.setdefault(row["CID"].strip())
        if SETS.get(row["CID"].strip().casefold()) != CHATBOTS:
            reading.leave_out(LANGUAGE, item_id, "rows of other sets")
        elif row.get("LANGUAGE", LANGUAGE).strip().casefold() != LANGUAGE:
            reading.leave_out(row["LANGUAGE"].strip().casefold(), item_id, "rows in other languages")
        elif level == "turn" and _speaker(row.get("SID", _CHATBOT)) != _CHATBOT:
            reading.leave_out(LANGUAGE, item_id, "utterances that no chatbot said")
        elif not (ratings := list(_ratings((corpus, item_id), level, row, where))):
            reading.leave_out(LANGUAGE, item_id, "rows without a rating")
        else:
            dialogue, said = _shown(item_id, level, dialogues, where, file)
            who, texts = tuple(one.speaker for one in said), tuple(one.text for one in said)
            reading.add(Item(corpus, item_id, LANGUAGE, level, dialogue, who, texts), f"line {line}")
            reading.ratings += ratings
    if all(SETS.get(name.casefold()) != CHATBOTS for name in sets):
        raise UserError(f"{path}: the column CID has no set HCCHNS; it has: {listed(sets)}")
    return check(reading)


def source_files(path: Path) -> list[Path]:
    """Returns the files that are read: the ratings, and the utterances beside them where they are there."""
    return [path, *_files_of_utterances(path)]


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Yields the rows of a file by column, with the line that each ends on."""
    header: list[str] = []
    for line, cells in read_csv(path):
        if not header:
            header = [name.strip() for name in cells]
            if twice := sorted({name for name in header if header.count(name) > 1}):
                raise UserError(f"{path}: the column '{twice[0]:.60}' is there more than once")
        elif cells:
            if len(cells) != len(header):
                raise UserError(
                    f"{path}, line {line}: {len(cells)} cells under {len(header)} columns; a comma, quote or line feed "
                    "inside a cell needs double quotes around the cell"
                )
            yield line, dict(zip(header, cells, strict=True))


def _level(path: Path, columns: tuple[str, ...]) -> Level:
    levels: list[Level] = [level for level, names in DIMENSIONS.items() if set(names) & set(columns)]
    if len(levels) != 1:
        both = "of responses and of dialogues" if levels else "neither of responses nor of dialogues"
        raise UserError(
            f"{path}: there are columns {both}; {', '.join(DIMENSIONS['turn'])} or {', '.join(DIMENSIONS['dialogue'])} "
            f"are needed; the columns are: {listed(columns)}"
        )
    return levels[0]


def _ratings(item: tuple[str, str], level: Level, row: Mapping[str, str], where: str) -> Iterator[Rating]:
    for column in DIMENSIONS[level]:
        if cell := row.get(column, "").strip():
            number = number_in(cell)
            value = rating_value(cell if number is None else number, SCALE, f"{where}, column {column}")
            yield Rating(*item, dimension_named(column, level), "human", PEOPLE, None, value, None, *SCALE)


def _shown(
    item_id: str, level: Level, dialogues: Mapping[str, list[_Said]], where: str, file: Path
) -> tuple[str, list[_Said]]:
    """Returns the dialogue of an id, and what is judged of it: up to the utterance, or all."""
    match = _ID.fullmatch(item_id)
    if match is None or (level == "turn" and match[2] is None):
        form = "<set>-<six digits>-<four digits>" if level == "turn" else "<set>-<six digits>"
        raise UserError(f"{where}: the id '{item_id:.60}' is not of the form {form}")
    said = dialogues.get(match[1], [])
    if level == "turn":
        numbers = [one.number for one in said]
        said = said[: numbers.index(int(match[2])) + 1] if int(match[2]) in numbers else []
    if not said:
        raise UserError(f"{where}: '{item_id:.60}' is rated, but is not in {file}; both must come from one release")
    return match[1], said


def _dialogues(file: Path) -> dict[str, list[_Said]]:
    """Returns the utterances of every dialogue, in their order."""
    found: dict[str, list[_Said]] = {}
    lines: dict[tuple[str, int], int] = {}
    for line, row in _rows(file):
        match = _ID.fullmatch(row["UID"].strip())
        if match is None or match[2] is None:
            raise UserError(
                f"{file}, line {line}: the id '{row['UID']:.60}' is not of the form <set>-<six digits>-<four digits>"
            )
        key = (match[1], int(match[2]))
        if lines.setdefault(key, line) != line:
            raise UserError(
                f"{file}, line {line}: the id '{row['UID'].strip():.60}' is used before, at line {lines[key]}; ids "
                "must be unique"
            )
        found.setdefault(match[1], []).append(_Said(key[1], _speaker(row["SID"]), row["SEG"].strip()))
    return {name: sorted(said) for name, said in found.items()}


def _speaker(name: str) -> str:
    return _SPEAKERS.get(name.strip().casefold(), name.strip())


def _file_of_utterances(path: Path) -> Path:
    files = _files_of_utterances(path)
    if len(files) != 1:
        there = f"there are {listed(file.name for file in files)}: leave one" if files else "there is none"
        raise UserError(
            f"{path}: beside it must lie the CSV file of the utterances, with the columns {', '.join(_UTTERANCES)}; "
            f"{there}"
        )
    return files[0]


def _files_of_utterances(path: Path) -> list[Path]:
    """Returns the other CSV files in the folder whose header has the columns of utterances."""
    if not path.parent.is_dir():
        return []
    others = sorted(file for file in path.parent.glob("*.csv") if file.name != path.name and file.is_file())
    return [file for file in others if set(_UTTERANCES) <= set(_header(file))]


def _header(file: Path) -> list[str]:
    with file.open("rb") as content:
        line = content.readline(_LONGEST_HEADER).decode("utf-8-sig", errors="replace")
    return [name.strip().strip('"') for name in line.split(",")]
