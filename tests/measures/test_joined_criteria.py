"""Judges are asked about one criterion and compared with ratings on another: labelled, and counted once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import pearsonr, spearmanr

from dialeval.measures.average_correlations import average_rows, matrix_rows
from dialeval.measures.correlations import correlate_cells, correlation_rows, pair_rows
from dialeval.measures.ensemble_correlations import Ensembles, dimension_ensemble_rows, model_ensemble_rows
from dialeval.measures.reliability import SingleOpinions, ceiling_rows
from dialeval.measures.score_cells import Cell, Imputed, gather
from dialeval.papers import xdial_eval
from dialeval.tables.dialogues import JUDGEMENTS
from dialeval.tables.files import to_table
from dialeval.tables.metaeval import ITEMS, RATINGS

N = 30
HOW = {"resamples": 20, "confidence": 0.95, "random_seed": 0}
JOINED = {"spoken": {"relevance": "overall"}}
rng = np.random.default_rng(5)
RATED = rng.integers(1, 6, N).astype(float)
SCORED = {
    (judge, name): rng.uniform(size=N) for judge in ("one", "two", "ChatGPT") for name in ("relevance", "overall")
}


def items(corpus: str = "spoken", languages: tuple[str, ...] = ("en",)) -> list[dict[str, Any]]:
    return [
        {"corpus": corpus, "item_id": f"i{n}", "language": language, "level": "turn", "cluster": f"i{n}"}
        | {"speakers": ["human", "chatbot"], "utterances": ["a", "b"]}
        for language in languages
        for n in range(N)
    ]


def ratings(dimension: str = "overall", corpus: str = "spoken", **more: Any) -> list[dict[str, Any]]:
    about = {"corpus": corpus, "dimension": dimension, "rater_kind": "human", "rater": "people"}
    about |= {"scale_min": 1.0, "scale_max": 5.0} | more
    return [about | {"item_id": f"i{n}", "value": value} for n, value in enumerate(RATED)]


def scores(*names: str, judges: tuple[str, ...] = ("one", "two"), **more: Any) -> list[dict[str, Any]]:
    about = {"protocol": "yes_no", "corpus": "spoken", "language": "en", "request_id": "", "repeat": 0, "reason": ""}
    about |= {"scale_min": 0.0, "scale_max": 1.0, "status": "ok"} | more
    return [
        about | {"judge": judge, "criterion": name, "item_id": f"i{n}", "value": float(SCORED[judge, name][n])}
        for judge in judges
        for name in names
        for n in range(N)
    ]


def tables(*rows: list[dict[str, Any]]) -> tuple[pa.Table, ...]:
    return tuple(to_table(kind, part) for kind, part in zip((ITEMS, RATINGS, JUDGEMENTS), rows, strict=True))


def cells(rated: list[dict[str, Any]], scored: list[dict[str, Any]], imputed: Imputed | None = None) -> list[Cell]:
    benchmarks = {"spoken": "all", "other": "all"}
    corpora = {row["corpus"] for row in rated}
    every = [item for corpus in sorted(corpora, reverse=True) for item in items(corpus)]
    more = {"imputed": imputed} if imputed else {}
    return gather(*tables(every, rated, scored), benchmarks, **more, joined=JOINED)


def test_scores_of_a_criterion_are_correlated_with_its_mapped_rating() -> None:
    results = correlate_cells(cells(ratings(), scores("relevance")), **HOW)
    for row in correlation_rows(results):
        assert (row["dimension"], row["rated"]) == ("relevance", "overall")
        assert row["pearson"] == pytest.approx(pearsonr(SCORED[row["judge"], "relevance"], RATED).statistic)
        assert row["spearman"] == pytest.approx(spearmanr(SCORED[row["judge"], "relevance"], RATED).statistic)
    assert [(row["dimension"], row["rated"]) for row in pair_rows(results)] == [("relevance", "overall")]


def test_without_joining_there_is_no_correlation() -> None:
    found = gather(*tables(items(), ratings(), scores("relevance")), {"spoken": "all"})
    assert list(correlation_rows(correlate_cells(found, **HOW))) == []


def test_ratings_that_two_criteria_share_count_once_in_the_mean_over_all() -> None:
    results = correlate_cells(cells(ratings(), scores("relevance", "overall")), **HOW)
    rows = {
        row["dimension"]: row for row in average_rows(results) if row["judge"] == "one" and row["raters"] == "human"
    }
    assert {name: row["rated"] for name, row in rows.items()} == {
        "relevance": "overall", "overall": "overall", "all": "overall", "average": "overall",
    }  # fmt: skip
    assert rows["all"]["pearson"] == rows["relevance"]["pearson"]
    assert rows["all"]["n_averaged"] == 1


def test_a_judge_without_the_mapped_criterion_counts_by_the_rated_one() -> None:
    scored = scores("relevance", judges=("one",)) + scores("overall", judges=("two",))
    averages = list(average_rows(correlate_cells(cells(ratings(), scored), **HOW)))
    found = {(row["judge"], row["dimension"]) for row in averages}
    assert found == {("one", "relevance"), ("one", "all"), ("two", "overall"), ("two", "all")}


def test_a_mean_over_corpora_says_what_was_rated_in_them() -> None:
    rated = ratings() + ratings("relevance", "other")
    scored = scores("relevance") + scores("relevance", corpus="other")
    (row,) = [
        row
        for row in average_rows(correlate_cells(cells(rated, scored), **HOW))
        if (row["judge"], row["dimension"], row["raters"]) == ("one", "relevance", "human")
    ]
    assert (row["rated"], row["n_averaged"]) == ("overall, relevance", 2)
    assert row["pearson"] == pytest.approx(pearsonr(SCORED["one", "relevance"], RATED).statistic)


def test_the_published_numbers_of_the_same_form_stand_beside() -> None:
    scored = scores("relevance", "overall", judges=("ChatGPT",))
    results = correlate_cells(cells(ratings(), scored), **HOW)
    rows = {row["dimension"]: row for row in average_rows(results) if row["raters"] == "human"}
    assert (
        rows["relevance"]["published_pearson"]
        == xdial_eval.published_xdial("ChatGPT", "turn", "en", "pearson")
        == 0.471
    )
    assert (
        rows["relevance"]["published_spearman"]
        == xdial_eval.published_xdial("ChatGPT", "turn", "en", "spearman")
        == 0.479
    )
    plain = gather(*tables(items(), ratings("relevance"), scored), {"spoken": "all"})
    (row,) = [
        row
        for row in average_rows(correlate_cells(plain, **HOW))
        if (row["dimension"], row["raters"]) == ("relevance", "human")
    ]
    assert row["published_spearman"] is None, "comp-analysis, which asks about what was rated, prints no Spearman"


def test_people_are_not_correlated_with_themselves() -> None:
    found = list(matrix_rows(cells(ratings(), scores("relevance", "overall"))))
    of_people = [row for row in found if row["kind"] == "dimensions" and row["scorer"] == "human ratings"]
    assert of_people == []
    beside = [row for row in found if row["kind"] == "judges" and "human ratings" in (row["first"], row["second"])]
    assert {(row["dimension"], row["rated"]) for row in beside} == {("relevance", "overall"), ("overall", "overall")}


def test_ensembles_of_judges_say_what_was_rated() -> None:
    found = list(model_ensemble_rows(cells(ratings(), scores("relevance")), Ensembles(2, **HOW)))
    with_members = [row for row in found if row["members"] and row["raters"] == "human"]
    assert [(row["corpus"], row["dimension"], row["rated"]) for row in with_members] == [
        ("spoken", "relevance", "overall")
    ]
    assert list(dimension_ensemble_rows(cells(ratings(), scores("relevance")), **HOW)) == []


def test_the_ceiling_is_that_of_the_raters_behind_it() -> None:
    singles = [row | {"round": place} for place in (0, 1) for row in ratings()]
    found, scored = [*ratings(), *singles], scores("relevance")
    opinions = SingleOpinions(to_table(RATINGS, found), to_table(JUDGEMENTS, scored))
    results = correlate_cells(cells(found, scored), **HOW, methods=("pearson",))
    rows = list(ceiling_rows(results, opinions))
    assert {(row["dimension"], row["rated"], row["icc"]) for row in rows} == {("relevance", "overall", 1.0)}


def test_who_filled_in_what_is_compared_is_not_compared_with_itself() -> None:
    stood_in = to_table(RATINGS, ratings(rater_kind="model", rater="one"))
    found = cells(ratings("understandability"), scores("relevance"), Imputed(stood_in, ["one"]))
    rows = list(correlation_rows(correlate_cells(found, **HOW)))
    assert [(row["judge"], row["rated"], row["rater_kind"], row["imputed_by"]) for row in rows] == [
        ("two", "overall", "model", "one")
    ]


def test_languages_stand_in_the_papers_order() -> None:
    languages = ("ar", "zh", "it", "en", "ru")
    scored = [row for one in languages for row in scores("relevance", language=one)]
    found = gather(*tables(items(languages=languages), ratings(), scored), {"spoken": "all"}, joined=JOINED)
    assert [cell.language for cell in found] == ["en", "zh", "ar", "ru", "it"]
    rows = [row for row in average_rows(correlate_cells(found, **HOW)) if row["judge"] == "one"]
    assert list(dict.fromkeys(row["language"] for row in rows)) == ["en", "zh", "ar", "ru", "it", "average"]
