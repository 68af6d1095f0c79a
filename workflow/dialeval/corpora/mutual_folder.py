"""MuTual's own text files: a folder with one JSON object per file.

The field `article` holds the dialogue as one string with turns marked by `m :` and `f :`. Items that share a dialogue
are cut at different points; only the longest cut of each is kept (572 dialogues on the test split).
"""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

from dialeval.corpora.dialogues import HumanDialogue, Reading, Utterance, check
from dialeval.corpora.text_files import read_json
from dialeval.errors import UserError

TURN = re.compile(r"(?:^|\s)([mf]) : ")


def files_in(folder: Path) -> list[Path]:
    """Returns the text files of a folder in the order of their numbers.

    Raises:
        UserError: it is no folder or has no text files.
    """
    if not folder.is_dir():
        raise UserError(f"{folder} is not a folder; name the folder that holds MuTual's test_<n>.txt files")
    files = sorted(folder.glob("*.txt"), key=lambda path: (_number(path), path.name))
    if not files:
        raise UserError(f"{folder} has no .txt files; name the folder that holds MuTual's test_<n>.txt files")
    return files


def read(folder: Path, language: str) -> Reading:
    """Reads a folder of MuTual items; ids are the file names' stems.

    Raises:
        UserError: the file and what is wrong in it.
    """
    articles: dict[str, str] = {}
    for path in files_in(folder):
        record = read_json(path)
        if not isinstance(record, dict) or not isinstance(record.get("article"), str):
            raise UserError(f"{path}: one JSON object with a text field 'article' is needed")
        articles[path.stem] = record["article"].strip()

    reading = Reading(str(folder))
    longer = _items_with_a_longer_cut(articles)
    for item, article in articles.items():
        utterances = _utterances(article, folder / f"{item}.txt")
        if len(utterances) < 2:
            reading.skipped["with fewer than two utterances"] += 1
        elif item in longer:
            reading.skipped["that are a shorter cut of another item"] += 1
        else:
            reading.dialogues.append(HumanDialogue(item, utterances, language, f"file {item}.txt"))
    return check(reading)


def _number(path: Path) -> int:
    digits = re.findall(r"\d+", path.stem)
    return int(digits[-1]) if digits else -1


def _utterances(article: str, path: Path) -> tuple[Utterance, ...]:
    head, *parts = TURN.split(article)
    if head.strip():
        raise UserError(f"{path}: the article begins with {head!r:.60} instead of a turn mark 'm :' or 'f :'")
    return tuple(Utterance(speaker, text.strip()) for speaker, text in zip(parts[::2], parts[1::2], strict=True))


def _items_with_a_longer_cut(articles: dict[str, str]) -> set[str]:
    """Returns the items whose article begins another one; of equal articles, all but the first.

    In sorted order an article that begins another one begins its next neighbour.
    """
    order = {item: number for number, item in enumerate(articles)}
    ranked = sorted(articles, key=lambda item: (articles[item], -order[item]))
    return {item for item, follower in pairwise(ranked) if articles[follower].startswith(articles[item])}
