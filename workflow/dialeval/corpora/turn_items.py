"""The utterances of whole dialogues as items of their own, for criteria that are about a response in its context."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

from dialeval.corpora.items import Item

Turns = Literal["last", "all"]


def turns_of(item: Item, turns: Turns, *, said_before: int = 0) -> Iterator[Item]:
    """Yields the judged side's utterances of a dialogue, each with all that was said before it; none of a response.

    Args:
        item: a whole dialogue.
        turns: `last` for the last of these utterances, `all` for each.
        said_before: utterances at the beginning that nobody is judged by, such as a ChatSEED's.
    """
    if item.level != "dialogue":
        return
    places = [
        place for place, speaker in enumerate(item.speakers) if place >= said_before and item.judged in ("", speaker)
    ]
    for place in places if turns == "all" else places[-1:]:
        yield replace(
            item,
            item_id=f"{item.item_id}/{place + 1}",
            level="turn",
            speakers=item.speakers[: place + 1],
            utterances=item.utterances[: place + 1],
        )
