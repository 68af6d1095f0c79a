"""The readers of transcripts by format, detection of a format, and folders with a file for each system."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from dialeval.corpora.json_records import (
    RecordFields,
    data_set_files,
    is_columnar,
    is_data_set,
    is_table,
    objects_of,
    records_of,
    usual_names,
)
from dialeval.corpora.rated_sources import reader_of, reader_of_table
from dialeval.corpora.spreadsheets import is_workbook, rows_of
from dialeval.corpora.text_files import JsonLine, is_western, listed
from dialeval.corpora.transcripts import eval_logs, json_formats, replies, text_formats, turn_tables
from dialeval.corpora.transcripts.applications import APPLICATIONS
from dialeval.corpora.transcripts.conversions import DATA_SETS
from dialeval.corpora.transcripts.entries import (
    CLAUDES,
    DIALOGUES,
    LIST,
    MESSAGES,
    OF_ENTRY,
    OF_REPLIES,
    OF_REPLY,
    PAIR,
    PLAIN,
    SHAREGPT,
    SPEAKER_FIELDS,
    SURE_FIELDS,
    TOGETHER,
    TRANSCRIPT,
    TURNS,
    fields_with,
    list_path,
    with_columns,
)
from dialeval.corpora.transcripts.traces import EXPORTS
from dialeval.corpora.transcripts.transcript import Transcript, transcribed
from dialeval.errors import UserError

CONVERSIONS = {**DATA_SETS, **APPLICATIONS}
FORMATS = {
    "jsonl": '`{"dialogue_id": "7", "system": "alpha", "utterances": [{"speaker": "user", "text": "..."}, ...]}`. '
    "The field `utterances` can also be named `dialogue` or `dialog`. It can be named `turns` if the record has a "
    "`dialogue_id`, or with `reader: jsonl`. Utterances can be plain texts. Then the speakers A and B alternate, or "
    '`"speakers": ["user", "bot"]` names them. DialEval also reads ParlAI\'s logs '
    '(`"dialog": [[{"id": "teacher", "text": "..."}, ...], ...]`), MultiWOZ 2.2, DREAM, pairs of speaker and text '
    '(`[[0, "..."], [1, "..."]]`), a text of lines `Ann: ...` (SAMSum), exchanges '
    '`{"user": "...", "assistant": "..."}`, and an object of dialogues by their ids.',
    "folder": "One file of any format per system, named after the system.",
    "sharegpt": '`{"id": ..., "model": "alpha", "conversations": [{"from": "human", "value": "..."}, ...]}`',
    "messages": '`{"id": ..., "model": "alpha", "messages": [{"role": "user", "content": "..."}, ...]}`. `content` can '
    "be a list of parts. The field `messages` can also be named `conversation` (LMSYS-Chat-1M, WildChat), `contents` "
    "(Gemini) or `chat_messages` (Claude's export).",
    "replies": '`{"instruction": "...", "output": "...", "generator": "alpha"}`: a reply (`response`, `output`, '
    "`answer`, `bot_response`) and its context (`prompt`, `question`, `user_message`, `history`), a text or a list "
    "of alternating texts. A record with several replies in `completions`, `answers` or `candidates` (UltraFeedback, "
    "Nectar, MixInstruct) is one case with a dialogue for each reply. DialEval also reads logged chat requests with "
    "the fields `request` and `response`.",
    "preferences": '`{"chosen": "\\n\\nHuman: ...\\n\\nAssistant: ...", "rejected": "..."}` (HH-RLHF), or texts or '
    "messages after a `prompt`. The systems are named `chosen` and `rejected`, and share the case. If the file also "
    "has `messages`, set `reader: preferences`.",
    "comparisons": '`{"prompt": "...", "model_a": "alpha", "response_a": "...", "model_b": "beta", "response_b": '
    '"..."}`: two replies to one context (also `output_1` and `output_2`, ..., and Arena\'s `conversation_a` and '
    "`conversation_b`). The systems are in `model_a`, `generator_1` or `response_0_source`; otherwise a system "
    "is named after its field, such as `response_a`.",
    "mt_bench": "MT-bench's folder: `question.jsonl`, `model_answer/alpha.jsonl`, ...",
    "text": "`.txt` or `.md` with one utterance per line, `Ann: Good morning.`, and a blank line between dialogues. "
    "Lines can also begin with `[10:15] Ann:`, `[10:15] <Ann>` or `**Ann:**`. DialEval also reads one dialogue per "
    "line, `Good morning . __eou__ ... __eou__` (DailyDialog), and ParlAI's numbered lines (Persona-Chat), without "
    "their candidates and personas.",
    "csv": "One row per utterance, with the columns `dialogue_id`, `system`, `speaker` and `text`. Optional columns "
    "are `case_id`, `turn` (orders the rows) and `language`. Common column names are recognized (`conversation_id`, "
    "`model`, `role`, `content`, ...). "
    "Commas, semicolons or tabs separate the columns. The file can also be an `.xlsx` (DialEval reads the first "
    "sheet), or JSON with an object per utterance. A table can also have one row per dialogue. The dialogue is then "
    "in one cell, as a list of messages or as lines `Ann: ...`, or the columns are those of `replies`, `comparisons` "
    "or `preferences`.",
    "inspect": "Inspect's log, `.eval` or JSON, or a folder of `.eval` logs. The model is the system, a sample is a "
    "case, and each epoch is a dialogue. Samples with an error are left out.",
    "lm_eval": "lm-eval's `samples_<task>_*.jsonl` (`--log_samples`) of tasks that generate text, or the folder of "
    "several models. `results_*.json` beside a file names the system.",
    "langfuse": "Langfuse's traces or observations, JSON or JSON Lines. Traces with the same session are one "
    "dialogue; a trace without a session is a dialogue.",
    "langsmith": "LangSmith's runs, JSON or JSON Lines. Runs with the same thread are one dialogue; a trace without "
    "a thread is a dialogue.",
    "opentelemetry": "Spans as OTLP JSON, with messages by the conventions of OpenTelemetry (`gen_ai.input.messages`, "
    "`gen_ai.output.messages`), OpenLLMetry (`gen_ai.prompt.0.content`) or OpenInference (`llm.input_messages`).",
    "slack": "Slack's unpacked export, a channel's folder or a day's file. A thread is a dialogue. All other "
    "messages of a channel on one day are also a dialogue. The system is the app that answers.",
    "whatsapp": "WhatsApp's exported chat, `.txt`, or a folder of them. Set `evaluated_role` to the judged sender.",
    "tweets": "Customer Support on Twitter (`twcs.csv`): `tweet_id`, `author_id`, `inbound`, `text`, "
    "`in_response_to_tweet_id`. Tweets that answer each other are a dialogue. The system is the company's account.",
    "subtitles": "Subtitles and transcripts of meetings (`.srt`, `.vtt`) with a speaker in each subtitle: `Ann: Hi` "
    "or `<v Ann>Hi</v>`.",
    **{name: one.about for name, one in CONVERSIONS.items()},
}
"""The content of a file, by the reader's name in the configuration, for the documentation."""
AUTO, FOLDER, CSV, TEXT, MT_BENCH = "auto", "folder", "csv", "text", "mt_bench"
INSPECT, LM_EVAL, SLACK, WHATSAPP, JSON = "inspect", "lm_eval", "slack", "whatsapp", "jsonl"
TWEETS, SUBTITLES = "tweets", "subtitles"
_FEWEST_LINES = 2
_RATED = "to read the ratings, set reader {} for this path under metaeval.corpora"
_OF_DSTC2 = frozenset({"session-id", "turns"})
_FIELDS = {JSON: PLAIN, "sharegpt": SHAREGPT, "messages": MESSAGES, "comparisons": PAIR}
"""Fields that each identify a format of JSON; those of `TOGETHER` identify one only together."""
_OF_EXPORTS = {
    INSPECT: (frozenset({"eval", "status"}), frozenset({"eval", "samples"})),
    LM_EVAL: (frozenset({"doc_id", "doc", "arguments"}), frozenset({"doc_id", "resps"})),
    SLACK: (frozenset({"type", "user", "ts"}), frozenset({"type", "bot_id", "ts"}), frozenset({"subtype", "ts"})),
    **{name: export.fields for name, export in EXPORTS.items()},
}
"""Fields that identify a format whose objects are not a dialogue each, before others are looked for."""
_OF_TEXTS: dict[str, Callable[[Path, Counter[str]], Iterator[Transcript]]] = {
    TEXT: text_formats.read_plain_text,
    WHATSAPP: text_formats.read_whatsapp,
    SLACK: text_formats.read_slack,
    SUBTITLES: text_formats.read_subtitles,
    TWEETS: turn_tables.read_tweets,
}
_OF_LOGS = {INSPECT: eval_logs.read_inspect, LM_EVAL: eval_logs.read_lm_eval}
_OF_JSON: dict[str, Callable[[JsonLine, Counter[str]], Iterator[Transcript]]] = {
    JSON: json_formats.plain_dialogues,
    "sharegpt": partial(json_formats.chats, fields=SHAREGPT),
    "messages": partial(json_formats.chats, fields=(*MESSAGES, CLAUDES)),
    "preferences": replies.preference_dialogues,
    "comparisons": replies.comparison_dialogues,
    "replies": replies.reply_dialogues,
    MT_BENCH: eval_logs.mt_bench_dialogues,
}


