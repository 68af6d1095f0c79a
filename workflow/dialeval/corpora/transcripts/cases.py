"""What dialogues of several systems have in common: the case that they met."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from enum import StrEnum

from dialeval.corpora.transcripts.transcript import Transcript


class By(StrEnum):
    """How it is known which dialogues met one case."""

    AUTO = "auto"
    OPENING = "opening"
    NONE = "none"


def cases_of(transcripts: Sequence[Transcript], by: str) -> list[str]:
    """Returns the case of each dialogue; empty where it has none. A system may have several dialogues on a case.

    `auto`: the file's `case_id`; else its `prompt`; else the dialogue's id, where dialogues of several systems have it
    or it has a reference. `opening`: the first utterance. `none`: nothing.

    Args:
        transcripts: dialogues whose systems are known.
        by: a value of `By`.
    """
    systems: defaultdict[str, set[str]] = defaultdict(set)
    for transcript in transcripts:
        systems[transcript.dialogue_id].add(transcript.system)
    return [_case(one, by, shared=len(systems[one.dialogue_id]) > 1) for one in transcripts]


def _case(transcript: Transcript, by: str, *, shared: bool) -> str:
    if by == By.OPENING:
        return _digest(transcript.utterances[0])
    if by == By.NONE:
        return ""
    if transcript.case_id:
        return transcript.case_id
    if transcript.prompt:
        return _digest(transcript.prompt)
    return transcript.dialogue_id if shared or transcript.reference[1] else ""


def _digest(text: str) -> str:
    """Returns a text's beginning, for people, and its digest; blanks make no difference."""
    plain = " ".join(text.split())
    return f"{plain[:40].strip()} [{hashlib.sha256(plain.encode()).hexdigest()[:12]}]"
