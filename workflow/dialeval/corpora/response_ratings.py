"""Rated responses in their authors' own files: ConTurE, GRADE, USR, and Zhao's sets.

    {"dialog_id": 4, "turns": [{"user": "User: Hi", "chatbot": "Chatbot: It rains.", "overall impression": 1}],
     "dialog_ratings": [{"coherent": 2, "human (overall)": 4}, {"coherent": 3, "human (overall)": "N/A"}]}

A reply has one rating, that of most of three people. It is shown with all that was said before it, as it was to them.
Ids count the replies, and the dialogues, from 0, as xDial-Eval's do.

    {"ID": 7, "Dataset": "convai2", "DialogModel": "bert_ranker", "Context": "is it raining ?|||since six .",
     "Response": "i take the bus then .", "HumanScores": "[5, 4, 4, 2]"}

Each data set is a corpus of its own, as in the paper. People rated how coherent a response is with its context: our
relevance. Ids count a data set's records from 0, as xDial-Eval's do.

Line by line: a context with `|||` between its utterances, the response to it, and what people gave on average. The
scores lie beside the texts, or where the authors have them: `human_score/<data set>/<chatbot>` for
`eval_data/<data set>/<chatbot>`.

    {"context": "is it raining ?\nsince six .\n", "fact": "your persona: i live in ulm .\n",
     "responses": [{"response": "i take the bus then .\n", "model": "Seq2Seq", "Understandable": [1, 1, 0],
                    "Maintains Context": [3, 2, 3], "Overall": [4, 3, 4]}]}

The fact that a response was to use is not part of the item: judges are shown what was said.

    {"17": {"context": [["A", "is it raining ?"], ["B", "since six ."]], "reference": ["A", "i take the bus ."],
            "responses": {"S2S": {"uttr": "it is red .", "scores":
                {"worker_0": {"worker_id": "w1", "content": 2, "grammar": 5, "relevance": 1, "overall": 2,
                              "fact": "na", "overall_is_outlier": false}}}}}}

Ratings that the authors mark as outliers are kept, as in comp-analysis' means. A response is said by whoever says the
reference.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from dialeval.corpora import rating_scales
from dialeval.corpora.items import Rating
from dialeval.corpora.json_records import required, text_of
from dialeval.corpora.rated_items import (
    PEOPLE,
    Gathering,
    RatedReading,
    Scale,
    before_response,
    only_english,
    rating_value,
)
from dialeval.corpora.rating_scales import (
    CONTURE_DIALOGUE,
    RATED_BY_PEOPLE,
    USR,
    ZHAO,
    is_missing,
    ratings_of,
    ratings_on,
)
from dialeval.corpora.text_files import JsonLine, listed, number_in, parse_json, read_json, read_lines
from dialeval.errors import UserError

# ConTurE in its authors' own file, `data.json`: dialogues of people with chatbots, rated reply by reply and whole.

NOTHING_SAID = "<EMPTY>"
"""Stands for an utterance without a text, as in comp-analysis' copy; people rated such replies, too."""
_IMPRESSION = "overall impression"
_SPEAKERS = {"user": "human", "chatbot": "chatbot"}
_TAG = re.compile(r"(?:User|Chatbot)\s*:", re.IGNORECASE)


def read_turns(corpus: str, path: Path, languages: Iterable[str] | None = None) -> RatedReading:
    """Reads the chatbots' replies.

    Args:
        corpus: its name in the configuration.
        path: the JSON file.
        languages: must hold `en` where it is given.

    Raises:
        UserError: the file, the dialogue and turn, what is wrong there, and the remedy.
    """
    only_english(languages, str(path))
    scale = RATED_BY_PEOPLE["conture-turn"]["overall"]
    gathering = Gathering(corpus, path, "turn")
    number = 0
    for line in rating_scales.records(path, "conture_turn", ("turns",)):
        said: list[tuple[str, str]] = []
        dialogue = f"conture-turn-{number:06d}"
        for turn, where in _turns(line):
            said += _pair(turn, where, gathering.reading.notes)
            item_id = f"conture-turn-{number:06d}"
            number += 1
            ratings = []
            if not is_missing(turn.get(_IMPRESSION)):
                value = rating_value(turn[_IMPRESSION], scale, f"{where}, '{_IMPRESSION}'")
                ratings.append(Rating(corpus, item_id, "overall", "human", PEOPLE, None, value, None, *scale))
            gathering.take(item_id, where, said, ratings, cluster=dialogue)
    return gathering.checked()


