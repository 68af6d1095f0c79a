"""What people would say of systems, from simulated labels and judges: known answers by hand, and the truth covered."""

from __future__ import annotations

import itertools
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from labelled_example import (
    design,
    judgement,
    judgements_of,
    label,
    labels_of,
    scored,
    simulated_scores,
)

from dialeval.config.configuration import Config
from dialeval.errors import UserError
from dialeval.labels.correction import (
    FEW_OF_FAMILY,
    NEVER_OFF,
    NO_DRAW,
    OF_THESE,
    ONE_EACH,
    ONE_FAMILY,
    corrected_numbers,
)
from dialeval.labels.joined_judgements import (
    NOWHERE,
    PLAN_COLUMNS,
    LabelledDesign,
    Terms,
    with_planned,
)
from dialeval.measures.differences import NO_LIMIT, with_adjusted_p
from dialeval.measures.scores import mean_rows
from dialeval.rules.judging import labelled_design
from dialeval.stats.clustered import clustered_proportion
from dialeval.stats.prediction_powered import FEW_INSIDE, correct_means
from dialeval.tables.files import to_table
from dialeval.tables.labels import DIFFERENCES, ESTIMATES

Row = dict[str, Any]
LOW_SCORES, PEOPLE = {"scale_min": 0.0, "scale_max": 1.0}, {"scale_min": 1.0, "scale_max": 5.0}
ALONE = OF_THESE.format("this annotator")


def numbers(
    judged: list[Row], labelled: list[Row], about: LabelledDesign, terms: Terms | None = None
) -> tuple[list[Row], list[Row]]:
    rows, compared = corrected_numbers(judgements_of(judged), labels_of(labelled), about, terms or Terms())
    tables = to_table(ESTIMATES, rows), to_table(DIFFERENCES, with_adjusted_p(compared))
    return tables[0].to_pylist(), tables[1].to_pylist()


def of(rows: list[Row], **wanted: Any) -> list[Row]:
    return [row for row in rows if all(row[name] == value for name, value in wanted.items())]


def test_the_interval_for_every_look_is_wider_and_within_the_scale() -> None:
    judged, labelled = simulated_scores(np.random.default_rng(4))[:2]
    rows, _ = numbers(judged, labelled, design())
    assert {row["measure"] for row in rows} == {"mean", "mean difference"}
    for row in rows:
        low, high = (-6.0, 6.0) if row["opponent"] else (1.0, 7.0)
        assert low <= row["anytime_ci_low"] <= row["ci_low"] <= row["ci_high"] <= row["anytime_ci_high"] <= high
        if row["anytime_ci_high"] < high:
            assert 1.5 < (row["anytime_ci_high"] - row["estimate"]) / (row["ci_high"] - row["estimate"]) < 1.8


def test_judges_are_mapped_to_the_human_scale_and_only_their_own_items_count() -> None:
    judged = [judgement("ada", f"c{n}", criterion="warm", value=n / 10, **LOW_SCORES) for n in range(11)]
    labelled = [label("ada", f"c{n}", criterion="warm", value=3.0, probability=0.2, **PEOPLE) for n in (4, 6)]
    labelled.append(label("ada", "c5", criterion="warm", skipped=True))
    (row,), compared = numbers(judged, labelled, design())
    assert row["measure"] == "mean"
    assert row["criterion"] == "warm"
    assert row["annotators"] == "simulated"
    assert row["judge_only"] == pytest.approx(3.0)  # 0.5 on 0 to 1
    assert row["judge_bias"] == pytest.approx(0.0)  # 2.6 and 3.4 beside 3
    assert (row["n_labelled"], row["n_labelled_seeds"], row["n_total"]) == (2, 2, 11)
    assert row["human_only"] == row["estimate"] == 3.0
    assert compared == []


def test_annotators_repeats_and_orders_are_averaged_before_anything_else() -> None:
    judged = [judgement("ada", f"c{n}", **scored(4.0)) for n in range(5)]
    judged += [
        judgement("ada", "c0", repeat=1, **scored(6.0)),
        judgement("ada", "c9", status="refused", criterion="warm"),
    ]
    said = [("one", 0, 2.0), ("one", 1, 4.0), ("two", 0, 7.0)]
    labelled = [label("ada", "c0", name, round=again, **scored(value)) for name, again, value in said]
    labelled += [label("ada", "c1", "one", **scored(1.0))]
    ((row,), _) = numbers(judged, labelled, design())
    assert row["human_only"] == pytest.approx(((2 + 4) / 2 + 7) / 2 / 2 + 1.0 / 2)
    assert row["judge_bias"] == pytest.approx(((5.0 - 5.0) + (4.0 - 1.0)) / 2)
    assert row["n_total"] == 6  # what the judge refused is there all the same
    assert NO_DRAW in row["note"]


