"""How far a judge can be trusted: which correlation stands beside its scores, and why there is none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dialeval.measures.reliability import judge_validity_rows
from dialeval.stats.resampling import mean_of_independent
from dialeval.tables.files import to_table
from dialeval.tables.metaeval import JUDGE_VALIDITY


def correlation(**more: Any) -> dict[str, Any]:
    row = {
        "judge": "gpt", "method": "yes_no", "level": "dialogue", "corpus": "fed", "language": "en",
        "dimension": "coherence", "rater_kind": "human", "pearson": 0.5, "pearson_ci_low": 0.3, "pearson_ci_high": 0.6,
        "n": 100, "reason": None,
    }  # fmt: skip
    return {"rated": (row | more)["dimension"]} | row | more


def trust(rows: list[dict[str, Any]], methods: tuple[str, ...] = ("yes_no",), **more: Any) -> dict[str, Any]:
    asked = {"judges": ["gpt"], "criteria": ["coherence"], "language": "en"} | more
    (found,) = to_table(JUDGE_VALIDITY, list(judge_validity_rows(rows, methods=methods, **asked))).to_pylist()
    return found


def test_a_single_corpus_is_named() -> None:
    found = trust([correlation(), correlation(judge="other", pearson=0.9), correlation(dimension="overall")])
    assert [found[name] for name in ("pearson", "ci_low", "ci_high", "n", "corpora")] == pytest.approx(
        [0.5, 0.3, 0.6, 100, "fed"]
    )
    assert (found["method"], found["rater_kind"], found["reason"]) == ("yes_no", "human", None)


def test_several_corpora_are_averaged_and_one_language_counts() -> None:
    rows = [
        correlation(),
        correlation(corpus="dstc", pearson=0.3, pearson_ci_low=0.0, pearson_ci_high=0.5),
        correlation(corpus="fed", language="zh", pearson=-0.9),
    ]
    found = trust(rows)
    assert found["pearson"] == pytest.approx(0.4)
    assert found["ci_low"] == pytest.approx(0.4 - np.hypot(0.2, 0.3) / 2)
    assert found["ci_high"] == pytest.approx(0.4 + np.hypot(0.1, 0.2) / 2)
    assert (found["n"], found["corpora"]) == (200, "fed, dstc")
    assert trust(rows, language="zh")["pearson"] == -0.9
    assert trust(rows, language="de")["pearson"] == pytest.approx(0.4), "English where nothing was rated in German"


def test_people_come_before_what_is_known_by_construction() -> None:
    built = correlation(corpus="steps", rater_kind="construction", pearson=0.99)
    assert trust([built, correlation()])["rater_kind"] == "human"
    assert trust([built])["rater_kind"] == "construction"


def test_the_protocol_itself_comes_before_another_of_its_form() -> None:
    rows = [correlation(), correlation(method="felt", pearson=0.7)]
    assert trust(rows, ("felt", "yes_no"))["pearson"] == 0.7
    assert trust(rows, ("yes_no",))["pearson"] == 0.5


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([], "no rated corpora in this run (metaeval)"),
        ([correlation(dimension="overall")], "no corpus of this run is rated on this criterion"),
        (
            [correlation(judge="other")],
            "this judge did not score the items that are rated on this criterion, under yes_no",
        ),
        ([correlation(method="rating")], "this judge scored rated items only in another form (rating)"),
        (
            [correlation(rated="overall")],
            "the judge's scores were compared with ratings on other criteria only (overall)",
        ),
        ([correlation(pearson=None, reason="all scores are equal")], "all scores are equal"),
    ],
)
def test_without_a_number_there_is_a_reason(rows: list[dict[str, Any]], words: str) -> None:
    found = trust(rows)
    assert found["reason"] == words
    assert found["pearson"] is None


def test_the_interval_of_a_mean_of_correlations_holds_what_it_promises() -> None:
    generator, rounds, truths = np.random.default_rng(5), 3000, np.array([0.2, 0.6, 0.8])
    held = 0
    for _ in range(rounds):
        z = np.arctanh(truths) + generator.standard_normal(3) / np.sqrt(77)  # Fisher's z at n = 80
        estimate, low, high = np.tanh(z), np.tanh(z - 1.96 / np.sqrt(77)), np.tanh(z + 1.96 / np.sqrt(77))
        _, lowest, highest = mean_of_independent(estimate, low, high)
        held += lowest <= truths.mean() <= highest
    assert 0.94 <= held / rounds <= 0.96
