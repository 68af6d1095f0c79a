"""Logs of evaluation frameworks: Inspect's, lm-eval's samples, and MT-bench's folder.

Inspect writes a zip archive with a file for each sample (`.eval`), or one JSON object. A sample is the case, and each
epoch a dialogue of the evaluated model. lm-eval writes a line for each document (`--log_samples`); the document is the
case, and each generated text a dialogue of the model that `results_*.json` beside it names.

    question.jsonl             {"question_id": 81, "turns": ["Name a bird.", "Another?"]}
    model_answer/alpha.jsonl   {"question_id": 81, "model_id": "alpha", "choices": [{"turns": ["Heron.", "Reed."]}]}

MT-bench's question is the case. A turn may be an object whose `content` is the text. Further choices are further
dialogues.
"""

from __future__ import annotations

import json
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile, ZipFile, ZipInfo

from dialeval.corpora.json_records import RecordFields, name_of, objects_of, required, value_at
from dialeval.corpora.spreadsheets import MOST_BYTES
from dialeval.corpora.text_files import JsonLine, parse_json, read_json, read_json_lines
from dialeval.corpora.transcripts.entries import SYSTEM_FIELDS, TURNS, named, with_columns
from dialeval.corpora.transcripts.json_formats import transcript
from dialeval.corpora.transcripts.transcript import Transcript
from dialeval.errors import UserError

_ZIP, _ZSTANDARD = b"PK\x03\x04", 93
_HEADERS = ("header.json", "_journal/start.json")
"""Where an archive says what was evaluated; the second file alone is there until a run is finished."""
_ATTACHMENT = re.compile(r"attachment://(\w+)")
_ANEW = "copy the log again, or convert it with `inspect log convert --to json`"
ARCHIVE = ".eval"
_GRADES = {"C": "1", "P": "0.5", "I": "0", "N": "0"}
"""Inspect's grades: correct, partially correct, incorrect, no answer."""
_NO_GRADE = "Grade not found"
"""Explanation of a response without a grade, which former versions of Inspect counted as incorrect."""


def inspect_logs(path: Path) -> list[Path]:
    """Return the logs that a path names: itself, or the archives in a folder, by name."""
    return sorted(path.glob(f"*{ARCHIVE}")) if path.is_dir() else [path]


def is_inspect_archive(path: Path) -> bool:
    """Return whether a file is a zip archive that Inspect wrote."""
    try:
        with path.open("rb") as file:
            if file.read(len(_ZIP)) != _ZIP:
                return False
        with ZipFile(path) as archive:
            return any(name in _HEADERS for name in archive.namelist())
    except (BadZipFile, OSError, ValueError, RuntimeError):
        return path.suffix == ARCHIVE


def read_inspect(path: Path, columns: Mapping[str, str], notes: Counter[str]) -> Iterator[Transcript]:
    """Yield the dialogues of the samples of one log, or of all archives in a folder.

    Args:
        path: an `.eval` archive, a log in JSON, or a folder of archives.
        columns: paths within a sample, or within the log's `eval`, by content.
    """
    logs = [(log, *_samples(log, notes)) for log in inspect_logs(path)]
    tasks = {str(about.get("task")) for _, about, _ in logs}
    for log, about, samples in logs:
        lines = []
        for number, where, sample in samples:
            if sample.get("error"):
                notes["samples that ended with an error left out"] += 1
                continue
            lines.append(JsonLine(number, where, _sample(sample, about, where, several_tasks=len(tasks) > 1)))
        for line in with_columns(lines, log, columns):
            yield transcript(line, "messages", notes)


def _samples(log: Path, notes: Counter[str]) -> tuple[dict[str, Any], list[tuple[int, str, dict[str, Any]]]]:
    """Return what a log says about the evaluation, and its samples with their numbers and places."""
    samples: Any
    if is_inspect_archive(log):
        header, samples = _archive(log)
    else:
        header = next((line.record for line in objects_of(log, RecordFields(("eval",)))), {})
        samples = header.get("samples")
    about = header.get("eval")
    if not isinstance(about, dict) or not isinstance(about.get("model"), str):
        raise UserError(f"{log}: Inspect's log has no text 'model' in 'eval'; {_ANEW}")
    if header.get("status", "started") != "success":
        notes[f"logs of runs that were not finished, such as {log.name}"] += 1
    if not isinstance(samples, list) or not samples:
        raise UserError(f"{log}: Inspect's log has no samples; run the evaluation with samples logged (log_samples)")
    found = [(number, f"{log}, sample {number}", sample) for number, sample in enumerate(samples, start=1)]
    for _, where, sample in found:
        if not isinstance(sample, dict):
            raise UserError(f"{where} is not an object; {_ANEW}")
    return about, found


