"""Asking judges how adequate translations are, from 1 to 5 (xDial-Eval, appendix A, in our own words)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dialeval.criteria import Criterion
from dialeval.engines.request import Message, Request, Sampling
from dialeval.forms.scale_text import read_scores
from dialeval.prompts.rendering import Templates
from dialeval.prompts.shown import END_MARK, one_line
from dialeval.protocols.planning import Planned
from dialeval.translation.languages import language

PROTOCOL = "adequacy"
TEMPLATE = "adequacy.j2"
MAX_TOKENS = 64
CRITERION = Criterion(PROTOCOL)


def plan_adequacy(sample: Iterable[Mapping[str, Any]], templates: Templates, *, source: str) -> Iterator[Planned]:
    """Yields a request for each utterance of a sample.

    Args:
        sample: rows of the table `translation_sample`.
        templates: the prompts.
        source: the language that they were said in.
    """
    for row in sample:
        prompt = templates.render(
            TEMPLATE,
            source=language(source).name,
            target=language(row["language"]).name,
            utterance=one_line(row["source"]) + END_MARK,
            translation=one_line(row["text"]) + END_MARK,
        )
        request = Request(
            request_id=request_name(row),
            protocol=PROTOCOL,
            kind="chat",
            messages=(Message("user", prompt),),
            sampling=Sampling(temperature=0.0, max_tokens=MAX_TOKENS),
            subject=((row["source"],), (row["text"],)),
        )
        yield Planned(request, corpus=row["corpus"], language=row["language"], item_id=row["utterance_id"])


def request_name(row: Mapping[str, Any]) -> str:
    """Returns the id of the request about an utterance of a sample."""
    return f"{PROTOCOL}/{row['corpus']}/{row['language']}/{row['utterance_id']}"


def read_adequacy(response: Mapping[str, Any] | None) -> float | None:
    """Returns the rating that an answer gives, from 1 to 5; None where it gives none."""
    if response is None or response["status"] != "ok":
        return None
    said = read_scores(response["text"], [CRITERION], cut=response["finish_reason"] == "length").get(PROTOCOL)
    return said.value if said else None
