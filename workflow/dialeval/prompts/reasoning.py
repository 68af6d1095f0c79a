"""The marks that reasoning models put around their thinking.

Thinking is cut from an answer only where the answer begins with its mark. The same mark further on is a quotation, a
forgery, or thinking that was left in: it is found and reported, and never cut at. In a
text that goes into a prompt, marks lose their brackets, so that no utterance can end a judge's thinking or a message.
"""

from __future__ import annotations

import re
import unicodedata

OPENING, CLOSING = "<think>", "</think>"
_NAME = r"(?:thinking|think|thoughts?|reasoning|scratchpad)"
_THINKING = (
    rf"[<＜〈◁]\s{{0,3}}[/／]?\s{{0,3}}(?:\w{{1,12}}[:：|｜])?{_NAME}(?:[:_]\w{{1,20}})?\s{{0,3}}[/／]?[>＞〉▷]"
    r"|(?-i:\[/?THINK\])"
    r"|<[|｜](?:[a-z]{1,12}:)?(?:START|END|BEGIN|content)?_?(?:OF_)?(?:THINK|THINKING|THOUGHT)(?::[a-z]{1,12})?[|｜]>"
    r"|<[|｜](?:channel|message)[|｜]?>|<(?:channel|message)[|｜]>"
)
_MARK = re.compile(rf"{_THINKING}|\Aanalysis(?=[\s\S]{{0,100000}}assistantfinal)", re.IGNORECASE)
_CONTROL = re.compile(
    rf"{_THINKING}|<[|｜][^\s<>|｜]{{1,60}}[|｜]>|<(?:start|end)_of_(?:turn|utterance|text)>|</?s>|<[be]os>|<</?SYS>>"
    r"|(?-i:\[/?(?:INST|SYSTEM_PROMPT)\])",
    re.IGNORECASE,
)
_BEGINS = re.compile(r"[<＜〈◁\[]")
"""What every mark of thinking or of messages begins with."""
_BRACKETS = "<>＜＞〈〉◁▷[]|｜ \t\r\n"


def without_thinking(text: str) -> str:
    """Returns an answer without the reasoning that it begins with; empty if the reasoning does not end."""
    return split_thinking(text)[0]


def split_thinking(
    text: str, opening: str = OPENING, closing: str = CLOSING, *, opened: bool = False
) -> tuple[str, str]:
    """Returns the answer, and the reasoning between marks at its beginning.

    The first closing mark ends it; whatever looks like one later on belongs to the answer. Thinking that never ends
    leaves an empty answer.

    Args:
        text: what a model wrote.
        opening: the mark that begins its thinking.
        closing: the mark that ends it.
        opened: whether the prompt ended with the opening mark, which the answer then need not repeat.
    """
    start = text.lstrip()
    if not opened and not start.startswith(opening):
        return text, ""
    thinking, found, answer = start.removeprefix(opening).partition(closing)
    return (answer.lstrip() if found else ""), thinking.strip()


def thinking_mark(text: str) -> str:
    """Returns the first mark of reasoning in an answer, empty if there is none."""
    found = _MARK.search(text)
    return found[0] if found else ""


def without_marks(text: str) -> str:
    """Returns a text whose marks of thinking, and of messages, are words in brackets: `</think>` becomes `(/think)`.

    A text without any is returned as it is.
    """
    if not _BEGINS.search(text):
        return text
    return _CONTROL.sub(lambda mark: f"({unicodedata.normalize('NFKC', mark[0]).strip(_BRACKETS)})", text)
