"""Direct rating (comp-analysis, Table 2): a judge writes a number from 1 to 5 for each dimension, all in one answer.

An answer is read tolerantly in its form (marks, order, Markdown, JSON, `4/5`) and exactly in its content: a dimension
that is missing, named with two different numbers, off the scale or given as a range has no score.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from dialeval.corpora.items import Item
from dialeval.criteria import DIMENSIONS
from dialeval.engines.request import Request, Sampling
from dialeval.forms.item_prompts import messages_for, subject_of
from dialeval.forms.judgement import judgement
from dialeval.forms.verdict_text import is_whole, plain_text, status_of, text_to_read, was_cut
from dialeval.prompts.rendering import Templates
from dialeval.protocols.planning import Planned

SCALE = (1.0, 5.0)
ALIASES = {
    "coherence": "coherence|coherent",
    "engagingness": "engagingness|engagement|engaging",
    "diversity": "diversity|diverse",
    "informativeness": "informativeness|informative",
    "relevance": "(?:context )?relevance|relevant",
    "specificity": "specificity|specific",
    "interestingness": "interestingness|interesting",
    "understandability": "understandability|understandable|understanding",
    "overall": "overall(?: quality)?",
}
"""How judges name the dimensions."""
_MARKS = r"[\s>*_#`\"'“”‘’\-–—•.):\[\]{},|=]*"
_NUMBER = r"(?P<number>\d+(?:\.\d+)?)"
_MINUS = re.compile(r"[-–—:=|]\s*[-–—]$")
"""A dash after another mark is a minus; one alone stands between the name and its number."""
_SCALE_SAID = re.compile(r"\(\s*1\s*(?:[-–—~]|to)\s*5\s*\)", re.IGNORECASE)
_OUT_OF = re.compile(r"\s*(?:/|out of)\s*5(?:\.0+)?(?![\d.])", re.IGNORECASE)
_MORE = re.compile(r"\s*(?:/|out of|[-–—~]|to|or)\s*\d|\.\d|\s*%", re.IGNORECASE)


def plan(items: Iterable[Item], templates: Templates, sampling: Sampling, repeats: int) -> Iterator[Planned]:
    """Yields `repeats` requests per item, each for all dimensions of its level; a repeat has its own sampler seed."""
    for item in items:
        dimensions = DIMENSIONS[item.level]
        subject = subject_of(item)
        messages = messages_for(templates, "rating", subject, dimensions=dimensions)
        for repeat in range(repeats):
            request = Request(
                request_id=f"rating/{item.corpus}/{item.language}/{item.item_id}/{repeat}",
                protocol="rating",
                kind="chat",
                messages=messages,
                sampling=sampling if repeats == 1 else _drawn_anew(sampling, repeat),
                labels=dimensions,
                subject=subject,
                repeat=repeat,
            )
            yield Planned(request, corpus=item.corpus, language=item.language, item_id=item.item_id)


def parse(judge: str, planned: Mapping[str, Any], answer: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yields a row of the table `judgements` for each dimension asked for.

    Args:
        judge: name of the judge.
        planned: row of `requests`.
        answer: row of `responses` for the same request.
    """
    found = read_ratings(text_to_read(answer), planned["labels"], cut=was_cut(answer))
    for dimension in planned["labels"]:
        value = found.get(dimension)
        yield judgement(
            judge,
            planned,
            status_of(answer["status"], answer["finish_reason"], readable=value is not None),
            criterion=dimension,
            value=value,
            scale_min=SCALE[0],
            scale_max=SCALE[1],
        )


def read_ratings(text: str, dimensions: Sequence[str], *, cut: bool = False) -> dict[str, float]:
    """Returns the ratings that an answer gives, by dimension; one that is not given, or not clearly, is absent.

    Args:
        text: the answer.
        dimensions: what is rated.
        cut: whether the answer was cut off, so that a number at its end may not be whole.
    """
    plain = _SCALE_SAID.sub("", plain_text(text))
    found = {}
    for dimension in dimensions:
        names = ALIASES.get(dimension, re.escape(dimension))
        pattern = re.compile(rf"(?<![\w-])(?:{names})(?P<marks>{_MARKS}){_NUMBER}", re.IGNORECASE)
        values = {
            _value(match, plain) if is_whole(plain, match.end(), cut=cut) else None for match in pattern.finditer(plain)
        }
        if len(values) == 1 and (value := values.pop()) is not None:
            found[dimension] = value
    return found


def _value(found: re.Match[str], plain: str) -> float | None:
    """Returns a number on the scale, or None for one that is off it or that goes on: a range, a share of ten."""
    out_of = _OUT_OF.match(plain, found.end())
    if _MINUS.search(found["marks"]) or _MORE.match(plain, out_of.end() if out_of else found.end()):
        return None
    value = float(found["number"])
    return value if SCALE[0] <= value <= SCALE[1] else None


def _drawn_anew(sampling: Sampling, repeat: int) -> Sampling:
    return Sampling(sampling.temperature, sampling.top_p, sampling.max_tokens, repeat, sampling.stop)
