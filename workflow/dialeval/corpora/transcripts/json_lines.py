"""The plain format for anyone's transcripts: JSON Lines, one dialogue of one system per line.

    {"dialogue_id": "7", "system": "alpha", "case_id": "refund", "utterances": [
     {"speaker": "user", "text": "I want my money back."}, {"speaker": "assistant", "text": "I can see to that."}]}

`utterances` (or `dialogue`, `dialog`, `turns`) may be plain texts, of two speakers in turn or as `speakers` has it.
Optional are `case_id` or `prompt` (what systems met alike), `language`, `speakers` (names in turn), and `reference`:
how it should have gone, as a list of utterances, or as a text that stands in place of the last one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import cycle, islice
from typing import Any

from dialeval.corpora.json_fields import name_of
from dialeval.corpora.text_files import JsonLine
from dialeval.corpora.transcripts.entries import tell
from dialeval.corpora.transcripts.nested import unnested
from dialeval.corpora.transcripts.records import PLAIN, SYSTEM_FIELDS, TURNS, about, dialogue_field, named
from dialeval.corpora.transcripts.transcript import Told, Transcript
from dialeval.errors import UserError


def dialogues_of(line: JsonLine, notes: Counter[str]) -> Iterator[Transcript]:
    """Yields the dialogue of one object.

    Raises:
        UserError: the file, the line, what is wrong there, and the remedy.
    """
    record, where = line.record, line.where
    told = Told(notes, prompts_by_role=False)
    field = dialogue_field(record, (*PLAIN, TURNS), where)
    record = unnested(record, field)
    tell(_with_speakers(record[field], record.get("speakers"), where), field, where, told)
    speakers, utterances, asides = told.parts(where)
    yield Transcript(
        place=where,
        system=named(record, ["system"], where),
        model=_model(record),
        speakers=speakers,
        utterances=utterances,
        asides=asides,
        reference=_reference(record.get("reference"), speakers, utterances, where),
        **about(record, where),
    )


def _model(record: dict[str, Any]) -> str:
    """Returns the model that an object names, which is the system where nothing else says it."""
    found = next((record[field] for field in SYSTEM_FIELDS if isinstance(record.get(field), str)), "")
    return str(found).strip()


def _with_speakers(entries: Any, speakers: Any, where: str) -> Any:
    """Returns plain texts with the speakers that the record names, in turn where there are fewer."""
    if speakers is None or not isinstance(entries, list) or not all(isinstance(entry, str) for entry in entries):
        return entries
    if not isinstance(speakers, list) or not speakers:
        raise UserError(f'{where}: \'speakers\' must be a list of names, such as ["user", "assistant"]')
    names = [name_of(speaker, "speakers", where) for speaker in speakers]
    return [
        {"speaker": name, "text": text} for name, text in zip(islice(cycle(names), len(entries)), entries, strict=True)
    ]


def _reference(
    value: Any, speakers: tuple[str, ...], utterances: tuple[str, ...], where: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if value is None:
        return (), ()
    if isinstance(value, str):
        return speakers, (*utterances[:-1], value.strip()) if value.strip() and utterances else ()
    told = Told(Counter(), prompts_by_role=False)
    tell(value, "reference", where, told)
    return told.parts(where)[:2]
