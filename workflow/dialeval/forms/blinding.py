"""Who speaks in a dialogue as a judge may read it: no speaker's label tells whose the dialogue is.

What was said is never altered: where a system names itself in its own words, a judge reads it.
"""

from __future__ import annotations

from dialeval.corpora.items import Item
from dialeval.corpora.transcripts.judging import tells
from dialeval.prompts.shown import letters_of


def blinded(item: Item) -> tuple[tuple[str, ...], str]:
    """Returns who speaks and who of them is judged; by letters where a label would tell whose the dialogue is."""
    if not any(tells(label, item.system) for label in set(item.speakers)):
        return item.speakers, item.judged
    letters = dict(zip(item.speakers, letters_of(item.speakers), strict=True))
    return tuple(letters[name] for name in item.speakers), letters.get(item.judged, item.judged)
