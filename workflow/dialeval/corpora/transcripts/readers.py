"""The readers of transcripts by format; folders with a file for each system, and MT-bench's.

    question.jsonl             {"question_id": 81, "turns": ["Name a bird.", "Another?"]}
    model_answer/alpha.jsonl   {"question_id": 81, "model_id": "alpha", "choices": [{"turns": ["Heron.", "Reed."]}]}

The question is the case. A turn may be an object whose `content` is the text. Further choices are further dialogues.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from dialeval.corpora.json_records import is_table, name_of, records_of, required
from dialeval.corpora.spreadsheets import is_workbook, rows_of
from dialeval.corpora.text_files import JsonLine, listed, read_json_lines
from dialeval.corpora.transcripts import chat_formats, text_formats
from dialeval.corpora.transcripts.entries import (
    DIALOGUES,
    MESSAGES,
    PAIR,
    PLAIN,
    SHAREGPT,
    SURE_FIELDS,
    SYSTEM_FIELDS,
    TOGETHER,
    TURNS,
    named,
)
from dialeval.corpora.transcripts.transcript import Transcript
from dialeval.errors import UserError

FORMATS = {
    "jsonl": '`{"dialogue_id": "7", "system": "alpha", "utterances": [{"speaker": "user", "text": "..."}, ...]}`. '
    "`dialogue` and `dialog` are synonyms of `utterances`, as is `turns` beside `dialogue_id` or with `reader: jsonl`. "
    "Utterances can be plain texts of two alternating speakers, A and B, or those named by "
    '`"speakers": ["user", "bot"]`. ParlAI\'s logs (`"dialog": [[{"id": "teacher", "text": "..."}, ...], ...]`), '
    'MultiWOZ 2.2, DREAM and `[[0, "..."], [1, "..."]]` are read too.',
    "folder": "One file of any format per system, named after the system.",
    "sharegpt": '`{"id": ..., "model": "alpha", "conversations": [{"from": "human", "value": "..."}, ...]}`',
    "messages": '`{"id": ..., "model": "alpha", "messages": [{"role": "user", "content": "..."}, ...]}`. `content` can '
    "be a list of parts. Also `conversation` (LMSYS-Chat-1M, WildChat) and `chat_messages` (Claude's export).",
    "chatgpt": "ChatGPT's export `conversations.json`: the path to `current_node`. The system is the model that "
    "responded there.",
    "replies": '`{"instruction": "...", "output": "...", "generator": "alpha"}`: a reply (`response`, `output`, '
    "`completion`, `answer`) and its context (`prompt`, `question`, `context`, `history`), a text or alternating "
    "texts. Each of UltraFeedback's `completions` is a reply.",
    "preferences": '`{"chosen": "\\n\\nHuman: ...\\n\\nAssistant: ...", "rejected": "..."}` (HH-RLHF), or texts or '
    "messages after a `prompt`. The two are systems, `chosen` and `rejected`, on one case. If the file also has "
    "`messages`, set `reader: preferences`.",
    "mt_bench": "MT-bench's folder: `question.jsonl`, `model_answer/alpha.jsonl`, ...",
    "rasa": 'Rasa\'s trackers: `{"sender_id": ..., "events": [{"event": "user", "text": "..."}, ...]}`',
    "text": "`.txt` with `Ann: Good morning.` per line and a blank line between dialogues, or one dialogue per line, "
    "`Good morning . __eou__ ... __eou__` (DailyDialog).",
    "csv": "One row per utterance: `dialogue_id`, `system`, `speaker`, `text`; optional `case_id`, `turn` (orders the "
    "rows), `language`. Common column names are recognized (`conversation_id`, `model`, `role`, `content`, ...); name "
    "others under `columns`: `columns: {text: message_body}`. Commas, semicolons or tabs, or the first sheet of an "
    "`.xlsx`. A table can also have one row per dialogue, with a list of messages in a cell.",
}
"""The content of a file, by the reader's name in the configuration, for the documentation."""
_QUESTIONS, _ANSWERS = "question.jsonl", "model_answer"
_ID = "question_id"


def is_mt_bench(path: Path) -> bool:
    """Returns whether a folder is one of questions and answers."""
    return (path / _QUESTIONS).is_file() and (path / _ANSWERS).is_dir()


def mt_bench_files(path: Path) -> list[Path]:
    """Returns the files that are read: the questions, and then the answers by name.

    Raises:
        UserError: there are no answers.
    """
    answers = sorted((path / _ANSWERS).glob("*.jsonl"))
    if not answers:
        raise UserError(f"{path / _ANSWERS}: no file of answers there; put one for each model, such as alpha.jsonl")
    return [path / _QUESTIONS, *answers]


