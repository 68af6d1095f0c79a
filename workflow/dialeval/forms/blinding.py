"""Who speaks in a dialogue as a judge may read it: no speaker's label tells whose the dialogue is.

What was said is never altered: where a system names itself in its own words, a judge reads it.
"""

from __future__ import annotations

import re
import unicodedata

from dialeval.corpora.items import Item
from dialeval.corpora.transcripts.judging import OTHERS
from dialeval.corpora.transcripts.transcript import JUDGED
from dialeval.prompts.shown import letters_of

_NO_LETTERS = re.compile(r"[\W_]+")
_ROLES = OTHERS.union(JUDGED)


def blinded(item: Item) -> tuple[tuple[str, ...], str]:
    """Returns who speaks and who of them is judged; by letters where a label would tell whose the dialogue is."""
    if not any(tells(label, item.system) for label in set(item.speakers)):
        return item.speakers, item.judged
    letters = dict(zip(item.speakers, letters_of(item.speakers), strict=True))
    return tuple(letters[name] for name in item.speakers), letters.get(item.judged, item.judged)


def tells(label: str, system: str) -> bool:
    """Returns whether a speaker's label tells the system: holds its name, or is what its name begins with.

    Case, blanks and signs do not matter. A role, such as `assistant`, tells nothing, and neither does a single letter.
    """
    label, system = label.casefold(), system.casefold()
    if len(system) < 2 or system in JUDGED:
        return False
    if label == system:
        return True
    short, name = _plain(label), _plain(system)
    if short in _ROLES or min(len(short), len(name)) < 2:
        return False
    return name in short or name.startswith(short)


def _plain(name: str) -> str:
    return _NO_LETTERS.sub("", unicodedata.normalize("NFKC", name).casefold())
