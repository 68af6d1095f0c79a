"""Accuracies by task, domain and group of models, their differences, and ablations.

The items of one dialogue, and the rotations of an item, are one cluster (see `stats.clustered`). An unparsable answer
counts as wrong; each rate has their number. The accuracy of a dimension, and Overall, are unweighted means of tasks.

Only models that answer by the same method are averaged. Intervals are about the items: the models are fixed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dialeval.dialogbench.tasks import ABBREVIATIONS, DIMENSIONS, DOMAIN_NAMES, DOMAINS, GROUPS, TASKS
from dialeval.measures.design import Row as DifferencesRow
from dialeval.measures.differences import family_columns, mean_rows
from dialeval.papers.dialogbench import (
    HUMAN,
    OVERALL,
    published_ablation,
    published_accuracy,
    published_average,
    published_domain_accuracy,
)
from dialeval.stats.clustered import clustered_proportion
from dialeval.stats.differences import Sample, paired_differences, two_sample_difference

Row = dict[str, Any]
Answer = Mapping[str, Any]
"""A row of answers: at least `correct`, `status` and `cluster`."""
Cells = Sequence[Sequence[Answer]]
"""Answers whose shares of right ones count equally in a mean."""


# Shares of right answers by task, dimension, and over all, and by domain (DialogBench, Tables 2, 3, 7 and 8).


def accuracy_rows(answers: Iterable[Answer], confidence: float = 0.95) -> list[Row]:
    """Return accuracy by model, method and language: a row per task, per dimension, and Overall (Tables 2 and 3).

    Only the first rotation counts. `scope` is the type of `name`: task, dimension or overall; `n_tasks` is the number
    of tasks of the mean.
    """
    rows: list[Row] = []
    for about, group in grouped(first_rotation(answers), "model", "method", "language"):
        for scope, name, cells in of_tasks(group):
            published = published_accuracy(about["model"], about["language"], name) if scope != "dimension" else None
            beside = {"n_tasks": len(cells), **_rate_row(cells, confidence), "published": published}
            rows.append({**about, "scope": scope, "name": name, **beside})
    return rows


def of_tasks(answers: Iterable[Answer]) -> Iterator[tuple[str, str, Cells]]:
    """Yield scope and name of each task, each dimension and Overall, with the answers to each of its tasks."""
    by_task = {about["task"]: own for about, own in grouped(answers, "task")}
    tasks = {task.abbreviation: task for task in TASKS if task.abbreviation in by_task}
    for name in tasks:
        yield "task", name, [by_task[name]]
    for dimension in DIMENSIONS:
        if cells := [by_task[name] for name, task in tasks.items() if task.dimension == dimension]:
            yield "dimension", dimension, cells
    if tasks:
        yield "overall", OVERALL, [by_task[name] for name in tasks]


def _of_domains(answers: Iterable[Answer]) -> Iterator[tuple[str, str, Cells]]:
    """Yield group and name of each domain, and of the mean of each group, with the answers in each of its domains.

    Domains beyond the twenty come last and belong to no group.
    """
    by_domain = {about["domain"]: own for about, own in grouped(answers, "domain")}
    for group in GROUPS:
        own = [domain.name for domain in DOMAINS if domain.group == group and domain.name in by_domain]
        for name in own:
            yield group, name, [by_domain[name]]
        if own:
            yield group, "mean", [by_domain[name] for name in own]
    for name in sorted(set(by_domain) - set(DOMAIN_NAMES)):
        yield "", name, [by_domain[name]]


def human_rows(languages: Sequence[str]) -> list[Row]:
    """Return people's published accuracies in languages, in the columns of `accuracy_rows`, without intervals."""
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
    """Return accuracy by model, method, language and domain, and the mean of each group of domains (Table 7).

    Domains beyond the twenty come last and belong to no group.
    """
    rows: list[Row] = []
    for about, group in grouped(first_rotation(answers), "model", "method", "language"):
        for group_name, name, cells in _of_domains(group):
            known = name in DOMAIN_NAMES
            published = published_domain_accuracy(about["model"], about["language"], name) if known else None
            place = {"group": group_name, "domain": name, "published": published}
            rows.append({**about, **place, **_rate_row(cells, confidence)})
    return rows


def _rate_row(cells: Cells, confidence: float) -> Row:
    return mean_rate(cells, confidence).to_row() | {"chance": chance_of(cells)}


