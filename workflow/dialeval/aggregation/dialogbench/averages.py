"""Mean accuracies of groups of models, by kind or tag ("Avg." of DialogBench's Tables 2, 3 and 7; Figure 8).

Only models that answer by the same method are averaged. The models are those of the run, and no sample of any others:
an interval is about the items alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from dialeval.aggregation.answer_rates import Answer, Row, first_rotation, grouped
from dialeval.aggregation.dialogbench.accuracy import chance_of
from dialeval.corpora.dialogbench_tasks import ABBREVIATIONS, DIMENSIONS, TASKS
from dialeval.dialogbench.domains import DOMAINS, GROUPS
from dialeval.published.dialogbench import OVERALL, published_average
from dialeval.stats.shares import share_interval

Cells = Sequence[Sequence[Answer]]


def average_rows(answers: Iterable[Answer], groups: Mapping[str, Sequence[str]], confidence: float = 0.95) -> list[Row]:
    """Returns the mean accuracy of each group of models by method, language and what it is over.

    `scope` says what `name` is: task, dimension, overall, domain, or domains (a group of domains). Overall, dimensions
    and groups of domains are unweighted means of tasks or domains.

    Args:
        answers: rows of `test_answers`; only the first rotation counts.
        groups: models by the name of their group; a model may be in several.
        confidence: nominal coverage of the intervals.
    """
    rows: list[Row] = []
    for (method, language), found in grouped(first_rotation(answers), "method", "language"):
        for group, members in groups.items():
            own = [answer for answer in found if answer["model"] in members]
            models = sorted({answer["model"] for answer in own})
            about = {"group": group, "method": method, "language": language}
            for scope, name, cells in _scopes(own):
                published = published_average(group, method, language, name)
                rows.append(
                    {
                        **about,
                        "scope": scope,
                        "name": name,
                        "n_models": len(models),
                        "models": ", ".join(models),
                        **_average(cells, confidence),
                        "chance": chance_of(cells),
                        "published": published,
                    }
                )
    return rows


def _scopes(answers: Sequence[Answer]) -> Iterator[tuple[str, str, Cells]]:
    """Yields what is averaged over, and the answers of its cells, each of which counts once."""
    by_task = {task: own for (task,), own in grouped(answers, "task")}
    for task in ABBREVIATIONS:
        if task in by_task:
            yield "task", task, [by_task[task]]
    for dimension in DIMENSIONS:
        cells = [by_task[t.abbreviation] for t in TASKS if t.dimension == dimension and t.abbreviation in by_task]
        if cells:
            yield "dimension", dimension, cells
    if by_task:
        yield "overall", OVERALL, list(by_task.values())
    by_domain = {domain: own for (domain,), own in grouped(answers, "domain")}
    for group in GROUPS:
        cells = [by_domain[d.name] for d in DOMAINS if d.group == group and d.name in by_domain]
        for domain in DOMAINS:
            if domain.group == group and domain.name in by_domain:
                yield "domain", domain.name, [by_domain[domain.name]]
        if cells:
            yield "domains", group, cells


def _average(cells: Cells, confidence: float) -> Row:
    """Returns the mean over cells of the share of right answers, all models of an item's together."""
    answers = [answer for cell in cells for answer in cell]
    found = share_interval(
        np.array([bool(answer["correct"]) for answer in answers], dtype=np.float64),
        np.array([answer["cluster"] for answer in answers], dtype=str),
        cell=np.repeat(np.arange(len(cells)), [len(cell) for cell in cells]),
        confidence=confidence,
    )
    return {
        "accuracy": math.fsum(sum(bool(one["correct"]) for one in cell) / len(cell) for cell in cells) / len(cells),
        "low": found.low,
        "high": found.high,
        "n": len({answer["item_id"] for answer in answers}),
        "n_unparsed": sum(answer["status"] != "ok" for answer in answers),
        "n_clusters": found.n_clusters,
        "note": found.reason or None,
    }
