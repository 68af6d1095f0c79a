"""Which models can be told apart by DialogBench, and do the ablations matter? Paired where the items are the same."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from dialeval.aggregation.answer_rates import Answer, first_rotation, grouped
from dialeval.aggregation.differences import Row, about, mean_rows
from dialeval.corpora.dialogbench_tasks import ABBREVIATIONS, DIMENSIONS, TASKS
from dialeval.published.dialogbench import OVERALL
from dialeval.stats.differences import paired_differences
from dialeval.stats.unpaired import Side, unpaired_difference

SAME_ITEMS = "both procedures have the same items, so there is nothing to test"

_TASKS_OF: dict[str, tuple[str, ...]] = {
    **{str(task): (str(task),) for task in ABBREVIATIONS},
    **{str(name): tuple(task.abbreviation for task in TASKS if task.dimension == name) for name in DIMENSIONS},
    OVERALL: tuple(ABBREVIATIONS),
}


def accuracy_differences(answers: Iterable[Answer], confidence: float) -> Iterator[Row]:
    """Yields the differences of the table `accuracy`, by source, language and task, dimension or Overall.

    A model that answers by two methods stands there as two. Items of one dialogue are one cluster.

    Args:
        answers: rows of `test_answers`; only the first rotation counts.
        confidence: nominal coverage of the intervals.
    """
    for (source, language), group in grouped(first_rotation(answers), "source", "language"):
        systems = list(dict.fromkeys((answer["model"], answer["method"]) for answer in group))
        code = {system: number for number, system in enumerate(systems)}
        items = {answer["item_id"]: answer for answer in group}
        place = {item_id: number for number, item_id in enumerate(items)}
        values = np.full((len(systems), len(items)), np.nan)
        for answer in group:
            values[code[answer["model"], answer["method"]], place[answer["item_id"]]] = bool(answer["correct"])
        task = np.array([item["task"] for item in items.values()])
        cluster = np.array([item["cluster"] for item in items.values()])
        names = [f"{model} ({method})" for model, method in systems]
        for name, tasks in _TASKS_OF.items():
            own = np.isin(task, tasks)
            if own.any():
                found = paired_differences(values[:, own], cluster[own], stratum=task[own], confidence=confidence)
                yield from mean_rows(found, names, about("accuracy", "accuracy", f"{source}, {language}, {name}"))


def ablation_differences(variants: Mapping[str, Iterable[Answer]], confidence: float) -> Iterator[Row]:
    """Yields what each ablation changes, by model, method and language, on each task and over all.

    The items of two procedures are not the same, so this is a difference of two means; what both have counts on both
    sides. All models under one ablation, language and task are a family.

    Args:
        variants: answers by variant: `full`, and `-styles` or `-filter`.
        confidence: nominal coverage of the intervals.
    """
    keys = ("model", "method", "language")
    by_variant = {variant: dict(grouped(first_rotation(answers), *keys)) for variant, answers in variants.items()}
    full = by_variant.pop("full", {})
    for variant, groups in by_variant.items():
        for (model, method, language), group in groups.items():
            reference = full.get((model, method, language), [])
            for name in (*ABBREVIATIONS, OVERALL):
                tasks = _TASKS_OF[name]
                own, theirs = ([one for one in answers if one["task"] in tasks] for answers in (group, reference))
                found = unpaired_difference(_side(own), _side(theirs), confidence=confidence)
                if not found.n:
                    continue
                if {answer["item_id"] for answer in own} == {answer["item_id"] for answer in theirs}:
                    found = found._replace(low=math.nan, high=math.nan, p=math.nan, note=SAME_ITEMS)
                system = f"{model} ({method})"
                yield {
                    **about("ablations", "accuracy", f"{variant}, {language}, {name}"),
                    "first": f"{system}, {variant}",
                    "second": f"{system}, full",
                    **found._asdict(),
                    "note": found.note or None,
                }


def _side(answers: Sequence[Answer]) -> Side:
    return Side(
        np.array([bool(answer["correct"]) for answer in answers], dtype=np.float64),
        np.array([answer["cluster"] for answer in answers], dtype=str),
        np.array([answer["task"] for answer in answers], dtype=str),
    )
