"""What judges were sent and answered, and how an answer became a verdict."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias, get_args

import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field

from dialeval.engines.requests import Message, merge_system
from dialeval.engines.spending.prices import Prices
from dialeval.tables.dialogues import Form, Status
from dialeval.tables.files import chosen_rows, read_table
from dialeval.tables.schema import Table

Lookup: TypeAlias = Callable[[Collection[str]], Iterable[Mapping[str, Any]]]
"""Returns the rows of a table with some values of `request_id`."""
AGAIN = "/again"
"""The suffix of the id of a retry after an unparsed response."""
_PLACES = 4


class Answering(Prices):
    """How a model was called, and the prices of its tokens.

    Attributes:
        shards: number of parts of the responses, by protocol.
        again: protocols under which unparsed responses were retried.
        merges: whether it takes no system message; it is then put before the user's message.
        from_texts: whether it answers from the texts alone, as embedded models do.
        published: whether others published its responses, from prompts of their own.
    """

    shards: dict[str, int] = Field(default_factory=dict)
    again: tuple[str, ...] = ()
    merges: bool = False
    from_texts: bool = False
    published: bool = False


@dataclass(frozen=True)
class Answerer:
    """A judge, or a model that takes a test, with the answers that it gave.

    Attributes:
        responses: looks up its tables `responses`, those to retries among them.
        retries: looks up its retries in tables `requests`; None without any.
        model: how it was called.
    """

    responses: Lookup
    retries: Lookup | None = None
    model: Answering = field(default_factory=Answering)


@dataclass(frozen=True)
class ExchangeSource:
    """Looks up requests and responses.

    Attributes:
        requests: looks up the table `requests` of all protocols.
        judges: by name.
        together: judges that use responses of other judges, by name; the first of them comes first.
    """

    requests: Lookup
    judges: Mapping[str, Answerer]
    together: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def exchanges(self, wanted: Mapping[str, Collection[str]]) -> Exchanges:
        """Return requests and responses.

        Args:
            wanted: by judge, ids of requests; unknown ids are skipped.
        """
        planned = _by_id(self.requests({one for of_judge in wanted.values() for one in of_judge}))
        return {
            (judge, request_id): exchange
            for judge, request_ids in wanted.items()
            for one in reversed(self.together.get(judge, (judge,)))
            if one in self.judges
            for request_id, exchange in _exchanges(self.judges[one], request_ids, planned)
        }


def _exchanges(
    judge: Answerer, request_ids: Collection[str], planned: Mapping[str, Mapping[str, Any]]
) -> Iterator[tuple[str, Exchange]]:
    second = {request_id + AGAIN for request_id in request_ids}
    answers = _by_id(judge.responses({*request_ids, *second}))
    retried = _by_id(judge.retries(second)) if judge.retries else {}
    for request_id in request_ids:
        if request_id not in planned or request_id not in answers:
            continue
        request, answer, better = planned[request_id], answers[request_id], answers.get(request_id + AGAIN)
        if better is not None and better["status"] == "ok":
            yield request_id, Exchange(retried.get(request_id + AGAIN, request), better, answer, judge)
        else:
            yield request_id, Exchange(request, answer, None, judge)


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its answer.

    Attributes:
        request: row of `requests`; of the retry, if there is one.
        answer: row of `responses` that was read.
        first_answer: unparsed row of `responses` before a retry; else None.
        judge: judge that answered.
    """

    request: Mapping[str, Any]
    answer: Mapping[str, Any]
    first_answer: Mapping[str, Any] | None
    judge: Answerer

    def prompt(self) -> tuple[Message, ...]:
        """Return the messages as they were sent, without a model's chat template; none where others sent them."""
        if self.judge.model.published:
            return ()
        messages = tuple(Message(one["role"], one["content"]) for one in self.request["messages"])
        return merge_system(messages) if self.judge.model.merges else messages

    def facts(self) -> str:
        """Return tokens, cost if known, and removed utterances of a response."""
        answers = [answer for answer in (self.first_answer, self.answer) if answer is not None]
        read, written, thought = (
            _sum(answer[name] for answer in answers)
            for name in ("prompt_tokens", "completion_tokens", "reasoning_tokens")
        )
        cost = self.judge.model.cost(read, written)
        dropped = self.answer["dropped"]
        facts = [
            "a published response to the authors' own prompt" if self.judge.model.published else "",
            "embedded model: computed from the texts" if self.judge.model.from_texts else "",
            f"{read:,} tokens in" if read is not None else "",
            f"{written:,} out" if written is not None else "",
            f"{thought:,} of them reasoning" if thought else "",
            f"cost {cost:.2g}" if cost is not None else "",
            "requested twice" if self.first_answer is not None else "",
            f"without its {dropped:,} oldest utterances, which did not fit the context window" if dropped else "",
        ]
        return ", ".join(filter(None, facts))

    def probabilities(self) -> list[list[Any]] | None:
        """Return label and probability, the most probable first; None where no probabilities were requested."""
        logprobs = dict(self.answer["label_logprobs"] or ())
        if not logprobs:
            return None
        return [
            [label, round(math.exp(logprob), _PLACES)]
            for label, logprob in sorted(logprobs.items(), key=lambda pair: (-pair[1], pair[0]))
        ]


