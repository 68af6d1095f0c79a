"""Human dialogues in any of the formats that transcripts are read in, by their looks.

Who says what comes from there; ids that stand for several dialogues are told apart by what the file calls their system.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from dialeval.corpora.dialogues import HumanDialogue, Reading, Utterance, check
from dialeval.corpora.transcripts.readers import AUTO
from dialeval.corpora.transcripts.readers import read as read_transcripts

_FEWEST = 2


def read(path: Path, language: str) -> Reading:
    """Reads a file or folder; dialogues of fewer than two utterances are left out.

    Args:
        path: the file or folder.
        language: language of the dialogues that do not name theirs.

    Raises:
        UserError: the file, the place, and what is wrong there.
    """
    reading = Reading(str(path))
    for number, one in enumerate(read_transcripts(path, AUTO, {}, Counter()), start=1):
        if len(one.utterances) < _FEWEST:
            reading.skipped["with fewer than two utterances"] += 1
            continue
        dialogue_id = "/".join(name for name in (one.dialogue_id or f"row-{number}", one.system) if name)
        said = tuple(Utterance(*pair) for pair in zip(one.speakers, one.utterances, strict=True))
        place = one.place.removeprefix(f"{path}, ")
        reading.dialogues.append(HumanDialogue(dialogue_id, said, one.language or language, place))
    return check(reading)
