"""Who of the speakers of a transcript is the system, and is judged."""

from __future__ import annotations

from collections.abc import Sequence

from dialeval.corpora.transcripts.transcript import JUDGED, SYSTEM_ROLES
from dialeval.errors import UserError

OTHERS = frozenset({"user", "human", "customer", "client", "caller", "visitor", "person"})
"""How exports call who talks with the system."""


def judged_of(speakers: Sequence[str], system: str, wanted: str | None, where: str) -> str | None:
    """Returns the speaker who is the system; empty where nobody can tell, and None where it says nothing.

    Args:
        speakers: who says each utterance.
        system: whose dialogue it is.
        wanted: who the system is, by the configuration; None for the one called as the system, or as exports do.
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
    return None if set(names) <= OTHERS else ""
