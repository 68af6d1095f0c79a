"""Who of the speakers of a transcript is the system, and is judged."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from dialeval.corpora.transcripts.transcript import JUDGED, SYSTEM_ROLES
from dialeval.errors import UserError

OTHERS = frozenset({"user", "human", "customer", "client", "caller", "visitor", "person"})
"""How exports call who talks with the system."""
_ROLES = OTHERS.union(JUDGED)
_NO_LETTERS = re.compile(r"[\W_]+")


def judged_of(speakers: Sequence[str], system: str, wanted: str | None, where: str) -> str | None:
    """Returns the speaker who is the system; empty where nobody can tell, and None where it says nothing.

    Args:
        speakers: who says each utterance.
        system: whose dialogue it is.
        wanted: who the system is, by the configuration; None for the one called as the system, or as exports do,
            or whose label else tells the system.
        where: the place, for messages.

    Raises:
        UserError: two speakers could be the system.
    """
    names = {name.casefold(): name for name in speakers}
    if wanted is not None:
        return names.get(wanted.casefold())
    if len(system) > 1 and system.casefold() in names:  # A and B name speakers, not systems
        return names[system.casefold()]
    found = [name for name in JUDGED if name in names]
    if len(found) > 1:
        found = [name for name in found if name not in SYSTEM_ROLES]
    if len(found) > 1:
        both = " and ".join(f"'{names[name]:.40}'" for name in found)
        raise UserError(f"{where}: {both} could both be the system; name the one who is judged with the field `judged`")
    if found:
        return names[found[0]]
    if len(telling := [name for name in names.values() if tells(name, system)]) == 1:
        return telling[0]
    return None if set(names) <= OTHERS else ""


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
