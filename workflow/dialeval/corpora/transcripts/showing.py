"""What stood beside a transcript: kept apart in a table, and shown to judges where the configuration asks for it."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import replace
from typing import Any

from dialeval.corpora.items import Item
from dialeval.corpora.transcripts.transcript import AsideKind, Transcript

_MARKS: dict[AsideKind, str] = {
    "system": "[system prompt]", "tool_call": "[tool call]", "tool_result": "[tool result]", "reasoning": "[thinking]"
}  # fmt: skip
"""How asides are marked where judges are shown them."""


def showing(item: Item, transcript: Transcript, shown: Set[AsideKind]) -> Item:
    """Returns an item with those asides among its utterances that judges are shown, marked as what they are.

    Args:
        item: the transcript as an item.
        transcript: what stood beside it.
        shown: kinds of asides; a call of a tool is the system's own, the others are nobody's.
    """
    asides = [aside for aside in transcript.asides if aside.kind in shown]
    if not asides:
        return item
    lines = [(number, 1, *said) for number, said in enumerate(zip(item.speakers, item.utterances, strict=True))]
    for aside in asides:
        speaker = item.judged if aside.kind == "tool_call" and item.judged else aside.kind
        lines.append((aside.before, 0, speaker, f"{_MARKS[aside.kind]} {aside.text}"))
    lines.sort(key=lambda line: line[:2])
    return replace(
        item, speakers=tuple(speaker for *_, speaker, _ in lines), utterances=tuple(text for *_, text in lines)
    )


def aside_rows(item: Item, transcript: Transcript) -> Iterator[dict[str, Any]]:
    """Yields the rows of the table `asides` for an item."""
    about = {"corpus": item.corpus, "item_id": item.item_id, "language": item.language}
    for aside in transcript.asides:
        yield {**about, **aside._asdict()}
