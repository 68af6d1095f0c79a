"""Scores beside ratings: joined by key, averaged as the papers do, nothing made up where something is missing."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from correlated_judges import DIMENSIONS, N, as_tables, correlated, find, item, score, tables
from scipy.stats import kendalltau, pearsonr, spearmanr

from dialeval.measures.average_correlations import average_rows, matrix_rows
from dialeval.measures.correlations import correlation_rows, pair_rows
from dialeval.measures.score_cells import Scorer, gather


def test_correlations_are_scipys() -> None:
    items, ratings, scores = tables({"good": 0.5}, ("one",))
    row = find(correlation_rows(correlated(items, ratings, scores)), dimension="coherence")
    x = [r["value"] for r in scores if r["criterion"] == "coherence"]
    y = [r["value"] for r in ratings if r["dimension"] == "coherence"]
    assert row["pearson"] == pytest.approx(pearsonr(x, y).statistic)
    assert row["spearman"] == pytest.approx(spearmanr(x, y).statistic)
    assert row["kendall"] == pytest.approx(kendalltau(x, y).statistic)
    assert (row["n"], row["n_missing"], row["n_clusters"], row["reason"]) == (N, 0, N // 2, None)
    assert row["pearson_ci_low"] < row["pearson"] < row["pearson_ci_high"]


def test_a_shuffled_score_file_gives_the_same() -> None:
    items, ratings, scores = tables({"good": 0.5, "bad": 3.0})
    shuffled, rated = scores.copy(), ratings.copy()
    random.Random(1).shuffle(shuffled)
    random.Random(2).shuffle(rated)

    def rounded(rows: Any) -> list[str]:
        return sorted(str({k: round(v, 9) if isinstance(v, float) else v for k, v in row.items()}) for row in rows)

    assert rounded(correlation_rows(correlated(items, ratings, scores))) == rounded(
        correlation_rows(correlated(items, rated, shuffled))
    )


def test_a_missing_score_lowers_n_and_is_counted() -> None:
    items, ratings, scores = tables({"good": 0.5}, ("one",))
    scores[0]["value"] = None
    del scores[1]
    row = find(correlation_rows(correlated(items, ratings, scores)), dimension="coherence")
    assert (row["n"], row["n_missing"]) == (N - 2, 2)


def test_repeats_are_averaged_over_those_that_could_be_read() -> None:
    items, ratings, scores = tables({"good": 0.5}, ("one",))
    scores = (
        [row | {"value": row["value"] - 0.2} for row in scores]
        + [row | {"repeat": 1, "value": row["value"] + 0.2} for row in scores]
        + [row | {"repeat": 2, "value": None, "status": "unparsed"} for row in scores]
    )
    cells = gather(*as_tables(items, ratings, scores), {"one": "all"})
    values = [row["value"] + 0.2 for row in scores[:N]]
    assert cells[0].scores[0, 0] == pytest.approx([(value + 9) / 18 for value in values])


def test_a_constant_judge_has_no_correlation_and_a_reason() -> None:
    items, ratings, scores = tables({"flat": 0.0}, ("one",))
    scores = [row | {"value": 1.0} for row in scores]
    results = correlated(items, ratings, scores)
    row = find(correlation_rows(results), dimension="overall")
    assert np.isnan(row["pearson"])
    assert row["reason"] == "all scores are the same"
    average = find(average_rows(results), dimension="overall", raters="human", averaged_over="corpora")
    assert np.isnan(average["pearson"])
    assert average["reason"] == "undefined in 1 of 1 corpora"


def test_averages_are_means_of_their_cells() -> None:
    results = correlated(*tables({"good": 0.5}))
    cells = list(correlation_rows(results))
    averages = list(average_rows(results))
    one = find(averages, averaged_over="corpora", dimension="diversity", raters="human")
    assert one["n_averaged"] == 2
    assert one["pearson"] == pytest.approx(np.mean([r["pearson"] for r in cells if r["dimension"] == "diversity"]))
    every = find(averages, averaged_over="dimensions", raters="human")
    over_corpora = [r for r in averages if r["averaged_over"] == "corpora" and r["raters"] == "human"]
    by_dimension = [r["pearson"] for r in over_corpora if r["dimension"] != "all"]
    assert every["n_averaged"] == 5
    assert every["pearson"] == pytest.approx(np.mean(by_dimension))
    at_once = find(over_corpora, dimension="all")
    assert at_once["n_averaged"] == 10
    assert at_once["pearson"] == pytest.approx(np.mean([r["pearson"] for r in cells]))


def test_benchmarks_are_averaged_apart() -> None:
    averages = list(average_rows(correlated(*tables({"good": 0.5}), one="mine", two="theirs")))
    assert {row["benchmark"] for row in averages} == {"mine", "theirs"}
    assert all(row["n_averaged"] in (1, 5) for row in averages if row["averaged_over"] == "corpora")


def test_a_models_ratings_stand_in_where_people_gave_none_and_are_judged_where_they_did() -> None:
    items, ratings, scores = tables({"good": 0.5}, ("one",))
    model = {"rater_kind": "model", "rater": "gpt-4"}
    ratings = [row for row in ratings if row["dimension"] in ("coherence", "overall")] + [
        row | model | {"value": min(9.0, row["value"] + 0.1 * number % 3)}
        for number, row in enumerate(ratings)
        if row["dimension"] != "overall"
    ]
    results = correlated(items, ratings, scores)
    rows = list(correlation_rows(results))
    assert find(rows, judge="gpt-4", rater_kind="human")["dimension"] == "coherence"
    assert not [row for row in rows if row["judge"] == "gpt-4" and row["rater_kind"] == "model"]
    kinds = {(row["dimension"], row["rater_kind"]) for row in rows if row["judge"] == "good"}
    assert kinds == {("coherence", "human"), ("overall", "human")} | {(d, "model") for d in DIMENSIONS[:4]}
    full = [row for row in average_rows(results) if row["raters"] == "full" and row["judge"] == "good"]
    assert find(full, averaged_over="dimensions")["n_averaged"] == 5
    assert find(full, averaged_over="corpora", dimension="coherence")["pearson"] == pytest.approx(
        find(rows, judge="good", dimension="coherence", rater_kind="human")["pearson"]
    )


def test_a_judge_is_not_compared_with_ratings_that_came_with_the_corpus_under_its_name() -> None:
    items, ratings, scores = tables({"GPT-4-0613": 0.1, "good": 0.5}, ("one", "two"))
    by_model = [row | {"rater_kind": "model", "rater": "gpt-4"} for row in ratings]
    by_people = [row for row in ratings if (row["corpus"], row["dimension"]) == ("one", "overall")]
    results = correlated(items, by_people + by_model, scores)
    rows = list(correlation_rows(results))
    (own,) = [row for row in rows if row["judge"] == "GPT-4-0613"]
    assert (own["rater_kind"], own["dimension"], own["corpus"]) == ("human", "overall", "one")
    assert sum(row["judge"] == "good" for row in rows) == 1 + 2 * len(DIMENSIONS)
    full = [row for row in average_rows(results) if row["raters"] == "full" and row["dimension"] == "overall"]
    assert {row["judge"]: row["n_averaged"] for row in full} == {"GPT-4-0613": 1, "good": 2, "gpt-4": 1}


def test_the_better_of_two_judges_is_distinguished_from_the_worse() -> None:
    rows = list(pair_rows(correlated(*tables({"good": 0.3, "bad": 3.0}, ("one",)))))
    row = find(rows, dimension="overall")
    assert (row["judge"], row["other_judge"], row["n"]) == ("good", "bad", N)
    assert row["difference"] == pytest.approx(row["pearson"] - row["other_pearson"])
    assert 0 < row["difference_ci_low"] < row["difference"] < row["difference_ci_high"]
    assert row["williams_t"] > 2
    assert row["p_williams"] < 0.05
    assert row["p_reversed"] == 0
    assert row["p"] <= row["q_bh"] <= row["p_holm"] < 0.05
    assert (row["n_clusters"], row["family_size"]) == (N // 2, 1)
    assert row["williams_note"] == f"treats {N} items of {N // 2} dialogues as independent, so its p-value is too small"


def test_all_pairs_of_judges_on_one_dimension_are_a_family() -> None:
    rows = list(pair_rows(correlated(*tables({"a": 1.0, "b": 1.0, "c": 1.0, "d": 1.0}, ("one",)))))
    for dimension in {row["dimension"] for row in rows}:
        family = [row for row in rows if row["dimension"] == dimension]
        assert [row["family_size"] for row in family] == [6] * 6
        smallest = min(family, key=lambda row: row["p"])
        assert smallest["p_holm"] == pytest.approx(min(6 * smallest["p"], 1.0))


def test_a_pair_of_judges_is_compared_on_the_items_that_both_scored() -> None:
    items, ratings, scores = tables({"all": 1.0, "half": 1.0}, ("one",))
    scores = [row for row in scores if row["judge"] == "all" or int(row["item_id"].split("-")[1]) < N // 2]
    row = find(list(pair_rows(correlated(items, ratings, scores))), dimension="overall")
    assert row["n"] == N // 2
    assert row["difference"] == pytest.approx(row["pearson"] - row["other_pearson"])


def test_languages_of_one_corpus_are_averaged_and_compared() -> None:
    items, ratings, scores = tables({"good": 0.5}, ("one",))
    items += [item("one", number, "zh") for number in range(N)]
    scores += [row | {"language": "zh"} for row in scores]
    results = correlated(items, ratings, scores)
    average = find(average_rows(results), averaged_over="languages", dimension="overall", raters="human")
    assert (average["language"], average["n_averaged"]) == ("average", 2)
    english = find(correlation_rows(results), language="en", dimension="overall")
    assert average["pearson"] == pytest.approx(english["pearson"])
    # the same scores on the same resamples: the mean is no surer than one of them
    assert average["pearson_ci_low"] == pytest.approx(english["pearson_ci_low"])
    cells = gather(*as_tables(items, ratings, scores), {"one": "all"})
    between = find(matrix_rows(cells), kind="languages", dimension="overall")
    assert (between["first"], between["second"], between["pearson"]) == ("en", "zh", pytest.approx(1.0))


def test_matrices_have_every_pair_once() -> None:
    cells = gather(*as_tables(*tables({"a": 0.2, "b": 1.0}, ("one",))), {"one": "all"})
    rows = list(matrix_rows(cells))
    dimensions = [r for r in rows if r["kind"] == "dimensions" and r["scorer"] == "a (yes_no)"]
    assert len(dimensions) == 10
    assert all(r["n"] == N for r in dimensions)
    judges = [r for r in rows if r["kind"] == "judges" and r["dimension"] == "overall"]
    assert {(r["first"], r["second"]) for r in judges} == {
        ("a (yes_no)", "b (yes_no)"),
        ("a (yes_no)", "human ratings"),
        ("b (yes_no)", "human ratings"),
    }


def test_an_item_that_is_there_twice_is_refused() -> None:
    items, ratings, scores = tables({"a": 0.2}, ("one",))
    with pytest.raises(ValueError, match="one-0.*twice"):
        gather(*as_tables([*items, items[0]], ratings, scores), {"one": "all"})


def test_scores_of_other_items_are_left_out() -> None:
    items, ratings, scores = tables({"a": 0.2}, ("one",))
    scores.append(score("a", "damaged", 1, "overall", 1.0))
    assert gather(*as_tables(items, ratings, scores), {"one": "all"})[0].scorers == (Scorer("a", "yes_no"),)


def test_a_judge_of_whom_nothing_could_be_read_is_not_passed_over() -> None:
    items, ratings, scores = tables({"mute": 0.5}, ("one",))
    scores = [row | {"value": None, "status": "unparsed"} for row in scores if row["criterion"] != "overall"]
    rows = list(correlation_rows(correlated(items, ratings, scores)))
    assert {row["dimension"] for row in rows} == set(DIMENSIONS) - {"overall"}
    assert all((row["n"], row["n_missing"]) == (0, N) for row in rows)
    assert all("3 are needed" in row["reason"] for row in rows)
