"""How far judges agree with themselves: by hand, and what does not count."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from correlated_judges import HOW, N, as_tables, find, item, score
from scipy.stats import pearsonr

from dialeval.measures.reliability import repeat_rows
from dialeval.tables.files import to_table
from dialeval.tables.metaeval import REPEAT_AGREEMENT

ROUNDS = 4
draw = np.random.default_rng(5)
VALUES = draw.normal(size=N) + draw.normal(scale=0.5, size=(ROUNDS, N))


def repeated(judge: str = "gpt", corpus: str = "one", **more: Any) -> list[dict[str, Any]]:
    return [
        score(judge, corpus, n, "overall", float(VALUES[repeat, n]), protocol="rating", repeat=repeat, **more)
        for repeat in range(ROUNDS)
        for n in range(N)
    ]


def rows_of(scores: list[dict[str, Any]]) -> list[dict[str, Any]]:
    items = [item("one", n) for n in range(N)]
    tables = as_tables(items, [], scores)
    return to_table(REPEAT_AGREEMENT, repeat_rows(tables[0], tables[2], **HOW)).to_pylist()


def test_it_is_the_mean_correlation_of_two_repeats() -> None:
    (row,) = rows_of(repeated())
    by_hand = np.mean([pearsonr(VALUES[a], VALUES[b]).statistic for a, b in combinations(range(ROUNDS), 2)])
    assert row["pairwise_pearson"] == pytest.approx(by_hand)
    assert row["pearson_ci_low"] < row["pairwise_pearson"] < row["pearson_ci_high"]
    assert (row["n_rounds"], row["n_items"], row["n_clusters"], row["level"]) == (ROUNDS, N, N // 2, "dialogue")


def test_the_order_of_the_rows_does_not_matter() -> None:
    scores = repeated()
    (row,) = rows_of(scores)
    np.random.default_rng(1).shuffle(scores)  # type: ignore[arg-type]
    assert rows_of(scores)[0]["pairwise_pearson"] == pytest.approx(row["pairwise_pearson"])


def test_a_judge_without_repeats_and_items_of_no_corpus_have_no_row() -> None:
    once = [row for row in repeated("once") if row["repeat"] == 0]
    assert [row["judge"] for row in rows_of(repeated() + once + repeated("other", "damaged"))] == ["gpt"]


def test_a_repeat_that_could_not_be_read_is_missing() -> None:
    scores = repeated()
    for row in scores:
        if row["repeat"] > 0 and row["item_id"] == "one-0":
            row["value"] = None
    (row,) = rows_of(scores)
    by_hand = [pearsonr(VALUES[a, 1:], VALUES[b, 1:]).statistic for a, b in combinations(range(ROUNDS), 2)]
    assert row["n_items"] == N - 1
    assert row["pairwise_pearson"] == pytest.approx(np.mean(by_hand))


def test_methods_languages_and_dimensions_are_distinguished() -> None:
    scores = repeated() + [row | {"criterion": "coherence", "value": -row["value"]} for row in repeated()]
    scores += [row | {"protocol": "yes_no", "value": 1.0} for row in repeated()]
    rows = rows_of(scores)
    assert len(rows) == 3
    flat = find(rows, method="yes_no")
    assert (flat["pairwise_pearson"], flat["note"]) == (None, "no two rounds have a correlation")
    assert find(rows, dimension="coherence")["pairwise_pearson"] == pytest.approx(
        find(rows, dimension="overall", method="rating")["pairwise_pearson"]
    )
