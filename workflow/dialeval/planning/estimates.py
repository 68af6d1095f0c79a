"""Estimates of requests, tokens and cost, as a table and as text."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from dialeval.engines.requests import Request, Response
from dialeval.engines.spending.prices import ORDINARY_OF_BATCH, Prices
from dialeval.planning.judge_power import JUDGES
from dialeval.planning.known_models import Assumption, KnownModel, Range
from dialeval.planning.label_power import ANNOTATORS, NEVER_BY_LABELS, NEVER_BY_SEEDS, PEOPLE
from dialeval.tables.dialogues import ESTIMATE
from dialeval.tables.files import to_table
from dialeval.text import counted

# The running sums of an estimate for one model under one protocol.

FEW = 10
"""Stored answers whose mean is believed to a factor of two; that of more of them as their spread tells."""
MARGIN = 0.15
"""Share by which the mean of what is still to come may differ besides: later turns, other models' dialogues."""


@dataclass
class Estimate:
    """The open requests of one model under one protocol.

    Equal requests are sent once: all but the first count as stored.

    Attributes:
        model: the model.
        protocol: selfchat, unieval, arena or gteval.
        max_tokens: longest answer.
        assumed: an answer's length where none is stored.
        requests: requests in all.
        uncached: requests that the store has no answer to.
        surely_uncached: the same, without requests that may be spared or whose store could not be searched.
        likely_spared: how many of `uncached` are likely not sent.
        prompts: tokens of the prompts to be sent.
        n_answers: stored answers whose length is known.
        answer_tokens: tokens of these together.
        n_sent: stored answers that say how long their prompt was.
        sent_tokens: tokens of these prompts together.
        notes: what a reader should know.
    """

    model: KnownModel
    protocol: str
    max_tokens: int
    assumed: Assumption
    requests: int = 0
    uncached: int = 0
    surely_uncached: float = 0
    likely_spared: float = 0
    prompts: Range = field(default_factory=Range)
    n_answers: int = 0
    answer_tokens: int = 0
    n_sent: int = 0
    sent_tokens: int = 0
    notes: list[str] = field(default_factory=list)
    _squares: int = 0
    _seen: set[bytes] = field(default_factory=set, repr=False)

    def count_planned(self, request: Request, response: Response | None) -> None:
        """Count a request that is known word for word, with its stored answer."""
        self.requests += 1
        if response is not None:
            self.count_answer(response)
        elif self.is_new(request):
            self.count_uncached(1, self.model.prompt(request.messages), sure=self.model.identity is not None)

    def is_new(self, request: Request) -> bool:
        """Return whether no equal request was counted before, and remember it."""
        return self.is_new_key(self.model.key(request))

    def is_new_key(self, key: str) -> bool:
        """Return the same of a request's key."""
        compact = bytes.fromhex(key)
        new = compact not in self._seen
        self._seen.add(compact)
        return new

    def count_answer(self, response: Response) -> None:
        """Count the length of a stored answer."""
        if response.completion_tokens is not None:
            self.n_answers += 1
            self.answer_tokens += response.completion_tokens
            self._squares += response.completion_tokens**2
        if response.prompt_tokens is not None:
            self.n_sent += 1
            self.sent_tokens += response.prompt_tokens

    def count_uncached(self, n: int, prompts: Range, *, sure: bool, least: float = 1.0, likely: float = 1.0) -> None:
        """Count requests that are to be sent, and the tokens of their prompts together.

        Args:
            n: how many, at most.
            prompts: tokens of so many prompts.
            sure: whether it is known that the store has not got them.
            least: share that is sent in any case.
            likely: share that is likely sent.
        """
        self.uncached += n
        self.surely_uncached += n * least if sure else 0
        self.likely_spared += n * (1.0 - likely)
        low = prompts.low * least if sure else 0.0
        self.prompts = self.prompts.plus(prompts._replace(low=low, expected=prompts.expected * likely))

    def keep_share(self, share: float, why: str) -> None:
        """Count a share of the requests alone; which of them it will be only the run can say.

        What is stored is taken to be of that share, as it is after a run.

        Args:
            share: of all requests.
            why: what a reader should know of it.
        """
        stored, missing = self.requests - self.uncached, self.uncached
        self.requests = math.floor(share * self.requests + 1e-9)
        self.uncached = min(missing, max(0, self.requests - stored))
        kept = self.uncached / missing if missing else 0.0
        self.surely_uncached *= kept
        self.likely_spared *= kept
        self.prompts = self.prompts.times(kept)
        self.notes.append(why)

    @property
    def prompt(self) -> float | None:
        """Return the mean length of a prompt, of missing and stored requests; None if neither is known."""
        count = self.uncached + self.n_sent
        return (self.prompts.expected + self.sent_tokens) / count if count else None

    @property
    def answer(self) -> Range:
        """Return the mean length of missing answers: as the stored ones of this model, else as assumed."""
        low, expected, high, _ = self.assumed.tokens
        if self.n_answers:
            expected = self.answer_tokens / self.n_answers
            low, high = expected / 2, expected * 2
        if self.n_answers >= FEW:
            spread = math.sqrt(max(self._squares / self.n_answers - expected**2, 0.0))
            half = 2 * spread * math.sqrt(1 / self.n_answers + 1 / max(self.uncached, 1)) + MARGIN * expected
            low, high = expected - half, expected + half
        if not self.n_answers and high > self.max_tokens:
            low = min(low, self.max_tokens / 4)  # what is cut off there may as well have been shorter
        return Range(max(low, 1.0), expected, high, self.max_tokens).at_most(self.max_tokens)

    @property
    def answers(self) -> Range:
        """Return the tokens of all answers that are still to come."""
        answer = self.answer
        return answer.times(self.uncached)._replace(
            low=answer.low * self.surely_uncached, expected=answer.expected * (self.uncached - self.likely_spared)
        )


