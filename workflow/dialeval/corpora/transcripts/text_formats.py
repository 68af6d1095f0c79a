"""Plain text of dialogues, and tables with a row for each utterance.

    Good morning . __eou__ Morning . __eou__

    Ann: Good morning.
    Bob: Morning.

A blank line ends a dialogue, unless one stands after every utterance; a line without a name goes on with the one above.

    dialogue_id,system,speaker,text
    7,alpha,user,I want my money back.
    7,alpha,assistant,I can see to that.

Rows of a dialogue stand in the order in which they were said, next to each other or not; a column `turn` orders them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dialeval.corpora.spreadsheets import rows_of
from dialeval.corpora.text_files import is_western, listed, number_in, read_lines
from dialeval.corpora.transcripts.entries import code_of, speaker_and_text
from dialeval.corpora.transcripts.transcript import JUDGED, SYSTEM_ROLES, EntryReading, Transcript
from dialeval.errors import UserError

_END = "__eou__"
_ENDING = ".txt"
_Block = tuple[int, list[dict[str, str]]]
"""The line on which a dialogue begins, and its entries."""


def is_plain_text(path: Path) -> bool:
    """Returns whether a file is such a text, by its first line.

    Raises:
        UserError: as of `read_lines`.
    """
    first = next((line for line in read_lines(path, western=is_western(path)) if line.strip()), "")
    return _END in first or (
        path.suffix.lower() == _ENDING and isinstance(speaker_and_text(first.lstrip("\ufeff")), dict)
    )


def read_plain_text(path: Path, notes: Counter[str]) -> Iterator[Transcript]:
    """Yields the dialogues of a text, which have no ids.

    Raises:
        UserError: the file, the line, and the remedy.
    """
    lines = list(enumerate(read_lines(path, western=is_western(path)), start=1))
    if any(_END in line for _, line in lines):
        for number, line in lines:
            if line.strip():
                yield _dialogue(path, number, [{"text": text} for text in line.split(_END) if text.strip()], notes)
        return
    blocks = list(_blocks(path, lines))
    if len(blocks) > 1 and all(len(entries) == 1 for _, entries in blocks):
        notes[f"texts read as one dialogue, since a blank line follows every utterance, such as {path.name}"] += 1
        blocks = [(blocks[0][0], [entry for _, entries in blocks for entry in entries])]
    for number, entries in blocks:
        yield _dialogue(path, number, entries, notes)


def _dialogue(path: Path, number: int, entries: list[dict[str, str]], notes: Counter[str]) -> Transcript:
    where = f"{path}, line {number}"
    reading = EntryReading(notes, prompts_by_role=False)
    for entry in entries:
        reading.add_utterance(entry.get("speaker", ""), entry["text"])
    speakers, utterances, asides = reading.parts(where)
    return Transcript(where, "", "", speakers, utterances, asides)


def _blocks(path: Path, lines: list[tuple[int, str]]) -> Iterator[_Block]:
    """Yields blocks of utterances between blank lines.

    Raises:
        UserError: the text begins with a line without a speaker.
    """
    entries: list[dict[str, str]] = []
    begun, is_after_blank = 0, False
    for number, line in lines:
        text = line.strip()
        spoken = speaker_and_text(text)
        if isinstance(spoken, dict):
            if is_after_blank and entries:
                yield begun, entries
                entries = []
            begun = begun if entries else number
            entries.append(spoken)
        elif text:
            if not entries:
                raise UserError(f"{path}, line {number}: there is no speaker before {text!r:.40}; write `Ann: ...`")
            entries[-1]["text"] += f"\n{text}"
        is_after_blank = not text
    if entries:
        yield begun, entries


# A table with a row for each utterance: CSV, with commas or semicolons, text with TABs, or a workbook.

COMMON: dict[str, tuple[str, ...]] = {
    "dialogue_id": (
        "dialogue_id", "dialog_id", "conversation_id", "conv_id", "chat_id", "session_id", "thread_id", "id"
    ),
    "system": ("system", "model", "chatbot", "bot", "system_name", "model_name"),
    "case_id": ("case_id", "case", "prompt_id", "scenario_id", "seed_id"),
    "turn": (
        "turn", "turn_id", "turn_index", "turn_number", "turn_no", "utterance_id", "utterance_index",
        "utterance_number", "message_index", "message_number", "index", "turn_idx", "utterance_idx",
    ),
    "speaker": (
        "speaker", "role", "from", "author", "sender", "speaker_role", "speaker_name", "sender_type", "sender_name",
        "who", "speaker_id", "speaker_idx",
    ),
    "text": ("text", "content", "utterance", "message", "message_text", "utterance_text", "value"),
    "language": ("language", "lang"),
}  # fmt: skip
"""Names that columns commonly have, the surer ones first; `Turn #` and `conversationId` are known as well."""
NEEDED = ("dialogue_id", "text")


def read_turns(path: Path, notes: Counter[str], columns: Mapping[str, str]) -> Iterator[Transcript]:
    """Yields the dialogues of a table, in the order in which they begin.

    Args:
        path: the file.
        notes: counts of remarks, to which this adds.
        columns: the names of columns that are not called as they commonly are.

    Raises:
        UserError: the file, the line, the column, the value and the remedy.
    """
    rows = rows_of(path, notes)
    _, header = next(rows, (1, []))
    places = places_of(path, [name.strip() for name in header], columns)
    passed_over = [name for place, name in enumerate(header) if name.strip() and place not in places.values()]
    if passed_over:
        notes[f"columns of {path.name} passed over: {listed(passed_over)}"] += len(passed_over)
    if "speaker" not in places:
        notes["tables in which no column is known to name the speaker: two take turns, A and B"] += 1
    dialogues: dict[tuple[str, str], _Rows] = {}
    apart: set[tuple[str, str]] = set()
    for number, (line, row) in enumerate(rows):
        where = f"{path}, line {line}"
        if len(row) != len(header):
            raise UserError(
                f"{where}: {len(row)} cells where the header has {len(header)}; put a text that holds the separator, "
                "quotes or line ends into double quotes"
            )
        cells = {name: row[place].strip() for name, place in places.items()}
        if not cells["dialogue_id"]:
            raise UserError(f"{where}: column '{header[places['dialogue_id']]}' is empty; every row needs its dialogue")
        if not cells.get("speaker", "unsaid"):
            raise UserError(f"{where}: column '{header[places['speaker']]}' is empty; name who speaks in every row")
        key = (cells.get("system", ""), cells["dialogue_id"])
        about = (cells.get("case_id", ""), cells.get("language", ""))
        known = dialogues.setdefault(key, _Rows(line, *about, last_row=number))
        if about != (known.case_id, known.language):
            raise UserError(
                f"{where}: dialogue '{key[1]:.60}' has another case or language ({listed(about)}) than in line "
                f"{known.line} ({listed((known.case_id, known.language))}); one dialogue has one of each: correct it, "
                "or rename a column that is of something else"
            )
        if number - known.last_row > 1:
            apart.add(key)
        known.last_row = number
        turn = _turn(cells["turn"], where, header[places["turn"]]) if "turn" in places else 0.0
        known.rows.append((turn, line, cells.get("speaker", ""), cells["text"]))
    if apart:
        order = "by turn" if "turn" in places else "in the file's order, since no column is known to number the turns"
        notes[f"dialogues with scattered rows, put together, {order}"] += len(apart)
    speakers_there = {speaker.casefold() for found in dialogues.values() for _, _, speaker, _ in found.rows}
    prompts = (
        "speaker" in places
        and header[places["speaker"]].strip().casefold() == "role"
        and bool(speakers_there & {*JUDGED} - SYSTEM_ROLES)  # else `system` is who talks with the user
    )
    for (system, dialogue_id), found in dialogues.items():
        where = f"{path}, line {found.line}"
        reading = EntryReading(notes, prompts_by_role=prompts)
        for _, _, speaker, text in _in_order(found.rows, dialogue_id, path):
            reading.add_utterance(speaker, text)
        speakers, utterances, asides = reading.parts(where)
        yield Transcript(
            where, dialogue_id, system, speakers, utterances, asides, found.case_id, language=code_of(found.language)
        )


def places_of(path: Path, header: list[str], columns: Mapping[str, str]) -> dict[str, int]:
    """Returns the numbers of the columns by their content.

    Raises:
        UserError: one that is needed or named is not there, or two could be meant; the message names those that are.
    """
    guessed = ["" if name in columns.values() else name for name in header]
    spelled, in_words = [name.casefold() for name in guessed], [_words(name) for name in guessed]
    places = {}
    for what, common in COMMON.items():
        named = columns.get(what)
        if named is not None:
            found = [place for place, name in enumerate(header) if name == named]
        else:
            wanted = next((name for name in common if name in spelled or name in in_words), "")
            names = spelled if wanted in spelled else in_words
            found = [place for place, name in enumerate(names) if name == wanted] if wanted else []
        if len(found) > 1:
            raise UserError(f"{path}: there are several columns '{header[found[0]]:.60}'; rename one")
        if found:
            places[what] = found[0]
        elif named is not None or what in NEEDED:
            missing = f"no column '{named}'" if named is not None else f"no column with the {what.replace('_', ' ')}"
            raise UserError(
                f"{path}: there is {missing}; columns there: {listed(header)}; name the right one under `columns: "
                f"{{{what}: NAME}}` of this entry in the configuration"
            )
    if len(set(places.values())) < len(places):
        twice = next(what for what in places if list(places.values()).count(places[what]) > 1)
        raise UserError(f"{path}: the column '{header[places[twice]]:.60}' is named twice; name another one")
    return places


@dataclass
class _Rows:
    """The rows of one dialogue as they come."""

    line: int
    case_id: str
    language: str
    rows: list[tuple[float, int, str, str]] = field(default_factory=list)
    last_row: int = 0


def _turn(cell: str, where: str, column: str) -> float:
    number = number_in(cell)
    if number is None or number != number:
        raise UserError(
            f"{where}: column '{column}' is {cell!r:.40}, which is no number; number the turns, or rename it"
        )
    return number


def _in_order(
    rows: list[tuple[float, int, str, str]], dialogue_id: str, path: Path
) -> list[tuple[float, int, str, str]]:
    """Returns the rows of a dialogue by turn, within a turn in the file's order.

    Raises:
        UserError: a numbered turn has an utterance of one speaker twice: the dialogue is there twice.
    """
    ordered = sorted(rows, key=lambda row: row[0])
    lines: dict[tuple[float, str, str], int] = {}
    for turn, line, speaker, text in ordered if ordered[-1][0] > ordered[0][0] else ():
        other = lines.setdefault((turn, speaker, text), line)
        if other != line:
            raise UserError(
                f"{path}, line {line}: the same as line {other}, turn {turn:g} of dialogue '{dialogue_id:.60}'; a "
                "dialogue may be there once for each system: remove one, or give the other another id"
            )
    return ordered


def _words(name: str) -> str:
    """Returns a column's name as `COMMON` writes it: `Conversation ID`, `conversationId` as conversation_id."""
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.replace("#", " number "))
    return re.sub(r"[^a-z0-9]+", "_", apart.casefold()).strip("_")
