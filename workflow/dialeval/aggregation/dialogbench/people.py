"""People who answered test items: their answers as one, each by himself, and how far they agree (DialogBench 4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from dialeval.aggregation.answer_rates import Answer, Row, grouped, mean_rate, rate_of
from dialeval.corpora.dialogbench_tasks import ABBREVIATIONS
from dialeval.published.dialogbench import OVERALL
from dialeval.stats.agreement import judge_agreement, retest_flips

PEOPLE, METHOD = "people", "experts"
SIMULATED = " (simulated)"
"""What stands behind the name of an expert who is a simulation."""


def joint_answers(answers: Iterable[Answer], at_least: int | None = None) -> list[Row]:
    """Returns an answer of all experts together to each item, in the columns of `test_answers`.

    Args:
        answers: rows of `expert_answers`.
        at_least: how many must be right for the item to count as right; None: more than half of those who answered.
    """
    rows = []
    for (item_id,), own in grouped(answers, "item_id"):
        right = sum(one["choice"] == one["label"] for one in own)
        counts = right >= at_least if at_least else 2 * right > len(own)
        kept = ("source", "cluster", "task", "domain", "language", "n_options", "label")
        rows.append(
            {
                **{name: own[0][name] for name in kept},
                "item_id": item_id,
                "variant": "full",
                "model": PEOPLE + SIMULATED * any(one["expert"].endswith(SIMULATED) for one in own),
                "method": METHOD,
                "rotation": 0,
                "choice": own[0]["label"] if counts else None,
                "correct": counts,
                "status": "ok",
            }
        )
    return rows


def expert_rows(answers: Iterable[Answer], confidence: float = 0.95) -> list[Row]:
    """Returns the accuracy of each expert by task and over all, by source and language."""
    rows: list[Row] = []
    for (source, language, expert), group in grouped(answers, "source", "language", "expert"):
        about = {"source": source, "language": language, "expert": expert}
        read = [{**one, "correct": one["choice"] == one["label"], "status": "ok"} for one in group]
        by_task = dict(grouped(read, "task"))
        cells = {task: by_task[task,] for task in ABBREVIATIONS if (task,) in by_task}
        for task, own in cells.items():
            rows.append({**about, "task": task, **rate_of(own, confidence).to_row()})
        rows.append({**about, "task": OVERALL, **mean_rate(list(cells.values()), confidence).to_row()})
    return rows


def agreement_rows(answers: Iterable[Answer], confidence: float = 0.95, random_seed: int = 0) -> list[Row]:
    """Returns how far experts agree, by source, language and task, and over all items that two or more answered.

    `agreement` is the share of pairs of experts who chose the same option of an item; `alpha` Krippendorff's, which
    takes the letters for names. With a single expert there are no rows.
    """
    rows: list[Row] = []
    for (source, language), group in grouped(answers, "source", "language"):
        by_task = {task: own for (task,), own in grouped(group, "task")}
        parts = {task: by_task[task] for task in ABBREVIATIONS if task in by_task} | {OVERALL: group}
        for task, own in parts.items():
            found = _agreement(own, confidence, random_seed)
            if found:
                rows.append({"source": source, "language": language, "task": task, **found})
    return rows


def _agreement(answers: Sequence[Answer], confidence: float, random_seed: int) -> Mapping[str, object]:
    experts = {name: number for number, name in enumerate(dict.fromkeys(one["expert"] for one in answers))}
    items = np.array([one["item_id"] for one in answers], dtype=str)
    cluster = np.array([one["cluster"] for one in answers], dtype=str)
    chosen = np.array(["ABCD".index(one["choice"]) for one in answers], dtype=np.float64)
    flips = retest_flips(items, chosen, cluster, confidence=confidence)
    if not flips.n_items:
        return {}
    judge = np.array([experts[one["expert"]] for one in answers])
    alpha = judge_agreement(
        judge, items, chosen, cluster, len(experts), confidence=confidence, random_seed=random_seed
    ).alpha
    differ = flips.flips
    return {
        "n_experts": len(experts),
        "n": flips.n_items,
        "n_pairs": flips.n_pairs,
        "agreement": 1.0 - differ.estimate,
        "low": 1.0 - differ.high,
        "high": 1.0 - differ.low,
        "alpha": alpha.estimate,
        "alpha_low": alpha.low,
        "alpha_high": alpha.high,
        "n_clusters": differ.n_clusters,
        "note": alpha.reason or differ.reason or None,
    }
