"""GRADE in its authors' own file, `human_judgement.json`: responses of chatbots on three data sets, in one list.

    {"ID": 7, "Dataset": "convai2", "DialogModel": "bert_ranker", "Context": "is it raining ?|||since six .",
     "Response": "i take the bus then .", "HumanScores": "[5, 4, 4, 2]"}

Each data set is a corpus of its own, as in the paper. People rated how coherent a response is with its context: our
relevance. Ids count a data set's records from 0, as xDial-Eval's do.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

from dialeval.corpora import authors_files
from dialeval.corpora.gathering import Gathering, before_response
from dialeval.corpora.json_fields import text_of
from dialeval.corpora.rated import RatedReading, Scale, only_english
from dialeval.corpora.single_ratings import ratings_on
from dialeval.corpora.text_files import listed, parse_json
from dialeval.errors import UserError

DIMENSION = "relevance"
SCALE = Scale(1.0, 5.0)
_THEIRS = {"convai2": "convai2", "dailydialog": "dailydialog", "empathetic": "empatheticdialogues"}
"""How the name that the file has for a data set begins."""
_FIELDS = ("Dataset", "Context", "Response", "HumanScores")
_BETWEEN = "|||"


def _read(corpus: str, path: Path, languages: Iterable[str] | None = None, *, dataset: str) -> RatedReading:
    """Reads a data set.

    Args:
        corpus: its name in the configuration.
        path: the JSON file.
        languages: must hold `en` where it is given.
        dataset: which.

    Raises:
        UserError: the file, the record, what is wrong there, and the remedy.
    """
    only_english(languages, str(path))
    gathering = Gathering(corpus, path, "turn")
    number = 0
    others: dict[str, None] = {}
    for line in authors_files.records(path, f"grade_{dataset}", _FIELDS):
        name, context, response = (text_of(line.record[field], field, line.where) for field in _FIELDS[:3])
        if not name.casefold().startswith(_THEIRS[dataset]):
            gathering.reading.skipped["responses on other data sets"] += 1
            others.setdefault(name)
            continue
        item_id = f"{dataset}-grade-{number:06d}"
        number += 1
        place = f"{line.where}, 'HumanScores'"
        scores = _scores(line.record["HumanScores"], place)
        ratings = ratings_on((corpus, item_id, DIMENSION), scores, SCALE, place, gathering.reading.notes)
        gathering.take(item_id, line.where, before_response([*utterances_in(context), response]), ratings)
    if others and not number:
        raise UserError(f"{path}: nothing in it is on {_THEIRS[dataset]}; its data sets are {listed(others)}")
    return gathering.checked()


def utterances_in(context: str) -> list[str]:
    """Returns the utterances of a context."""
    return [part.strip() for part in context.split(_BETWEEN) if part.strip()]


READERS = {f"grade_{dataset}": partial(_read, dataset=dataset) for dataset in _THEIRS}


def _scores(value: Any, place: str) -> list[Any]:
    """Returns the single ratings: the file holds the list as a text."""
    scores = parse_json(value, place) if isinstance(value, str) else value
    if not isinstance(scores, list):
        raise UserError(f"{place}: a list with a number per rater is needed, not {value!r:.60}")
    return scores
