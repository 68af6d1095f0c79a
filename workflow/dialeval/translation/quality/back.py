"""Translating back what was translated, without context, to be compared with the source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dialeval.prompts.rendering import Templates
from dialeval.protocols.planning import Planned
from dialeval.translation.checks import NOTHING, read_translation
from dialeval.translation.marks import nothing_to_translate
from dialeval.translation.planning import plan, request_name
from dialeval.translation.talks import Passage, Talk

_SPEAKER = "human"


def plan_back(
    sample: Iterable[Mapping[str, Any]], templates: Templates, *, source: str, max_tokens: int
) -> Iterator[Planned]:
    """Yields a request for each utterance of a sample.

    Args:
        sample: rows of the table `translation_sample`.
        templates: the prompts.
        source: the language that they were said in, and go back to.
        max_tokens: longest translation.
    """
    for row in sample:
        talk = Talk(row["utterance_id"], (_SPEAKER,), (row["text"],))
        yield from plan(
            [talk],
            templates,
            corpus=row["corpus"],
            source=row["language"],
            target=source,
            context=0,
            max_tokens=max_tokens,
        )


def read_back(row: Mapping[str, Any], responses: Mapping[str, Mapping[str, Any]], source: str) -> str | None:
    """Returns an utterance of a sample as it came back; None where nothing did.

    What came back garbled counts as it is: to leave it out would make the rest look better than the whole.
    """
    if nothing_to_translate(row["text"]):
        return str(row["text"])
    response = responses.get(request_name(row["corpus"], source, Passage(_SPEAKER, row["text"], ())))
    if response is None or response["status"] != "ok":
        return None
    found = read_translation(row["text"], response["text"], source, response["finish_reason"], row["language"])
    return None if found.status in NOTHING else found.text
