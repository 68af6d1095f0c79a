"""What a judge fills in: only what nobody rated, marked, and never a reference for itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import pearsonr

from dialeval.corpora.items import Item, Rating
from dialeval.corpora.rated_sources import Scale, rating_rows, repeated_ratings
from dialeval.measures.average_correlations import average_rows
from dialeval.measures.corpora import annotator_rows, corpus_rows, imputed_ratings
from dialeval.measures.correlations import Candidates, correlate_cells, correlation_rows, pair_rows
from dialeval.measures.ensemble_correlations import Ensembles, dimension_ensemble_rows, model_ensemble_rows
from dialeval.measures.reliability import SingleOpinions, ceiling_rows
from dialeval.measures.score_cells import Imputed, gather
from dialeval.tables.dialogues import JUDGEMENTS
from dialeval.tables.files import to_table
from dialeval.tables.metaeval import (
    AVERAGES,
    CEILINGS,
    CORRELATIONS,
    DIMENSION_ENSEMBLE,
    ITEMS,
    JUDGE_PAIRS,
    MODEL_ENSEMBLE,
    RATINGS,
)

N, ROUNDS = 30, 5
SCALE = Scale(1.0, 5.0)
DIMENSIONS = ("coherence", "diversity", "overall")
HOW: dict[str, Any] = {"resamples": 40, "confidence": 0.95, "random_seed": 0}
rng = np.random.default_rng(5)
TRUE = rng.normal(size=(len(DIMENSIONS), N))


def items(*languages: str) -> list[dict[str, Any]]:
    about = {"corpus": "mine", "level": "dialogue", "speakers": ["a"], "utterances": ["hm"]}
    return [
        about | {"item_id": f"i{n}", "cluster": f"i{n}", "language": language}
        for language in languages or ("en",)
        for n in range(N)
    ]


def scores(judge: str, repeats: int, seed: int, language: str = "en", method: str = "rating") -> list[dict[str, Any]]:
    draw = np.random.default_rng(seed)
    about = {"judge": judge, "protocol": method, "corpus": "mine", "language": language, "request_id": "", "reason": ""}
    about |= {"scale_min": 1.0, "scale_max": 5.0, "status": "ok"}
    values = np.clip(np.round(3 + TRUE[:, :, np.newaxis] + draw.normal(size=(*TRUE.shape, repeats))), 1, 5)
    return [
        about
        | {"criterion": name, "item_id": f"i{n}", "repeat": k, "value": float(values[d, n, k])}
        for d, name in enumerate(DIMENSIONS)
        for n in range(N)
        for k in range(repeats)
    ]  # fmt: skip


def by_people(dimension: str = "overall") -> list[Rating]:
    return [
        rating
        for n in range(N)
        for rating in repeated_ratings(
            ("mine", f"i{n}", dimension), ("human", "people"), [float(np.clip(round(3 + TRUE[2, n]), 1, 5)), 3.0], SCALE
        )
    ]


def imputed(judged: list[dict[str, Any]], rated: set[tuple[str, str]], **wanted: list[str]) -> list[Rating]:
    return list(imputed_ratings("gpt", items(), rated, judged, wanted))


def test_every_repeat_and_the_mean_on_unrated_items() -> None:
    judged = scores("gpt", ROUNDS, 1)
    judged[0]["value"] = None
    found = imputed(judged, {("mine", "overall")})
    assert {rating.dimension for rating in found} == {"coherence", "diversity"}
    assert {(rating.rater_kind, rating.rater) for rating in found} == {("model", "gpt")}
    first = [rating for rating in found if (rating.item_id, rating.dimension) == ("i0", "coherence")]
    assert [rating.round for rating in first] == [1, 2, 3, 4, None]
    assert first[-1].value == pytest.approx(np.mean([row["value"] for row in judged[1:ROUNDS]]))
    assert (first[-1].n_raters, first[-1].scale_min, first[-1].scale_max) == (4, 1.0, 5.0)


def test_what_anybody_rated_is_left_alone_and_other_items_are_passed_over() -> None:
    judged = scores("gpt", 2, 1)
    assert imputed(judged, {("mine", name) for name in DIMENSIONS}) == []
    elsewhere = [row | {"corpus": "damaged"} for row in judged] + [row | {"item_id": "i99"} for row in judged]
    assert imputed(elsewhere, set()) == []
    assert {rating.dimension for rating in imputed(judged, set(), mine=["coherence"])} == {"coherence"}
    lost = [row | {"value": None} for row in judged]
    assert imputed(lost, set()) == []


def test_one_language_counts_english_or_the_first() -> None:
    german, english = scores("gpt", 2, 1, "de"), scores("gpt", 2, 2)
    values = {
        languages: next(imputed_ratings("gpt", items(*languages), set(), german + english, {})).value
        for languages in (("de", "en"), ("de", "fr"))
    }
    assert values["de", "en"] == english[0]["value"]
    assert values["de", "fr"] == german[0]["value"]


class Run:
    """Tables of a run in which `gpt` fills in, `other` judges too, and `both` is their mean."""

    def __init__(self) -> None:
        judged = scores("gpt", ROUNDS, 1) + scores("gpt", 1, 2, method="yes_no") + scores("other", 1, 3)
        judged += scores("both", 1, 4)
        self.rated = by_people()
        self.imputed = imputed([row for row in judged if row["judge"] == "gpt" and row["protocol"] == "rating"],
                             {("mine", "overall")})  # fmt: skip
        self.ratings = to_table(RATINGS, rating_rows(self.rated))
        self.stood_in = Imputed(to_table(RATINGS, rating_rows(self.imputed)), ["gpt", "both"])
        self.judged = to_table(JUDGEMENTS, judged)
        self.cells = gather(to_table(ITEMS, items()), self.ratings, self.judged, {"mine": "all"}, self.stood_in)
        self.results = correlate_cells(self.cells, **HOW)


@pytest.fixture(scope="module")
def run() -> Run:
    return Run()


def test_a_judge_is_not_compared_with_what_it_imputed_dimensions(run: Run) -> None:
    rows = to_table(CORRELATIONS, correlation_rows(run.results)).to_pylist()
    with_people = {(row["judge"], row["method"]) for row in rows if row["rater_kind"] == "human"}
    assert with_people == {("gpt", "rating"), ("gpt", "yes_no"), ("other", "rating"), ("both", "rating")}
    on_imputed = [row for row in rows if row["rater_kind"] == "model"]
    assert {(row["judge"], row["dimension"], row["imputed_by"]) for row in on_imputed} == {
        ("other", "coherence", "gpt"),
        ("other", "diversity", "gpt"),
    }
    assert {row["imputed_by"] for row in rows if row["rater_kind"] == "human"} == {None}
    means = {r.item_id: r.value for r in run.imputed if r.round is None and r.dimension == "coherence"}
    own = [row for row in run.judged.to_pylist() if (row["judge"], row["criterion"]) == ("other", "coherence")]
    expected = pearsonr([row["value"] for row in own], [means[row["item_id"]] for row in own]).statistic
    (row,) = [row for row in on_imputed if row["dimension"] == "coherence"]
    assert row["pearson"] == pytest.approx(expected)


def test_filled_in_ratings_make_no_judge_of_their_own(run: Run) -> None:
    (cell,) = run.cells
    assert {scorer.method for scorer in cell.scorers} == {"rating", "yes_no"}


def test_averages_count_what_was_imputed_dimensions(run: Run) -> None:
    rows = to_table(AVERAGES, average_rows(run.results)).to_pylist()
    over_dimensions = {
        (row["judge"], row["raters"]): (row["n_averaged"], row["n_imputed"])
        for row in rows
        if row["dimension"] == "average" and row["method"] == "rating"
    }
    assert over_dimensions == {("other", "full"): (3, 2)}
    people = [row for row in rows if row["raters"] == "human"]
    assert people
    assert {row["n_imputed"] for row in people} == {0}


def test_no_printed_number_stands_beside_all_dimensions_with_filled_in_ones(run: Run) -> None:
    as_papers = {"other": "LLaMA-2-7B"}
    rows = [row for row in average_rows(run.results, as_papers) if (row["judge"], row["dimension"]) == ("other", "all")]
    printed = {row["raters"]: row["published_pearson"] for row in rows}
    assert printed["human"] is not None
    assert printed["full"] is None


def test_pairs_and_ensembles_leave_the_judge_out_and_say_who_imputed_dimensions(run: Run) -> None:
    pairs = to_table(JUDGE_PAIRS, pair_rows(run.results)).to_pylist()
    assert {row["rater_kind"] for row in pairs} == {"human"}  # of the others, one alone is left where gpt filled in
    how = Ensembles(2, Candidates(["both"]), **HOW)
    rows = to_table(MODEL_ENSEMBLE, model_ensemble_rows(run.cells, how)).to_pylist()
    of = {row["dimension"]: row for row in rows if (row["chosen_on"], row["raters"]) == ("all corpora", "full")}
    assert (of["overall"]["imputed_by"], of["coherence"]["imputed_by"]) == (None, "gpt")
    assert "gpt" in of["overall"]["members"]
    assert of["coherence"]["members"] == "other (rating)"


def test_an_overall_that_was_filled_in_is_no_reference_for_the_judges_own_dimensions() -> None:
    judged = scores("gpt", 2, 1) + scores("other", 1, 3)
    stood_in = imputed([row for row in judged if row["judge"] == "gpt"], {("mine", "coherence")})
    cells = gather(
        to_table(ITEMS, items()),
        to_table(RATINGS, rating_rows(by_people("coherence"))),
        to_table(JUDGEMENTS, judged),
        {"mine": "all"},
        Imputed(to_table(RATINGS, rating_rows(stood_in)), ["gpt"]),
    )
    (row,) = to_table(DIMENSION_ENSEMBLE, dimension_ensemble_rows(cells, **HOW)).to_pylist()
    assert (row["judge"], row["rater_kind"], row["imputed_by"]) == ("other", "model", "gpt")


def test_ceilings_of_what_was_filled_in_are_those_of_the_rounds(run: Run) -> None:
    opinions = SingleOpinions(run.ratings, run.judged, run.stood_in.ratings)
    rows = to_table(CEILINGS, ceiling_rows(run.results, opinions)).to_pylist()
    on_imputed = [row for row in rows if row["rater_kind"] == "model"]
    assert {(row["judge"], row["imputed_by"]) for row in on_imputed} == {("other", "gpt")}
    assert all(row["n_raters"] == pytest.approx(ROUNDS) and 0.5 < row["ceiling"] < 1.0 for row in on_imputed)


def test_tables_of_corpora_name_what_was_imputed_dimensions(run: Run) -> None:
    corpus = [Item("mine", f"i{n}", "en", "dialogue", f"i{n}", ("a",), ("hm",)) for n in range(N)]
    (row,) = corpus_rows(corpus, run.rated, imputed=run.imputed)
    assert (row["human_dimensions"], row["model_dimensions"]) == ("overall", "")
    assert row["imputed_dimensions"] == "coherence, diversity"
    (plain,) = corpus_rows(corpus, run.rated)
    assert plain["imputed_dimensions"] is None
    agreement = annotator_rows(corpus, [*run.rated, *run.imputed], resamples=5)
    assert {(row["rater"], row["dimension"], row["n_rounds"]) for row in agreement if row["rater_kind"] == "model"} == {
        ("gpt", "coherence", ROUNDS),
        ("gpt", "diversity", ROUNDS),
    }


def test_a_corpus_without_any_filling_is_as_it_was(run: Run) -> None:
    plain = gather(to_table(ITEMS, items()), run.ratings, run.judged, {"mine": "all"})
    assert isinstance(run.stood_in.ratings, pa.Table)
    (cell,) = plain
    assert cell.imputed_by == {}
    assert not cell.own.any()
    rows = {row["judge"]: row["pearson"] for row in correlation_rows(correlate_cells(plain, **HOW))}
    with_imputed = {
        row["judge"]: row["pearson"] for row in correlation_rows(run.results) if row["rater_kind"] == "human"
    }
    assert rows == with_imputed
