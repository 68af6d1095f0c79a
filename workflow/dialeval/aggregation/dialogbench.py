"""DialogBench's tables, as rows: items, accuracies, domains, positions, circular shares, styles, ablations.

An answer that could not be read counts as wrong, and the number of these stands beside every rate. Overall, and each
dimension's accuracy, is the unweighted mean of tasks.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.special import chdtrc

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
from dialeval.corpora.multiple_choice import LETTERS, TestItem
from dialeval.dialogbench.characters import STYLES
from dialeval.dialogbench.domains import DOMAINS, GROUPS, NAMES
from dialeval.published.dialogbench import (
    HUMAN,
    OVERALL,
    published_ablation,
    published_accuracy,
    published_domain_accuracy,
    published_size,
)


def item_rows(items: Iterable[TestItem]) -> list[Row]:
    """Returns the number of items and their mean turns by language, task and origin (the paper's Table 1)."""
    turns: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for item in items:
        turns[item.language, item.task, item.origin].append(item.n_turns)
    return [
        {
            "language": language,
            "task": task,
            "origin": origin,
            "n": len(found),
            "mean_turns": math.fsum(found) / len(found),
            "published_n": published_size(task, "items"),
            "published_turns": published_size(task, "turns"),
        }
        for (language, task, origin), found in sorted(turns.items(), key=lambda pair: _by_task(pair[0]))
    ]


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


def position_rows(answers: Iterable[Answer], confidence: float = 0.95) -> list[Row]:
    """Returns, for each place of the right option, the accuracy, and how often the letter was chosen (Figure 7).

    `p_uniform` is the chi-square test of the chosen letters against equal chances, the same in each row of a group;
    it is missing where nothing could be read. Items with equally many options are taken together.
    """
    rows: list[Row] = []
    keys = ("model", "method", "language", "n_options")
    for (model, method, language, n_options), group in grouped(first_rotation(answers), *keys):
        letters = LETTERS[:n_options]
        chosen = Counter(answer["choice"] for answer in group if answer["choice"] is not None)
        counts = np.array([chosen[letter] for letter in letters], dtype=np.float64)
        n_read = int(counts.sum())
        expected = n_read / n_options
        chi_square = float(((counts - expected) ** 2).sum() / expected) if n_read else None
        p_uniform = None if chi_square is None else float(chdtrc(n_options - 1, chi_square))
        for letter in letters:
            rows.append(
                {
                    "model": model,
                    "method": method,
                    "language": language,
                    "n_options": n_options,
                    "letter": letter,
                    **rate_of((answer for answer in group if answer["label"] == letter), confidence).to_row(),
                    "n_chosen": chosen[letter],
                    "share_chosen": chosen[letter] / n_read if n_read else math.nan,
                    "chi_square": chi_square,
                    "p_uniform": p_uniform,
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


def style_rows(classified: Mapping[str, Iterable[Answer]]) -> list[Row]:
    """Returns how often each style was seen in each speaker, by variant, judge and language (Figure 5).

    Args:
        classified: rows of the judge's classification by variant, such as `full` and `-styles`.
    """
    rows: list[Row] = []
    for variant, described in classified.items():
        for (judge, language), group in grouped(described, "judge", "language"):
            for speaker in (1, 2):
                seen = Counter(row[f"speaker{speaker}_style"] for row in group)
                rows += _share_rows(
                    {"variant": variant, "judge": judge, "language": language, "speaker": speaker},
                    "style",
                    STYLES,
                    seen,
                )
    return rows


def domain_count_rows(classified: Mapping[str, Iterable[Answer]]) -> list[Row]:
    """Returns how many dialogues were seen in each domain, by variant, judge and language (Figure 6).

    Args:
        classified: rows of the judge's classification by variant.
    """
    rows: list[Row] = []
    for variant, described in classified.items():
        for (judge, language), group in grouped(described, "judge", "language"):
            seen = Counter(row["domain"] for row in group)
            about = {"variant": variant, "judge": judge, "language": language}
            rows += _share_rows(about, "domain", (*NAMES, "other"), seen)
    return rows


def ablation_rows(variants: Mapping[str, Iterable[Answer]], confidence: float = 0.95) -> list[Row]:
    """Returns accuracy by variant, and by how much it differs from the full procedure (Table 4).

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
                    **{name: value for name, value in row.items() if name != "published"},
                    "difference": None if reference is None else row["accuracy"] - reference,
                    "published_gpt4": published,
                }
            )
    return rows


def _accuracy_row(about: Row, scope: str, name: str, rate: Rate, n_tasks: int) -> Row:
    published = published_accuracy(about["model"], about["language"], name) if scope != "dimension" else None
    return {**about, "scope": scope, "name": name, "n_tasks": n_tasks, **rate.to_row(), "published": published}


def _joined(found: Sequence[Answer]) -> Row:
    """Returns all rotations of an item as one answer: right if each is."""
    status = next((answer["status"] for answer in found if answer["status"] != "ok"), "ok")
    return {"correct": all(answer["correct"] for answer in found), "status": status, "cluster": found[0]["cluster"]}


def _share_rows(about: Row, column: str, names: Sequence[str], seen: Counter[str | None]) -> list[Row]:
    """Returns count and share of each name; what could not be read is left out of the shares and counted."""
    n = sum(seen[name] for name in names)
    return [
        {
            **about,
            column: name,
            "n": seen[name],
            "share": seen[name] / n if n else math.nan,
            "n_unparsed": seen[None],
        }
        for name in names
    ]


def _by_task(key: tuple[str, str, str]) -> tuple[str, int, str]:
    language, task, origin = key
    return language, ABBREVIATIONS.index(task), origin


def _about(row: Answer) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("model", "method", "language", "scope", "name"))