def read(path: Path, reader: str, columns: Mapping[str, str], notes: Counter[str]) -> Iterator[Transcript]:
    """Yield the dialogues of a file or folder.

    Args:
        reader: one of the kinds, or `auto`.
        columns: names of the columns of a table, or paths of the fields of objects, by content.
    """
    kind = detect_format(path, columns) if reader == AUTO else reader
    if kind == FOLDER:
        yield from read_system_folder(path, notes, lambda file: read(file, AUTO, columns, notes))
        return
    if reader == AUTO:
        notes[f"files read as {kind}, the detected format"] += 1
    if kind in _OF_TEXTS:
        yield from _OF_TEXTS[kind](path, notes)
    elif kind in _OF_LOGS:
        yield from _OF_LOGS[kind](path, columns, notes)
    elif kind == MT_BENCH and path.is_dir():
        yield from eval_logs.read_mt_bench(path)
    elif kind == CSV and is_table(path):
        yield from turn_tables.read_turns(path, notes, columns)
    else:
        yield from _read_objects(path, kind, columns, notes)


def _read_objects(path: Path, kind: str, columns: Mapping[str, str], notes: Counter[str]) -> Iterator[Transcript]:
    western = not is_columnar(path) and not is_workbook(path) and is_western(path)
    if western:
        notes[f"files not in UTF-8 and read as Windows-1252, such as {path.name}; check its letters"] += 1
    lines: Iterable[JsonLine] = records_of(path, _fields_of(kind, columns), western=western)
    if kind in EXPORTS:
        yield from EXPORTS[kind].read(path, with_columns(lines, path, columns), columns, notes)
        return
    if kind in CONVERSIONS:
        yield from CONVERSIONS[kind].read(with_columns(lines, path, columns), columns, notes)
        return
    if kind == CSV:
        yield from turn_tables.read_json_turns(path, list(lines), notes, columns)
        return
    if columns:
        found = list(lines)
        is_plain = kind != "replies" and (kind == JSON or bool({*columns} & {LIST, *OF_ENTRY}))
        field = list_path(found[0].record, columns) if found and is_plain else ""
        kind = JSON if field else kind
        lines = with_columns(found, path, columns, field)
        named = [what if what == name else f"{what} from {name}" for what, name in columns.items()]
        notes[f"fields of {path.name} named by the configuration: {', '.join(named)}"] += len(named)
    for line in replies.joined(lines, notes) if kind == "replies" else lines:
        if rated := reader_of(line.record):
            notes[f"objects of a rated corpus, read without ratings; {_RATED.format(rated)}"] += 1
        yield from _OF_JSON[kind](line, notes)


