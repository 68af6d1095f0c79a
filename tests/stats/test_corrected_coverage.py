"""Corrected intervals hold what people would say, and the judge's own do not: simulated, and on people's real ratings.

`benchmarks/coverage_corrected.py` and `benchmarks/corrected_on_real_labels.py` do more of the same.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.special import ndtr

from dialeval.stats.arrays import FloatArray
from dialeval.stats.prediction_powered import correct_means

FED = Path(__file__).resolve().parents[2].parent / "shared/data/comp-analysis/dialog_level_texts"
SYSTEMS, SEEDS, LABELS = 6, 120, 50
LEVEL = np.linspace(-0.6, 0.6, SYSTEMS)


def simulated(
    rng: np.random.Generator, worth: float, rate: bool, whole: bool
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """What people would say, what a judge says that correlates with it by `worth` within systems, and the labels."""
    own = 0.5 * rng.normal(size=(SEEDS, 1)) + np.sqrt(0.75) * rng.normal(size=(SEEDS, SYSTEMS))
    people = LEVEL + own
    score = rng.permutation(LEVEL) + worth * own + np.sqrt(1.0 - worth**2) * rng.normal(size=people.shape)
    if rate:
        people, score = (people > 0.0).astype(np.float64), (score > 0.0).astype(np.float64)
    label = np.full(people.shape, np.nan)
    rows = np.array([rng.choice(SEEDS, LABELS, replace=False) for _ in range(SYSTEMS)]).T
    if whole:
        rows = np.repeat(rows[:, :1], SYSTEMS, axis=1)
    np.put_along_axis(label, rows, np.take_along_axis(people, rows, axis=0), axis=0)
    return people, score, label


@pytest.mark.parametrize(
    ("worth", "target", "rate", "whole"),
    [
        *((0.7, target, rate, rate) for target in ("new_cases", "given_cases") for rate in (False, True)),
        (0.0, "new_cases", False, False),
        (0.0, "given_cases", True, True),
        (-0.7, "new_cases", True, True),
        (-0.7, "given_cases", False, False),
    ],
)
def test_means_rates_and_their_differences_are_held(worth: float, target: str, rate: bool, whole: bool) -> None:
    held, apart, naive, widths = [], [], [], []
    for number in range(120):
        people, score, label = simulated(np.random.default_rng(number), worth, rate, whole)
        truth = people.mean(axis=0)
        if target == "new_cases":
            truth = ndtr(LEVEL) if rate else LEVEL
        seed, system = np.indices(people.shape)
        columns = (score, label, np.full(people.shape, LABELS / SEEDS), system, seed)
        found = correct_means(*(column.ravel() for column in columns), target=target)
        first, second, differences = found.all_differences()
        low, high = (np.array([getattr(one, end) for one in differences]) for end in ("ci_low", "ci_high"))
        held.append((found.ci_low <= truth) & (truth <= found.ci_high))
        apart.append((low <= truth[first] - truth[second]) & (truth[first] - truth[second] <= high))
        naive.append((found.judge_only_ci_low <= truth) & (truth <= found.judge_only_ci_high))
        widths.append(
            float((found.ci_high - found.ci_low).sum() / (found.human_only_ci_high - found.human_only_ci_low).sum())
        )
    assert 0.93 <= np.mean(held) <= 0.97
    assert 0.93 <= np.mean(apart) <= 0.97
    assert np.mean(naive) < 0.7
    assert max(widths) <= 1.05
    if worth > 0.0:
        assert np.mean(widths) <= {(False, "given_cases"): 0.75, (False, "new_cases"): 0.85}.get((rate, target), 0.95)


def test_on_real_ratings_of_dialogues_it_covers_the_mean_human_rating() -> None:
    """FED's people, with GPT-4's ratings as the judge and a fifth of the dialogues labelled, over and over."""
    if not (FED / "fed_human_annotations.json").exists():
        pytest.skip("FED's ratings are not there (data/comp-analysis/dialog_level_texts)")
    people = json.loads((FED / "fed_human_annotations.json").read_text(encoding="utf-8"))
    gpt4 = json.loads((FED / "fed_gpt4_annotations.json").read_text(encoding="utf-8"))
    names, system = np.unique([row["model"] for row in people], return_inverse=True)
    held, naive = [], []
    for short, name in (("coh", "Coherent"), ("eng", "Likeable"), ("div", "Diverse"), ("inf", "Informative")):
        rated = np.array([np.mean(row["annotations"][name]) for row in people])
        score = (np.mean([gpt4[f"{short}_{number}"] for number in range(1, 6)], axis=0) - 1.0) / 2.0
        truth = np.array([rated[system == k].mean() for k in range(len(names))])
        for number in range(60):
            rng = np.random.default_rng(number)
            label = np.full(len(rated), np.nan)
            for k in range(len(names)):
                taken = rng.choice(np.flatnonzero(system == k), 9, replace=False)
                label[taken] = rated[taken]
            found = correct_means(score, label, None, system, np.arange(len(rated)), target="given_cases")
            held.append((found.ci_low <= truth) & (truth <= found.ci_high))
            naive.append((found.judge_only_ci_low <= truth) & (truth <= found.judge_only_ci_high))
    assert np.mean(held) >= 0.93
    assert np.mean(naive) <= 0.2
