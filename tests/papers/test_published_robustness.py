"""Comp-analysis's published robustness ratios: equal to the table they were typed from, and their own averages."""

import csv
from pathlib import Path

import numpy as np
import pytest

from dialeval.papers.comp_analysis import AVERAGE, JUDGES, find_ratios, published_robustness
from dialeval.perturbations.registry import STRATEGIES

TABLE = Path(__file__).parents[2].parent / "shared" / "data" / "paper-tables" / "comp_table12.csv"
CELLS = [row for row in published_robustness() if row.strategy != AVERAGE]
AVERAGES = [row for row in published_robustness() if row.strategy == AVERAGE]


def test_numbers_are_those_of_the_papers_table() -> None:
    if not TABLE.exists():
        pytest.skip("the public file comp_table12.csv is not here; it is expected in paper-tables/ of shared/data")
    with TABLE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(published_robustness()) == 18
    for row, own in zip(rows, published_robustness(), strict=True):
        title, _, dimension = row["perturbation"].rstrip(")").partition(" (")
        assert (row["level"], title.lower().replace(" ", "_").replace("-", "_")) == (own.level, own.strategy)
        assert own.dimension.startswith(dimension.lower())
        assert {judge: float(row[judge]) for judge in JUDGES} == dict(own.ratios)


def test_averages_are_the_means_of_their_cells() -> None:
    levels = [row.level for row in AVERAGES]
    assert levels == ["turn", "dialogue"]
    for average in AVERAGES:
        cells = [row for row in CELLS if row.level == average.level]
        assert len(cells) == 8
        for judge in JUDGES:
            assert np.mean([row.ratios[judge] for row in cells]) == pytest.approx(average.ratios[judge], abs=0.001)


def test_thresholds_and_dimensions_are_those_of_the_strategies() -> None:
    assert {row.strategy for row in CELLS} == set(STRATEGIES) - {"utterance_replacement_2", "utterance_replacement_3"}
    for row in CELLS:
        strategy = STRATEGIES[row.strategy]
        assert row.level == strategy.level
        assert (row.dimension, row.theta) in [(target.dimension, target.theta) for target in strategy.targets]
    assert len(CELLS) == sum(len(STRATEGIES[name].targets) for name in {row.strategy for row in CELLS})


def test_pairs_are_those_of_table_11() -> None:
    counts = {row.strategy: row.n_pairs for row in CELLS}
    turn = {name: n for name, n in counts.items() if STRATEGIES[name].level == "turn"}
    assert turn == {
        "random_response": 1894,
        "replace_pronoun": 2919,
        "replace_named_entity": 712,
        "contradiction": 1094,
        "repetition": 1993,
        "unnatural_paraphrase": 369,
        "dullness": 2811,
    }
    assert {n for name, n in counts.items() if name not in turn} == {200}
    assert not [row.strategy for row in CELLS if row.note]


def test_ratios_are_found_by_strategy_and_dimension() -> None:
    ratios = find_ratios("dullness", "specificity")
    assert ratios is not None
    assert ratios["ChatGPT"] == 0.264
    assert find_ratios("dullness", "relevance") is None
    assert find_ratios("average", "") is None
