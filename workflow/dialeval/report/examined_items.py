"""Test items behind the numbers of DialogBench, and all shelves of cases on the page."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dialeval.dialogbench.tasks import find_task
from dialeval.report.board import CHOICES, scorer
from dialeval.report.exchanges import Exchange, Exchanges
from dialeval.report.inputs import ExaminedSample, ReportInputs, Row
from dialeval.report.item_cases import (
    Block,
    Case,
    CaseDescription,
    CaseShelf,
    Group,
    beginning,
    bubbles,
    chosen_rows,
    exchange_fields,
    exchanges_of,
)
from dialeval.report.judgements import mean
from dialeval.report.packing import Prompts
from dialeval.report.rated_cases import perturbed_items, rated_items
from dialeval.tables.dialogbench import TEST_ANSWERS
from dialeval.tables.files import empty_table

# All shelves of cases: rated, perturbed and test items.

MAX_BYTES = 8_000_000
"""Most bytes of the items of one kind with their requests; beyond it, fewer items are shown."""
_SHARE = 5
"""No kind takes more than one part in so many of the page."""


def case_shelves(inputs: ReportInputs) -> tuple[CaseShelf, ...]:
    """Return the shelves of cases that a run has, in the order of the page's parts."""
    budget = min(MAX_BYTES, inputs.max_bytes // _SHARE)
    shelves = (make(inputs, budget) for make in (rated_items, perturbed_items, examined_items))
    return tuple(kind for kind in shelves if kind is not None)


# Test items with options behind the numbers of DialogBench: the question, its options, and every model's answers.

ITEMS_PER_TASK = 20
RIGHT, WRONG, UNPARSED = "right", "wrong", "not read"
_BADGES = {RIGHT: "won", WRONG: "lost", UNPARSED: "none"}
_PERPLEXITY = "perplexity"
_HOW = {
    "letter": "parsed from the letter of an option in the response",
    "choice": "the most probable of the letters, as first token",
    "perplexity": "the option that is likeliest to follow the dialogue, per token",
    "perplexity_total": "the option that is likeliest to follow the dialogue, in total",
}


def sample_examined(
    items: pa.Table, answers: Iterable[pa.Table], random_seed: int = 0, n: int = ITEMS_PER_TASK
) -> ExaminedSample:
    """Return some items of every task with the answers to them.

    Args:
        items: table `test_items`.
        answers: tables `test_answers`, read one after the other.
        random_seed: seed of the choice.
        n: items per task.
    """
    shown = chosen_rows(items, "task", items["item_id"], n, random_seed)
    keys = pc.unique(shown["item_id"])
    given = [table.filter(pc.is_in(table["item_id"], value_set=keys)).replace_schema_metadata() for table in answers]
    return ExaminedSample(
        shown, pa.concat_tables([empty_table(TEST_ANSWERS), *given]), Counter(items["task"].to_pylist())
    )


_EXAMINED = CaseDescription(
    CHOICES,
    "Test items",
    ("test items", "task"),
    {"model": "model", "outcome": "answer", "domain": "domain"},
    ITEMS_PER_TASK,
    ("length", "share of models that are right"),
)


def examined_items(inputs: ReportInputs, budget: int) -> CaseShelf | None:
    """Return test items with models' answers, as many of each task as fit; None without any."""
    sample = inputs.examined
    if sample is None or not len(sample.items):
        return None
    answers: dict[str, list[Row]] = defaultdict(list)
    for row in sample.answers.to_pylist():
        answers[row["item_id"]].append(row)
    items = sample.items.to_pylist()
    given = [(item, answer) for item in items for answer in answers[item["item_id"]]]
    exchanges = exchanges_of(inputs, ((answer["model"], requests_of(item, answer)) for item, answer in given))
    by_task: dict[str, list[Case]] = defaultdict(list)
    for item in items:
        by_task[item["task"]].append(_case(item, answers[item["item_id"]], exchanges))
    groups = [
        Group(
            task,
            f"Probes {known.dimension}" if known else "",
            tuple(cases),
            sample.n_items[task],
            known.name if known else "",
        )
        for task, cases in by_task.items()
        for known in [find_task(task)]
    ]
    return _EXAMINED.packed(inputs, groups, budget)


def requests_of(item: Row, answer: Row) -> list[str]:
    """Return the ids of the requests behind an answer: one, or one for each option where these are scored."""
    method = answer["method"]
    scored_by = _PERPLEXITY if method.startswith(_PERPLEXITY) else method
    name = f"dialogbench/{scored_by}/{item['language']}/{item['item_id']}/{answer['rotation']}"
    return [f"{name}/{option}" for option in range(answer["n_options"])] if scored_by == _PERPLEXITY else [name]


def _case(item: Row, answers: list[Row], exchanges: Exchanges) -> Case:
    facets = {(scorer(row["model"], row["method"]), _outcome(row), item["domain"]) for row in answers}
    return Case(
        item["item_id"],
        beginning([item["question"]] if item["question"] else item["utterances"], "turn"),
        item["domain"],
        frozenset(facets),
        partial(_blocks, item, answers, exchanges),
        (sum(map(len, item["utterances"])), mean(float(bool(row["correct"])) for row in answers)),
    )


def _outcome(answer: Row) -> str:
    if answer["choice"] is None:
        return UNPARSED
    return RIGHT if answer["correct"] else WRONG


def _blocks(item: Row, answers: list[Row], exchanges: Exchanges, prompts: Prompts) -> list[Block]:
    """Return the blocks of one item: dialogue, question, options with the models that chose them, and answers."""
    letters = [chr(ord("A") + place) for place in range(len(item["options"]))]
    chosen: dict[str, list[str]] = {letter: [] for letter in letters}
    for row in answers:
        if row["rotation"] == 0 and row["choice"] in chosen:
            chosen[row["choice"]].append(scorer(row["model"], row["method"]))
    speakers = [f"speaker {1 + place % 2}" for place in range(len(item["utterances"]))]
    options = [
        {"letter": letter, "text": text, "right": letter == item["label"], "chosen": sorted(chosen[letter])}
        for letter, text in zip(letters, item["options"], strict=True)
    ]
    shown: list[Block] = [bubbles(speakers, item["utterances"])]
    if beside := _beside(item):
        shown.append({"type": "words", "text": beside})
    shown.append({"type": "options", "title": item["question"], "options": options})
    if item["analysis"]:
        shown.append({"type": "words", "text": f"The writer's reason for {item['label']}: {item['analysis']}"})
    in_order = sorted(answers, key=lambda row: (row["model"], row["method"], row["rotation"]))
    if cards := [_card(item, row, exchanges, prompts) for row in in_order]:
        shown.append({"type": "cards", "title": "Answers of the models", "cards": cards})
    return shown


def _beside(item: Row) -> str:
    """Return the text shown beside the dialogue; empty without any."""
    details = dict(item["extra"] or ())
    for speaker in ("speaker1", "speaker2"):
        for trait in ("personality", "emotion"):
            details[f"{speaker.replace('speaker', 'speaker ')}'s {trait}"] = item[f"{speaker}_{trait}"]
    return "; ".join(f"{name}: {value}" for name, value in details.items() if value)


def _card(item: Row, answer: Row, exchanges: Exchanges, prompts: Prompts) -> dict[str, Any]:
    outcome, turned = _outcome(answer), answer["rotation"]
    found = [exchanges.get((answer["model"], request_id)) for request_id in requests_of(item, answer)]
    there = [one for one in found if one is not None]
    wrong = f"{answer['choice']}: wrong, {answer['label']} is right"
    verdicts = {RIGHT: f"{answer['choice']}: right", WRONG: wrong, UNPARSED: "no answer could be parsed"}
    card = {
        "title": scorer(answer["model"], answer["method"]) + (f", options rotated by {turned}" if turned else ""),
        "badge": _BADGES[outcome],
        "verdict": verdicts[outcome],
        "status": answer["status"],
    }
    if not there:
        return card
    fields = exchange_fields(there[0], _HOW.get(answer["method"], "") if outcome != UNPARSED else "", prompts)
    if len(found) > 1:
        fields["answer"] = "\n".join(map(_scored, found, item["options"]))
        fields.pop("facts", None)
    return card | fields


def _scored(exchange: Exchange | None, option: str) -> str:
    """Return how likely an option's text was, in words."""
    if exchange is None or exchange.answer["logprob"] is None:
        return f"{option}: no probability"
    return f"{option}: {exchange.answer['logprob']:.4g} nats over {exchange.answer['n_tokens']} tokens"