class SampleScore(NamedTuple):
    """Score of a sample in an epoch; an empty value is a missing score, and `judge` the model that graded, if any."""

    place: str
    sample: str
    epoch: int
    corpus: str
    language: str
    scorer: str
    value: str
    judge: str
    reason: str


def read_scores(log: Path, notes: Counter[str]) -> Iterator[SampleScore]:
    """Yield the scores of a log as numbers: C is 1, P 0.5, I and N 0, and of several values each by its own name."""
    about, samples = _samples(log, notes)
    for number, where, sample in samples:
        metadata = sample.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        epoch, scores = sample.get("epoch", 1), sample.get("scores") or {}
        if not isinstance(epoch, int) or not isinstance(scores, dict):
            raise UserError(f"{where}: 'epoch' must be a whole number and 'scores' an object; {_ANEW}")
        name = name_of(required(sample, "id", where), "id", where)
        key = (name, epoch, named(metadata, ["corpus"], where), named(metadata, ["language"], where))
        for scorer, score in scores.items():
            score = score if isinstance(score, dict) else {"value": score}
            value, judge = score.get("value"), _grader(scorer, score, about)
            reason = score.get("explanation") if judge and isinstance(score.get("explanation"), str) else ""
            for part, one in value.items() if isinstance(value, dict) else ((scorer, value),):
                is_graded = not (judge and str(reason).startswith(_NO_GRADE))
                found = _number(one) if is_graded else ""
                yield SampleScore(f"sample {number}, {part}", *key, part, found, judge, reason or "")


def _grader(scorer: str, score: Mapping[str, Any], about: Mapping[str, Any]) -> str:
    """Return the models that graded a sample: of the scorer, of the role `grader`, or else the evaluated one.

    Empty if the scorer is no model. Inspect keeps the prompt and the response of a grader as `grading`.
    """
    if value_at(score, "metadata.grading") is None:
        return ""
    scorers = about.get("scorers")
    options = (
        [one.get("options") for one in scorers if isinstance(one, dict) and one.get("name") == scorer]
        if isinstance(scorers, list)
        else []
    )
    for found in (*(value_at(one, "model") for one in options), value_at(about, "model_roles.grader")):
        models = [value_at(one, "model") or one for one in (found if isinstance(found, list) else [found])]
        if names := [name for name in models if isinstance(name, str)]:
            return ", ".join(names)
    return str(about["model"])


def _number(value: Any) -> str:
    """Return a score as a cell of a table; a value that is no number unchanged, to be refused later."""
    if isinstance(value, bool):
        return str(int(value))
    return "" if value is None else _GRADES.get(value, value) if isinstance(value, str) else f"{value}"


def _archive(log: Path) -> tuple[dict[str, Any], list[Any]]:
    try:
        with ZipFile(log) as archive:
            parts = archive.infolist()
            if (n_bytes := sum(part.file_size for part in parts)) > MOST_BYTES:
                raise UserError(f"{log} unpacks to {n_bytes >> 20} MiB, more than {MOST_BYTES >> 20}; split the log")
            found = {part.filename: part for part in parts}
            header = next((found[name] for name in _HEADERS if name in found), None)
            if header is None:
                raise UserError(
                    f"{log}: this zip archive has no {_HEADERS[0]}, so it is not a log of Inspect; name one"
                )
            names = sorted(name for name in found if name.startswith("samples/") and name.endswith(".json"))
            texts = [_unpacked(log, archive, part).decode() for part in (header, *(found[name] for name in names))]
    except (BadZipFile, OSError, EOFError, ValueError, RuntimeError, zlib.error) as error:
        raise UserError(f"{log} cannot be read as Inspect's log ({error!s:.200}); {_ANEW}") from error
    places = [f"{log}, {name}" for name in (header.filename, *names)]
    about, *samples = (parse_json(text, place) for text, place in zip(texts, places, strict=True))
    if not isinstance(about, dict):
        raise UserError(f"{log}, {header.filename}: there must be an object; {_ANEW}")
    return about, samples


