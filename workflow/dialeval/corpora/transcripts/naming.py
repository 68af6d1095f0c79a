"""What transcripts are called: every dialogue by its id, once for each system."""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dialeval.corpora.transcripts.transcript import Transcript
from dialeval.errors import UserError

LONGEST_SYSTEM, LONGEST_ID = 80, 160
"""Characters."""
_SHOWN_PLACES = 5


def named(found: Sequence[Transcript], path: Path, system: str | None, notes: Counter[str]) -> list[Transcript]:
    """Returns dialogues that say whose they are, with names that can stand in tables: one line without double blanks.

    A dialogue that is there again word for word, as in votes of several people about one answer, stands once.

    Args:
        found: the dialogues as read.
        path: their file or folder, for messages.
        system: whose they are where the file does not say it.
        notes: what is worth knowing is counted here.

    Raises:
        UserError: one does not say whose it is, has a name that is too long or holds a control character, or is there
            twice for one system in different words; with the places.
    """
    without = [_short(one, path) for one in found if not (one.system or one.model) and system is None]
    if without:
        raise UserError(
            f"{path}: {len(without)} of {len(found)} dialogues do not say whose they are ({_places(without)}); give "
            "each the field `system` (in ShareGPT and messages: `model`), or name their system in the configuration: "
            "`system: NAME` of this entry"
        )
    every = [_one_line(replace(one, system=one.system or system or one.model)) for one in found]
    first: dict[Transcript, Transcript] = {}
    known = [one for one in every if not one.dialogue_id or first.setdefault(replace(one, place=""), one) is one]
    notes["dialogues passed over that are there before, word for word, under the same id"] += len(every) - len(known)
    places: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for one in known:
        if one.dialogue_id:
            places[one.system, one.dialogue_id].append(_short(one, path))
    twice = {key: where for key, where in places.items() if len(where) > 1}
    for (whose, dialogue_id), where in twice.items():
        more = f", and {len(twice) - 1} more are there twice" if len(twice) > 1 else ""
        raise UserError(
            f"{path}: dialogue '{dialogue_id:.60}' of system '{whose}' is there {len(where)} times, at {_places(where)}"
            f"{more}, in different words; an id may stand once for each system: remove the others or give them ids of "
            "their own"
        )
    return known


def _one_line(transcript: Transcript) -> Transcript:
    names: dict[str, Any] = {}
    for what, longest in (("system", LONGEST_SYSTEM), ("dialogue_id", LONGEST_ID), ("case_id", LONGEST_ID)):
        name = " ".join(getattr(transcript, what).split())
        if len(name) > longest:
            words = f"has {len(name)} characters ({name:.40}...); write a name of at most {longest}"
            raise UserError(f"{transcript.place}: '{what}' {words}")
        if any(unicodedata.category(mark) == "Cc" for mark in name):
            raise UserError(f"{transcript.place}: '{what}' is {name!r:.60}, with a control character; take it out")
        names[what] = name
    return replace(transcript, **names)


def _short(transcript: Transcript, path: Path) -> str:
    return transcript.place.removeprefix(f"{path}, ")


def _places(places: Sequence[str]) -> str:
    return "; ".join(places[:_SHOWN_PLACES]) + ("; ..." if len(places) > _SHOWN_PLACES else "")
