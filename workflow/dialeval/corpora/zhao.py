"""Zhao's data sets in their authors' own files, such as `dd_annotations.json`: contexts with several rated responses.

    {"17": {"context": [["A", "is it raining ?"], ["B", "since six ."]], "reference": ["A", "i take the bus ."],
            "responses": {"S2S": {"uttr": "it is red .", "scores":
                {"worker_0": {"worker_id": "w1", "content": 2, "grammar": 5, "relevance": 1, "overall": 2,
                              "fact": "na", "overall_is_outlier": false}}}}}}

Ratings that the authors mark as outliers are kept, as in comp-analysis' means. A response is said by whoever says the
reference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from dialeval.corpora import authors_files
from dialeval.corpora.gathering import Gathering
from dialeval.corpora.json_fields import required, text_of
from dialeval.corpora.rated import RatedReading, only_english
from dialeval.corpora.rating_scales import ZHAO
from dialeval.corpora.single_ratings import ratings_of
from dialeval.corpora.text_files import read_json
from dialeval.errors import UserError

_TRUTHS = {"true": 1, "false": 0}


def read(corpus: str, path: Path, languages: Iterable[str] | None = None) -> RatedReading:
    """Reads a data set.

    Args:
        corpus: its name in the configuration.
        path: the JSON file.
        languages: must hold `en` where it is given.

    Raises:
        UserError: the file, the dialogue and response, what is wrong there, and the remedy.
    """
    only_english(languages, str(path))
    gathering = Gathering(corpus, path, "turn")
    for number, (dialogue, where) in enumerate(_dialogues(path)):
        context = _context(dialogue, where)
        responses = _object(required(dialogue, "responses", where), "responses", where)
        for place, (model, response) in enumerate(responses.items()):
            at = f"{where}, response of '{model:.60}'"
            text = text_of(required(_object(response, model, where), "uttr", at), "uttr", at)
            item_id = f"zhao-{number:06d}-{place}"
            rated = _by_dimension(response.get("scores"), at)
            ratings = ratings_of((corpus, item_id), rated, ZHAO, at, gathering.reading.notes)
            gathering.take(item_id, at, [*context, ("chatbot", text)], ratings)
    return gathering.checked()


def _dialogues(path: Path) -> Iterator[tuple[dict[str, Any], str]]:
    content = read_json(path)
    if not isinstance(content, dict):
        first = content[0] if isinstance(content, list) and content else None
        raise UserError(
            f"{path}: one JSON object of id -> dialogue is needed, not {type(content).__name__}"
            f"{authors_files.advice(first, 'zhao')}"
        )
    for name, dialogue in content.items():
        where = f"{path}, dialogue '{name:.60}'"
        if not isinstance(dialogue, dict):
            raise UserError(
                f"{where}: an object with 'context', 'reference' and 'responses' is needed, not {dialogue!r:.60}"
                f"{authors_files.advice(content, 'zhao')}"
            )
        yield dialogue, where


def _context(dialogue: dict[str, Any], where: str) -> list[tuple[str, str]]:
    reference, _ = _said(required(dialogue, "reference", where), f"{where}, 'reference'")
    context = required(dialogue, "context", where)
    if not isinstance(context, list):
        raise UserError(f"{where}: 'context' must be a list of [speaker, text], not {context!r:.60}")
    parts = [_said(part, f"{where}, 'context', utterance {number}") for number, part in enumerate(context, start=1)]
    return [("chatbot" if speaker == reference else "human", text) for speaker, text in parts if text]


def _said(part: Any, where: str) -> tuple[str, str]:
    if not isinstance(part, list) or len(part) != 2 or not all(isinstance(text, str) for text in part):
        raise UserError(f"{where} must be a list of speaker and text, not {part!r:.60}")
    return part[0].strip(), part[1].strip()


def _by_dimension(workers: Any, where: str) -> dict[str, list[Any]]:
    """Returns everyone's ratings by dimension, without what else is known of the raters."""
    if workers is None:
        return {}
    each = [_object(one, name, f"{where}, 'scores'") for name, one in _object(workers, "scores", where).items()]
    return {name: [_number(one.get(name)) for one in each] for name in ZHAO if any(name in one for one in each)}


def _number(value: Any) -> Any:
    """Returns 1 and 0 for what is written as true and false."""
    return _TRUTHS.get(value.strip().lower(), value) if isinstance(value, str) else value


def _object(value: Any, name: str, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise UserError(f"{where}: '{name:.60}' must be an object, not {value!r:.60}")
    return value
