"""Usage of models: requests, tokens, cost, failures and warnings."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from itertools import chain
from pathlib import Path

import pyarrow as pa

from dialeval.engines.answering import Answering
from dialeval.engines.label_probabilities import LOWEST_MASS
from dialeval.engines.requests import BROKEN, Response
from dialeval.engines.spending.entries import Sums
from dialeval.engines.spending.prices import Prices
from dialeval.errors import UserError
from dialeval.paths import replacing
from dialeval.prompts.rendering import thinking_mark
from dialeval.tables.dialogues import USAGE
from dialeval.tables.files import to_table
from dialeval.text import counted

REASONING_MARK, LOW_MASS, BROKEN_LETTERS = "reasoning_mark", "low_mass", "broken_letters"
_WORDS = {
    REASONING_MARK: "a reasoning tag, such as </think> or [THINK], and the text was not split there, so it may contain "
    "reasoning. For engine vllm set the model's reasoning_parser; for an endpoint start its parser (vllm serve "
    "--reasoning-parser NAME), or set reasoning_end",
    LOW_MASS: f"all answer options together have a probability below {LOWEST_MASS:g} and the status is low_mass, "
    "without a score: the model is about to write other text, usually reasoning. Turn reasoning off: "
    "chat_template_options: {enable_thinking: false} for engine vllm, "
    "extra_body: {chat_template_kwargs: {enable_thinking: false}} for a vLLM server, or use a protocol that "
    "parses text (rating, letter)",
    BROKEN_LETTERS: "U+FFFD replaces a broken character",
}


def remarks_on(response: Response) -> Iterator[str]:
    """Yield remarks about a response, as short words for counting."""
    if thinking_mark(response.text):
        yield REASONING_MARK
    if response.label_mass is not None and response.label_mass < LOWEST_MASS:
        yield LOW_MASS
    if BROKEN in response.text or BROKEN in response.reasoning:
        yield BROKEN_LETTERS


@dataclass(frozen=True)
class Usage:
    """One job's usage, or that of all jobs of a model under a protocol.

    Attributes:
        requests: requests that the job had to see to.
        asked: how many of them were sent to the model; the others were in the store or equal to one that was sent.
        input_tokens: see `TokenSums`, as are the two below.
        failures: requests without an answer, by kind.
        seconds: time that answering took, of several jobs summed up.
        remarks: how many of the answers in use something is remarkable about, by kind.
    """

    model: str
    protocol: str
    requests: int
    asked: int
    input_tokens: int | None
    output_tokens: int | None
    reasoning_tokens: int | None
    failures: Mapping[str, int]
    seconds: float
    remarks: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of_job(cls, model: str, protocol: str, answering: Answering, tokens: TokenSums, seconds: float) -> Usage:
        """Return the usage of a job with requests to one model."""
        return cls(
            model,
            protocol,
            answering.total,
            answering.n_sent,
            tokens.input_tokens,
            tokens.output_tokens,
            tokens.reasoning_tokens,
            dict(answering.failures),
            round(seconds, 3),
            dict(tokens.remarks),
        )

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.model,
            self.protocol,
            self.requests + other.requests,
            self.asked + other.asked,
            _sum_if_all_known(self.input_tokens, other.input_tokens),
            _sum_if_all_known(self.output_tokens, other.output_tokens),
            _sum_of_known(self.reasoning_tokens, other.reasoning_tokens),
            Counter(self.failures) + Counter(other.failures),
            round(self.seconds + other.seconds, 3),
            Counter(self.remarks) + Counter(other.remarks),
        )


@dataclass
class TokenSums:
    """Tokens of the responses that a job uses, stored or new; a response to several requests counts once.

    Attributes:
        remarks: how many of the answers something is remarkable about, by kind; see `engines.remarks`.
        input_tokens: tokens of the prompts; None if one of the answers does not say.
        output_tokens: tokens of the answers, reasoning included; None likewise.
        reasoning_tokens: tokens of reasoning; None if no answer says.
    """

    input_tokens: int | None = 0
    output_tokens: int | None = 0
    reasoning_tokens: int | None = None
    remarks: Counter[str] = field(default_factory=Counter)
    _seen: set[bytes] = field(default_factory=set, repr=False)

    def add(self, key: str, response: Response) -> None:
        """Count the answer to a request."""
        compact = bytes.fromhex(key)
        if compact in self._seen:
            return
        self._seen.add(compact)
        self.remarks.update(remarks_on(response))
        self.input_tokens = _sum_if_all_known(self.input_tokens, response.prompt_tokens)
        self.output_tokens = _sum_if_all_known(self.output_tokens, response.completion_tokens)
        self.reasoning_tokens = _sum_of_known(self.reasoning_tokens, response.reasoning_tokens)


def write_usage(path: Path, usage: Usage) -> None:
    """Write the usage of a job atomically, and log remarks about its responses."""
    for line in remark_lines(usage.remarks, f"{usage.model} under {usage.protocol}"):
        print(line, flush=True)
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(asdict(usage), ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8")


def remark_lines(remarks: Mapping[str, int], key: str) -> Iterator[str]:
    """Yield a line of a log for each kind of remark.

    Args:
        remarks: how many answers each kind is about.
        about: whose answers they are.
    """
    for kind, count in remarks.items():
        yield f"warning: {counted(count, 'response')} of {key}: {_WORDS.get(kind, kind)}"


def read_usage(path: Path) -> Usage:
    """Read the file of `write_usage`.

    Raises:
        UserError: the file is something else.
    """
    try:
        return Usage(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise UserError(
            f"{path} is not the usage record of a job: {error}; delete it and run the same command again"
        ) from error


def usage_table(
    jobs: Iterable[Usage], prices: Mapping[str, Prices], spent: Mapping[tuple[str, str], Sums] | None = None
) -> pa.Table:
    """Return the table `usage`, one row per model and protocol, in the order in which they first come.

    Args:
        jobs: the usage of every job.
        prices: the prices of models that have any.
        spent: what the ledger says was spent, by model and protocol; what no job tells of is a row of its own.
    """
    spent = spent or {}
    sums: dict[tuple[str, str], Usage] = {}
    for job in chain(jobs, [Usage(*key, 0, 0, 0, 0, None, {}, 0.0) for key in spent]):
        key = job.model, job.protocol
        sums[key] = sums[key] + job if key in sums else job
    rows = []
    for usage in sums.values():
        cost = prices.get(usage.model, Prices()).cost(usage.input_tokens, usage.output_tokens)
        paid = spent.get((usage.model, usage.protocol), Sums() if usage.model in prices else None)
        row = asdict(usage) | {"cached": usage.requests - usage.asked, "cost": cost}
        row["model_calls"] = row.pop("asked")
        row |= {"failures": _by_token_type(usage.failures), "remarks": _by_token_type(usage.remarks)}
        row |= {"spent": paid and paid.spent, "spent_unconfirmed": paid and paid.unconfirmed}
        rows.append(row)
    return to_table(USAGE, rows)


def _by_token_type(counts: Mapping[str, int]) -> str:
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return "; ".join(f"{kind}: {count}" for kind, count in ordered)


def _sum_if_all_known(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other


def _sum_of_known(one: int | None, other: int | None) -> int | None:
    return other if one is None else one + (other or 0)