def read_dialogues(corpus: str, path: Path, languages: Iterable[str] | None = None) -> RatedReading:
    """Reads the whole dialogues; arguments and errors are those of `read_turns`."""
    only_english(languages, str(path))
    gathering = Gathering(corpus, path, "dialogue")
    notes = gathering.reading.notes
    for number, line in enumerate(rating_scales.records(path, "conture_dialogue", ("turns", "dialog_ratings"))):
        said = [part for turn, where in _turns(line) for part in _pair(turn, where, notes)]
        item_id = f"conture-dial-{number:06d}"
        rated = _by_dimension(line.record["dialog_ratings"], line.where)
        gathering.take(
            item_id, line.where, said, ratings_of((corpus, item_id), rated, CONTURE_DIALOGUE, line.where, notes)
        )
    return gathering.checked()


def _turns(line: JsonLine) -> Iterator[tuple[dict[str, Any], str]]:
    turns = line.record["turns"]
    if not isinstance(turns, list):
        raise UserError(f"{line.where}: 'turns' must be a list of objects with 'user' and 'chatbot', not {turns!r:.60}")
    for number, turn in enumerate(turns, start=1):
        where = f"{line.where}, turn {number}"
        if not isinstance(turn, dict):
            raise UserError(f"{where}: an object with 'user' and 'chatbot' is needed, not {turn!r:.60}")
        yield turn, where


def _pair(turn: dict[str, Any], where: str, notes: Counter[str]) -> list[tuple[str, str]]:
    pair = []
    for name, speaker in _SPEAKERS.items():
        text = text_of(required(turn, name, where), name, where)
        tag = _TAG.match(text)
        text = text[tag.end() :].strip() if tag else text
        if not text:
            notes[f"utterances without a text, shown as {NOTHING_SAID}"] += 1
        pair.append((speaker, text or NOTHING_SAID))
    return pair


def _by_dimension(raters: Any, where: str) -> dict[str, list[Any]]:
    """Returns everyone's ratings by dimension; where a rater left one out, null."""
    if raters is None:
        return {}
    if not isinstance(raters, list) or not all(isinstance(one, dict) for one in raters):
        raise UserError(
            f"{where}: 'dialog_ratings' must be a list with an object of dimension -> rating for each rater"
        )
    return {name: [one.get(name) for one in raters] for name in dict.fromkeys(name for one in raters for name in one)}


# GRADE in its authors' own file, `human_judgement.json`: responses of chatbots on three data sets, in one list.

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
    for line in rating_scales.records(path, f"grade_{dataset}", _FIELDS):
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


# GRADE's texts of one chatbot on one data set: `human_ctx.txt`, `human_hyp.txt` and the means in `human_score.txt`.

_RESPONSES = "human_hyp.txt"
_SCORES = "human_score.txt"
_TEXTS_FOLDER = "eval_data"
_SCORES_FOLDER = "human_score"


def read_grade_texts(corpus: str, path: Path, languages: Iterable[str] | None = None) -> RatedReading:
    """Reads the responses of a chatbot.

    Args:
        corpus: its name in the configuration.
        path: the file of the contexts.
        languages: must hold `en` where it is given.

    Raises:
        UserError: the file, the line, what is wrong there, and the remedy.
    """
    only_english(languages, str(path))
    contexts, responses, scores = (_lines(file) for file in _files(path))
    for file, lines in zip(_files(path)[1:], (responses, scores), strict=True):
        if len(lines) != len(contexts):
            raise UserError(
                f"{file}: {len(lines)} lines, but {path} has {len(contexts)}; both must be of one chatbot, with a line "
                "for each response"
            )
    gathering = Gathering(corpus, path, "turn")
    for number, (context, response, score) in enumerate(zip(contexts, responses, scores, strict=True), start=1):
        item_id = f"grade-{number - 1:06d}"
        given = number_in(score)
        value = rating_value(score if given is None else given, SCALE, f"{_scores_grade_texts(path)}, line {number}")
        ratings = [Rating(corpus, item_id, DIMENSION, "human", PEOPLE, None, value, None, *SCALE)]
        gathering.take(item_id, f"{path}, line {number}", before_response([*utterances_in(context), response]), ratings)
    return gathering.checked()