def _unpacked(log: Path, archive: ZipFile, part: ZipInfo) -> bytes:
    """Return a file of an archive; Python's own module unpacks Zstandard from 3.14 on only."""
    if part.compress_type != _ZSTANDARD:
        return archive.read(part)
    import pyarrow as pa

    with log.open("rb") as file:
        file.seek(part.header_offset)
        head = file.read(30)
        file.seek(int.from_bytes(head[26:28], "little") + int.from_bytes(head[28:30], "little"), 1)
        packed = file.read(part.compress_size)
    with pa.CompressedInputStream(pa.BufferReader(packed), "zstd") as stream:
        content = bytes(stream.read(part.file_size + 1))
    if len(content) != part.file_size or zlib.crc32(content) != part.CRC:
        raise ValueError(f"{part.filename} is damaged")
    return content


def _sample(sample: dict[str, Any], about: dict[str, Any], where: str, *, several_tasks: bool) -> dict[str, Any]:
    """Return a sample as an object with messages."""
    case = name_of(required(sample, "id", where), "id", where)
    case = f"{about.get('task')}-{case}" if several_tasks else case
    epoch = sample.get("epoch", 1)
    attachments = sample.get("attachments")
    messages = sample.get("messages")
    if isinstance(attachments, dict) and attachments:
        messages = _with_attachments(messages, attachments)
    return {
        "eval": about,
        **{name: sample[name] for name in sample if name not in ("events", "events_data", "attachments", "system")},
        "dialogue_id": case if epoch == 1 else f"{case}-epoch-{epoch}",
        "case_id": case,
        "prompt": None,
        "model": about["model"],
        "messages": messages,
    }


def _with_attachments(value: Any, attachments: dict[str, Any]) -> Any:
    """Return messages with the log's attachments inserted."""
    if isinstance(value, str):
        return _ATTACHMENT.sub(lambda found: str(attachments.get(found[1], found[0])), value)
    if isinstance(value, list):
        return [_with_attachments(entry, attachments) for entry in value]
    if isinstance(value, dict):
        return {name: _with_attachments(entry, attachments) for name, entry in value.items()}
    return value


# lm-eval's samples: one file for each task, with the results beside it.

_SAMPLES, _RESULTS = "samples_*.jsonl", "results_*.json"
_ARGUMENTS = ("arguments.gen_args_0", "arguments.0")


def lm_eval_files(path: Path) -> list[Path]:
    """Return the files of samples that a path names, by name."""
    return sorted(path.rglob(_SAMPLES)) if path.is_dir() else [path]


def lm_eval_sources(path: Path) -> list[Path]:
    """Return the files of samples that a path names, with the results beside them."""
    files = lm_eval_files(path)
    return [*files, *sorted({results for file in files for results in file.parent.glob(_RESULTS)})]


def read_lm_eval(path: Path, columns: Mapping[str, str], notes: Counter[str]) -> Iterator[Transcript]:
    """Yield the dialogues of one file of samples, or of all in a folder.

    Args:
        path: the file, or a folder with those of several models.
        columns: paths within a sample by content.
    """
    files = lm_eval_files(path)
    tasks = {_task(file) for file in files}
    for file in files:
        model = _evaluated(file)
        lines: list[JsonLine] = []
        seen: dict[str, Any] = {}
        for line in read_json_lines(file):
            case = name_of(required(line.record, "doc_id", line.where), "doc_id", line.where)
            if seen.setdefault(case, line.record.get("filter")) != line.record.get("filter"):
                notes["samples of documents already read with another filter, skipped"] += 1
                continue
            if path.is_dir() and not _replies(line):
                notes[f"samples of {_task(file)} without generated text, skipped"] += 1
                continue
            case = f"{_task(file)}-{case}" if len(tasks) > 1 else case
            lines += _generated(line, {"case_id": case, "model": model or None})
        for line in with_columns(lines, file, columns):
            yield transcript(line, "messages", notes)


def _task(file: Path) -> str:
    """Return the task of a file `samples_<task>_<time>.jsonl`."""
    return file.name.removeprefix("samples_").rpartition("_")[0] or file.stem


def _evaluated(file: Path) -> str:
    """Return the model named by the results file beside a file of samples; empty if there is none."""
    for results in sorted(file.parent.glob(_RESULTS)):
        about = read_json(results)
        names = [value_at(about, path) for path in ("model_name", "config.model_args.pretrained")]
        if found := next((name for name in names if isinstance(name, str) and name), ""):
            return found
    return ""


