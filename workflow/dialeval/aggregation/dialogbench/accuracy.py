"""Shares of right answers by task, dimension, and over all, and by domain (DialogBench, Tables 2, 3, 7 and 8).

An answer that could not be read counts as wrong, and the number of these stands beside every rate. Overall, and each
dimension's accuracy, is the unweighted mean of tasks.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from dialeval.aggregation.answer_rates import Answer, Rate, Row, first_rotation, grouped, mean_rate, rate_of
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
            rows.append(_accuracy_row(about, "task", task, rate_of(found, confidence), 1))
        for dimension in DIMENSIONS:
            own = [by_task[t.abbreviation] for t in TASKS if t.dimension == dimension and t.abbreviation in by_task]
            if own:
                rows.append(_accuracy_row(about, "dimension", dimension, mean_rate(own, confidence), len(own)))
        overall = mean_rate(list(by_task.values()), confidence)
        rows.append(_accuracy_row(about, "overall", OVERALL, overall, len(by_task)))
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
                rate = Rate(accuracy, math.nan, math.nan, 0, 0)
                scope, n_tasks = ("overall", len(TASKS)) if name == OVERALL else ("task", 1)
                rows.append(_accuracy_row(about, scope, name, rate, n_tasks))
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
                rate = rate_of(found, confidence).to_row()
                rows.append({**about, "group": group_name, "domain": name, **rate, "published": published})
            if own:
                mean = mean_rate(list(own.values()), confidence).to_row()
                rows.append({**about, "group": group_name, "domain": "mean", **mean, "published": None})
        for name in sorted(set(by_domain) - set(NAMES)):
            rate = rate_of(by_domain[name], confidence).to_row()
            rows.append({**about, "group": "", "domain": name, **rate, "published": None})
    return rows


def _accuracy_row(about: Row, scope: str, name: str, rate: Rate, n_tasks: int) -> Row:
    published = published_accuracy(about["model"], about["language"], name) if scope != "dimension" else None
    return {**about, "scope": scope, "name": name, "n_tasks": n_tasks, **rate.to_row(), "published": published}