def grade_text_files(path: Path) -> list[Path]:
    """Returns the files that are read, as far as they are there."""
    return [path, *(file for file in _files(path)[1:] if file.is_file())]


def _files(path: Path) -> tuple[Path, Path, Path]:
    return path, path.with_name(_RESPONSES), _scores_grade_texts(path)


def _scores_grade_texts(path: Path) -> Path:
    """Returns the file of the scores: beside the texts, or in the folder that the authors have for it."""
    beside = path.with_name(_SCORES)
    parts = path.parent.parts
    if beside.is_file() or _TEXTS_FOLDER not in parts:
        return beside
    place = len(parts) - 1 - parts[::-1].index(_TEXTS_FOLDER)
    return Path(*parts[:place], _SCORES_FOLDER, *parts[place + 1 :], _SCORES)


def _lines(path: Path) -> list[str]:
    """Returns the lines of a file, without blank ones at its end."""
    lines = [line.strip() for line in read_lines(path)]
    while lines and not lines[-1]:
        lines.pop()
    return lines


# USR in its authors' own files, `tc_usr_data.json` and `pc_usr_data.json`: several responses to each context.

_NOT_RATED = ("response", "model")


def read_usr(corpus: str, path: Path, languages: Iterable[str] | None = None) -> RatedReading:
    """Reads a data set.

    Args:
        corpus: its name in the configuration.
        path: the JSON file.
        languages: must hold `en` where it is given.

    Raises:
        UserError: the file, the record and response, what is wrong there, and the remedy.
    """
    only_english(languages, str(path))
    gathering = Gathering(corpus, path, "turn")
    for number, line in enumerate(rating_scales.records(path, "usr", ("context", "responses"))):
        context = text_of(line.record["context"], "context", line.where).split("\n")
        responses = line.record["responses"]
        if not isinstance(responses, list):
            remedy = rating_scales.advice(line.record, "usr")
            raise UserError(f"{line.where}: 'responses' must be a list of rated responses{remedy}")
        for place, response in enumerate(responses):
            where = f"{line.where}, response {place + 1}"
            if not isinstance(response, dict):
                raise UserError(f"{where}: an object with 'response' and ratings is needed, not {response!r:.60}")
            text = text_of(required(response, "response", where), "response", where)
            said = [*(part.strip() for part in context if part.strip()), text]
            rated = {name: values for name, values in response.items() if name not in _NOT_RATED}
            item_id = f"usr-{number:06d}-{place}"
            ratings = ratings_of((corpus, item_id), rated, USR, where, gathering.reading.notes)
            gathering.take(item_id, where, before_response(said), ratings)
    return gathering.checked()


# Zhao's data sets in their authors' own files, such as `dd_annotations.json`: contexts with several rated responses.

_TRUTHS = {"true": 1, "false": 0}


def read_zhao(corpus: str, path: Path, languages: Iterable[str] | None = None) -> RatedReading:
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
            rated = _by_dimension_zhao(response.get("scores"), at)
            ratings = ratings_of((corpus, item_id), rated, ZHAO, at, gathering.reading.notes)
            gathering.take(item_id, at, [*context, ("chatbot", text)], ratings)
    return gathering.checked()


def _dialogues(path: Path) -> Iterator[tuple[dict[str, Any], str]]:
    content = read_json(path)
    if not isinstance(content, dict):
        first = content[0] if isinstance(content, list) and content else None
        raise UserError(
            f"{path}: one JSON object of id -> dialogue is needed, not {type(content).__name__}"
            f"{rating_scales.advice(first, 'zhao')}"
        )
    for name, dialogue in content.items():
        where = f"{path}, dialogue '{name:.60}'"
        if not isinstance(dialogue, dict):
            raise UserError(
                f"{where}: an object with 'context', 'reference' and 'responses' is needed, not {dialogue!r:.60}"
                f"{rating_scales.advice(content, 'zhao')}"
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


def _by_dimension_zhao(workers: Any, where: str) -> dict[str, list[Any]]:
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