def chance_of(cells: Cells) -> float:
    """Return the accuracy of random guessing: one in the number of options; every cell counts once."""
    return unweighted_mean([math.fsum(1 / one["n_options"] for one in cell) / len(cell) for cell in cells if cell])


@dataclass(frozen=True, slots=True)
class Rate:
    """A share of right answers, or an unweighted mean of such shares, with interval and counts."""

    accuracy: float
    ci_low: float
    ci_high: float
    n: int
    n_unparsed: int
    n_clusters: int = 0
    design_effect: float = math.nan
    n_effective: float = math.nan
    note: str = ""

    def to_row(self) -> Row:
        """Return the rate's columns."""
        return asdict(self) | {"n_clusters": self.n_clusters or None, "note": self.note or None}


def rate_of(answers: Iterable[Answer], confidence: float = 0.95) -> Rate:
    """Return the share of right answers with its interval; NaN where there is no answer."""
    return mean_rate([list(answers)], confidence)


def mean_rate(cells: Cells, confidence: float = 0.95) -> Rate:
    """Return the unweighted mean of the cells' shares of right answers (the paper's Overall), with its interval.

    It is missing where a cell has no answer, or where there is no cell.
    """
    answers = [answer for cell in cells for answer in cell]
    correct = np.array([bool(answer["correct"]) for answer in answers], dtype=np.float64)
    number = {cluster: place for place, cluster in enumerate(dict.fromkeys(answer["cluster"] for answer in answers))}
    found = clustered_proportion(
        correct,
        np.array([number[answer["cluster"]] for answer in answers], dtype=np.int64),
        stratum=np.repeat(np.arange(len(cells)), [len(cell) for cell in cells]),
        confidence=confidence,
        note="no answer",
    )
    mean = unweighted_mean([sum(bool(answer["correct"]) for answer in cell) / len(cell) if cell else math.nan
                            for cell in cells])  # fmt: skip
    known = not math.isnan(mean)
    return Rate(
        accuracy=mean,
        ci_low=found.ci_low if known else math.nan,
        ci_high=found.ci_high if known else math.nan,
        n=len(answers),
        n_unparsed=sum(answer["status"] != "ok" for answer in answers),
        n_clusters=found.n_clusters,
        design_effect=found.design_effect if known else math.nan,
        n_effective=found.n_effective if known else math.nan,
        note=found.note,
    )


def unweighted_mean(shares: Sequence[float]) -> float:
    """Return the mean of shares, each counting once; NaN where there is none or one is missing."""
    return math.fsum(shares) / len(shares) if shares else math.nan


def first_rotation(answers: Iterable[Answer]) -> list[Answer]:
    """Return the answers to items with unrotated options."""
    return [answer for answer in answers if answer["rotation"] == 0]


def grouped(rows: Iterable[Answer], *names: str) -> list[tuple[Row, list[Answer]]]:
    """Return rows by some columns: the values of these, and their rows, in the order in which the values appear."""
    groups: dict[tuple[Any, ...], list[Answer]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in names), []).append(row)
    return [(dict(zip(names, key, strict=True)), group) for key, group in groups.items()]


# Mean accuracies of groups of models, by kind or tag ("Avg." of DialogBench's Tables 2, 3 and 7; Figure 8).


def average_rows(answers: Iterable[Answer], groups: Mapping[str, Sequence[str]], confidence: float = 0.95) -> list[Row]:
    """Return the mean accuracy of each group of models by method, language and scope.

    `scope` is the type of `name`: task, dimension, overall, domain, or domains (a group of domains). Overall,
    dimensions and groups of domains are unweighted means of tasks or domains.

    Args:
        answers: rows of `test_answers`; only the first rotation counts.
        groups: models by the name of their group; a model may be in several.
        confidence: nominal coverage of the intervals.
    """
    rows: list[Row] = []
    for about, found in grouped(first_rotation(answers), "method", "language"):
        for group, members in groups.items():
            own = [answer for answer in found if answer["model"] in members]
            models = sorted({answer["model"] for answer in own})
            for scope, name, cells in _scopes(own):
                rate = mean_rate(cells, confidence).to_row()
                columns = ("accuracy", "ci_low", "ci_high", "n_unparsed", "n_clusters", "note")
                rows.append(
                    {
                        "group": group,
                        **about,
                        "scope": scope,
                        "name": name,
                        "n_models": len(models),
                        "models": ", ".join(models),
                        **{column: rate[column] for column in columns},
                        "n": len({answer["item_id"] for cell in cells for answer in cell}),
                        "chance": chance_of(cells),
                        "published": published_average(group, about["method"], about["language"], name),
                    }
                )
    return rows


