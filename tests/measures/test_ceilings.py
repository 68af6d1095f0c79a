"""Ceilings from tables: whose single ratings count, on which items, and what is said where none are known."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dialeval.corpora import comp_analysis, rated_files
from dialeval.corpora.items import Rating, item_rows
from dialeval.corpora.rated_sources import Scale, rating_rows, repeated_ratings
from dialeval.corpora.text_files import read_json
from dialeval.measures.correlations import correlate_cells, correlation_rows
from dialeval.measures.reliability import MEANS_ALONE, SingleOpinions, ceiling_rows
from dialeval.measures.score_cells import gather
from dialeval.stats.reliability import ALL_ALIKE, NO_AGREEMENT, reliability
from dialeval.tables.dialogues import JUDGEMENTS
from dialeval.tables.files import to_table
from dialeval.tables.metaeval import CEILINGS, ITEMS, RATINGS

N, K = 60, 4
SCALE = Scale(-99.0, 99.0)
rng = np.random.default_rng(11)
TRUE = rng.normal(size=N)
RATED = TRUE[:, np.newaxis] + 1.5 * rng.normal(size=(N, K))


def items(language: str = "en", per_cluster: int = 2) -> list[dict[str, Any]]:
    about = {"corpus": "mine", "language": language, "level": "dialogue", "speakers": ["a"], "utterances": ["hm"]}
    return [about | {"item_id": f"i{n}", "cluster": f"c{n // per_cluster}"} for n in range(N)]


def by_people(values: np.ndarray = RATED, dimension: str = "overall") -> list[Rating]:
    return [
        rating
        for n, row in enumerate(values)
        for rating in repeated_ratings(("mine", f"i{n}", dimension), ("human", "people"), row.tolist(), SCALE)
    ]


def scores(judge: str, values: np.ndarray, dimension: str = "overall", language: str = "en") -> list[dict[str, Any]]:
    """Rows of a judge's values, shape [n_items] or [n_items, n_repeats]; NaN could not be read."""
    about = {"judge": judge, "protocol": "rating", "corpus": "mine", "language": language, "criterion": dimension}
    about |= {"request_id": "", "reason": "", "scale_min": -99.0, "scale_max": 99.0}
    return [
        about | {"item_id": f"i{n}", "repeat": repeat}
        | {"value": None if math.isnan(value) else float(value), "status": "unparsed" if math.isnan(value) else "ok"}
        for n, row in enumerate(values.reshape(N, -1))
        for repeat, value in enumerate(row)
    ]  # fmt: skip


def rows(
    ratings: list[Rating],
    judged: list[dict[str, Any]],
    languages: tuple[str, ...] = ("en",),
    resamples: int = 50,
    per_cluster: int = 2,
) -> list[dict[str, Any]]:
    asked = [row for language in languages for row in items(language, per_cluster)]
    tables = to_table(ITEMS, asked), to_table(RATINGS, rating_rows(ratings)), to_table(JUDGEMENTS, judged)
    how = {"resamples": resamples, "confidence": 0.95, "random_seed": 0}
    results = correlate_cells(gather(*tables, {"mine": ""}), **how)  # type: ignore[arg-type]
    found = list(ceiling_rows(results, SingleOpinions(*tables[1:])))
    key = ("judge", "language", "dimension", "rater_kind")
    pearson = {tuple(row[name] for name in key): row["pearson"] for row in correlation_rows(results)}
    for row in found:  # the correlation is the other table's
        assert row["pearson"] == pytest.approx(pearson[tuple(row[name] for name in key)], nan_ok=True)
    return to_table(CEILINGS, found).to_pylist()


