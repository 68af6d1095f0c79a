"""ShareGPT's format: a list of objects, or one a line, with `conversations` of `from` and `value`.

    {"id": "a1", "model": "alpha", "conversations": [
     {"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Hello"}]}

`model` names the system. So does `system` where it is a name; in many files it is the system prompt, which is kept
apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from dialeval.corpora.text_files import JsonLine
from dialeval.corpora.transcripts.entries import tell
from dialeval.corpora.transcripts.records import SHAREGPT, SYSTEM_FIELDS, about, dialogue_field, named
from dialeval.corpora.transcripts.transcript import Told, Transcript

LONGEST_NAME = 80


def dialogues_of(line: JsonLine, notes: Counter[str]) -> Iterator[Transcript]:
    """Yields the dialogue of one object.

    Raises:
        UserError: the file, the line or record, what is wrong there, and the remedy.
    """
    yield transcript(line, dialogue_field(line.record, SHAREGPT, line.where), notes)


def transcript(line: JsonLine, field: str, notes: Counter[str]) -> Transcript:
    """Returns the dialogue of one object of an export; `field` holds its messages.

    Raises:
        UserError: the place, what is wrong there, and the remedy.
    """
    record, where = line.record, line.where
    told = Told(notes)
    system = named(record, SYSTEM_FIELDS, where)
    given = record.get("system")
    if isinstance(given, str) and (system or is_prompt(given)):
        told.add_aside("system", given)
    else:
        system = system or named(record, ["system"], where)
    tell(record[field], field, where, told)
    speakers, utterances, asides = told.parts(where)
    return Transcript(
        place=where, system=system, speakers=speakers, utterances=utterances, asides=asides, **about(record, where)
    )


def is_prompt(text: str) -> bool:
    """Returns whether what stands under `system` is what the system was told, not its name."""
    said = text.strip()
    if said.casefold().startswith(("you are ", "you're ")):
        return True
    return len(said) > LONGEST_NAME or "\n" in said or said.endswith((".", "!", "?", ":", "。")) or said.count(" ") > 4