def read_mt_bench(path: Path) -> Iterator[Transcript]:
    """Yields the dialogues of all models.

    Raises:
        UserError: invalid data; the message has the file, the line and the remedy.
    """
    questions, *answers = mt_bench_files(path)
    user_turns: dict[str, list[str]] = {}
    for line in read_json_lines(questions):
        user_turns[name_of(required(line.record, _ID, line.where), _ID, line.where)] = _turns(line.record, line.where)
    for file in answers:
        for line in read_json_lines(file):
            yield from _dialogues(line, user_turns, questions, file.stem)


def mt_bench_dialogues(line: JsonLine, notes: Counter[str]) -> Iterator[Transcript]:
    """Refuses a file that has only questions or only answers.

    Raises:
        UserError: always; the message says which folder to name.
    """
    del notes
    raise UserError(
        f"{line.where}: questions and answers of MT-bench are in several files; set path to the folder that has "
        f"{_QUESTIONS} and {_ANSWERS}/"
    )


def _turns(record: dict[str, Any], where: str) -> list[str]:
    turns = required(record, TURNS, where)
    entries = turns if isinstance(turns, list) else []
    texts = [turn.get("content") if isinstance(turn, dict) else turn for turn in entries]
    texts_of_turns = [text.strip() for text in texts if isinstance(text, str)]
    if not texts_of_turns or len(texts_of_turns) < len(entries):
        raise UserError(f"{where}: '{TURNS}' must be a list of texts, not {turns!r:.60}")
    return texts_of_turns


def _dialogues(
    line: JsonLine, user_turns: dict[str, list[str]], questions: Path, file_name: str
) -> Iterator[Transcript]:
    question = name_of(required(line.record, _ID, line.where), _ID, line.where)
    if question not in user_turns:
        raise UserError(f"{line.where}: question '{question:.60}' is not in {questions}; take the line out or add it")
    choices = required(line.record, "choices", line.where)
    if not isinstance(choices, list) or not all(isinstance(choice, dict) for choice in choices):
        raise UserError(f"{line.where}: 'choices' must be a list of objects with '{TURNS}'")
    for number, choice in enumerate(choices, start=1):
        answers = _turns(choice, f"{line.where}, choice {number}")
        if len(answers) > len(user_turns[question]):
            raise UserError(
                f"{line.where}: {len(answers)} answers, but question '{question:.60}' has {len(user_turns[question])} "
                f"turns in {questions}; take both files from one version"
            )
        texts_of_turns = [text for pair in zip(user_turns[question], answers, strict=False) for text in pair]
        yield Transcript(
            place=line.where,
            dialogue_id=question if number == 1 else f"{question}-{number}",
            system=named(line.record, SYSTEM_FIELDS, line.where) or file_name,
            speakers=("user", "assistant") * len(answers),
            utterances=tuple(texts_of_turns),
            case_id=question,
        )


# Readers by format, and detection of a file's format.

AUTO, FOLDER, CSV, TEXT, MT_BENCH = "auto", "folder", "csv", "text", "mt_bench"
_FIELDS = {"jsonl": PLAIN, "sharegpt": SHAREGPT, "messages": (*MESSAGES, *PAIR)}
"""Fields that each identify a format of JSON; those of `TOGETHER` identify one only together."""
_OF_JSON: dict[str, Callable[[JsonLine, Counter[str]], Iterator[Transcript]]] = {
    "jsonl": chat_formats.plain_dialogues,
    "sharegpt": chat_formats.sharegpt_dialogues,
    "messages": chat_formats.openai_dialogues,
    "chatgpt": chat_formats.chatgpt_dialogues,
    "rasa": chat_formats.rasa_dialogues,
    "preferences": chat_formats.preference_dialogues,
    "replies": chat_formats.reply_dialogues,
    MT_BENCH: mt_bench_dialogues,
}