Exchanges: TypeAlias = Mapping[tuple[str, str], Exchange]
"""By judge and request."""


def in_files(paths: Sequence[Path], kind: Table) -> Lookup:
    """Return a function that looks up rows in files, read piece by piece."""

    @cache
    def ids(path: Path) -> pa.ChunkedArray:
        return read_table(path, kind, ["request_id"])["request_id"]

    def rows(wanted: Collection[str]) -> Iterator[Mapping[str, Any]]:
        values = pa.array(sorted(wanted), pa.string())
        for path in paths if wanted else ():
            yield from chosen_rows(path, kind, pc.is_in(ids(path), value_set=values).to_numpy())

    return rows


def _by_id(rows: Iterable[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    return {row["request_id"]: row for row in rows}


def _sum(counts: Iterable[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


# How an answer became a verdict, in words: by which rule it was read, or why it could not be.

_FROM_TEXT: dict[Form, str] = {
    "pair": "parsed from the line “Choice:”",
    "locate": "parsed from the lines “Choice:” and “Index:”",
    "annotate": "parsed from the lines, one for each kind",
    "scale": "parsed from the number after each criterion",
    "probability": "computed from the probabilities of the answer options",
}
_UNPARSED: dict[Status, str] = {
    "unparsed": "not parsed: the response does not have the required form, or is ambiguous",
    "refused": "not parsed: the model refused, or a filter ended the response",
    "truncated": "not parsed: the response was cut off before the verdict was complete",
    "low_mass": "not parsed: the answer options have too little probability; the model would have written other text",
    "missing": "no response",
}
assert set(_FROM_TEXT) == set(get_args(Form))


def how_read(form: Form | None, status: str, exchange: Exchange | None) -> str:
    """Return how an answer was read.

    Args:
        form: form of the question; None if not known.
        status: of the judgement.
        exchange: the request and its response; None if the page does not have them.
    """
    if status != "ok":
        return next((words for known, words in _UNPARSED.items() if known == status), "")
    if exchange is None:
        return ""
    if exchange.request["kind"] == "choice":
        return _of_labels(exchange)
    if exchange.request["answer_schema"]:
        return "parsed from the fields of its JSON object"
    return _FROM_TEXT.get(form, "") if form else ""


def _of_labels(exchange: Exchange) -> str:
    mass = exchange.answer["label_mass"]
    together = "" if mass is None else f", which together had {mass:.4g} of the probability"
    return f"{_FROM_TEXT['probability']} as first token{together}"