def _fields_of(kind: str, columns: Mapping[str, str]) -> RecordFields:
    """Return how the objects of a format are known."""
    if kind in EXPORTS:
        return RecordFields((), together=EXPORTS[kind].fields)
    if kind in CONVERSIONS:
        return RecordFields((), bare=JSON, together=CONVERSIONS[kind].fields)
    wanted = fields_with(columns)
    return wanted._replace(bare="") if kind == CSV else wanted  # a list of rows is no dialogue without a name


def detect_format(path: Path, columns: Mapping[str, str] | None = None) -> str:
    """Return which kind a file or folder is.

    Args:
        columns: names of fields that the configuration gives, by content.

    Raises:
        UserError: it cannot be read, is empty, or is none of them.
    """
    columns = columns or {}
    if path.is_dir() and not is_data_set(path):
        return _folder_format(path)
    if eval_logs.is_inspect_archive(path):
        return INSPECT
    is_text = not is_columnar(path) and not is_workbook(path)
    if is_text and text_formats.is_whatsapp(path):
        return WHATSAPP
    if is_text and text_formats.is_subtitles(path):
        return SUBTITLES
    if is_text and text_formats.is_plain_text(path):
        return TEXT
    if is_table(path) and not _has_dialogues(path, columns):
        (_, header), (_, row) = (*islice(rows_of(path), 2), (1, []), (1, []))[:2]
        if not columns and (rated := reader_of_table(path, header)):
            raise UserError(f"{path}: this is a rated corpus, not transcripts; {_RATED.format(rated)}")
        if not columns and not turn_tables.has_texts(header):
            _refuse_unnamed_dialogues(path, header, row)
        return TWEETS if not columns and turn_tables.is_of_tweets(header) else CSV
    western = not is_columnar(path) and not is_workbook(path) and is_western(path)
    wanted = fields_with(columns)
    return _object_format(path, columns, _first(objects_of(path, wanted, western=western)), western)


