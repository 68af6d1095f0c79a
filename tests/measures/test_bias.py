"""Verdicts become the table of the judges' biases: known answers by hand, and a reason for every missing number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from judgement_rows import frame
from judgement_rows import pair as verdict

from dialeval.corpora.items import Item, item_rows
from dialeval.measures.bias import ALL_JUDGES, NO_LENGTHS, ONE_ORDER
from dialeval.measures.bias import bias as bias_rows
from dialeval.measures.design import Design, dialogue_words
from dialeval.tables.files import to_table, write_table
from dialeval.tables.measures import BIAS
from dialeval.tables.metaeval import ITEMS

MODELS = ("a", "b")
SEEDS = [f"s{number}" for number in range(1, 7)]
LENGTHS = {"a": 10, "b": 20, "human": 5}


def bias(
    rows: Sequence[dict[str, Any]],
    judges: Sequence[str] = ("j",),
    families: Mapping[str, str] | None = None,
    lengths: Mapping[str, int] = LENGTHS,
    at: Sequence[int] = (8,),
    **more: Any,
) -> list[dict[str, Any]]:
    judgements = frame(rows)
    words = {(model, seed): [length] * 8 for model, length in lengths.items() for seed in SEEDS}
    design = Design(
        protocol="p", judges=list(judges), systems=list(MODELS), families=dict(families or {}), lengths=list(at),
        resamples=200, **more,
    )  # fmt: skip
    result: list[dict[str, Any]] = to_table(BIAS, bias_rows(judgements, design, words)).to_pylist()
    for row in result:
        assert row["estimate"] is not None or row["note"], row
        assert row["ci_low"] is not None or row["note"], row
        assert row["ci_low"] is None or row["ci_low"] <= row["estimate"] <= row["ci_high"]
    return result


def measured(rows: list[dict[str, Any]], judge: str = "j") -> dict[str, dict[str, Any]]:
    return {row["measure"]: row for row in rows if row["judge"] == judge}


BY_HAND = [
    verdict(1, "a", "b", "left"), verdict(1, "b", "a", "right"),  # a in both orders
    verdict(2, "a", "b", "left"), verdict(2, "b", "a", "left"),  # the first place in both
    verdict(3, "a", "b", "right"), verdict(3, "b", "a", "tie"),  # b, then nobody
    verdict(4, "a", "b", "left"),  # one order only
    verdict(5, "a", "b", None),
]  # fmt: skip


@pytest.mark.parametrize(
    ("measure", "value", "n"),
    [
        ("unparsed", 1 / 8, 8),
        ("order_inconsistency", 2 / 3, 3),
        ("biased_toward_first", 1 / 3, 3),
        ("biased_toward_second", 0.0, 3),
        ("first_position_win_rate", 4 / 6, 6),
        ("longer_win_rate", 2 / 6, 6),
        # left wins 3 of 4 where it is half as long and 1 of 2 where it is twice as long
        ("length_slope", -log(3) / (2 * log(2)), 6),
    ],
)
def test_position_and_length_by_hand(measure: str, value: float, n: int) -> None:
    row = measured(bias(BY_HAND))[measure]
    assert row["estimate"] == pytest.approx(value)
    assert (row["n"], row["n_utterances"]) == (n, 8)


def test_what_cannot_be_computed_says_why() -> None:
    notes = {row["measure"]: row["note"] for row in bias(BY_HAND) if row["estimate"] is None}
    assert notes == {
        "length_slope_equal_ratings": "lengths and ratings are confounded",
        "retest_inconsistency": "every comparison was requested once",
        "self_preference": "no chatbot belongs to the judge's family 'j'",
        "kappa": "agreement needs two judges or more",
        "ac1": "agreement needs two judges or more",
        "alpha": "agreement needs two judges or more",
    }


@pytest.mark.parametrize(
    "rows",
    [[], [verdict(s, "a", "b", None) for s in range(1, 7)], [verdict(s, "a", "b", "tie") for s in range(1, 7)]],
    ids=["none", "unparsed", "ties"],
)
def test_a_judge_without_decided_verdicts_has_rows_without_values(rows: list[dict[str, Any]]) -> None:
    found = [*bias(rows), *bias(rows, at=[], reference="human")]
    assert len(found) == 2 * 13
    assert {row["measure"] for row in found if row["estimate"] is not None} <= {"unparsed"}


def test_lengths_are_kept_apart() -> None:
    rows = [
        *(verdict(s, *pair, "left") for s in (1, 2) for pair in (("a", "b"), ("b", "a"))),
        verdict(1, "a", "b", "left", n_utterances=4), verdict(1, "b", "a", "right", n_utterances=4),
    ]  # fmt: skip
    flips = [
        (row["n_utterances"], row["estimate"])
        for row in bias(rows, at=[4, 8])
        if row["measure"] == "order_inconsistency"
    ]
    assert flips == [(4, 0.0), (8, 1.0)]
    people = [
        verdict(1, "a", "human", "right", n_utterances=5), verdict(2, "human", "a", "right", n_utterances=6)
    ]  # fmt: skip
    found = measured(bias(people, at=[], reference="human"))
    assert (found["order_inconsistency"]["estimate"], found["longer_win_rate"]["estimate"]) == (None, 0.5)


def test_criteria_are_kept_apart() -> None:
    rows = [
        verdict(s, *names, side, criterion=criterion)
        for s in (1, 2)
        for criterion, sides in (("warm", ("left", "right")), ("brief", ("left", "left")))
        for names, side in zip((("a", "b"), ("b", "a")), sides, strict=True)
    ]
    flips = [(row["criterion"], row["estimate"]) for row in bias(rows) if row["measure"] == "order_inconsistency"]
    assert flips == [("warm", 0.0), ("brief", 1.0)]


def test_pairs_in_one_order_and_unknown_lengths_say_so() -> None:
    rows = [verdict(s, "a", "b", "left" if s % 2 else "right") for s in range(1, 7)]
    found = measured(bias(rows, lengths={"a": 10}, both_orders=False))
    assert [found[name]["note"] for name in ("order_inconsistency", "biased_toward_first", "biased_toward_second")] == [
        ONE_ORDER
    ] * 3
    assert found["first_position_win_rate"]["estimate"] == 0.5
    assert found["first_position_win_rate"]["note"].startswith(ONE_ORDER)
    assert found["length_slope"]["note"] == NO_LENGTHS


def test_repeats_are_swapped_with_their_own_and_give_retest_flips() -> None:
    first = [verdict(1, "a", "b", "left"), verdict(1, "b", "a", "right")]
    again = [verdict(1, "a", "b", "left"), verdict(1, "b", "a", "left")]
    rows = measured(bias([*first, *again]))
    assert (rows["order_inconsistency"]["estimate"], rows["order_inconsistency"]["n"]) == (0.5, 2)
    assert (rows["retest_inconsistency"]["estimate"], rows["retest_inconsistency"]["n"]) == (0.5, 2)


def test_the_slope_with_models_held_fixed_finds_what_length_does() -> None:
    """The better model writes more, and length does something besides: a slope of 0.8."""
    rng = np.random.default_rng(0)
    seeds = [f"s{number}" for number in range(400)]
    words, rows = {}, []
    for seed in seeds:
        lengths = {"a": int(40 * np.exp(rng.normal(0.8, 0.6))), "b": int(40 * np.exp(rng.normal(0.0, 0.6)))}
        words |= {(model, seed): [length] * 8 for model, length in lengths.items()}
        for left, right in (("a", "b"), ("b", "a")):
            log_odds = (1.0 if left == "a" else -1.0) + 0.8 * log(lengths[left] / lengths[right])
            winner = "left" if rng.random() < 1 / (1 + np.exp(-log_odds)) else "right"
            rows.append(verdict(0, left, right, "tie" if rng.random() < 0.2 else winner, case_id=seed))
    judgements = frame(rows)
    design = Design(protocol="p", judges=["j"], systems=list(MODELS), lengths=[8], resamples=50)
    found = {row["measure"]: row for row in bias_rows(judgements, design, words)}
    assert found["length_slope"]["ci_low"] > 0.9
    equal = found["length_slope_equal_ratings"]
    assert equal["ci_low"] < 0.8 < equal["ci_high"]
    assert equal["estimate"] == pytest.approx(0.8, abs=0.2)


ORDERS = [(seed, pair) for seed in (1, 2) for pair in (("a", "b"), ("b", "a"))]
OWN = [
    *(verdict(seed, *pair, "left" if pair[0] == "a" else "right", judge="g") for seed, pair in ORDERS),
    *(verdict(seed, *pair, "left", judge="h") for seed, pair in ORDERS),
]


def test_self_preference_by_hand() -> None:
    rows = bias(OWN, judges=("g", "h"), families={"g": "x", "a": "x", "h": "y"})
    own = measured(rows, "g")["self_preference"]
    assert (own["estimate"], own["n"]) == (0.5, 4)  # 1 with its own judge, half with the other
    assert measured(rows, "h")["self_preference"]["note"] == "no chatbot belongs to the judge's family 'y'"


def test_a_judge_that_is_also_a_chatbot_is_its_own_family() -> None:
    rows = [verdict(1, "a", "b", "left", judge="a"), verdict(1, "a", "b", "right", judge="h")]
    assert measured(bias(rows, judges=("a", "h")), "a")["self_preference"]["estimate"] == 1.0


def test_self_preference_needs_a_judge_of_another_family() -> None:
    alone = measured(bias(BY_HAND, families={"j": "x", "a": "x"}))["self_preference"]
    assert alone["note"] == "needs a second judge, of another family"
    kin = measured(bias(OWN, judges=("g", "h"), families={"g": "x", "a": "x", "h": "x"}), "g")["self_preference"]
    assert kin["note"] == "no comparison has a verdict of a judge of another family"


def test_without_a_judge_of_neither_family_there_is_no_self_preference() -> None:
    families = {"g": "x", "a": "x", "h": "y", "b": "y"}
    rows = bias(OWN, judges=("g", "h"), families=families)
    for judge in ("g", "h"):
        own = measured(rows, judge)["self_preference"]
        assert (own["estimate"], own["ci_low"], own["n"]) == (None, None, 0)
        assert "to the opponent's family; add a judge of neither family" in own["note"]


OF_BIAS = ("estimate", "ci_low", "ci_high", "n", "n_clusters")


def test_no_bias_depends_on_the_order_of_judges_or_of_a_cases_rows() -> None:
    rng = np.random.default_rng(2)
    rows = [
        verdict(seed, *pair, rng.choice(["left", "right", "tie"]), judge=judge)
        for judge in "ghi" for seed in range(1, 7) for pair in (("a", "b"), ("b", "a"))
    ]  # fmt: skip
    families = {"g": "x", "a": "x", "h": "y", "b": "y"}
    one = bias(rows, judges=("g", "h", "i"), families=families)
    turned = [row for seed in range(1, 7) for row in reversed(rows) if row["case_id"] == f"s{seed}"]
    other = bias(turned, judges=("i", "h", "g"), families=families)
    numbers = [
        {
            (row["judge"], row["measure"], of): row[of]
            for row in found if not row["other_judge"] for of in OF_BIAS if row[of] is not None
        }
        for found in (one, other)
    ]  # fmt: skip
    assert numbers[0] == pytest.approx(numbers[1], rel=1e-9, abs=1e-9)


def test_a_slope_under_separation_is_empty() -> None:
    rows = [
        verdict(s, *pair, "left" if pair[0] == "a" else "right")
        for s in range(1, 7)
        for pair in (("a", "b"), ("b", "a"))
    ]
    found = measured(bias(rows))
    for name in ("length_slope", "length_slope_equal_ratings"):
        assert (found[name]["estimate"], found[name]["ci_low"]) == (None, None)
        assert found[name]["note"]


def test_kappa_and_alpha_by_hand() -> None:
    answers = {"g": "left left right right", "h": "left right right right"}
    rows = [
        verdict(seed, "a", "b", winner, judge=judge)
        for judge, winners in answers.items()
        for seed, winner in enumerate(winners.split(), start=1)
    ]
    found = bias(rows, judges=("g", "h"))
    (kappa,) = [row for row in found if row["measure"] == "kappa"]
    assert (kappa["judge"], kappa["other_judge"], kappa["n"]) == ("g", "h", 4)
    assert kappa["estimate"] == pytest.approx(0.5)  # observed 3/4, by chance 1/2
    assert kappa["note"].startswith("no interval: 3 answers of 2 clusters differ from the most frequent answer")
    (ac1,) = [row for row in found if row["measure"] == "ac1"]
    chance = 2 * (3 / 8) * (5 / 8)  # three of eight say left
    assert (ac1["other_judge"], ac1["estimate"]) == ("h", pytest.approx((0.75 - chance) / (1 - chance)))
    assert ac1["ci_low"] < ac1["estimate"] < ac1["ci_high"]
    alpha = measured(found, ALL_JUDGES)["alpha"]
    assert (alpha["estimate"], alpha["n"]) == (pytest.approx(1 - (2 / 8) / (30 / 56)), 4)


def test_judges_that_share_nothing_have_no_kappa() -> None:
    rows = [verdict(1, "a", "b", "left", judge="g"), verdict(2, "a", "b", "left", judge="h")]
    (kappa,) = [row for row in bias(rows, judges=("g", "h")) if row["measure"] == "kappa"]
    assert kappa["note"] == "no comparison has parsed verdicts of both judges"


def test_words_are_counted_up_to_each_utterance(tmp_path: Path) -> None:
    said = {
        ("human", "s1"): ("Is there any milk?", "Behind the jam - I think."),
        ("a", "s1"): ("...", "你好。", ""),
        ("b", "s1"): ("One.", "Two."),
        ("b", "s2"): ("Twice", "on one case"),
        ("", ""): ("nobody's",),
    }
    items = [
        Item("c", f"{system}/{case}", "en", "dialogue", case, ("A",) * len(texts), texts, system=system, case_id=case)
        for (system, case), texts in said.items()
    ]
    items.append(replace(items[3], item_id="again"))
    write_table(tmp_path / "i", ITEMS, to_table(ITEMS, list(item_rows(items))))
    assert dialogue_words([tmp_path / "i"]) == {("human", "s1"): [4, 9], ("a", "s1"): [1, 2, 2], ("b", "s1"): [1, 2]}
