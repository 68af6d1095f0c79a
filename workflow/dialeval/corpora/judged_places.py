"""Which utterances of a dialogue are its system's own, and so are judged one by one."""

from __future__ import annotations

from dialeval.corpora.items import Item
from dialeval.corpora.selfchat_items import SOURCE


def judged_places(item: Item, said_before: int) -> tuple[int, ...]:
    """Returns the places, from 1, of what the judged system said itself: nothing of a ChatSEED, nothing of a partner.

    Args:
        item: a dialogue.
        said_before: utterances that chatbots' own dialogues begin with and that people wrote; people's own dialogues
            there are taken from the same place on. Transcripts begin with nobody else's words.
    """
    first = said_before if item.corpus == SOURCE else 0
    return tuple(
        place
        for place, speaker in enumerate(item.speakers, start=1)
        if place > first and (not item.judged or speaker == item.judged)
    )