def _refuse_unnamed_dialogues(path: Path, header: Sequence[str], row: Sequence[str]) -> None:
    """Refuse a table in which a column of another name than usual has a dialogue in its first cell."""
    for name, cell in zip(header, row, strict=False):
        if len(transcribed(cell)) > _FEWEST_LINES:
            raise UserError(
                f"{path}: the column '{name.strip():.60}' has a dialogue in each cell; write `columns: {{utterances: "
                f"{name.strip():.60}}}` in this entry of the configuration, or --column utterances='{name.strip():.60}'"
            )


def _folder_format(path: Path) -> str:
    if eval_logs.is_mt_bench(path):
        return MT_BENCH
    if text_formats.is_slack(path):
        return SLACK
    if any(path.glob(f"*{eval_logs.ARCHIVE}")):
        return INSPECT
    if eval_logs.lm_eval_files(path):
        return LM_EVAL
    others = any(_plain(file).suffix.lower() in ENDINGS for file in path.glob("*"))
    return WHATSAPP if not others and text_formats.whatsapp_files(path) else FOLDER


def _object_format(path: Path, columns: Mapping[str, str], outer: dict[str, Any] | None, western: bool) -> str:
    """Return the format of a file of objects, by its first object."""
    if outer is None:
        raise UserError(f"{path} has no dialogues; add some, or correct the path")
    if outer.keys() >= _OF_DSTC2:
        raise UserError(
            f"{path}: a dialogue of DSTC2, which has the system's utterances in log.json (`output.transcript`) and the "
            "user's in label.json (`transcription`). No reader joins the two files: write one object for each dialogue "
            'with `utterances`, a list of `{"speaker": "user", "text": "..."}`'
        )
    sure_sets = [fields for one in CONVERSIONS.values() for fields in one.fields if len(fields) > 1]
    all_sets = [*sure_sets, *(fields for sets in _OF_EXPORTS.values() for fields in sets)]
    wanted = fields_with(columns)
    inner = _first(records_of(path, wanted._replace(holding=(), together=all_sets), western=western)) or outer
    first = _first(records_of(path, wanted, western=western)) or outer
    for record in (outer, inner, first):
        for kind, sets in _OF_EXPORTS.items():
            if any(fields <= record.keys() for fields in sets):
                return kind
    entry = {*columns} & {LIST, *OF_ENTRY}
    if not entry and not {*columns} & {*OF_REPLY}:
        for record in (outer, inner):
            if kind := next((name for name, one in CONVERSIONS.items() if one.fits(record)), ""):
                return kind
    if "response" in columns or (entry == {"turn"} and replies.columns_of(first, columns)):
        return "replies"
    if entry:
        return JSON if list_path(first, columns) else CSV
    if turn_tables.is_turn(inner):
        return CSV
    format_of = {field: kind for kind, fields in _FIELDS.items() for field in fields}
    there = [field for field in (*SURE_FIELDS, *format_of) if field in first]
    if there:
        return format_of[next((field for field in there if isinstance(first[field], list)), there[0])]
    for kind, sets in TOGETHER.items():
        if any(fields <= first.keys() for fields in sets):
            return kind
    said = first.get(TRANSCRIPT)
    if isinstance(said, list) or (isinstance(said, str) and transcribed(said)):
        return JSON
    turns = first.get(TURNS)
    entries = turns if isinstance(turns, list) else []
    if entries and all(isinstance(one, dict) and {*SPEAKER_FIELDS} & one.keys() for one in entries):
        return JSON
    if rated := reader_of(outer) or reader_of(first):
        raise UserError(f"{path}: this is a rated corpus, not transcripts; {_RATED.format(rated)}")
    names = ", ".join(f"'{field}'" for field in DIALOGUES.holding)
    raise UserError(
        f"{path}: the first object has none of the fields {names} that hold a dialogue, and the file fits no other "
        f"format of docs/formats.md; present: {listed(first)}; name its fields under `columns`, such as `columns: "
        "{utterances: NAME, speaker: NAME, text: NAME}`, or `{prompt: NAME, response: NAME}` if each object has a reply"
    )