def _scopes(answers: Sequence[Answer]) -> Iterator[tuple[str, str, Cells]]:
    """Yield each scope of an average with the answers of its equally weighted cells."""
    yield from of_tasks(answers)
    for group, name, cells in _of_domains(answers):
        if group:
            yield ("domains", group, cells) if name == "mean" else ("domain", name, cells)


# Ablations of the procedure (DialogBench, Table 4)


def ablation_rows(variants: Mapping[str, Iterable[Answer]], confidence: float = 0.95) -> list[Row]:
    """Return accuracy by variant, and its difference from the full procedure (Table 4).

    Args:
        variants: answers by variant: `full`, and `-styles` or `-filter`.
    """
    by_variant = {name: accuracy_rows(answers, confidence) for name, answers in variants.items()}
    full = {_about(row): row["accuracy"] for row in by_variant.get("full", [])}
    rows: list[Row] = []
    for variant, found in by_variant.items():
        for row in found:
            if row["scope"] == "dimension":
                continue
            reference = full.get(_about(row))
            published = published_ablation(variant, row["name"]) if row["language"] == "zh" else None
            rows.append(
                {
                    "variant": variant,
                    **{name: value for name, value in row.items() if name not in ("chance", "published")},
                    "difference": None if reference is None else row["accuracy"] - reference,
                    "published_gpt4": published,
                }
            )
    return rows


def _about(row: Answer) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("model", "method", "language", "scope", "name"))


# Pairwise tests of models and of ablations, paired where the items are the same.

SAME_ITEMS = "both procedures have the same items, so there is nothing to test"

_TASKS_OF: dict[str, tuple[str, ...]] = {
    **{str(task): (str(task),) for task in ABBREVIATIONS},
    **{str(name): tuple(task.abbreviation for task in TASKS if task.dimension == name) for name in DIMENSIONS},
    OVERALL: tuple(ABBREVIATIONS),
}


def accuracy_differences(answers: Iterable[Answer], confidence: float) -> Iterator[DifferencesRow]:
    """Yield the differences of the table `accuracy`, by source, language and task, dimension or Overall.

    A model that answers by two methods counts as two. Items of one dialogue are one cluster.

    Args:
        answers: rows of `test_answers`; only the first rotation counts.
        confidence: nominal coverage of the intervals.
    """
    for about, group in grouped(first_rotation(answers), "source", "language"):
        where = f"{about['source']}, {about['language']}"
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
                yield from mean_rows(found, names, family_columns("accuracy", "accuracy", f"{where}, {name}"))


def ablation_differences(variants: Mapping[str, Iterable[Answer]], confidence: float) -> Iterator[DifferencesRow]:
    """Yield the change by each ablation, by model, method and language, on each task and over all.

    The items of two procedures differ, so this is a difference of two means; common items count on both sides. All
    models under one ablation, language and task are a family.

    Args:
        variants: answers by variant: `full`, and `-styles` or `-filter`.
        confidence: nominal coverage of the intervals.
    """
    keys = ("model", "method", "language")
    by_variant = {variant: grouped(first_rotation(answers), *keys) for variant, answers in variants.items()}
    full = {tuple(about.values()): group for about, group in by_variant.pop("full", [])}
    for variant, groups in by_variant.items():
        for about, group in groups:
            reference = full.get(tuple(about.values()), [])
            for name in (*ABBREVIATIONS, OVERALL):
                tasks = _TASKS_OF[name]
                own, theirs = ([one for one in answers if one["task"] in tasks] for answers in (group, reference))
                found = two_sample_difference(_side(own), _side(theirs), confidence=confidence).columns(0)
                if not found["n"]:
                    continue
                if {answer["item_id"] for answer in own} == {answer["item_id"] for answer in theirs}:
                    found |= {"ci_low": math.nan, "ci_high": math.nan, "p": math.nan, "note": SAME_ITEMS}
                system = f"{about['model']} ({about['method']})"
                yield {
                    **family_columns("ablations", "accuracy", f"{variant}, {about['language']}, {name}"),
                    "system": f"{system}, {variant}",
                    "opponent": f"{system}, full",
                    **found,
                }


def _side(answers: Sequence[Answer]) -> Sample:
    return Sample(
        np.array([bool(answer["correct"]) for answer in answers], dtype=np.float64),
        np.array([answer["cluster"] for answer in answers], dtype=str),
        np.array([answer["task"] for answer in answers], dtype=str),
    )
