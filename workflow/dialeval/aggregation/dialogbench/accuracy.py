"""Shares of right answers by task, dimension, and over all, and by domain (DialogBench, Tables 2, 3, 7 and 8).

An answer that could not be read counts as wrong, and the number of these stands beside every rate. Overall, and each
dimension's accuracy, is the unweighted mean of tasks.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from dialeval.aggregation.answer_rates import (
    Answer,
    Rate,
    Row,
    first_rotation,
    grouped,
    mean_rate,
    rate_of,
    unweighted_mean,
)
from dialeval.corpora.dialogbench_tasks import ABBREVIATIONS, DIMENSIONS, TASKS
from dialeval.dialogbench.domains import DOMAINS, GROUPS, NAMES
from dialeval.published.dialogbench import HUMAN, OVERALL, published_accuracy, published_domain_accuracy


def accuracy_rows(answers: Iterable[Answer], confidence: float = 0.95) -> list[Row]:
    """Returns accuracy by model, method and language: a row per task, per dimension, and Overall (Tables 2 and 3).

    Only the first rotation counts. `scope` says what `name` is: task, dimension or overall; `n_tasks` how many tasks
    the mean is over.
    """
    rows: list[Row] = []
    for (model, method, language), group in grouped(first_rotation(answers), "model", "method", "language"):
        about = {"model": model, "method": method, "language": language}
        answers_to = dict(grouped(group, "task"))
        by_task = {task: answers_to[task,] for task in ABBREVIATIONS if (task,) in answers_to}
        for task, found in by_task.items():
            rows.append(_accuracy_row(about, "task", task, [found], confidence))
        for dimension in DIMENSIONS:
            own = [by_task[t.abbreviation] for t in TASKS if t.dimension == dimension and t.abbreviation in by_task]
            if own:
                rows.append(_accuracy_row(about, "dimension", dimension, own, confidence))
        rows.append(_accuracy_row(about, "overall", OVERALL, list(by_task.values()), confidence))
    return rows


def human_rows(languages: Sequence[str]) -> list[Row]:
    """Returns people's published accuracies in the columns of `accuracy_rows`, without intervals: for show beside ours.

    Args:
        languages: those for which there are answers.
    """
    rows: list[Row] = []
    for language in languages:
        about = {"model": HUMAN.lower(), "method": "published", "language": language}
        for name in (*ABBREVIATIONS, OVERALL):
            accuracy = published_accuracy(HUMAN, language, name)
            if accuracy is not None:
                rate = Rate(accuracy, math.nan, math.nan, 0, 0).to_row()
                scope, n_tasks = ("overall", len(TASKS)) if name == OVERALL else ("task", 1)
                rows.append(
                    {**about, "scope": scope, "name": name, "n_tasks": n_tasks, **rate, "chance": None}
                    | {"published": accuracy}
                )
    return rows


def domain_rows(answers: Iterable[Answer], confidence: float = 0.95) -> list[Row]:
    """Returns accuracy by model, method, language and domain, and the mean of each group of domains (Table 7).

    Domains beyond the twenty come last and belong to no group.
    """
    rows: list[Row] = []
    for (model, method, language), group in grouped(first_rotation(answers), "model", "method", "language"):
        about = {"model": model, "method": method, "language": language}
        by_domain = {name: found for (name,), found in grouped(group, "domain")}
        for group_name in GROUPS:
            own = {d.name: by_domain[d.name] for d in DOMAINS if d.group == group_name and d.name in by_domain}
            for name, found in own.items():
                published = published_domain_accuracy(model, language, name)
                rate = {**rate_of(found, confidence).to_row(), "chance": chance_of([found])}
                rows.append({**about, "group": group_name, "domain": name, **rate, "published": published})
            if own:
                cells = list(own.values())
                mean = {**mean_rate(cells, confidence).to_row(), "chance": chance_of(cells)}
                rows.append({**about, "group": group_name, "domain": "mean", **mean, "published": None})
        for name in sorted(set(by_domain) - set(NAMES)):
            rate = {**rate_of(by_domain[name], confidence).to_row(), "chance": chance_of([by_domain[name]])}
            rows.append({**about, "group": "", "domain": name, **rate, "published": None})
    return rows


def chance_of(cells: Sequence[Sequence[Answer]]) -> float:
    """Returns the accuracy of blind guessing: one in the number of options; every cell counts once."""
    return unweighted_mean([math.fsum(1 / one["n_options"] for one in cell) / len(cell) for cell in cells if cell])


def _accuracy_row(about: Row, scope: str, name: str, cells: Sequence[Sequence[Answer]], confidence: float) -> Row:
    published = published_accuracy(about["model"], about["language"], name) if scope != "dimension" else None
    found = {**mean_rate(cells, confidence).to_row(), "chance": chance_of(cells), "published": published}
    return {**about, "scope": scope, "name": name, "n_tasks": len(cells), **found}
