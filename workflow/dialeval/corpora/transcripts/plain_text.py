"""Plain text. Either a line for each dialogue, as DailyDialog has it, or one for each utterance, with who speaks.

    Good morning . __eou__ Morning . __eou__

    Ann: Good morning.
    Bob: Morning.

A blank line ends a dialogue, unless one stands after every utterance; a line without a name goes on with the one above.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from dialeval.corpora.text_files import is_western, read_lines
from dialeval.corpora.transcripts.spoken import said_by
from dialeval.corpora.transcripts.transcript import Told, Transcript
from dialeval.errors import UserError

_END = "__eou__"
_ENDING = ".txt"
_Block = tuple[int, list[dict[str, str]]]
"""The line on which a dialogue begins, and its entries."""


def is_one(path: Path) -> bool:
    """Returns whether a file is such a text, by its first line.

    Raises:
        UserError: as of `read_lines`.
    """
    first = next((line for line in read_lines(path, western=is_western(path)) if line.strip()), "")
    return _END in first or (path.suffix.lower() == _ENDING and isinstance(said_by(first.lstrip("\ufeff")), dict))


def read(path: Path, notes: Counter[str]) -> Iterator[Transcript]:
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
        notes[f"texts taken for one dialogue, as a blank line stands after every utterance, such as {path.name}"] += 1
        blocks = [(blocks[0][0], [entry for _, entries in blocks for entry in entries])]
    for number, entries in blocks:
        yield _dialogue(path, number, entries, notes)


def _blocks(path: Path, lines: list[tuple[int, str]]) -> Iterator[_Block]:
    """Yields the utterances that stand together.

    Raises:
        UserError: the text begins with a line that does not say who speaks.
    """
    entries: list[dict[str, str]] = []
    begun, is_after_blank = 0, False
    for number, line in lines:
        text = line.strip()
        spoken = said_by(text)
        if isinstance(spoken, dict):
            if is_after_blank and entries:
                yield begun, entries
                entries = []
            begun = begun if entries else number
            entries.append(spoken)
        elif text:
            if not entries:
                raise UserError(f"{path}, line {number}: nobody is named before {text!r:.40}; write `Ann: ...`")
            entries[-1]["text"] += f"\n{text}"
        is_after_blank = not text
    if entries:
        yield begun, entries


def _dialogue(path: Path, number: int, entries: list[dict[str, str]], notes: Counter[str]) -> Transcript:
    where = f"{path}, line {number}"
    told = Told(notes, prompts_by_role=False)
    for entry in entries:
        told.say(entry.get("speaker", ""), entry["text"])
    speakers, utterances, asides = told.parts(where)
    return Transcript(where, "", "", speakers, utterances, asides)
