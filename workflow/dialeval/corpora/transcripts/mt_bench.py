"""MT-bench's folder, which others have taken over: questions, and a file of answers for each model.

    question.jsonl             {"question_id": 81, "turns": ["Name a bird.", "Another?"]}
    model_answer/alpha.jsonl   {"question_id": 81, "model_id": "alpha", "choices": [{"turns": ["Heron.", "Reed."]}]}

The question is the case. A turn may be an object whose `content` is the text. Further choices are further dialogues.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dialeval.corpora.json_fields import name_of, required
from dialeval.corpora.text_files import JsonLine, read_json_lines
from dialeval.corpora.transcripts.records import SYSTEM_FIELDS, TURNS, named
from dialeval.corpora.transcripts.transcript import Transcript
from dialeval.errors import UserError

_QUESTIONS, _ANSWERS = "question.jsonl", "model_answer"
_ID = "question_id"


def is_one(path: Path) -> bool:
    """Returns whether a folder is one of questions and answers."""
    return (path / _QUESTIONS).is_file() and (path / _ANSWERS).is_dir()


def files_in(path: Path) -> list[Path]:
    """Returns the files that are read: the questions, and then the answers by name.

    Raises:
        UserError: there are no answers.
    """
    answers = sorted((path / _ANSWERS).glob("*.jsonl"))
    if not answers:
        raise UserError(f"{path / _ANSWERS}: no file of answers there; put one for each model, such as alpha.jsonl")
    return [path / _QUESTIONS, *answers]


def read(path: Path) -> Iterator[Transcript]:
    """Yields the dialogues of all models.

    Raises:
        UserError: the file, the line, what is wrong there, and the remedy.
    """
    questions, *answers = files_in(path)
    asked: dict[str, list[str]] = {}
    for line in read_json_lines(questions):
        asked[name_of(required(line.record, _ID, line.where), _ID, line.where)] = _turns(line.record, line.where)
    for file in answers:
        for line in read_json_lines(file):
            yield from _dialogues(line, asked, questions, file.stem)


def dialogues_of(line: JsonLine, notes: Counter[str]) -> Iterator[Transcript]:
    """Refuses a file that has only questions or only answers.

    Raises:
        UserError: always; the message says which folder to name.
    """
    del notes
    raise UserError(
        f"{line.where}: questions and answers of MT-bench stand in several files; name the folder that has "
        f"{_QUESTIONS} and {_ANSWERS}/ as path"
    )


def _dialogues(line: JsonLine, asked: dict[str, list[str]], questions: Path, file_name: str) -> Iterator[Transcript]:
    question = name_of(required(line.record, _ID, line.where), _ID, line.where)
    if question not in asked:
        raise UserError(f"{line.where}: question '{question:.60}' is not in {questions}; take the line out or add it")
    choices = required(line.record, "choices", line.where)
    if not isinstance(choices, list) or not all(isinstance(choice, dict) for choice in choices):
        raise UserError(f"{line.where}: 'choices' must be a list of objects with '{TURNS}'")
    for number, choice in enumerate(choices, start=1):
        answers = _turns(choice, f"{line.where}, choice {number}")
        if len(answers) > len(asked[question]):
            raise UserError(
                f"{line.where}: {len(answers)} answers, but question '{question:.60}' has {len(asked[question])} turns "
                f"in {questions}; take both files from one version"
            )
        said = [text for pair in zip(asked[question], answers, strict=False) for text in pair]
        yield Transcript(
            place=line.where,
            dialogue_id=question if number == 1 else f"{question}-{number}",
            system=named(line.record, SYSTEM_FIELDS, line.where) or file_name,
            speakers=("user", "assistant") * len(answers),
            utterances=tuple(said),
            case_id=question,
        )


def _turns(record: dict[str, Any], where: str) -> list[str]:
    turns = required(record, TURNS, where)
    entries = turns if isinstance(turns, list) else []
    texts = [turn.get("content") if isinstance(turn, dict) else turn for turn in entries]
    said = [text.strip() for text in texts if isinstance(text, str)]
    if not said or len(said) < len(entries):
        raise UserError(f"{where}: '{TURNS}' must be a list of texts, not {turns!r:.60}")
    return said
