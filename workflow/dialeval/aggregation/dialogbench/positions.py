"""What the place of the right option does to answers: letters chosen, all rotations (DialogBench, 3.4)."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from dialeval.aggregation.answer_rates import (
    Answer,
    Row,
    first_rotation,
    grouped,
    mean_rate,
    rate_of,
    unweighted_mean,
)
from dialeval.corpora.dialogbench_tasks import ABBREVIATIONS
from dialeval.corpora.multiple_choice import LETTERS
from dialeval.published.dialogbench import OVERALL
from dialeval.stats.arrays import IntArray
from dialeval.stats.places import even_places


def position_rows(answers: Iterable[Answer], confidence: float = 0.95) -> list[Row]:
    """Returns, for each place of the right option, the accuracy, and how often the letter was chosen (Figure 7).

    Where items were asked in all rotations, all count: then the right option of every item stood in every place once,
    and the accuracies of two places are over the same items. `p_uniform` is the test of the chosen letters against
    equal chances (`stats.places`), the same in each row of a group; it is missing where nothing could be read. Items
    with equally many options are taken together.
    """
    rows: list[Row] = []
    keys = ("model", "method", "language", "n_options")
    for (model, method, language, n_options), group in grouped(answers, *keys):
        letters = LETTERS[:n_options]
        chosen = _chosen(group, letters)
        counts = chosen.sum(axis=0)
        n_read = int(counts.sum())
        test = even_places(chosen)
        for place, letter in enumerate(letters):
            rows.append(
                {
                    "model": model,
                    "method": method,
                    "language": language,
                    "n_options": n_options,
                    "orders": 1 + max(answer["rotation"] for answer in group),
                    "letter": letter,
                    **rate_of((answer for answer in group if answer["label"] == letter), confidence).to_row(),
                    "n_chosen": int(counts[place]),
                    "share_chosen": counts[place] / n_read if n_read else math.nan,
                    "chi_square": test.statistic,
                    "p_uniform": test.p,
                }
            )
    return rows


def circular_rows(answers: Iterable[Answer], confidence: float = 0.95) -> list[Row]:
    """Returns the share of items that are answered right in every rotation, by task, with the mean over tasks.

    `accuracy` is that share; `single_accuracy` is that of the first rotation alone, `mean_accuracy` that over all
    rotations. Items that were not asked in all rotations are left out.
    """
    rows: list[Row] = []
    for (model, method, language), group in grouped(answers, "model", "method", "language"):
        about = {"model": model, "method": method, "language": language}
        whole = [found for _, found in grouped(group, "task", "item_id") if len(found) == found[0]["n_options"]]
        asked = [found for found in whole if found[0]["n_options"] > 1]
        by_task: dict[str, list[list[Answer]]] = defaultdict(list)
        for found in asked:
            by_task[found[0]["task"]].append(found)
        joined: dict[str, list[Row]] = {}
        singles: dict[str, float] = {}
        means: dict[str, float] = {}
        for task in ABBREVIATIONS:
            if own := by_task.get(task):
                joined[task] = list(map(_joined, own))
                singles[task] = rate_of(first_rotation(answer for found in own for answer in found)).accuracy
                means[task] = rate_of(answer for found in own for answer in found).accuracy
                rate = rate_of(joined[task], confidence).to_row()
                beside = {"single_accuracy": singles[task], "mean_accuracy": means[task]}
                rows.append({**about, "task": task, **rate, **beside})
        if joined:
            overall = mean_rate(list(joined.values()), confidence).to_row()
            beside = {
                "single_accuracy": unweighted_mean(list(singles.values())),
                "mean_accuracy": unweighted_mean(list(means.values())),
            }
            rows.append({**about, "task": OVERALL, **overall, **beside})
    return rows


def _joined(found: Sequence[Answer]) -> Row:
    """Returns all rotations of an item as one answer: right if each is."""
    status = next((answer["status"] for answer in found if answer["status"] != "ok"), "ok")
    return {"correct": all(answer["correct"] for answer in found), "status": status, "cluster": found[0]["cluster"]}


def _chosen(answers: Sequence[Answer], letters: str) -> IntArray:
    """Returns how often each letter was chosen over the orders of each item, shape [n_items, n_letters]."""
    number = {item_id: place for place, item_id in enumerate(dict.fromkeys(one["item_id"] for one in answers))}
    chosen = np.zeros((len(number), len(letters)), dtype=np.int64)
    for answer in answers:
        if answer["choice"] is not None:
            chosen[number[answer["item_id"]], letters.index(answer["choice"])] += 1
    return chosen
