"""Whether a model's ratings rank the judges as people's do: who is ranked, and by what."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from correlated_judges import DIMENSIONS, N, correlated, find, score, tables
from scipy.stats import pearsonr, spearmanr

from dialeval.measures.correlations import Candidates, ranking_rows

NAMED = Candidates(["named"])
FIVE = {"a": 0.2, "b": 1.0, "c": 2.0, "d": 3.0, "e": 5.0}
Row = dict[str, Any]


def rated_by(judge: str, corpus: str = "one") -> list[Row]:
    """A judge's two ratings of each item, on all dimensions."""
    draw = np.random.default_rng(11)
    about = {"protocol": "rating", "scale_min": 1.0, "scale_max": 5.0}
    values = draw.integers(1, 6, size=(len(DIMENSIONS), N, 2))
    return [
        score(judge, corpus, n, name, float(values[place, n, repeat]), repeat=repeat, **about)
        for place, name in enumerate(DIMENSIONS)
        for n in range(N)
        for repeat in range(2)
    ]


def values_of(rows: list[Row], judge: str, dimension: str, method: str) -> np.ndarray[Any, Any]:
    found: dict[str, list[float]] = {}
    for row in rows:
        if (row["judge"], row["criterion"], row["protocol"]) == (judge, dimension, method):
            found.setdefault(row["item_id"], []).append(row["value"])
    return np.array([np.mean(found[f"one-{n}"]) for n in range(N)])


def test_rankings_under_two_types_of_raters() -> None:
    items, ratings, scores = tables({"a": 0.2, "b": 1.0, "c": 3.0}, ("one",))
    ratings += [row | {"rater_kind": "model", "rater": "gpt-4"} for row in ratings]
    row = find(ranking_rows(correlated(items, ratings, scores)), dimension="overall")
    assert (row["spearman"], row["n_judges"], row["second_rater"]) == (pytest.approx(1.0), 3, "gpt-4")
    items, ratings, scores = tables({"a": 0.2}, ("one",))
    ratings += [row | {"rater_kind": "model", "rater": "gpt-4"} for row in ratings]
    row = find(ranking_rows(correlated(items, ratings, scores)), dimension="overall")
    assert "spearman" not in row
    assert "3 are needed" in row["reason"]


def test_an_ensemble_is_not_ranked_among_its_members() -> None:
    items, ratings, scores = tables({"a": 0.2, "b": 1.0, "c": 3.0, "named": 0.1}, ("one",))
    ratings += [row | {"rater_kind": "model", "rater": "gpt-4"} for row in ratings]
    results = correlated(items, ratings, scores)
    assert find(ranking_rows(results), dimension="overall")["n_judges"] == 4
    assert find(ranking_rows(results, NAMED), dimension="overall")["n_judges"] == 3


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_the_judge_that_fills_in_is_set_against_people_where_they_rated(dimension: str) -> None:
    """As GPT-4 is on FED-Turn, which people rated on every dimension; by hand with scipy."""
    items, ratings, scores = tables(FIVE, ("one",))
    scores += rated_by("gpt") + [row | {"protocol": "yes_no"} for row in rated_by("gpt")]
    results = correlated(items, ratings, scores)
    row = find(ranking_rows(results, imputer="gpt"), dimension=dimension)
    people = [one["value"] for one in ratings if one["dimension"] == dimension]
    own = values_of(scores, "gpt", dimension, "rating")
    first = [pearsonr(values_of(scores, judge, dimension, "yes_no"), people).statistic for judge in FIVE]
    second = [pearsonr(values_of(scores, judge, dimension, "yes_no"), own).statistic for judge in FIVE]
    assert row["spearman"] == pytest.approx(spearmanr(first, second).statistic)
    assert (row["n_judges"], row["first_rater"], row["second_rater"]) == (5, "human", "gpt")
    assert list(ranking_rows(results)) == []


def test_a_judge_is_not_ranked_by_its_own_ratings_under_another_name() -> None:
    items, ratings, scores = tables({"a": 0.2, "b": 1.0, "c": 2.0, "gpt-too": 0.5}, ("one",))
    results = correlated(items, ratings, scores + rated_by("gpt"))
    assert find(ranking_rows(results, imputer="gpt"), dimension="overall")["n_judges"] == 4
    one = Candidates(models={"gpt": "gpt", "gpt-too": "gpt"})
    assert find(ranking_rows(results, one, imputer="gpt"), dimension="overall")["n_judges"] == 3


def test_a_judge_of_the_name_of_the_model_that_rated_the_corpus_is_not_ranked_by_it() -> None:
    items, ratings, scores = tables(FIVE | {"GPT-4": 0.1}, ("one",))
    ratings += [row | {"rater_kind": "model", "rater": "gpt-4"} for row in ratings]
    assert find(ranking_rows(correlated(items, ratings, scores)), dimension="overall")["n_judges"] == len(FIVE)


def test_a_model_by_two_methods_is_ranked_once_by_the_better() -> None:
    items, ratings, scores = tables(FIVE, ("one",))
    worse = [row | {"protocol": "rating", "value": -row["value"]} for row in scores if row["judge"] == "a"]
    ratings += [row | {"rater_kind": "model", "rater": "gpt-4"} for row in ratings]
    with_both = find(ranking_rows(correlated(items, ratings, scores + worse)), dimension="overall")
    with_one = find(ranking_rows(correlated(items, ratings, scores)), dimension="overall")
    assert (with_both["n_judges"], with_both["spearman"]) == (5, pytest.approx(with_one["spearman"]))


def test_the_papers_numbers_stand_beside_both_of_its_corpora() -> None:
    items, ratings, scores = tables(FIVE, ("one",))
    scores += rated_by("gpt")
    for rows in (items, ratings, scores):
        for row in rows:
            row["corpus"] = "FED-Dial"
    rows = ranking_rows(correlated(items, ratings, scores), imputer="gpt")
    assert {row["dimension"]: row["published_spearman"] for row in rows} == {
        "coherence": 0.861, "engagingness": 0.900, "diversity": 0.883, "informativeness": 0.869, "overall": 0.945,
    }  # fmt: skip
