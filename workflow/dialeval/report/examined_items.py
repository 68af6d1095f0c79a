"""Test items behind the numbers of DialogBench, and all shelves of cases on the page."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dialeval.dialogbench.tasks import find_task
from dialeval.report.board import CHOICES, scorer
from dialeval.report.exchanges import Exchange, Exchanges
from dialeval.report.inputs import ExaminedSample, ReportInputs
from dialeval.report.item_cases import (
    Block,
    Case,
    CaseDescription,
    CaseShelf,
    Group,
    beginning,
    bubbles,
    chosen_items,
    exchange_fields,
)
from dialeval.report.judgements import MOST_ANSWERS, mean
from dialeval.report.packing import Prompts
from dialeval.report.rated_cases import perturbed_items, rated_items
from dialeval.tables.dialogbench import TEST_ANSWERS
from dialeval.tables.files import empty_table

# All shelves of cases: rated, perturbed and test items.

MAX_BYTES = 8_000_000
"""What the items of one kind may take, what was sent about them included; beyond it, fewer are shown."""
_SHARE = 5
"""No kind takes more than one part in so many of the page."""


def case_shelves(inputs: ReportInputs) -> tuple[CaseShelf, ...]:
    """Return the shelves of cases that a run has, in the order of the page's parts."""
    budget = min(MAX_BYTES, inputs.max_bytes // _SHARE)
    shelves = (make(inputs, budget) for make in (rated_items, perturbed_items, examined_items))
    return tuple(kind for kind in shelves if kind is not None)


# Test items with options behind the numbers of DialogBench: the question, its options, and every model's answers.

ITEMS_PER_TASK = 20
Row = Mapping[str, Any]
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
    """Returns some items of every task with the answers to them.

    Args:
        items: table `test_items`.
        answers: tables `test_answers`, read one after the other.
        random_seed: seed of the choice.
        n: items per task.
    """
    chosen: set[str] = set()
    n_items = {}
    for task in pc.unique(items["task"]).to_pylist():
        ids = items.filter(pc.equal(items["task"], task))["item_id"].to_pylist()
        chosen |= chosen_items(task, ids, n, random_seed)
        n_items[task] = len(ids)
    keys = pa.array(sorted(chosen), pa.string())

    def about(table: pa.Table) -> pa.Table:
        return table.filter(pc.is_in(table["item_id"], value_set=keys)).replace_schema_metadata()

    shown = pa.concat_tables([empty_table(TEST_ANSWERS), *(about(table) for table in answers)])
    return ExaminedSample(about(items), shown, n_items, random_seed)


_EXAMINED = CaseDescription(
    CHOICES,
    "Test items",
    ("test items", "task"),
    {"model": "model", "outcome": "answer", "domain": "domain"},
    ITEMS_PER_TASK,
    ("length", "share of models that are right"),
)


def examined_items(inputs: ReportInputs, budget: int) -> CaseShelf | None:
    """Returns test items with models' answers, as many of each task as fit; None without any."""
    sample = inputs.examined
    if sample is None or not len(sample.items):
        return None
    answers: dict[str, list[Row]] = defaultdict(list)
    for row in sample.answers.to_pylist():
        answers[row["item_id"]].append(row)
    items = sample.items.to_pylist()
    exchanges = _exchanges(inputs, items, answers)
    by_task: dict[str, list[Case]] = defaultdict(list)
    for item in items:
        by_task[item["task"]].append(_case(item, answers[item["item_id"]], exchanges))
    groups = [
        Group(task, _about(task), tuple(cases), sample.n_items[task], known.name if (known := find_task(task)) else "")
        for task, cases in by_task.items()
    ]
    return _EXAMINED.packed(inputs, groups, budget, sample.random_seed)


def _about(task: str) -> str:
    known = find_task(task)
    return f"Probes {known.dimension}" if known else ""


def requests_of(item: Row, answer: Row) -> list[str]:
    """Returns the ids of the requests behind an answer: one, or one for each option where these are scored."""
    method = answer["method"]
    scored_by = _PERPLEXITY if method.startswith(_PERPLEXITY) else method
    name = f"dialogbench/{scored_by}/{item['language']}/{item['item_id']}/{answer['rotation']}"
    return [f"{name}/{option}" for option in range(answer["n_options"])] if scored_by == _PERPLEXITY else [name]


def _exchanges(inputs: ReportInputs, items: list[Row], answers: Mapping[str, list[Row]]) -> Exchanges:
    wanted: dict[str, dict[str, None]] = defaultdict(dict)
    n = 0
    for item in items if inputs.exchange_source else ():
        for answer in answers[item["item_id"]]:
            if n < MOST_ANSWERS:
                requests = requests_of(item, answer)
                wanted[answer["model"]].update(dict.fromkeys(requests))
                n += len(requests)
    return inputs.exchange_source.exchanges(wanted) if inputs.exchange_source else {}


def _case(item: Row, answers: list[Row], exchanges: Exchanges) -> Case:
    facets = {(scorer(row["model"], row["method"]), _outcome(row), item["domain"]) for row in answers}
    return Case(
        item["item_id"],
        beginning([item["question"]] if item["question"] else item["utterances"], "turn"),
        item["domain"],
        frozenset(facets),
        _blocks(item, answers, exchanges),
        (sum(map(len, item["utterances"])), mean(float(bool(row["correct"])) for row in answers)),
    )


def _outcome(answer: Row) -> str:
    if answer["choice"] is None:
        return UNPARSED
    return RIGHT if answer["correct"] else WRONG


def _blocks(item: Row, answers: list[Row], exchanges: Exchanges) -> Callable[[Prompts], list[Block]]:
    """Returns the blocks of one item: dialogue, question, options with the models that chose them, and answers."""
    letters = [chr(ord("A") + place) for place in range(len(item["options"]))]
    chosen: dict[str, list[str]] = {letter: [] for letter in letters}
    for row in answers:
        if row["rotation"] == 0 and row["choice"] in chosen:
            chosen[row["choice"]].append(scorer(row["model"], row["method"]))

    def blocks(prompts: Prompts) -> list[Block]:
        speakers = [f"speaker {1 + place % 2}" for place in range(len(item["utterances"]))]
        options = [
            {"letter": letter, "text": text, "right": letter == item["label"], "chosen": sorted(chosen[letter])}
            for letter, text in zip(letters, item["options"], strict=True)
        ]
        shown: list[Block] = [bubbles(speakers, item["utterances"])]
        shown += [{"type": "words", "text": words} for words in _beside(item)]
        shown.append({"type": "options", "title": item["question"], "options": options})
        if item["analysis"]:
            shown.append({"type": "words", "text": f"The writer's reason for {item['label']}: {item['analysis']}"})
        cards = [_card(item, row, exchanges, prompts) for row in sorted(answers, key=_order)]
        return [*shown, {"type": "cards", "title": "What models answered", "cards": cards}] if cards else shown

    return blocks


def _order(answer: Row) -> tuple[str, str, int]:
    return answer["model"], answer["method"], answer["rotation"]


def _beside(item: Row) -> list[str]:
    """Returns the text shown beside the dialogue."""
    details = dict(item["extra"] or ())
    for speaker in ("speaker1", "speaker2"):
        for trait in ("personality", "emotion"):
            details[f"{speaker.replace('speaker', 'speaker ')}'s {trait}"] = item[f"{speaker}_{trait}"]
    words = [f"{name}: {value}" for name, value in details.items() if value]
    return ["; ".join(words)] if words else []


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
    """Returns how likely an option's text was, in words."""
    if exchange is None or exchange.answer["logprob"] is None:
        return f"{option}: no probability"
    return f"{option}: {exchange.answer['logprob']:.4g} nats over {exchange.answer['n_tokens']} tokens"
