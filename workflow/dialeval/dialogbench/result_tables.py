"""Further tables: overview with people, positions of options, counts of items, styles and domains."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from dialeval.dialogbench.accuracy import (
    Answer,
    Row,
    first_rotation,
    grouped,
    mean_rate,
    of_tasks,
    rate_of,
    unweighted_mean,
)
from dialeval.dialogbench.items import LETTERS, TestItem
from dialeval.dialogbench.tasks import ABBREVIATIONS, DOMAIN_NAMES, STYLES
from dialeval.dialogbench.writing import OTHER
from dialeval.dialogbench.written_items import ASKED_TURNS
from dialeval.papers.dialogbench import OVERALL, published_size
from dialeval.stats.agreement import judge_agreement, retest_inconsistency
from dialeval.stats.arrays import IntArray
from dialeval.stats.clustered import clustered_proportion
from dialeval.stats.rates import position_test

PEOPLE, METHOD = "people", "experts"
SIMULATED = " (simulated)"
"""Follows the name of a simulated expert."""


def joint_answers(answers: Iterable[Answer], at_least: int | None = None) -> list[Row]:
    """Return an answer of all experts together to each item, in the columns of `test_answers`.

    Args:
        answers: rows of `expert_answers`.
        at_least: how many must be right for the item to count as right; None: more than half of those who answered.
    """
    rows = []
    for about, own in grouped(answers, "item_id"):
        right = sum(one["choice"] == one["label"] for one in own)
        counts = right >= at_least if at_least else 2 * right > len(own)
        kept = ("source", "cluster", "task", "domain", "language", "n_options", "label")
        rows.append(
            {
                **{name: own[0][name] for name in kept},
                **about,
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
    """Return the accuracy of each expert by task and over all, by source and language."""
    rows: list[Row] = []
    for about, group in grouped(answers, "source", "language", "expert"):
        read = [{**one, "correct": one["choice"] == one["label"], "status": "ok"} for one in group]
        for scope, task, cells in of_tasks(read):
            if scope != "dimension":
                rows.append({**about, "task": task, **mean_rate(cells, confidence).to_row()})
    return rows


def agreement_rows(answers: Iterable[Answer], confidence: float = 0.95, random_seed: int = 0) -> list[Row]:
    """Return how far experts agree, by source, language and task, and over all items that two or more answered.

    `agreement` is the share of pairs of experts who chose the same option of an item; `alpha` Krippendorff's, which
    takes the letters for names. With a single expert there are no rows.
    """
    rows: list[Row] = []
    for about, group in grouped(answers, "source", "language"):
        by_task = {found["task"]: own for found, own in grouped(group, "task")}
        parts = {task: by_task[task] for task in ABBREVIATIONS if task in by_task} | {OVERALL: group}
        for task, own in parts.items():
            found = _agreement(own, confidence, random_seed)
            if found:
                rows.append({**about, "task": task, **found})
    return rows


def _agreement(answers: Sequence[Answer], confidence: float, random_seed: int) -> Mapping[str, object]:
    experts = {name: number for number, name in enumerate(dict.fromkeys(one["expert"] for one in answers))}
    items = np.array([one["item_id"] for one in answers], dtype=str)
    cluster = np.array([one["cluster"] for one in answers], dtype=str)
    chosen = np.array([LETTERS.index(one["choice"]) for one in answers], dtype=np.float64)
    retest = retest_inconsistency(items, chosen, cluster, confidence=confidence)
    if not retest.n_items:
        return {}
    judge = np.array([experts[one["expert"]] for one in answers])
    alpha = judge_agreement(
        judge, items, chosen, cluster, len(experts), confidence=confidence, random_seed=random_seed
    ).alpha
    differ = retest.inconsistency
    return {
        "n_experts": len(experts),
        "n": retest.n_items,
        "n_pairs": retest.n_pairs,
        "agreement": 1.0 - differ.estimate,
        "ci_low": 1.0 - differ.ci_high,
        "ci_high": 1.0 - differ.ci_low,
        **alpha.limits("alpha", "alpha_"),
        "n_clusters": differ.n_clusters,
        "note": alpha.note or differ.note or None,
    }


# Accuracies with a column for each task, in the shape of DialogBench's Tables 2 and 3.

AVERAGE = "average"
"""The name of the last row of each kind of models."""
_ORDER = (PEOPLE, "base", "chat", "")


def overview_rows(accuracy: Iterable[Mapping[str, object]], averages: Iterable[Mapping[str, object]]) -> list[Row]:
    """Return a row for each model and method, with its accuracy in each task and over all.

    People come first, then base models, chat models, and models without a type; the best of each first, and
    the average below.

    Args:
        accuracy: rows of `dialogbench/accuracy`, of one source and of people.
        averages: rows of `dialogbench/averages` of the same source.
    """
    found = [_wide(group) for _, group in grouped(accuracy, "source", "model", "method", "language")]
    found += [
        _wide([{**row, "model": AVERAGE, "kind": row["group"], "part": None} for row in group])
        for _, group in grouped(averages, "source", "group", "method", "language")
        if group[0]["group"] in _ORDER
    ]
    return sorted(found, key=_place)


def _wide(rows: Sequence[Mapping[str, object]]) -> Row:
    by_name = {row["name"]: row for row in rows if row["scope"] in ("task", "overall")}
    overall = by_name.get(OVERALL, {})
    first = rows[0]
    return {
        "source": first["source"],
        "language": first["language"],
        "type": first["kind"] or "",
        "model": first["model"],
        "method": first["method"],
        **{task: by_name.get(task, {}).get("accuracy") for task in ABBREVIATIONS},
        "overall": overall.get("accuracy"),
        "ci_low": overall.get("ci_low"),
        "ci_high": overall.get("ci_high"),
        "chance": overall.get("chance"),
        "n": overall.get("n"),
        "part": first["part"],
        "published": overall.get("published"),
    }


def _place(row: Row) -> tuple[object, ...]:
    overall = row["overall"] if row["overall"] is not None else -1.0
    kind = row["type"] if row["type"] in _ORDER else ""
    # people's published row has the source paper: the language keeps it beside the models
    return row["language"], _ORDER.index(kind), row["source"], row["method"], row["model"] == AVERAGE, -overall


# What the place of the right option does to answers: letters chosen, all rotations (DialogBench, 3.4).


def position_rows(answers: Iterable[Answer], confidence: float = 0.95) -> list[Row]:
    """Return, for each place of the right option, the accuracy, and how often the letter was chosen (Figure 7).

    Where items have all rotations, all count: the right option of every item was in every position once,
    and the accuracies of two places are over the same items. `p_uniform` is the test of the chosen letters against
    equal chances (`stats.places`), the same in each row of a group; it is missing where nothing could be read. Items
    with equally many options are taken together.
    """
    rows: list[Row] = []
    for about, group in grouped(answers, "model", "method", "language", "n_options"):
        letters = LETTERS[: about["n_options"]]
        chosen = _chosen(group, letters)
        counts = chosen.sum(axis=0)
        n_read = int(counts.sum())
        test = position_test(chosen)
        for place, letter in enumerate(letters):
            rows.append(
                {
                    **about,
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
    """Return the share of items that are answered right in every rotation, by task, with the mean over tasks.

    `accuracy` is that share; `single_accuracy` is that of the first rotation alone, `mean_accuracy` that over all
    rotations. Items without all rotations are left out.
    """
    rows: list[Row] = []
    for about, group in grouped(answers, "model", "method", "language"):
        complete = [found for _, found in grouped(group, "task", "item_id") if len(found) == found[0]["n_options"]]
        several = [answer for found in complete if len(found) > 1 for answer in found]
        for scope, task, cells in of_tasks(several):
            if scope != "dimension":
                joined = [[_joined(found) for _, found in grouped(cell, "item_id")] for cell in cells]
                single = [rate_of(first_rotation(cell)).accuracy for cell in cells]
                mean = [rate_of(cell).accuracy for cell in cells]
                beside = {"single_accuracy": unweighted_mean(single), "mean_accuracy": unweighted_mean(mean)}
                rows.append({**about, "task": task, **mean_rate(joined, confidence).to_row(), **beside})
    return rows


def _chosen(answers: Sequence[Answer], letters: str) -> IntArray:
    """Return how often each letter was chosen over the orders of each item, shape [n_items, n_letters]."""
    number = {item_id: place for place, item_id in enumerate(dict.fromkeys(one["item_id"] for one in answers))}
    chosen = np.zeros((len(number), len(letters)), dtype=np.int64)
    for answer in answers:
        if answer["choice"] is not None:
            chosen[number[answer["item_id"]], letters.index(answer["choice"])] += 1
    return chosen


def _joined(found: Sequence[Answer]) -> Row:
    """Return all rotations of an item as one answer: right if each is."""
    status = next((answer["status"] for answer in found if answer["status"] != "ok"), "ok")
    return {"correct": all(answer["correct"] for answer in found), "status": status, "cluster": found[0]["cluster"]}


# How many test items there are, and how long their dialogues are (DialogBench, Table 1).


def item_rows(items: Iterable[TestItem]) -> list[Row]:
    """Return the number of items and their mean turns by language, task and origin (the paper's Table 1)."""
    groups: dict[tuple[str, str, str], list[TestItem]] = defaultdict(list)
    for item in items:
        groups[item.language, item.task, item.origin].append(item)
    return [
        {
            "language": language,
            "task": task,
            "origin": origin,
            "n": len(found),
            "mean_turns": math.fsum(item.n_turns for item in found) / len(found),
            "n_short": sum(item.n_begun < ASKED_TURNS for item in found),
            "published_n": published_size(task, "items"),
            "published_turns": published_size(task, "turns"),
        }
        for (language, task, origin), found in sorted(groups.items(), key=lambda pair: _by_task(pair[0]))
    ]


def _by_task(key: tuple[str, str, str]) -> tuple[str, int, str]:
    language, task, origin = key
    return language, ABBREVIATIONS.index(task), origin


# What a judge sees in the dialogues that were written: styles and domains (DialogBench, Figures 5 and 6).


def style_rows(classified: Mapping[str, Iterable[Answer]], confidence: float = 0.95) -> list[Row]:
    """Return how often each style was seen in each speaker, by variant, judge and language (Figure 5).

    Args:
        classified: rows of the judge's classification by variant: `full`, `-styles`, `-domains`.
    """
    return [
        row
        for about, group in _classified(classified)
        for speaker in (1, 2)
        for row in _share_rows(
            {**about, "speaker": speaker},
            "style",
            STYLES,
            Counter(one[f"speaker{speaker}_style"] for one in group),
            confidence,
        )
    ]


def domain_count_rows(classified: Mapping[str, Iterable[Answer]], confidence: float = 0.95) -> list[Row]:
    """Return how many dialogues were seen in each domain, by variant, judge and language (Figure 6)."""
    names = (*DOMAIN_NAMES, OTHER)
    return [
        row
        for about, group in _classified(classified)
        for row in _share_rows(about, "domain", names, Counter(one["domain"] for one in group), confidence)
    ]


def _classified(classified: Mapping[str, Iterable[Answer]]) -> Iterator[tuple[Row, list[Answer]]]:
    for variant, described in classified.items():
        for about, group in grouped(described, "judge", "language"):
            yield {"variant": variant, **about}, group


def _share_rows(
    about: Row, column: str, names: Sequence[str], seen: Counter[str | None], confidence: float
) -> list[Row]:
    """Return count and share of each name; unparsed answers are counted and left out of the shares."""
    n = sum(seen[name] for name in names)
    rows = []
    for name in names:
        others = n - seen[name]
        share = clustered_proportion([1.0] * seen[name] + [0.0] * others, range(n), confidence=confidence)
        rows.append(
            {
                **about,
                column: name,
                "n": seen[name],
                **share.limits("share"),
                "n_unparsed": seen[None],
            }
        )
    return rows