# What one seed or case more would cost: all requests about it, and the chatbots' dialogues.

TALKS = ("selfchat", "partner")
"""Under these chatbots talk; what is judged rests on it."""


def cost_of_case(
    estimates: Sequence[Estimate],
    prices: Mapping[str, Prices],
    batched: Collection[str],
    protocol: str,
    n_cases: int,
    *,
    talks: bool,
) -> dict[str, float | None]:
    """Return the cost of one more case under a protocol, by judge; None if no judge has prices.

    Args:
        estimates: one per model and protocol.
        prices: of models that have any.
        batched: models with requests in batches, of which these are the prices; self-chat is not.
        protocol: the protocol.
        n_cases: how many cases there are.
        talks: whether chatbots first talk on a case.
    """

    def cost(estimate: Estimate) -> float | None:
        each = prices.get(estimate.model.name, Prices()).cost(estimate.prompt, estimate.answer.expected)
        outside = estimate.protocol in TALKS and estimate.model.name in batched
        factor = ORDINARY_OF_BATCH if outside else 1.0
        return None if each is None else each * factor * estimate.requests / max(n_cases, 1)

    talking = [cost(one) for one in estimates if talks and one.protocol in TALKS]
    judging = {one.model.name: cost(one) for one in estimates if one.protocol == protocol}
    return {judge: _sum([own, *talking]) for judge, own in judging.items()}


def _sum(costs: Sequence[float | None]) -> float | None:
    """Return the sum of the known costs; models without prices are left out."""
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known else None


# An estimate as the table `estimate`, and as text for people.

HEAD = (
    "model", "protocol", "requests", "cached", "model calls", "input tokens", "low to high", "output tokens",
    "low to high", "cost", "low to high", "at most",
)  # fmt: skip
ALL = "all models"
"""The model of the row with the sums; no model's name has a blank."""
SEPARATOR = " | "
_SUMMED = (
    "requests",
    "model_calls",
    *(f"{kind}_tokens_{end}" for kind in ("input", "output") for end in Range._fields),
)
_COSTS = tuple(f"cost_{end}" for end in Range._fields)


