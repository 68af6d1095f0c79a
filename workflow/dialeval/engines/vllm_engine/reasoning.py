"""The reasoning part that some models write before their answer."""

from __future__ import annotations

OPENING, CLOSING = "<think>", "</think>"


def opens_reasoning(rendered: str) -> bool:
    """Returns whether a rendered prompt ends inside a reasoning part, as some chat templates make it."""
    return rendered.rstrip().endswith(OPENING)


def split_reasoning(text: str, *, opened: bool) -> tuple[str, str]:
    """Returns the answer and the reasoning before it, without their marks.

    Reasoning that never ends leaves an empty answer.

    Args:
        text: what the model wrote.
        opened: whether the prompt ended inside the reasoning part.
    """
    begins = text.lstrip().startswith(OPENING)
    if not opened and not begins:
        thought, closing, answer = text.rpartition(CLOSING)
        return (answer.lstrip(), thought.strip()) if closing else (text, "")
    body = text.lstrip().removeprefix(OPENING) if begins else text
    thought, closing, answer = body.rpartition(CLOSING)
    return (answer.lstrip(), thought.strip()) if closing else ("", body.strip())