def plain(values: np.ndarray, rater: np.ndarray | None = None) -> Any:
    item, _ = np.nonzero(~np.isnan(values))
    return reliability(values[~np.isnan(values)], item, np.arange(len(values)) // 2, rater)


def test_reliability_ceiling_and_corrected_correlation_of_one_judge() -> None:
    (row,) = rows(by_people(), scores("judge", TRUE))
    expected = plain(RATED)
    assert row["icc"] == pytest.approx(expected.icc.estimate)
    assert row["reliability"] == pytest.approx(expected.mean.estimate)
    assert row["ceiling"] == pytest.approx(expected.mean.estimate**0.5)
    assert row["disattenuated"] == pytest.approx(min(1.0, row["pearson"] / row["ceiling"]))
    assert (row["n"], row["n_clusters"], row["n_raters"]) == (N, N // 2, K)
    assert row["ceiling_ci_low"] < row["ceiling"] < row["ceiling_ci_high"]
    assert (row["judge_reliability"], row["n_repeats"]) == (None, None)


def test_the_order_of_ratings_and_rows_does_not_matter() -> None:
    ratings = by_people()
    (row,), (other,) = (rows(part, scores("judge", TRUE)) for part in (ratings, ratings[::-1]))
    assert other == {name: pytest.approx(value) if isinstance(value, float) else value for name, value in row.items()}


def test_only_items_that_the_judge_scored_count() -> None:
    missing = np.where(np.arange(N) < 20, np.nan, TRUE)
    whole, part = rows(by_people(), scores("whole", TRUE) + scores("part", missing))
    assert (whole["n"], part["n"]) == (N, N - 20)
    assert part["icc"] == pytest.approx(plain(RATED[20:]).icc.estimate)
    assert part["icc"] != pytest.approx(whole["icc"])


def test_named_raters_are_separate() -> None:
    harsh = RATED + np.array([0.0, 3.0, -3.0, 6.0])
    named = [
        Rating("mine", f"i{n}", "overall", "human", f"rater {k}", None, float(harsh[n, k]), None, *SCALE)
        for n in range(N)
        for k in range(K)
    ]
    (row,) = rows(named, scores("judge", TRUE))
    (anonymous,) = rows(by_people(harsh), scores("judge", TRUE))
    expected = plain(harsh, np.tile(np.arange(K), N))
    assert row["icc"] == pytest.approx(expected.icc.estimate)
    assert row["reliability"] == pytest.approx(expected.mean.estimate)
    assert row["reliability"] > 0.5 > anonymous["reliability"]  # severity is no error where all rated all


def test_names_in_a_file_of_ones_own_tell_raters_apart(tmp_path: Path) -> None:
    lines = [
        {
            "item_id": f"i{n}",
            "dialogue": ["Hello.", f"What of number {n}?"],
            "scale": [-99, 99],
            "ratings": {"overall": [{"value": float(v), "rater": f"rater {k}"} for k, v in enumerate(row)]},
        }
        for n, row in enumerate(RATED)
    ]
    (tmp_path / "mine.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    reading = rated_files.read_rated_lines("mine", tmp_path / "mine.jsonl")
    (row,) = rows(reading.ratings, scores("judge", TRUE))
    assert row["icc"] == pytest.approx(plain(RATED, np.tile(np.arange(K), N)).icc.estimate)
    assert row["n_raters"] == pytest.approx(K)


def test_fed_dial_leaves_room_for_less_than_one(real_data: Path) -> None:
    """Five people rated each dialogue; GPT-4's ratings came with the corpus (comp-analysis, Table 6)."""
    path = real_data / "comp-analysis/dialog_level_texts/fed-dial_text.txt"
    if not path.exists():
        pytest.skip(f"the public file {path.name} is not in shared/data")
    reading = comp_analysis.read_dialogues("FED-Dial", path)
    ratings = to_table(RATINGS, rating_rows(reading.ratings))
    judged = to_table(JUDGEMENTS, [])
    cells = gather(to_table(ITEMS, item_rows(reading.items)), ratings, judged, {"FED-Dial": ""})
    results = correlate_cells(cells, resamples=200, confidence=0.95, random_seed=0, methods=("pearson",))
    found = {row["dimension"]: row for row in ceiling_rows(results, SingleOpinions(ratings, judged))}
    assert set(found) == {"coherence", "engagingness", "diversity", "informativeness", "overall"}
    assert all(row["judge"] == "gpt-4" and row["n_raters"] == pytest.approx(5) for row in found.values())
    values = np.array(
        [entry["annotations"]["Overall"] for entry in read_json(path.parent / "fed_human_annotations.json")]
    )
    between, within = values.mean(axis=1).var(ddof=1), values.var(axis=1, ddof=1).mean()
    assert found["overall"]["ceiling"] == pytest.approx((1 - within / 5 / between) ** 0.5)
    for row in found.values():
        assert row["pearson"] < row["disattenuated"] < 1.0
        assert row["ceiling"] < row["judge_reliability"] ** 0.5  # GPT-4 agrees with itself better than five people do


def test_repeats_of_a_judge() -> None:
    repeated = TRUE[:, np.newaxis] + 0.5 * rng.normal(size=(N, 3))
    repeated[4, 1] = np.nan
    (row,) = rows(by_people(), scores("judge", repeated))
    expected = plain(repeated)
    assert row["judge_reliability"] == pytest.approx(expected.mean.estimate)
    assert row["n_repeats"] == pytest.approx(N / ((N - 1) / 3 + 1 / 2))


def test_means_alone_say_so_and_have_no_row_without_repeats() -> None:
    means = [rating for rating in by_people() if rating.round is None]
    assert rows(means, scores("judge", TRUE)) == []
    (row,) = rows(means, scores("judge", TRUE[:, np.newaxis] + rng.normal(size=(N, 2))))
    assert (row["ceiling"], row["icc"], row["note"]) == (None, None, MEANS_ALONE)
    assert row["judge_reliability"] > 0.3


def test_means_alone_are_the_reason_of_a_missing_ceiling_of_a_single_dialogue_too() -> None:
    means = [rating for rating in by_people() if rating.round is None]
    (row,) = rows(means, scores("judge", TRUE[:, np.newaxis] + rng.normal(size=(N, 2))), per_cluster=N)
    assert (row["n_clusters"], row["ceiling"], row["note"]) == (1, None, MEANS_ALONE)


def test_some_items_with_a_mean_alone_are_counted_in_the_note() -> None:
    ratings = [rating for rating in by_people() if rating.round is None or int(rating.item_id[1:]) >= 10]
    (row,) = rows(ratings, scores("judge", TRUE + rng.normal(size=N)))
    assert row["note"] == "10 items with only a mean are assumed to have as many raters as the other items"
    assert row["n"] == N


def test_uneven_numbers_of_raters() -> None:
    values = RATED.copy()
    values[rng.random((N, K)) < 0.3] = np.nan
    values[:, 0] = RATED[:, 0]
    ratings = [
        rating
        for n, row in enumerate(values)
        for rating in repeated_ratings(
            ("mine", f"i{n}", "overall"), ("human", "people"), [None if np.isnan(v) else v for v in row], SCALE
        )
    ]
    (row,) = rows(ratings, scores("judge", TRUE))
    assert row["n_raters"] == pytest.approx(N / (1 / (~np.isnan(values)).sum(axis=1)).sum())
    assert row["reliability"] == pytest.approx(plain(values).mean.estimate)


def test_a_models_rounds_are_a_reference_and_a_judge() -> None:
    rounds = TRUE[:, np.newaxis] + 0.3 * rng.normal(size=(N, 5))
    by_model = [
        rating
        for n, row in enumerate(rounds)
        for rating in repeated_ratings(("mine", f"i{n}", "overall"), ("model", "gpt-4"), row.tolist(), SCALE)
    ]
    found = {(row["judge"], row["rater_kind"]): row for row in rows(by_people() + by_model, scores("judge", TRUE))}
    assert set(found) == {("gpt-4", "human"), ("judge", "human"), ("judge", "model")}
    own = plain(rounds).mean.estimate
    assert found["gpt-4", "human"]["judge_reliability"] == pytest.approx(own)
    assert found["judge", "model"]["reliability"] == pytest.approx(own)
    assert found["judge", "model"]["n_raters"] == pytest.approx(5)


def test_every_language_has_the_raters_and_its_own_scores() -> None:
    noisy = TRUE + rng.normal(size=N)
    judged = scores("judge", TRUE) + scores("judge", noisy, language="de")
    english, german = rows(by_people(), judged, ("en", "de"))
    assert (english["language"], german["language"]) == ("en", "de")
    assert english["ceiling_ci_low"] == german["ceiling_ci_low"]
    assert english["pearson"] > german["pearson"]


def test_raters_who_do_not_agree() -> None:
    against = rng.normal(size=(N, 2))
    against[:, 1] = -against[:, 0] + 0.1 * rng.normal(size=N)
    (row,) = rows(by_people(against), scores("judge", TRUE))
    assert (row["ceiling"], row["disattenuated"], row["note"]) == (0.0, None, NO_AGREEMENT)
    assert row["reliability"] < 0


def test_a_judge_without_a_correlation_says_why() -> None:
    (row,) = rows(by_people(), scores("judge", np.ones(N)))
    assert (row["pearson"], row["disattenuated"], row["note"]) == (None, None, "all scores are the same")
    assert row["ceiling"] is not None


def test_a_judge_that_answers_alike_each_time_is_reported() -> None:
    (row,) = rows(by_people(), scores("judge", np.repeat(TRUE[:, np.newaxis] + rng.normal(size=(N, 1)), 3, axis=1)))
    assert row["judge_reliability"] == pytest.approx(1.0)
    assert row["note"] == f"repeats of the judge: {ALL_ALIKE}"
