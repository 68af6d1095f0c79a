"""The judge says how the speakers treat each other and what they talk about (DialogBench 3.4, Figures 5 and 6)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dialeval.corpora.multiple_choice import TestItem
from dialeval.dialogbench.characters import STYLES
from dialeval.dialogbench.domains import NAMES, find_domain
from dialeval.dialogbench.questions import render_utterances
from dialeval.dialogbench.subjects import of_item
from dialeval.engines.request import Message, Request, Sampling
from dialeval.forms.verdict_text import plain_text, status_of, text_to_read, was_cut
from dialeval.prompts.rendering import Templates
from dialeval.protocols.planning import Planned

PROTOCOL = "dialogbench_classification"
TEMPLATE = "dialogbench_classify.j2"
SAMPLING = Sampling(temperature=0.0, max_tokens=128)
OTHER = "other"
_LINE = re.compile(
    r"^[ \t>*_#`\"'-]*(?P<field>speaker\s*1|speaker\s*2|domain)[\s*_`\"']*:[\s*_`\"']*(?P<value>[^\n]*)$",
    re.IGNORECASE | re.MULTILINE,
)
_EDGES = " \t.,;!*_`\"'“”()[]<>。"


def plan(items: Iterable[TestItem], templates: Templates, sampling: Sampling = SAMPLING) -> Iterator[Planned]:
    """Yields one request per item; `case_id` is its id, `left` its task."""
    for item in items:
        prompt = templates.render(TEMPLATE, dialogue=render_utterances(item.utterances, item.language), domains=NAMES)
        request = Request(
            request_id=f"{PROTOCOL}/{item.language}/{item.item_id}",
            protocol=PROTOCOL,
            kind="chat",
            messages=(Message("user", prompt),),
            sampling=sampling,
            subject=of_item(item),
        )
        yield Planned(request, item.item_id, item.task, n_utterances=len(item.utterances))


def parse(judge: str, item: TestItem, answer: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the judge's description of a dialogue: two styles and a domain, each None where it cannot be read.

    A domain beyond the twenty is `other`, and `domain_named` says which. The status is ok only if all three are there.
    """
    fields = _fields(text_to_read(answer), cut=was_cut(answer)) if answer["status"] == "ok" else {}
    styles = [_style(fields.get(f"speaker{number}", "")) for number in (1, 2)]
    named = fields.get("domain", "")
    found = find_domain(named)
    domain = (found.name if found else OTHER) if named else None
    readable = None not in styles and domain is not None
    return {
        "judge": judge,
        "item_id": item.item_id,
        "task": item.task,
        "language": item.language,
        "asked_domain": item.domain,
        "speaker1_style": styles[0],
        "speaker2_style": styles[1],
        "domain": domain,
        "domain_named": named,
        "status": status_of(answer["status"], answer["finish_reason"], readable=readable),
    }


def _fields(text: str, *, cut: bool) -> dict[str, str]:
    """Returns the lines of an answer by field; one with two different values is left out, as is one that was cut."""
    plain = plain_text(text)
    values: dict[str, set[str]] = {}
    for line in _LINE.finditer(plain.rpartition("\n")[0] if cut else plain):
        values.setdefault("".join(line["field"].lower().split()), set()).add(line["value"].strip(_EDGES))
    return {name: found.copy().pop() for name, found in values.items() if len(found) == 1}


def _style(text: str) -> str | None:
    word = text.casefold().strip(_EDGES)
    return word if word in STYLES else None