def _first(lines: Iterator[JsonLine]) -> dict[str, Any] | None:
    return next((line.record for line in lines), None)


def source_files(reader: str, path: Path) -> list[Path]:
    """Return the files that transcripts are read from, so that a change in one of them is noticed."""
    if not path.is_dir():
        return eval_logs.lm_eval_sources(path) if path.match("samples_*.jsonl") else [path]
    if is_data_set(path):
        return data_set_files(path)
    kind = _folder_format(path) if reader == AUTO else reader
    files = {
        MT_BENCH: eval_logs.mt_bench_files,
        SLACK: text_formats.slack_sources,
        INSPECT: eval_logs.inspect_logs,
        LM_EVAL: eval_logs.lm_eval_sources,
        WHATSAPP: text_formats.whatsapp_files,
        FOLDER: system_files,
    }
    return files[kind](path) if kind in files else [path]


def _has_dialogues(path: Path, columns: Mapping[str, str]) -> bool:
    """Return whether each row of a table is a dialogue: with its utterances in a cell, or a reply and its context."""
    (_, header), (_, row) = (*islice(rows_of(path), 2), (1, []), (1, []))[:2]
    cells = dict(zip(usual_names(header, fields_with(columns)), row, strict=False))
    names = {*fields_with(columns).holding, TRANSCRIPT}
    if "response" in columns or any(
        name in names and (cell.lstrip().startswith("[") or transcribed(cell)) for name, cell in cells.items()
    ):
        return True
    sets = (fields for kind in OF_REPLIES for fields in TOGETHER[kind])
    return (
        not {*columns} & {*OF_ENTRY} - {"turn"}
        and not turn_tables.has_texts(cells)
        and any(some <= {*cells} for some in sets)
    )


# A folder with a file for each system, whose name, without its ending, is the system's.

ENDINGS = (".jsonl", ".json", ".csv", ".tsv", ".xlsx", ".parquet")
PACKED = (".gz", ".bz2")
ReadFile = Callable[[Path], Iterator[Transcript]]


def read_system_folder(path: Path, notes: Counter[str], read_file: ReadFile) -> Iterator[Transcript]:
    """Yield the dialogues of all files; a file may call its system otherwise, but not two systems.

    Raises:
        UserError: the folder has no file that can be read, or something is wrong with one of them.
    """
    for file in system_files(path):
        names: set[str] = set()
        for transcript in read_file(file):
            names |= {transcript.system} - {""}
            if len(names) > 1:
                raise UserError(
                    f"{transcript.place}: a second system, {listed(sorted(names))}. In a folder, each file has one "
                    f"system, which is named after the file: set path to this file, or split it"
                )
            yield replace(transcript, system=_plain(file).stem)
        if names - {_plain(file).stem}:
            notes[f"systems named after their file, {_plain(file).stem}, not {names.pop():.60}"] += 1


def system_files(path: Path) -> list[Path]:
    """Return the files of a folder that are read, in the order of their names.

    Raises:
        UserError: there is none, or two are of one system.
    """
    try:
        files = sorted(file for file in path.iterdir() if _plain(file).suffix.lower() in ENDINGS and file.is_file())
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}; check its permissions") from error
    files = [file for file in files if not file.name.startswith(".")]
    if not files:
        raise UserError(f"{path}: no file in this folder ends in {', '.join(ENDINGS)}; add one for each system")
    for file, other in zip(files[1:], files, strict=False):
        if _plain(file).stem == _plain(other).stem:
            name = _plain(file).stem
            raise UserError(f"{path}: {other.name} and {file.name} both belong to system '{name}'; rename one")
    return files


def _plain(file: Path) -> Path:
    """Return the name of a file without the ending of its compression."""
    return file.with_suffix("") if file.suffix.lower() in PACKED else file
