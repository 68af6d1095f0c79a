"""Ensembles of dimensions and of the best judges: who is in them, and what they are correlated with."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from correlated_judges import DIMENSIONS, HOW, QUALITY, N, as_tables, find, rating, tables
from scipy.stats import pearsonr

from dialeval.measures.correlations import Candidates
from dialeval.measures.ensemble_correlations import Ensembles, dimension_ensemble_rows, model_ensemble_rows
from dialeval.measures.score_cells import Cell, gather
from dialeval.papers.comp_analysis import published_ensemble, systems
from dialeval.tables.metaeval import DIMENSION_ENSEMBLE, MODEL_ENSEMBLE

NAMED = Candidates(["named"])
PAPERS = {"Tulu-13B": 0.5, "Baize-v2-13B": 0.6, "Vicuna-7B": 0.7}
"""Three open models of the paper, and the noise through which they see the quality."""
Row = dict[str, Any]


def cells_of(items: list[Row], ratings: list[Row], scores: list[Row]) -> list[Cell]:
    return gather(*as_tables(items, ratings, scores), {row["corpus"]: "all" for row in items})


def half_rated(noise: dict[str, float]) -> list[Cell]:
    """Corpus one is rated by people, corpus two by a model alone."""
    items, ratings, scores = tables(noise)
    ratings = [row if row["corpus"] == "one" else row | {"rater_kind": "model", "rater": "gpt-4"} for row in ratings]
    return cells_of(items, ratings, scores)


def test_a_dimension_ensemble_leaves_overall_out() -> None:
    items, ratings, scores = tables({"good": 0.5}, ("one",))
    row = find(dimension_ensemble_rows(cells_of(items, ratings, scores), **HOW), corpus="one")
    by_dimension = {d: np.array([r["value"] for r in scores if r["criterion"] == d]) for d in DIMENSIONS}
    overall = [r["value"] for r in ratings if r["dimension"] == "overall"]
    mean = np.mean([by_dimension[d] for d in DIMENSIONS[:4]], axis=0)
    assert row["ensemble"] == pytest.approx(pearsonr(mean, overall).statistic)
    assert row["direct"] == pytest.approx(pearsonr(by_dimension["overall"], overall).statistic)


def test_dimension_ensembles_are_averaged_over_what_people_rated_and_over_all() -> None:
    rows = list(dimension_ensemble_rows(half_rated({"gpt-3.5": 0.5}), {"gpt-3.5": "ChatGPT"}, **HOW))
    one, two = (find(rows, corpus=corpus) for corpus in ("one", "two"))
    assert (one["rater_kind"], two["rater_kind"]) == ("human", "model")
    human, full = (find(rows, corpus="average", rater_kind=raters) for raters in ("human", "full"))
    for column in ("ensemble", "direct"):
        assert human[column] == pytest.approx(one[column])
        assert full[column] == pytest.approx((one[column] + two[column]) / 2)
    # Table 8 is of the full data; Table 6 has what ChatGPT reached directly with people's ratings alone
    assert (full["published_ensemble"], full["published_direct"]) == (0.709, 0.707)
    assert (human.get("published_ensemble"), human["published_direct"]) == (None, 0.715)


def test_a_model_ensemble_is_chosen_on_all_corpora_or_on_the_others() -> None:
    items, ratings, scores = tables({"a": 0.5, "b": 0.6, "c": 3.0})
    for row in scores:  # b knows nothing of corpus two
        if row["judge"] == "b" and row["corpus"] == "two":
            row["value"] = -row["value"]
    rows = [
        row for row in model_ensemble_rows(cells_of(items, ratings, scores), Ensembles(2, **HOW))
        if row["raters"] == "human"
    ]  # fmt: skip
    on_others = find(rows, corpus="two", dimension="overall", chosen_on="other corpora")
    assert on_others["members"] == "a (yes_no), b (yes_no)"  # as corpus one has it
    on_others = find(rows, corpus="one", dimension="overall", chosen_on="other corpora")
    assert on_others["members"] == "a (yes_no), c (yes_no)"
    average = find(rows, corpus="average", dimension="overall", chosen_on="all corpora")
    parts = [r["pearson"] for r in rows if r["dimension"] == "overall" and r["chosen_on"] == "all corpora"]
    assert average["pearson"] == pytest.approx(np.mean(parts[:2]))
    assert average["members"] == "a (yes_no), c (yes_no)"
    averaged = find(rows, corpus="average", dimension="overall", chosen_on="other corpora")
    assert averaged["members"] == ""  # others in either corpus


def test_the_mean_over_dimensions_is_that_of_the_means_over_corpora() -> None:
    rows = list(model_ensemble_rows(cells_of(*tables({"a": 0.5, "b": 0.6})), Ensembles(2, **HOW)))
    about = {"corpus": "average", "raters": "full", "chosen_on": "all corpora"}
    parts = [find(rows, dimension=name, **about)["pearson"] for name in DIMENSIONS]
    mean = find(rows, dimension="average", **about)
    assert mean["pearson"] == pytest.approx(np.mean(parts))
    assert mean["pearson_ci_low"] < mean["pearson"] < mean["pearson_ci_high"]
    assert mean["rated"] == ", ".join(DIMENSIONS)


def test_every_row_fills_every_column_that_must_not_be_empty() -> None:
    cells = half_rated({"a": 0.5, "b": 0.6, "c": 0.7})
    for kind, rows in (
        (MODEL_ENSEMBLE, list(model_ensemble_rows(cells, Ensembles(2, **HOW)))),
        (DIMENSION_ENSEMBLE, list(dimension_ensemble_rows(cells, **HOW))),
    ):
        required = [column.name for column in kind.schema if not column.nullable]
        assert len({row["corpus"] for row in rows}) == 3
        assert {name for row in rows for name in required if row.get(name) is None} == set(), kind.name


def test_a_mean_over_fewer_dimensions_says_so() -> None:
    items, ratings, scores = tables({"a": 0.5, "b": 0.6}, ("one",))
    scores = [row for row in scores if (row["judge"], row["criterion"]) != ("b", "diversity")]
    rows = list(model_ensemble_rows(cells_of(items, ratings, scores), Ensembles(2, **HOW)))
    mean = find(rows, dimension="average", raters="human", chosen_on="all corpora")
    assert mean["reason"] == "mean of 4 of 5 dimensions: the other dimensions have no ensemble"


def test_judges_are_chosen_by_people_alone_and_by_all() -> None:
    cells = half_rated({"a": 0.5, "b": 1.0, "c": 2.0})
    (two,) = [cell for cell in cells if cell.corpus == "two"]
    place = next(n for n, scorer in enumerate(two.scorers) if scorer.judge == "a")
    two.scores[place] = 1 - two.scores[place]  # in the model's view a is wrong about everything
    rows = list(model_ensemble_rows(cells, Ensembles(1, **HOW)))
    where = {"dimension": "coherence", "chosen_on": "all corpora"}
    assert find(rows, corpus="one", raters="human", **where)["members"] == "a (yes_no)"
    assert find(rows, corpus="one", raters="full", **where)["members"] == "b (yes_no)"
    assert not [row for row in rows if (row["corpus"], row["raters"]) == ("two", "human")]
    human, full = (find(rows, corpus="average", raters=raters, **where) for raters in ("human", "full"))
    assert human["pearson"] == pytest.approx(find(rows, corpus="one", raters="human", **where)["pearson"])
    assert full["n"] == 2 * N


def test_an_ensemble_without_another_corpus_says_so() -> None:
    rows = list(model_ensemble_rows(cells_of(*tables({"a": 0.5, "b": 0.6}, ("one",))), Ensembles(2, **HOW)))
    row = find(rows, dimension="overall", raters="human", chosen_on="other corpora")
    assert "pearson" not in row
    assert row["reason"] == "only 0 of 2 judges have scores for the selection and for the ensemble"
    assert not [row for row in rows if row["corpus"] == "average" and row["dimension"] != "average"]


def test_a_known_reference_stands_apart_from_people() -> None:
    items, ratings, scores = tables({"a": 0.5, "b": 0.6})
    ratings = [row | ({"rater_kind": "construction"} if row["corpus"] == "two" else {}) for row in ratings]
    rows = list(model_ensemble_rows(cells_of(items, ratings, scores), Ensembles(2, **HOW)))
    corpora = {raters: {row["corpus"] for row in rows if row["raters"] == raters} for raters in ("human", "full")}
    assert corpora == {"human": {"one", "average"}, "full": {"one", "average"}}
    assert {row["corpus"] for row in rows if row["raters"] == "construction"} == {"two"}


def test_a_judge_by_two_methods_is_one_member_and_an_ensemble_is_none() -> None:
    items, ratings, scores = tables({"a": 0.5, "b": 2.0, "c": 3.0, "named": 0.1}, ("one",))
    scores += [row | {"protocol": "rating"} for row in scores if row["judge"] == "a"]
    cells = cells_of(items, ratings, scores)
    where = {"dimension": "overall", "raters": "human", "chosen_on": "all corpora"}
    assert find(model_ensemble_rows(cells, Ensembles(2, NAMED, **HOW)), **where)["members"] == "a (rating), b (yes_no)"
    row = find(model_ensemble_rows(cells, Ensembles(4, NAMED, **HOW)), **where)
    assert row["reason"] == "only 3 of 4 judges have scores for the selection and for the ensemble"


def test_a_model_under_two_names_is_one_member() -> None:
    cells = cells_of(*tables({"a": 0.5, "a-too": 0.6, "b": 3.0}, ("one",)))
    how = Ensembles(2, Candidates(models={"a": "a", "a-too": "a"}), **HOW)
    where = {"dimension": "overall", "raters": "human", "chosen_on": "all corpora"}
    assert find(model_ensemble_rows(cells, how), **where)["members"] == "a (yes_no), b (yes_no)"


def test_members_are_of_the_pool() -> None:
    cells = cells_of(*tables({"a": 0.2, "b": 0.6, "c": 3.0}, ("one",)))
    where = {"dimension": "overall", "raters": "human", "chosen_on": "all corpora"}
    row = find(model_ensemble_rows(cells, Ensembles(2, Candidates(pool=["c", "b"]), **HOW)), **where)
    assert row["members"] == "b (yes_no), c (yes_no)"
    mean = np.mean([cells[0].scores[n, 4] for n, scorer in enumerate(cells[0].scorers) if scorer.judge != "a"], axis=0)
    assert row["pearson"] == pytest.approx(pearsonr(mean, QUALITY["one"][4]).statistic)


def test_the_papers_number_stands_beside_three_of_its_open_models() -> None:
    def printed(noise: dict[str, float], **more: Any) -> dict[str, float | None]:
        rows = model_ensemble_rows(cells_of(*tables(noise)), Ensembles(len(noise), **HOW, **more))
        about = {"corpus": "average", "raters": "full", "chosen_on": "all corpora"}
        means = [row for row in rows if all(row[name] == value for name, value in about.items())]
        return {row["dimension"]: row["published_pearson"] for row in means}

    table_9 = dict(zip((*DIMENSIONS, "average"), (0.700, 0.725, 0.492, 0.610, 0.686, 0.643), strict=True))
    assert printed(PAPERS) == table_9
    assert set(printed(PAPERS | {"ChatGPT": 0.5}).values()) == {None}  # four
    with_chatgpt = {"ChatGPT": 0.5, "Tulu-13B": 0.5, "Vicuna-7B": 0.7}
    assert set(printed(with_chatgpt).values()) == {None}
    mine = {"x": 0.5, "Baize-v2-13B": 0.6, "Vicuna-7B": 0.7}
    assert set(printed(mine).values()) == {None}
    assert printed(mine, published_as={"x": "Tulu-13B"}) == table_9


def test_table_9_is_the_papers() -> None:
    for level, average in (("turn", 0.496), ("dialogue", 0.643)):
        dimensions = ("relevance", "specificity", "interestingness", "understandability", "overall")
        values = [published_ensemble(level, name) for name in (dimensions if level == "turn" else DIMENSIONS)]
        assert published_ensemble(level, "average") == average
        assert np.mean([float(value) for value in values if value is not None]) == pytest.approx(average, abs=0.001)
        assert None not in values
    assert "Ensemble" not in systems()


def test_a_rating_that_a_judge_lacks_leaves_the_mean_without_a_score() -> None:
    items, ratings, scores = tables({"a": 0.5, "b": 0.6}, ("one",))
    scores = [row | ({"value": None} if row["item_id"] == "one-0" and row["judge"] == "a" else {}) for row in scores]
    ratings = [*ratings, rating("one", 0, "coherence", 1.0, rater_kind="model", rater="gpt-4")]
    row = find(
        model_ensemble_rows(cells_of(items, ratings, scores), Ensembles(2, **HOW)),
        dimension="coherence", raters="human", chosen_on="all corpora", corpus="one",
    )  # fmt: skip
    assert row["n"] == N - 1


def test_no_ensemble_is_chosen_by_ratings_of_a_members_own_name() -> None:
    items, ratings, scores = tables({"gpt-4": 0.1, "a": 0.5, "b": 1.0}, ("one", "two"))
    cells = cells_of(items, [row | {"rater_kind": "model", "rater": "GPT-4"} for row in ratings], scores)
    rows = [row for row in model_ensemble_rows(cells, Ensembles(2, resamples=0)) if row["corpus"] == "one"]
    assert {row["members"] for row in rows} == {"a (yes_no), b (yes_no)"}
    assert {row["judge"] for row in dimension_ensemble_rows(cells, **HOW)} == {"a", "b"}