def _generated(line: JsonLine, about: dict[str, Any]) -> Iterator[JsonLine]:
    """Yield an object with messages for each text that was generated for a document."""
    first = next((found for path in _ARGUMENTS if (found := value_at(line.record, path)) is not None), None)
    prompt = next((found for path in ("arg_0", "0") if (found := value_at(first, path)) is not None), None)
    replies = _replies(line)
    if not replies:
        raise UserError(
            f"{line.where}: 'resps' has no generated texts but {line.record.get('resps')!r:.60}; only tasks with "
            "output_type generate_until have dialogues: name their samples_*.jsonl"
        )
    for number, reply in enumerate(replies, start=1):
        suffix = "" if number == 1 else f"-{number}"
        record = {
            **{name: value for name, value in line.record.items() if name not in ("system", "prompt")},
            **about,
            "dialogue_id": f"{about['case_id']}{suffix}",
            "messages": [*_prompt(prompt, line.where), {"role": "assistant", "content": reply}],
        }
        yield line._replace(record=record)


def _replies(line: JsonLine) -> list[str]:
    """Return the generated texts for a document; none where the task has log-likelihoods."""
    several = line.record.get("resps")
    lists = [some if isinstance(some, list) else [some] for some in (several if isinstance(several, list) else ())]
    found = [reply for some in lists for reply in some]
    return [reply for reply in found if isinstance(reply, str)] if all(isinstance(one, str) for one in found) else []


def _prompt(prompt: Any, where: str) -> list[Any]:
    """Return the messages of a prompt: a text, or the messages that a chat model got, as JSON."""
    if isinstance(prompt, list) and len(prompt) == 1:
        prompt = prompt[0]
    if not isinstance(prompt, str):
        raise UserError(f"{where}: the prompt in 'arguments' is {prompt!r:.60}; it must be a text")
    if prompt.lstrip().startswith("[{"):
        try:
            messages = json.loads(prompt)
        except ValueError:
            messages = []
        if messages and all(isinstance(entry, dict) and "role" in entry for entry in messages):
            return list(messages)
    return [{"role": "user", "content": prompt}]


# MT-bench: a file of questions, and one of answers for each model.

_QUESTIONS, _ANSWERS = "question.jsonl", "model_answer"
_ID = "question_id"


def is_mt_bench(path: Path) -> bool:
    """Return whether a folder is one of questions and answers."""
    return (path / _QUESTIONS).is_file() and (path / _ANSWERS).is_dir()


def mt_bench_files(path: Path) -> list[Path]:
    """Return the files that are read: the questions, and then the answers by name.

    Raises:
        UserError: there are no answers.
    """
    answers = sorted((path / _ANSWERS).glob("*.jsonl"))
    if not answers:
        raise UserError(f"{path / _ANSWERS}: the folder has no answers; add a file for each model, such as alpha.jsonl")
    return [path / _QUESTIONS, *answers]


def read_mt_bench(path: Path) -> Iterator[Transcript]:
    """Yield the dialogues of all models."""
    questions, *answers = mt_bench_files(path)
    user_turns: dict[str, list[str]] = {}
    for line in read_json_lines(questions):
        user_turns[name_of(required(line.record, _ID, line.where), _ID, line.where)] = _turns(line.record, line.where)
    for file in answers:
        for line in read_json_lines(file):
            yield from _dialogues(line, user_turns, questions, file.stem)


def mt_bench_dialogues(line: JsonLine, notes: Counter[str]) -> Iterator[Transcript]:
    """Refuse a file that has only questions or only answers."""
    del notes
    raise UserError(
        f"{line.where}: MT-bench has its questions and answers in several files; set path to the folder with "
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
        raise UserError(
            f"{line.where}: question '{question:.60}' is not in {questions}; remove the line or add the question"
        )
    choices = required(line.record, "choices", line.where)
    if not isinstance(choices, list) or not all(isinstance(choice, dict) for choice in choices):
        raise UserError(f"{line.where}: 'choices' must be a list of objects with '{TURNS}', not {choices!r:.60}")
    for number, choice in enumerate(choices, start=1):
        answers = _turns(choice, f"{line.where}, choice {number}")
        if len(answers) > len(user_turns[question]):
            raise UserError(
                f"{line.where}: {len(answers)} answers, but question '{question:.60}' has {len(user_turns[question])} "
                f"turns in {questions}; use both files of one version"
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