def estimate_table(
    estimates: Sequence[Estimate],
    prices: Mapping[str, Prices],
    batched: Collection[str] = (),
    left_out: Sequence[str] = (),
) -> pa.Table:
    """Return the table `estimate`, its last row the sums over all models.

    Args:
        estimates: one per model and protocol.
        prices: the prices of models that have any.
        batched: models with requests in batches, of which these are the prices; self-chat is not, and costs more.
        left_out: further requests, which cannot be estimated.
    """
    rows = [
        _row(estimate, prices.get(estimate.model.name, Prices()), batched=estimate.model.name in batched)
        for estimate in estimates
    ]
    large = {estimate.model.name for estimate in estimates if estimate.model.kind == "model"}
    unpriced = [
        row["model"] for row in rows if row["cost_most"] is None and row["model_calls"] and row["model"] in large
    ]
    priced = any(row["cost_most"] is not None for row in rows)
    notes = [f"without the cost of {', '.join(dict.fromkeys(unpriced))}: no prices"] if priced and unpriced else []
    notes += [f"not included: {part}" for part in left_out]
    return to_table(ESTIMATE, [*rows, _sum_row(rows, notes)])


def in_words(table: pa.Table) -> str:
    """Return the table as text: aligned columns, sums, and the assumptions below."""
    rows = table.to_pylist()
    cells = [HEAD, *map(_cells, rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(HEAD))]
    lines = []
    for row in cells:
        left = [cell.ljust(width) for cell, width in zip(row[:2], widths[:2], strict=True)]
        right = [cell.rjust(width) for cell, width in zip(row[2:], widths[2:], strict=True)]
        lines.append("  ".join([*left, *right]).rstrip())
    total = rows[-1]
    if total["cost_most"] is not None:
        lines.append(
            f"\ncost of all models with prices, without stored responses: about {_money(total['cost_expected'])}, "
            "likely "
            f"{_money(total['cost_low'])} to {_money(total['cost_high'])}, at most {_money(total['cost_most'])} "
            "(every response with max_tokens)"
        )
    tokens = {f"{row['model']}: tokens counted by {row['tokenizer']}" for row in rows[:-1]}
    return "\n".join([*lines, "", *sorted(tokens), *_notes(rows)])


def _row(estimate: Estimate, prices: Prices, *, batched: bool) -> dict[str, Any]:
    model = estimate.model
    prompts, answers = _rounded_up(estimate.prompts), _rounded_up(estimate.answers)
    notes = [*model.notes, *estimate.notes]
    if estimate.uncached and estimate.n_answers:
        notes.append(f"lengths from {estimate.n_answers:,} stored responses")
    elif estimate.uncached:
        notes.append(f"no stored responses of this model; assumed: {estimate.assumed.source}")
    factor = 1.0
    if batched and prices != Prices():
        outside = estimate.protocol in TALKS
        factor = ORDINARY_OF_BATCH if outside else 1.0
        notes.append(f"not in batches: {factor:g} times the batch prices" if outside else "in batches")
    costs = [prices.cost(sent, answer) for sent, answer in zip(prompts, answers, strict=True)]
    return {
        "model": model.name,
        "protocol": estimate.protocol,
        "requests": estimate.requests,
        "cached": None if model.identity is None else estimate.requests - estimate.uncached,
        "model_calls": estimate.uncached,
        **{f"input_tokens_{end}": tokens for end, tokens in prompts._asdict().items()},
        **{f"output_tokens_{end}": tokens for end, tokens in answers._asdict().items()},
        **{name: None if cost is None else cost * factor for name, cost in zip(_COSTS, costs, strict=True)},
        "tokenizer": model.counting.tokenizer,
        "note": SEPARATOR.join(notes) or None,
    }