def test_a_thing_that_no_judge_scored_is_no_less_labelled() -> None:
    judged = [judgement("ada", f"c{n}", **scored(4.0)) for n in range(5)]
    labelled = [label("ada", f"c{n}", **scored(float(n))) for n in (3, 4, 5, 6)]
    ((row,), _) = numbers(judged, labelled, design())
    assert (row["n_labelled"], row["n_total"], row["human_only"]) == (4, 7, 4.5)


def test_intervals_end_where_the_scale_does() -> None:
    judged = [judgement("ada", f"c{n}", **scored(7.0)) for n in range(30)]
    said = [1.0] + 4 * [6.0] + 15 * [7.0]
    labelled = [label("ada", f"c{n}", **scored(value), probability=2 / 3) for n, value in enumerate(said)]
    ((row,), _) = numbers(judged, labelled, design())
    assert row["ci_high"] == 7.0 == row["human_only_ci_high"]
    assert row["ci_low"] < 7.0


@pytest.mark.parametrize("number", range(3))
def test_a_judges_own_mean_and_rate_have_the_intervals_of_its_own_tables(number: int) -> None:
    rng = np.random.default_rng(number)
    n = int(rng.integers(2, 40))
    value = rng.choice([1.0, 6.0, 7.0], (2, n), p=[0.1, 0.1, 0.8])
    judged = [
        judgement(name, f"c{k}", **scored(value[s, k])) for s, name in enumerate(("ada", "bob")) for k in range(n)
    ]
    judged += [judgement("bob", f"c{k}", repeat=1, **scored(3.0)) for k in range(n // 2)]
    judged.append(judgement("ada", "c0b", status="refused", **scored(None)))
    labelled = [label(name, f"c{k}", **scored(5.0)) for name in ("ada", "bob") for k in range(min(n, 12))]
    rows, _ = numbers(judged, labelled, design())
    for row in mean_rows("means", judgements_of(judged), design()):
        (beside,) = of(rows, measure="mean", system=row["system"])
        own = [beside[name] for name in ("judge_only", "judge_only_ci_low", "judge_only_ci_high")]
        assert own == pytest.approx([row["estimate"], row["ci_low"], row["ci_high"]], rel=1e-12)

    about = design(form="annotate", measures=["rates"])
    answer = [{"criterion": "warm", "choice": one} for one in np.where(value[0] == 7.0, "Yes", "No").tolist()]
    said = [judgement("ada", f"c{k}", **one) for k, one in enumerate(answer)]
    said.append(judgement("ada", "c0b", status="unparsed", criterion="warm"))
    own, _ = numbers(said, [label("ada", f"c{k}", **one) for k, one in enumerate(answer[: n // 2 + 1])], about)
    (row,), (beside,) = mean_rows("rates", judgements_of(said), about), of(own, measure="rate", system="ada")
    found = [beside[name] for name in ("judge_only", "judge_only_ci_low", "judge_only_ci_high")]
    assert found == pytest.approx([row["estimate"], row["ci_low"], row["ci_high"]], rel=1e-12)


def test_several_scales_of_one_criterion_are_refused_where_they_would_choose_the_unit() -> None:
    unscaled = [label("ada", f"c{n}", criterion="warm", choice="Yes") for n in range(9)]
    judged = [judgement("ada", f"c{n}", "i", criterion="warm", value=n / 10, **LOW_SCORES) for n in range(11)]
    other = [judgement("ada", f"c{n}", "j", criterion="warm", value=1 + n / 10, **PEOPLE) for n in range(11)]
    about = design(judges=["i", "j"])
    for order in ([*judged, *other], [*other, *judged]):
        with pytest.raises(UserError, match=r"'felt', criterion 'warm'.*no scale.* 0 to 1, 1 to 5.*same scale_min"):
            numbers(order, unscaled, about)
    rows, _ = numbers(judged, unscaled, design(judges=["i"]))
    assert {row["human_only"] for row in rows} == {1.0}  # a single scale says what Yes is
    scaled = [label("ada", f"c{n}", criterion="warm", value=3.0, **PEOPLE) for n in range(9)]
    assert {row["judge_only"] for row in numbers([*judged, *other], scaled, about)[0] if row["judge"] == "i"} == {3.0}
    with pytest.raises(UserError, match="the labels have several scales: 1 to 5, 1 to 7"):
        numbers(judged, [*scaled, label("ada", "c9", **scored(4.0))], about)


def test_labels_that_are_nearly_all_the_highest_have_the_interval_of_a_share_of_the_scale() -> None:
    judged = [judgement("ada", f"c{n}", **scored(5.0 + n % 3)) for n in range(100)]
    said = [4.0] + 9 * [7.0]
    labelled = [label("ada", f"c{n}", **scored(value), probability=0.1) for n, value in enumerate(said)]
    ((row,), _) = numbers(judged, labelled, design())
    share = clustered_proportion([(value - 1.0) / 6.0 for value in said], np.arange(10))
    assert (row["ci_low"], row["ci_high"]) == pytest.approx((1.0 + 6.0 * share.ci_low, 1.0 + 6.0 * share.ci_high))
    assert row["weight"] == 0.0
    assert FEW_INSIDE in row["note"]


def test_numbers_are_those_of_the_statistics() -> None:
    rng = np.random.default_rng(3)
    judged, labelled, _ = simulated_scores(rng, n_cases=60, n_labelled=20)
    rows, compared = numbers(judged, labelled, design(), Terms(target="given_cases", confidence=0.9))
    said = {(row["system"], row["case_id"]): row["value"] for row in labelled}
    keys = [(row["left"], row["case_id"]) for row in judged]
    expected = correct_means(
        [row["value"] for row in judged],
        [said.get(key, np.nan) for key in keys],
        np.full(len(keys), 1 / 3),
        [system for system, _ in keys],
        [case for _, case in keys],
        target="given_cases",
        confidence=0.9,
        ends=(1.0, 7.0),
    )
    for place, system in enumerate(expected.systems):
        (row,) = of(rows, system=system, measure="mean")
        for column in (
            "estimate",
            "ci_low",
            "ci_high",
            "human_only_ci_low",
            "judge_only_ci_high",
            "weight",
            "judge_bias_ci_low",
            "n_effective_labels",
        ):
            assert row[column] == pytest.approx(getattr(expected, column)[place]), column
    (row,) = of(rows, measure="mean difference", system="ada", opponent="cyd")
    by_hand = expected.difference("ada", "cyd")
    assert (row["estimate"], row["ci_low"], row["human_only"]) == pytest.approx(
        (by_hand.estimate, by_hand.ci_low, by_hand.human_only)
    )
    assert len(compared) == 3
    (test,) = of(compared, system="ada", opponent="cyd")
    assert (test["p"], test["family_size"], test["scope"]) == (pytest.approx(by_hand.p), 3, "warm")


def test_pass_rates_at_each_length_count_dialogues_that_are_that_long() -> None:
    about = design(form="locate", measures=["pass_rates"], lengths=[2, 8], protocol="felt")
    judged = [judgement("ada", f"c{n}", choice="Yes", place=5, n_utterances=8 if n < 20 else 4) for n in range(40)]
    judged.append(judgement("ada", "c40", status="unparsed", n_utterances=8))
    labelled = [label("ada", f"c{n}", choice="No" if n % 2 else "Yes", place=None if n % 2 else 3, probability=0.5)
                for n in range(10)]  # fmt: skip
    labelled.append(label("ada", "c30", choice="Yes", place=1, probability=0.5))
    rows, _ = numbers(judged, labelled, about)
    at_2, at_8 = (of(rows, n_utterances=n)[0] for n in (2, 8))
    assert (at_2["measure"], at_2["n_total"], at_2["n_labelled"]) == ("pass_rate", 41, 11)
    assert at_2["human_only"] == pytest.approx(10 / 11)
    assert at_2["judge_only"] == pytest.approx(40 / 41)  # what could not be read does not pass
    assert (at_8["n_total"], at_8["n_labelled"], at_8["human_only"]) == (21, 10, pytest.approx(5 / 10))
    assert at_8["judge_only"] == 0.0


@pytest.mark.parametrize("nowhere", [1, 2])
def test_a_yes_without_a_place_fails_at_full_length_and_is_no_rate_of_fewer_utterances_where_many_are(
    nowhere: int,
) -> None:
    about = design(form="locate", measures=["pass_rates"], lengths=[2, 8], protocol="felt")
    judged = [judgement("ada", f"c{n}", choice="No", n_utterances=8) for n in range(40)]
    labelled = [label("ada", f"c{n}", choice="No", probability=0.5) for n in range(20 - nowhere)]
    labelled += [label("ada", f"c{39 - n}", choice="Yes", probability=0.5) for n in range(nowhere)]  # another tool's
    rows, _ = numbers(judged, labelled, about)
    (at_8,) = of(rows, n_utterances=8)
    assert (at_8["n_labelled"], at_8["human_only"]) == (20, pytest.approx(1.0 - nowhere / 20))
    at_2 = of(rows, n_utterances=2)
    assert len(at_2) == (nowhere == 1)  # without those that would mostly fail, the others are no fair sample
    for row in at_2:
        assert (row["n_labelled"], row["human_only"]) == (19, 1.0)
        assert NOWHERE.format(1, 20) in row["note"]


def paired(case: str, left: str, right: str, outcome: str, **more: Any) -> Row:
    return judgement(left, case, item_id=None, corpus=None, right=right, outcome=outcome, **more)


def of_pair(case: str, system: str, opponent: str, outcome: str, **more: Any) -> Row:
    return label(system, case, item_id=None, corpus=None, opponent=opponent, outcome=outcome, **more)


def test_pairs_join_whatever_the_order_in_which_they_were_shown() -> None:
    about = design(form="pair", measures=["win_rates"])
    judged = [row for n in range(12)
              for row in (paired(f"c{n}", "ada", "bob", "left"), paired(f"c{n}", "bob", "ada", "tie"))]  # fmt: skip
    labelled = [of_pair(f"c{n}", "bob", "ada", "left", probability=0.5) for n in range(6)]
    labelled[0]["system"], labelled[0]["opponent"], labelled[0]["outcome"] = "ada", "bob", "tie"
    rows, compared = numbers(judged, labelled, about)
    (field,) = of(rows, system="ada", opponent=None)
    assert field["human_only"] == pytest.approx(0.5 / 6)
    assert field["judge_only"] == pytest.approx(0.75)
    (pair,) = of(rows, measure="win_rate", system="ada", opponent="bob")
    assert (pair["human_only"], pair["n_labelled"], pair["n_total"]) == (pytest.approx(0.5 / 6), 6, 12)
    (difference,) = of(rows, measure="win_rate difference")
    assert difference["human_only"] == pytest.approx(2 * 0.5 / 6 - 1.0)
    assert len(compared) == 1


def test_systems_beside_one_have_rates_against_it() -> None:
    about = design(form="pair", measures=["win_rates"], reference="human")
    judged = [paired(f"c{n}", *sides, "left") for n in range(12) for sides in (("zoe", "human"), ("human", "ada"))]
    labelled = [of_pair(f"c{n}", "human", "zoe", "tie", probability=0.5) for n in range(6)]
    labelled += [of_pair(f"c{n}", "ada", "human", "left", probability=0.5) for n in range(6)]
    rows, _ = numbers(judged, labelled, about)
    found = {
        (row["system"], row["measure"]): (row["human_only"], row["judge_only"])
        for row in rows
        if row["opponent"] == "human"
    }
    assert found == {
        ("ada", "win_rate"): (1.0, 0.0), ("ada", "win_or_tie"): (1.0, 0.0),
        ("zoe", "win_rate"): (0.5, 1.0), ("zoe", "win_or_tie"): (1.0, 1.0),
    }  # fmt: skip


OFF = np.array([0.0, 1.0, 2.0, 1.0, 0.0, 3.0, 1.0, 2.0, 0.0, 1.0])
"""By how much a judge finds its own family better than people do, on ten cases: 1.1 on average."""


def of_student(values: np.ndarray) -> tuple[float, float, float]:
    """The mean of ten cases with Student's interval."""
    reach = 2.262157 * values.std(ddof=1) / np.sqrt(10)
    return (float(values.mean()), float(values.mean() - reach), float(values.mean() + reach))


def test_self_preference_is_the_bias_for_the_own_family_less_that_for_others_case_by_case() -> None:
    about = design(families={"j": "x", "ada": "x", "bob": "y"}, measures=["means"])
    harsh = np.array([0.0, 0.5, -1.0, 1.0, 0.0, -0.5, 0.5, 0.0, 1.0, -1.0])
    judged, labelled = [], []
    for n, (more, less) in enumerate(zip(OFF, harsh, strict=True)):
        judged += [
            judgement("ada", f"c{n}", **scored(3.0 + more - less)),
            judgement("bob", f"c{n}", **scored(3.0 - less)),
        ]
        labelled += [label(system, f"c{n}", probability=0.5, **scored(3.0)) for system in ("ada", "bob")]
    judged += [judgement(system, "c99", **scored(7.0)) for system in ("ada", "bob")]  # nobody labelled these
    rows, compared = numbers(judged, labelled, about)
    (row,) = of(rows, measure="mean self_preference")
    assert (row["judge"], row["system"], row["opponent"], row["estimate"], row["note"]) == ("j", "x", None, None, ALONE)
    assert (row["judge_bias"], row["judge_bias_ci_low"], row["judge_bias_ci_high"]) == pytest.approx(of_student(OFF))
    assert (row["n_labelled"], row["n_labelled_seeds"], row["n_total"]) == (20, 10, 22)
    assert {test["measure"] for test in compared} == {"mean"}


@pytest.mark.parametrize("family", ["ada", "bob"])
def test_self_preference_in_pairs_is_what_the_own_family_scores_above_what_people_give_it(family: str) -> None:
    """People call every comparison a tie; comparisons with people's own dialogues are left out."""
    about = design(form="pair", measures=["win_rates"], families={"j": family})
    other = "bob" if family == "ada" else "ada"
    wins = np.array([0, 1, 1, 0, 0, 1, 1, 0, 1, 1])
    judged, labelled = [], []
    for n, win in enumerate(wins):
        judged += [paired(f"c{n}", family, other, "left" if win else "tie"), paired(f"c{n}", family, "human", "left")]
        labelled += [of_pair(f"c{n}", one, family, "tie", probability=0.5) for one in ("human", other)]
    rows, _ = numbers(judged, labelled, about)
    (row,) = of(rows, measure="win_rate self_preference")
    assert (row["system"], row["n_labelled"], row["n_total"]) == (family, 10, 10)
    assert (row["judge_bias"], row["judge_bias_ci_low"], row["judge_bias_ci_high"]) == pytest.approx(
        of_student(0.5 * wins)
    )


def test_a_labelled_protocol_knows_the_families_that_are_configured() -> None:
    models = {name: {"engine": "embedded", "method": "random"} for name in ("ada", "bob")}
    models["j"] = {"engine": "embedded", "method": "forest", "family": "ada"}
    about = {"models": models, "chatbots": ["ada", "bob"], "judges": ["j"], "protocols": {"arena": {}}}
    corpora = {"bundled": {"reader": "bundled", "language": "en"}}
    config = Config.model_validate({**about, "corpora": corpora, "seeds": {"corpus": "bundled"}})
    assert LabelledDesign(**labelled_design(config, "arena")).families == {"j": "ada"}


def test_self_preference_without_enough_to_tell_is_empty_and_says_why() -> None:
    families = {"j": "x", "ada": "x", "bob": "x"}

    def found(systems: str, n_cases: int, families: dict[str, str]) -> list[Row]:
        judged = [judgement(name, f"c{n}", **scored(4.0)) for name in systems.split() for n in range(12)]
        labelled = [
            label(name, f"c{n}", probability=0.5, **scored(3.0)) for name in systems.split() for n in range(n_cases)
        ]
        return of(numbers(judged, labelled, design(families=families))[0], measure="mean self_preference")

    for systems, n_cases, reason in (("ada bob", 10, ONE_FAMILY), ("ada cyd", 7, FEW_OF_FAMILY)):
        (row,) = found(systems, n_cases, families)
        assert (row["judge_bias"], row["judge_bias_ci_low"], row["note"]) == (None, None, f"{reason}; {ALONE}")
    (row,) = found("ada cyd", 8, families)
    assert (row["judge_bias"], row["judge_bias_ci_low"], row["note"]) == (0.0, None, f"{NEVER_OFF}; {ALONE}")
    assert found("ada cyd", 10, {"ada": "y"}) == []  # no system is of the judge's family


def test_a_system_without_labels_changes_no_other_systems_numbers() -> None:
    """The judge has zed lose to ada and win over bob, and nobody labelled either."""
    about = design(form="pair", measures=["win_rates", "ratings"])
    rng = np.random.default_rng(4)
    judged, labelled = [], []
    for n in range(40):
        people = {pair: "left" if rng.random() < 0.6 else "right" for pair in combinations(("ada", "bob", "cyd"), 2)}
        judged += [paired(f"c{n}", *pair, said if rng.random() < 0.8 else "tie") for pair, said in people.items()]
        judged += [paired(f"c{n}", "ada", "zed", "left"), paired(f"c{n}", "bob", "zed", "right")]
        labelled += [of_pair(f"c{n}", *pair, said, probability=0.5) for pair, said in people.items() if n % 2]
    with_zed, _ = numbers(judged, labelled, about)
    without, _ = numbers([row for row in judged if row["right"] != "zed"], labelled, about)
    field = [row for row in with_zed if row["opponent"] is None]
    assert {row["system"] for row in field} == {"ada", "bob", "cyd"}
    for row, expected in zip(field, (row for row in without if row["opponent"] is None), strict=True):
        assert (row["estimate"], row["ci_low"]) == pytest.approx((expected["estimate"], expected["ci_low"]))
        assert "zed" in row["note"]
        assert row["n_total"] == 80
    (pair,) = of(with_zed, system="ada", opponent="zed", measure="win_rate")
    assert (pair["judge_only"], pair["estimate"]) == (1.0, None)


def test_an_undefeated_system_has_no_corrected_rating_and_leaves_the_others_at_their_origin() -> None:
    """People and the judge let ada win all; bob, cyd and dan score against each other."""
    about = design(form="pair", measures=["win_rates", "ratings"])
    rng = np.random.default_rng(4)
    judged, labelled = [], []
    for n in range(60):
        for first, second in combinations(("ada", "bob", "cyd", "dan"), 2):
            said = "left" if first == "ada" or rng.random() < 0.6 else "right"
            judged.append(paired(f"c{n}", first, second, said))
            labelled += [of_pair(f"c{n}", first, second, said, probability=0.5)] * (n % 2)
    found, compared = numbers(judged, labelled, about)
    ratings = {row["system"]: row for row in of(found, measure="rating")}
    for column in ("estimate", "human_only", "judge_only", "judge_bias", "ci_low"):
        assert ratings["ada"][column] is None
        assert ratings["bob"][column] is not None
    assert "not identifiable (undefeated)" in ratings["ada"]["note"]
    for column in ("estimate", "human_only", "judge_only"):
        assert np.mean([ratings[name][column] for name in ("bob", "cyd", "dan")]) == pytest.approx(1000.0)
    (pair,) = of(compared, measure="rating", system="ada", opponent="bob")
    assert (pair["difference"], pair["p"], pair["note"]) == (None, None, NO_LIMIT)
    (pair,) = of(compared, measure="rating", system="bob", opponent="cyd")
    assert pair["p"] is not None
    assert of(found, measure="win_rate", system="ada", opponent=None)[0]["estimate"] == 1.0


def test_with_one_label_per_dialogue_the_table_names_the_annotator() -> None:
    judged = [judgement("ada", f"c{n}", **scored(4.0 + n % 2)) for n in range(20)]
    labelled = [label("ada", f"c{n}", "one", **scored(3.0 + n % 3), probability=0.5) for n in range(10)]
    assert ONE_EACH in of(numbers(judged, labelled, design(), Terms(target="given_cases"))[0], judge="j")[0]["note"]
    assert numbers(judged, labelled, design())[0][0]["note"] == OF_THESE.format("this annotator")
    twice = [*labelled, label("ada", "c0", "two", **scored(5.0), probability=0.5)]
    two = numbers(judged, twice, design(), Terms(target="given_cases"))[0][0]["note"]
    assert two == OF_THESE.format("these 2 annotators")


@pytest.mark.parametrize("shared", [True, False])
def test_from_three_annotators_on_their_severity_is_in_the_mean_and_in_no_difference(shared: bool) -> None:
    """Annotators lie 1 below, at and 1 above what is meant: on the same dialogues, or on dialogues of their own."""
    rng = np.random.default_rng(0)
    judged, labelled = [], []
    for system, n in itertools.product(("ada", "bob"), range(60)):
        meant = 4.0 + float(rng.normal(0.0, 0.5))
        judged.append(judgement(system, f"c{n}", **scored(meant + float(rng.normal(0.0, 0.5)))))
        for place, name in enumerate(("one", "two", "three")):
            if n < 45 and (shared or n % 3 == place):
                labelled.append(label(system, f"c{n}", name, **scored(meant + place - 1.0), probability=0.75))
    rows, _ = numbers(judged, labelled, design())
    one_less = [row for row in labelled if row["annotator"] != "three"]
    of_two, _ = numbers(judged, one_less, design())
    (mean,) = of(rows, measure="mean", system="ada")
    (difference,) = of(rows, measure="mean difference")
    half_width = 0.5 * (mean["ci_high"] - mean["ci_low"])
    assert half_width > 4.3 * 0.8 / 3**0.5  # t of two degrees of freedom, three annotators whose means differ by 1
    assert mean["human_only_ci_low"] < 2.3
    assert mean["human_only_ci_high"] > 5.7
    assert mean["note"] is None
    assert 0.5 * (difference["ci_high"] - difference["ci_low"]) < 0.4
    (mean,) = of(of_two, measure="mean", system="ada")
    assert mean["ci_high"] - mean["ci_low"] < 0.8
    assert mean["note"].startswith("the interval holds for these 2 annotators")


def test_a_system_that_lost_all_its_labels_has_no_rating_and_the_others_say_what_theirs_average() -> None:
    rng = np.random.default_rng(1)
    about = design(form="pair", measures=["ratings"])
    sides = [("ada", "bob"), ("ada", "cyd"), ("bob", "cyd")]
    judged = [paired(f"c{n}", *pair, str(rng.choice(["left", "right"]))) for n in range(40) for pair in sides]
    said = {"cyd": ["left"], "bob": ["left", "right", "tie"]}
    labelled = [
        of_pair(f"c{n}", *pair, str(rng.choice(said[pair[1]])), probability=0.5) for n in range(20) for pair in sides
    ]
    rows, compared = numbers(judged, labelled, about)
    found = {row["system"]: row for row in rows if row["measure"] == "rating"}
    assert "not identifiable (never scores)" in found["cyd"]["note"]
    empty = ("estimate", "ci_low", "ci_high", "human_only", "human_only_ci_low", "human_only_ci_high", "judge_bias")
    assert {found["cyd"][name] for name in empty} == {None}
    assert found["ada"]["estimate"] + found["bob"]["estimate"] == pytest.approx(2000.0)
    assert "the rated systems have the mean 1000; not rated: cyd" in found["ada"]["note"]
    assert [(row["system"], row["opponent"]) for row in compared if row["p"] is not None] == [("ada", "bob")]
    assert found["cyd"]["judge_only"] is not None


def test_a_checklists_labels_count_by_the_share_of_a_stratum_with_all_answers() -> None:
    """Where scores are low two of three annotators skip a question: these few stand for as many dialogues as before."""
    about = design(form="probability", measures=["checklist"])
    judged = [
        judgement("ada", f"c{n}", criterion=name, value=0.5, **LOW_SCORES) for n in range(60) for name in ("x", "y")
    ]
    labelled = []
    for n in range(60):
        low = n < 30
        answer = {"choice": "No" if low else "Yes", "stratum": "dialogue low" if low else "dialogue high"}
        labelled.append(label("ada", f"c{n}", criterion="x", probability=1.0, **answer))
        if not low or n < 10:
            labelled.append(label("ada", f"c{n}", criterion="y", probability=1 / 3 if low else 1.0, **answer))
    rows, _ = numbers(judged, labelled, about)
    (listed,) = of(rows, measure="checklist")
    assert listed["n_labelled"] == 40
    assert listed["human_only"] == pytest.approx(0.5)  # and not 30 of 40


def test_missing_requests_of_a_settled_pair_do_not_lower_its_weight() -> None:
    """The judge was asked about bob and cyd throughout, and about ada, who wins, on two cases alone."""
    about = design(form="pair", measures=["win_rates"])
    sides = [("ada", "bob"), ("ada", "cyd"), ("bob", "cyd")]
    plan = [paired(f"c{n}", *pair, "left", request_id=f"{n}/{pair[0]}/{pair[1]}") for n in range(20) for pair in sides]
    asked = [row for row in plan if row["left"] == "bob" or row["case_id"] in ("c0", "c1")]
    labelled = [of_pair(f"c{n}", *pair, "left", probability=0.5) for n in range(10) for pair in sides]
    planned = judgements_of(plan).assign(part=None)[list(PLAN_COLUMNS)]
    judged = with_planned(judgements_of(asked), planned)
    assert len(judged) == 60
    found, _ = corrected_numbers(judged, labels_of(labelled), about, Terms())
    (bob,) = of(found, system="bob", opponent=None)
    assert (bob["n_total"], bob["judge_only"], bob["human_only"]) == (40, 0.5, 0.5)
    alone, _ = corrected_numbers(judgements_of(asked), labels_of(labelled), about, Terms())
    assert of(alone, system="bob", opponent=None)[0]["n_total"] == 30
    assert with_planned(judgements_of(plan), planned).equals(judgements_of(plan))


def test_lengths_of_pairs_are_separate_units() -> None:
    about = design(form="pair", measures=["win_rates"], lengths=[4, 8])
    judged = [paired(f"c{n}", "ada", "bob", "left", n_utterances=cut) for n in range(5) for cut in (4, 8)]
    labelled = [of_pair(f"c{n}", "ada", "bob", "right", n_utterances=8, probability=0.4) for n in range(2)]
    rows, _ = numbers(judged, labelled, about)
    assert {row["n_utterances"] for row in rows} == {8}
    assert of(rows, measure="win_rate", opponent="bob")[0]["n_total"] == 5


def test_yes_and_no_become_means_rates_and_a_checklist() -> None:
    about = design(form="probability", measures=["means", "rates", "checklist"])
    judged = [
        judgement("ada", f"c{n}", criterion=name, value=0.8, **LOW_SCORES) for n in range(20) for name in ("x", "y")
    ]
    labelled = [
        label("ada", f"c{n}", criterion=name, choice="Yes" if (n < 5) == (name == "x") else "No", probability=0.5)
        for n in range(10)
        for name in ("x", "y")
    ]
    labelled.append(label("ada", "c15", criterion="x", choice="Yes"))
    rows, _ = numbers(judged, labelled, about)
    (mean,) = of(rows, measure="mean", criterion="y")
    assert (mean["human_only"], mean["judge_only"]) == (pytest.approx(0.5), pytest.approx(0.8))
    (rate,) = of(rows, measure="rate", criterion="y")
    assert (rate["human_only"], rate["judge_only"], rate["answer"]) == (pytest.approx(0.5), 1.0, "Yes")
    (listed,) = of(rows, measure="checklist")
    assert (listed["human_only"], listed["n_labelled"]) == (0.5, 10)  # who answered one question alone has no share


def test_a_panel_needs_two_judges_and_leaves_means_of_judges_out() -> None:
    judged = [judgement("ada", f"c{n}", name, **scored(value)) for n in range(9)
              for name, value in (("j", 2.0), ("k", 6.0), ("both", 4.0))]  # fmt: skip
    labelled = [label("ada", f"c{n}", **scored(3.0), probability=0.3) for n in range(3)]
    about = design(judges=["j", "k", "both"], members=["j", "k"])
    rows, _ = numbers(judged, labelled, about)
    assert {row["judge"]: row["judge_only"] for row in rows} == {"j": 2.0, "k": 6.0, "both": 4.0, "panel": 4.0}
    rows, _ = numbers(judged, labelled, about, Terms(panel=None))
    assert "panel" not in {row["judge"] for row in rows}
    assert len({row["human_only"] for row in rows}) == 1


@pytest.mark.parametrize(
    ("simulated", "words"),
    [((True, True), "simulated"), ((False, False), "people"), ((True, False), "people and simulated")],
)
def test_tables_say_whether_people_labelled(simulated: tuple[bool, bool], words: str) -> None:
    judged = [judgement("ada", f"c{n}", **scored(4.0)) for n in range(5)]
    labelled = [label("ada", f"c{n}", simulated=one, **scored(4.0)) for n, one in enumerate(simulated)]
    rows, _ = numbers(judged, labelled, design())
    assert {row["annotators"] for row in rows} == {words}


@pytest.mark.parametrize("judges", [[], ["j"]])
def test_without_any_judges_score_people_stand_alone(judges: list[str]) -> None:
    labelled = [
        label(name, f"c{n}", **scored(3.0 + n % 3), probability=0.5) for n in range(12) for name in ("ada", "bob")
    ]
    rows, compared = numbers([], labelled, design(judges=judges))
    (ada,) = of(rows, system="ada", measure="mean")
    assert (ada["judge"], ada["estimate"], ada["judge_only"], ada["weight"]) == ("none", 4.0, None, 0.0)
    assert ada["ci_low"] == ada["human_only_ci_low"] < 4.0
    assert len(compared) == 1
    pairs = [of_pair(f"c{n}", "ada", "bob", "left" if n % 2 else "right", probability=0.5) for n in range(12)]
    rows, _ = numbers([], pairs, design(form="pair", measures=["win_rates", "ratings"], judges=judges))
    assert {(row["judge"], row["human_only"]) for row in of(rows, measure="win_rate")} == {("none", 0.5)}


def test_labels_of_other_protocols_and_nobodys_labels_say_nothing() -> None:
    judged = [judgement("ada", f"c{n}", **scored(4.0)) for n in range(5)]
    other = [label("ada", "c0", protocol="other", **scored(4.0))]
    assert numbers(judged, other, design()) == ([], [])
    assert numbers(judged, [label("ada", "c0", skipped=True, criterion="warm")], design()) == ([], [])


def test_ratings_are_those_of_the_statistics_and_cover_the_strengths_that_pairs_follow() -> None:
    strengths = {"ada": 1.0, "bob": 0.3, "cyd": -0.2, "dan": -1.1}
    truth = {name: 1000.0 + 400.0 / np.log(10.0) * value for name, value in strengths.items()}
    rng = np.random.default_rng(11)
    about = design(form="pair", measures=["ratings", "win_rates"])
    hits, missed, rated = [], [], []
    for _ in range(25):
        judged, labelled = [], []
        for case in range(60):
            for one, other in combinations(strengths, 2):
                wins = rng.random() < 1.0 / (1.0 + np.exp(strengths[other] - strengths[one]))
                judge_wins = wins if rng.random() < 0.7 else rng.random() < 0.5 + 0.4 * (one == "bob")
                judged.append(paired(f"c{case}", one, other, "left" if judge_wins else "right"))
                if rng.random() < 0.3:
                    labelled.append(of_pair(f"c{case}", one, other, "left" if wins else "right", probability=0.3))
        rows, compared = numbers(judged, labelled, about)
        for row in of(rows, measure="rating"):
            hits.append(row["ci_low"] <= truth[row["system"]] <= row["ci_high"])
            rated.append(row["n_effective_labels"] > row["n_labelled"])
        for row in of(compared, measure="rating"):
            missed.append(row["ci_low"] > truth[row["system"]] - truth[row["opponent"]] or
                          row["ci_high"] < truth[row["system"]] - truth[row["opponent"]])  # fmt: skip
    assert np.mean(hits) > 0.88
    assert np.mean(missed) < 0.12
    assert np.mean(rated) > 0.9
    assert len(of(rows, measure="rating difference")) == 6


def test_the_truth_is_covered_where_the_judge_alone_misses_it() -> None:
    rng = np.random.default_rng(7)
    hits: dict[str, list[bool]] = {"corrected": [], "people": [], "judge": [], "difference": []}
    widths: dict[str, list[float]] = {"corrected": [], "people": []}
    for _ in range(40):
        judged, labelled, truth = simulated_scores(rng)
        rows, _ = numbers(judged, labelled, design())
        for row in of(rows, measure="mean"):
            for kind, ends in (
                ("corrected", "ci_low ci_high"),
                ("people", "human_only_ci_low human_only_ci_high"),
                ("judge", "judge_only_ci_low judge_only_ci_high"),
            ):
                low, high = (row[end] for end in ends.split())
                hits[kind].append(low <= truth[row["system"]] <= high)
                if kind in widths:
                    widths[kind].append(high - low)
        for row in of(rows, measure="mean difference"):
            hits["difference"].append(row["ci_low"] <= truth[row["system"]] - truth[row["opponent"]] <= row["ci_high"])
    shares = {kind: np.mean(found) for kind, found in hits.items()}
    assert min(shares["corrected"], shares["people"], shares["difference"]) > 0.91
    assert shares["judge"] < 0.2
    assert np.mean(widths["corrected"]) < 0.8 * np.mean(widths["people"])
