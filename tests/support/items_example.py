"""Hand-made damaged items and test items, with judges' and models' answers, for the page that shows them."""

from __future__ import annotations

from typing import Any

import report_example as example

from dialeval.report.examined_items import sample_examined
from dialeval.report.exchanges import Answerer, ExchangeSource
from dialeval.report.inputs import ExaminedSample, PerturbedSample
from dialeval.report.rated_cases import sample_perturbed
from dialeval.tables.dialogbench import TEST_ANSWERS, TEST_ITEMS
from dialeval.tables.dialogues import JUDGEMENTS, REQUESTS, RESPONSES
from dialeval.tables.files import to_table
from dialeval.tables.metaeval import ITEMS
from dialeval.tables.robustness import PAIRS, ROBUSTNESS

BEFORE = ["Is the shop open?", "Until six, I think."]


def after(place: int) -> list[str]:
    """Return the damaged dialogue at a place; that of the first is hostile."""
    return [BEFORE[0], example.HOSTILE if place == 0 else f"Until {place}, I think."]


def _item(item_id: str, utterances: list[str]) -> dict[str, Any]:
    row = {"corpus": "made", "item_id": item_id, "language": "en", "level": "turn", "cluster": item_id[:1]}
    return {**row, "speakers": ["A", "B"], "utterances": utterances, "system": "", "case_id": "", "judged": ""}


def _pair(place: int, **other: Any) -> dict[str, Any]:
    row = {"corpus": "made", "language": "en", "level": "turn", "cluster": "d", "perturbation": "dullness", "draw": 0}
    row |= {"severity": 1, "original_id": "d", "item_id": f"d/{place}", "unchanged": False, "status": "ok"}
    return {**row, **other}


def _score(item_id: str, value: float | None) -> dict[str, Any]:
    row = example.verdict("rating", "", "", request_id=f"rating/{item_id}")
    row |= dict.fromkeys(("case_id", "left", "n_utterances"))
    row |= {"corpus": "made", "language": "en", "item_id": item_id, "criterion": "specificity", "value": value}
    return {**row, "scale_min": 1.0, "scale_max": 5.0, "status": "ok" if value is not None else "unparsed"}


THETA = 0.25
SCORES = {"d": 5.0, "d/0": 3.0, "d/1": 4.0, "d/2": None}
"""Of the original, and of the first damaged items: the fall is noticed, as large as the threshold, and unknown."""


def robustness() -> Any:
    """Return the table that knows the threshold."""
    row = {"judge": "clerk", "method": "rating", "corpus": "made", "language": "en", "level": "turn", "n": 2}
    row |= {
        "perturbation": "dullness",
        "title": "Dullness",
        "dimension": "specificity",
        "threshold": THETA,
        "n_missing": 1,
        "ratio": 0.5,
    }
    return to_table(ROBUSTNESS, [row])


def perturbed(n_pairs: int = 10) -> PerturbedSample:
    """Return a sample of damaged items of one kind, of which one more could not be made."""
    failed = _pair(99, item_id=None, status="not_applicable", reason="no noun")
    return sample_perturbed(
        to_table(PAIRS, [*(_pair(place) for place in range(n_pairs)), failed]),
        [to_table(ITEMS, [_item("d", BEFORE), *(_item(f"d/{place}", after(place)) for place in range(n_pairs))])],
        [to_table(JUDGEMENTS, [_score(item_id, value) for item_id, value in SCORES.items()])],
    )


QUESTION = "Until when is the shop open?"


def examined() -> ExaminedSample:
    """Return one test item, answered by three models: right, wrong with options turned, and not at all."""
    item = {"source": "made", "variant": "full", "item_id": "SF-1", "task": "SF", "domain": "Shops", "language": "en"}
    item |= dict.fromkeys(("speaker1_emotion", "speaker2_emotion", "speaker2_personality"), "")
    item |= {"speaker1_personality": "brisk", "utterances": BEFORE, "question": QUESTION, "extra": [("slot", "time")]}
    item |= {"options": ["six", example.ODD], "label": "A", "analysis": "It is said.", "origin": "made"}
    row = {"source": "made", "variant": "full", "item_id": "SF-1", "cluster": "SF-1", "task": "SF", "domain": "Shops"}
    row |= {"language": "en", "n_options": 2}
    given = (("able", "letter", 0, "A", "A"), ("able", "letter", 1, "B", "A"), ("weak", "perplexity", 0, "A", None))
    answers = [
        {**row, "model": model, "method": method, "rotation": rotation, "label": label, "choice": choice}
        | {"correct": choice == label, "status": "ok" if choice else "unparsed"}
        for model, method, rotation, label, choice in given
    ]
    return sample_examined(to_table(TEST_ITEMS, [item]), [to_table(TEST_ANSWERS, answers)])


def exchange_source() -> ExchangeSource:
    """Return what was sent and answered about some of these items."""
    shared = "Rate this.\n"
    requests = [
        *(example.request(f"rating/{item_id}", ("user", f"{shared}{item_id}")) for item_id in SCORES),
        *(example.request(f"dialogbench/letter/en/SF-1/{turn}", ("user", f"Turned {turn}")) for turn in range(2)),
        *(example.request(f"dialogbench/perplexity/en/SF-1/0/{place}", ("user", "On:")) for place in range(2)),
    ]
    clerk = [example.response(f"rating/{item_id}", f"specificity: {value}") for item_id, value in SCORES.items()]
    able = [example.response(f"dialogbench/letter/en/SF-1/{turn}", "A") for turn in range(2)]
    weak = [
        example.response(f"dialogbench/perplexity/en/SF-1/0/{place}", "", logprob=-2.5 * (place + 1), n_tokens=2)
        for place in range(2)
    ]
    answers = {"clerk": clerk, "able": able, "weak": weak}
    return ExchangeSource(
        example.in_memory(REQUESTS, requests),
        {name: Answerer(example.in_memory(RESPONSES, rows)) for name, rows in answers.items()},
    )
