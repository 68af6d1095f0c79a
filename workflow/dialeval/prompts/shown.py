"""A dialogue as a template may see it: lines that are marked already, and no way to the text behind them.

`str()` of one, its lines one by one, and slices of it are all that there is. So a template of a user's own can lay a
dialogue out as it likes, and what was said in it can still neither end its own line nor forge a mark.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from string import ascii_uppercase
from typing import overload

from dialeval.reasoning_marks import without_marks

END_MARK = "<chat_end>"
_MARK_INSIDE = re.compile(r"[<＜]\s{0,8}[/／]?\s{0,8}chat[_＿ ]end\s{0,8}[>＞]", re.IGNORECASE)
_BLANKS = re.compile(r"\s+")
_BREAK = re.compile(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")


class ShownDialogue(Sequence[str]):
    """A dialogue as lines `A: text<chat_end>`.

    Args:
        utterances: the texts.
        speakers: who says each, as the source names them; they are shown as A, B, C, ... in the order in which they
            begin to speak, since a name may tell what is asked. None for two speakers in turn.
    """

    __slots__ = ("_lines", "_whole")

    def __init__(self, utterances: Sequence[str], speakers: Sequence[str] | None = None) -> None:
        letters = letters_of([str(turn % 2) for turn in range(len(utterances))] if speakers is None else speakers)
        self._show(f"{letter}: {one_line(text)}{END_MARK}" for letter, text in zip(letters, utterances, strict=True))

    def _show(self, lines: Iterable[str]) -> None:
        self._lines = tuple(lines)
        self._whole = "\n".join(self._lines)

    def __str__(self) -> str:
        return self._whole

    def __len__(self) -> int:
        return len(self._lines)

    def __iter__(self) -> Iterator[str]:
        return iter(self._lines)

    @overload
    def __getitem__(self, place: int) -> str: ...

    @overload
    def __getitem__(self, place: slice) -> ShownDialogue: ...

    def __getitem__(self, place: int | slice) -> str | ShownDialogue:
        if isinstance(place, int):
            return self._lines[place]
        part = ShownDialogue(())
        part._show(self._lines[place])
        return part


class SpokenDialogue(ShownDialogue):
    """A dialogue as lines with who says them, `Human: text`, as the source names the speakers.

    Args:
        utterances: the texts.
        speakers: who says each.
    """

    __slots__ = ()

    def __init__(self, utterances: Sequence[str], speakers: Sequence[str]) -> None:
        self._show(f"{shown_name(name)}: {one_line(text)}" for name, text in zip(speakers, utterances, strict=True))


def shown_name(name: str) -> str:
    """Returns a speaker's name as it stands before what is said."""
    return one_line(name[:1].upper() + name[1:])


def letters_of(speakers: Sequence[str]) -> list[str]:
    """Returns the letter of each utterance's speaker: A to Z in the order in which they begin, then A2 to Z2 ..."""
    order = {name: number for number, name in enumerate(dict.fromkeys(speakers))}
    return [_letter(order[name]) for name in speakers]


def one_line(text: str) -> str:
    """Returns a text without line breaks and marks, all other blanks as they are."""
    if _BREAK.search(text):  # few have one, and all blanks of a text are many
        text = _BLANKS.sub(lambda blanks: " " if _BREAK.search(blanks[0]) else blanks[0], text)
    return without_marks(_MARK_INSIDE.sub("chat end", text)).strip()


def _letter(number: int) -> str:
    turn, place = divmod(number, len(ascii_uppercase))
    return ascii_uppercase[place] + (str(turn + 1) if turn else "")
