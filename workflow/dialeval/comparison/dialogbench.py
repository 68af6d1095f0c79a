"""DialogBench's accuracies in two runs, on the items that both have."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from dialeval.aggregation.dialogbench.differences import accuracy_differences
from dialeval.comparison.on_same_cases import MARK, Difference, enough_in_common
from dialeval.comparison.published import Key
from dialeval.comparison.runs import Run
from dialeval.schemas.dialogbench import TEST_ANSWERS

FULL = "full"
_COLUMNS = [
    "source", "variant", "model", "method", "item_id", "cluster", "task", "language", "rotation", "correct", "status"
]  # fmt: skip


def paired_accuracy(a: Run, b: Run, table: str, published: Mapping[Key, float]) -> Iterator[tuple[Key, Difference]]:
    """Yields the differences of the table `dialogbench/accuracy`, by the keys of its rows.

    Args:
        a, b: the runs.
        table: `dialogbench/accuracy`.
        published: how far the published numbers moved.
    """
    places: dict[tuple[Any, ...], Key] = {}
    for key in published:
        of = dict(key)
        places[tuple(of[name] for name in ("source", "model", "method", "language", "name"))] = key
    answers: dict[tuple[str, ...], list[list[dict[str, Any]]]] = defaultdict(lambda: [[], []])
    for number, run in enumerate((a, b)):
        read = run.read(run.inputs(run.made(table), "answers"), TEST_ANSWERS, _COLUMNS)
        for answer in read.to_pylist() if read is not None else ():
            if answer["variant"] == FULL and answer["rotation"] == 0:
                who = tuple(answer[name] for name in ("source", "model", "method", "language"))
                answers[who][number].append({**answer, "model": f"{number}{MARK}{answer['model']}"})
    for (source, model, method, language), (first, second) in answers.items():
        if not enough_in_common(*({answer["cluster"] for answer in side} for side in (first, second))):
            continue
        common = {answer["item_id"] for answer in first} & {answer["item_id"] for answer in second}
        # the second run's answers come first: its accuracy less the first run's
        both = [answer for answer in (*second, *first) if answer["item_id"] in common]
        for row in accuracy_differences(both, 0.95):
            name = row["scope"].removeprefix(f"{source}, {language}, ")
            key_of_row = places.get((source, model, method, language, name))
            if key_of_row is not None:
                ends = row["difference"], row["low"], row["high"], row["p"]
                yield key_of_row, Difference(*ends, row["n"], row["n_clusters"], row["note"] or "")