def read(path: Path, reader: str, columns: Mapping[str, str], notes: Counter[str]) -> Iterator[Transcript]:
    """Yields the dialogues of a file or folder.

    Args:
        path: the file or folder.
        reader: one of the kinds, or `auto`.
        columns: names of the columns of a table, by field.
        notes: counts of remarks, to which this adds.

    Raises:
        UserError: invalid data; the message has the file, the place and the remedy.
    """
    kind = detect_format(path) if reader == AUTO else reader
    if kind == FOLDER:
        yield from read_system_folder(path, notes, lambda file: read(file, AUTO, columns, notes))
        return
    if reader == AUTO:
        notes[f"files read as {kind}, the detected format"] += 1
    if kind == CSV:
        yield from text_formats.read_turns(path, notes, columns)
    elif kind == TEXT:
        yield from text_formats.read_plain_text(path, notes)
    elif kind == MT_BENCH and path.is_dir():
        yield from read_mt_bench(path)
    else:
        for line in records_of(path, DIALOGUES):
            yield from _OF_JSON[kind](line, notes)


def detect_format(path: Path) -> str:
    """Returns which kind a file or folder is.

    Raises:
        UserError: it cannot be read, is empty, or is none of them.
    """
    if path.is_dir():
        return MT_BENCH if is_mt_bench(path) else FOLDER
    if is_table(path) and not is_workbook(path) and text_formats.is_plain_text(path):
        return TEXT
    if is_table(path) and not _has_lists(path):
        return CSV
    first = next((line.record for line in records_of(path, DIALOGUES)), None)
    if first is None:
        raise UserError(f"{path}: there is no dialogue in it")
    format_of = {field: kind for kind, fields in _FIELDS.items() for field in fields}
    there = [field for field in (*SURE_FIELDS, *format_of) if field in first]
    if there:
        return format_of[next((field for field in there if isinstance(first[field], list)), there[0])]
    for kind, sets in TOGETHER.items():
        if any(fields <= first.keys() for fields in sets):
            return kind
    names = ", ".join(f"'{field}'" for field in DIALOGUES.holding)
    raise UserError(
        f"{path}: the first object has none of the fields {names} that hold a dialogue, and is of no other format of "
        f"docs/transcripts.md; present: {listed(first)}"
    )


def source_files(reader: str, path: Path) -> list[Path]:
    """Returns the files that transcripts are read from, so that a change in one of them is noticed."""
    if not path.is_dir() or reader not in (AUTO, FOLDER, MT_BENCH):
        return [path]
    return mt_bench_files(path) if reader == MT_BENCH or is_mt_bench(path) else system_files(path)


def _has_lists(path: Path) -> bool:
    """Returns whether a table has a column that is called as dialogues are, with a list in its first row."""
    (_, header), (_, row) = (*islice(rows_of(path), 2), (1, []), (1, []))[:2]
    cells = zip(header, row, strict=False)
    return any(name.strip() in DIALOGUES.holding and cell.lstrip().startswith("[") for name, cell in cells)


# A folder with a file for each system, whose name, without its ending, is the system's.

ENDINGS = (".jsonl", ".json", ".csv", ".tsv", ".xlsx", ".parquet")
PACKED = (".gz", ".bz2")
ReadFile = Callable[[Path], Iterator[Transcript]]


def read_system_folder(path: Path, notes: Counter[str], read_file: ReadFile) -> Iterator[Transcript]:
    """Yields the dialogues of all files; a file may call its system otherwise, but not two systems.

    Raises:
        UserError: the folder has no file that can be read, or something is wrong with one of them.
    """
    for file in system_files(path):
        names: set[str] = set()
        for transcript in read_file(file):
            names |= {transcript.system} - {""}
            if len(names) > 1:
                raise UserError(
                    f"{transcript.place}: a second system, {listed(sorted(names))}; in a folder each file is of one "
                    "system, by the file's name: give this file alone as path, or part it"
                )
            yield replace(transcript, system=_plain(file).stem)
        if names - {_plain(file).stem}:
            notes[f"systems called by their file's name, {_plain(file).stem}, not {names.pop():.60}"] += 1


def system_files(path: Path) -> list[Path]:
    """Returns the files of a folder that are read, in the order of their names.

    Raises:
        UserError: there is none, or two are of one system.
    """
    try:
        files = sorted(file for file in path.iterdir() if _plain(file).suffix.lower() in ENDINGS and file.is_file())
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from error
    files = [file for file in files if not file.name.startswith(".")]
    if not files:
        raise UserError(f"{path}: no file in this folder ends in {', '.join(ENDINGS)}; put one there for each system")
    for file, other in zip(files[1:], files, strict=False):
        if _plain(file).stem == _plain(other).stem:
            name = _plain(file).stem
            raise UserError(f"{path}: {other.name} and {file.name} are both of system '{name}'; rename one")
    return files


def _plain(file: Path) -> Path:
    """Returns a file without the ending of what packed it."""
    return file.with_suffix("") if file.suffix.lower() in PACKED else file
