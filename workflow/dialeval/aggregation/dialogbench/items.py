"""How many test items there are, and how long their dialogues are (DialogBench, Table 1)."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable

from dialeval.aggregation.answer_rates import Row
from dialeval.corpora.dialogbench_tasks import ABBREVIATIONS
from dialeval.corpora.multiple_choice import TestItem
from dialeval.dialogbench.checking import ASKED_TURNS
from dialeval.published.dialogbench import published_size


def item_rows(items: Iterable[TestItem]) -> list[Row]:
    """Returns the number of items and their mean turns by language, task and origin (the paper's Table 1)."""
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