def _sum_row(rows: Sequence[Mapping[str, Any]], notes: Sequence[str]) -> dict[str, Any]:
    """Return the row of the sums; costs are those of the models with prices."""
    priced = [row for row in rows if row["cost_most"] is not None]
    stored = [row["cached"] for row in rows]
    return {
        "model": ALL,
        "protocol": "all",
        "cached": None if None in stored else sum(stored),
        **{name: sum(row[name] for row in rows) for name in _SUMMED},
        **{name: sum(row[name] for row in priced) if priced else None for name in _COSTS},
        "tokenizer": "",
        "note": SEPARATOR.join(notes) or None,
    }


def _rounded_up(tokens: Range) -> Range:
    low, expected, high, most = tokens
    return Range(math.floor(low), round(expected), math.ceil(high), math.ceil(most))


def _notes(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return each note once, behind the rows that it is about."""
    about: dict[str, list[str]] = {}
    for row in rows:
        for note in (row["note"] or "").split(SEPARATOR) if row["note"] else ():
            about.setdefault(note, []).append(
                row["model"] if row["model"] == ALL else f"{row['model']} {row['protocol']}"
            )
    return [f"{', '.join(places)}: {note}" for note, places in about.items()]


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    costs = ("", "", "")
    if row["cost_most"] is not None:
        likely = f"{_money(row['cost_low'])} to {_money(row['cost_high'])}"
        costs = (_money(row["cost_expected"]), likely, _money(row["cost_most"]))
    return (
        row["model"],
        row["protocol"],
        f"{row['requests']:,}",
        "?" if row["cached"] is None else f"{row['cached']:,}",
        f"{row['model_calls']:,}",
        f"{row['input_tokens_expected']:,}",
        _span(row["input_tokens_low"], row["input_tokens_high"]),
        f"{row['output_tokens_expected']:,}",
        _span(row["output_tokens_low"], row["output_tokens_high"]),
        *costs,
    )


def _span(low: int, high: int) -> str:
    return "" if low == high else f"{low:,} to {high:,}"


def _money(amount: float) -> str:
    return f"{amount:,.2f}" if amount >= 1 or not amount else f"{amount:.3g}"


# Precision of a design, in words.

Row = Mapping[str, Any]
POWER_HEAD = (
    "precision: the smallest difference between two systems that is detected with 80% power at the 5% level, for one "
    "pair and after Holm's correction over all pairs, and the cases or labels that halve its interval"
)


def planning_in_words(rows: Sequence[Row]) -> str:
    """Return the table `planning` as text; empty if the table is empty."""
    if not rows:
        return ""
    alike: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        about = tuple(row[name] for name in ("protocol", "measure", "n_utterances", "estimand", "judge", "note"))
        alike.setdefault((*about, _shown(row), _halved(row)), []).append(row)
    notes: dict[str, list[str]] = {}
    lines = [POWER_HEAD]
    for (*_, note, shown, halved), group in alike.items():
        lines.append(f"{_label(group)}: {'; '.join(filter(None, [shown, halved]))}")
        for one in filter(None, (note or "").split("; ")):
            if one not in (NEVER_BY_LABELS, NEVER_BY_SEEDS):  # which the line says
                notes.setdefault(one, []).append(_label(group))
    every = {"all": [_label(group) for group in alike.values()]}
    every["people"] = [_label(group) for group in alike.values() if group[0]["estimand"] == PEOPLE]
    lines += [f"{_few(about, every)}: {note}" for note, about in notes.items()]
    return "\n".join(lines)


def _label(rows: Sequence[Row]) -> str:
    """Return the name of the number that rows, equal except for their criteria, are about."""
    row, n = rows[0], rows[0]["n_utterances"]
    scope = ", ".join(filter(None, [*(one["criterion"] for one in rows), f"N = {n}" if n else ""]))
    number = f"{row['protocol']} {row['measure'].replace('_', ' ')}" + (f" ({scope})" if scope else "")
    if row["estimand"] not in (PEOPLE, ANNOTATORS):
        return f"{number}, {row['judge']}"
    others = f", {row['n_annotators']} annotators as a sample" if row["estimand"] == ANNOTATORS else ""
    return f"{number}, human-corrected with {row['judge']}{others}"


def _shown(row: Row) -> str:
    smallest, half = row["min_detectable_difference"], row["half_width"]
    if smallest is None or math.isnan(smallest):
        return "cannot be computed"
    what = f"{row['n_seeds']:,} cases"
    if row["estimand"] in (PEOPLE, ANNOTATORS):
        what = f"{row['n_labels']:,} labels, {what}"
    n_pairs = row["n_systems"] * (row["n_systems"] - 1) // 2
    corrected = row["min_detectable_difference_holm"]
    if n_pairs > 1 and corrected is not None and not math.isnan(corrected):
        what = f"{_written(corrected)} with Holm over {n_pairs:,} pairs; {what}"
    return f"{_written(smallest)} ({what}; interval ±{_written(half)}; from {row['basis']})"


def _halved(row: Row) -> str:
    """Return how the interval is halved, and by which design at the least cost."""
    n, cost, target = (row.get(name) for name in ("cheapest_seeds", "cost_of_cheapest", "target_difference"))
    of_population = row["estimand"] in (JUDGES, ANNOTATORS)
    aim = "for half the interval" if target is None else f"that detects a difference of {_written(target)}"
    if n is None:
        words = "" if target is None else f"no design detects a difference of {_written(target)}"
        if words and row["estimand"] in (PEOPLE, ANNOTATORS):
            words += (
                f" (without prices of models and labels, only designs with the present {row['n_seeds']:,} cases are "
                "compared)"
            )
    else:
        words = f"cheapest design {aim}: {_design(row)}" + ("" if cost is None else f" (about {cost:,.2f} in all)")
    return "; ".join(filter(None, ["" if of_population else _ways(row), words]))


def _design(row: Row) -> str:
    """Return the numbers of the cheapest design in words."""
    cases = f"{row['cheapest_seeds']:,} cases"
    if row.get("cheapest_labels") is None:
        judges = [counted(row["cheapest_judges"], "judge")] if row["estimand"] == JUDGES else []
        return ", ".join([cases, *judges, counted(row["cheapest_repeats"], "repeat")])
    who = row.get("cheapest_annotators")
    of_all = "" if who is None else f" of {who}"
    return f"{cases}, {row['cheapest_labels']:,} labelled by {row['cheapest_answers']}{of_all} annotators each"


def _ways(row: Row) -> str:
    ways = []
    for count, noun, cost in (
        (row.get("seeds_to_halve"), "cases", row.get("cost_of_seeds")),
        (row.get("labels_to_halve"), "labels", row.get("cost_of_labels")),
    ):
        if count is not None:
            ways.append(f"{count:,} more {noun}" + ("" if cost is None else f" (about {cost:,.2f})"))
    if not ways and row["estimand"] == PEOPLE:
        return "four times as many cases and labels halve the interval; more cases or labels alone do not"
    if not ways:
        return "the number of cases that halves the interval is unknown"
    words = f"{' or '.join(ways)} halve the interval"
    return f"{words}; {row['cheaper']} are cheaper" if len(ways) > 1 and row.get("cheaper") else words


def _few(about: Sequence[str], every: Mapping[str, Sequence[str]]) -> str:
    """Return the rows that a note is about: their names, or `all` or `people` if it is about all of these."""
    for word, rows in every.items():
        if about == rows and len(rows) > 1:
            return word
    return "; ".join(about) if len(about) <= 3 else f"{'; '.join(about[:2])} and {len(about) - 2} others"


def _written(number: float) -> str:
    return f"{number:.0f}" if number >= 20 else f"{number:.2g}"
