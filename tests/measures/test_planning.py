"""What a design can show: from stored judgements, from earlier labels, and from assumptions before there is any."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.stats import t as student

from dialeval.measures.design import Design
from dialeval.planning.judge_power import NO_DIFFERENCE, CaseCosts, PlannedDesign, Size, chats_size, planned_size
from dialeval.planning.label_power import DECIDED, NEVER_BY_LABELS, NEVER_BY_SEEDS, EarlierLabels, LabelPlan, plans
from dialeval.stats.alternative_annotator import items_needed
from dialeval.stats.power import HumanLabelDesign, detectable
from dialeval.tables.dialogues import JUDGEMENTS, REQUESTS, SEEDS
from dialeval.tables.files import HUMAN, to_table, write_table
from dialeval.tables.labels import PLANNING

Row = dict[str, Any]
NOTHING = to_table(JUDGEMENTS, []).to_pandas()
SCORED = Design(protocol="felt", judges=["clerk"], criteria=["empathy"], measures=["means"])
ARENA = Design(protocol="arena", judges=["clerk"], lengths=[8, 16], measures=["ratings", "win_rates", "bias"])
PASSED = Design(protocol="unieval", judges=["clerk"], lengths=[8, 16], measures=["pass_rates"])


def judgement(**about: Any) -> Row:
    row = {"judge": "clerk", "protocol": "p", "request_id": "", "repeat": 0, "reason": "", "status": "ok"}
    return {**row, **about}


def scored(n: int, **more: Any) -> pd.DataFrame:
    rng = np.random.default_rng(n)
    rows = [
        judgement(case_id=f"c{case}", item_id=f"{system}{case}", left=system, criterion="empathy", value=value, **more)
        | {"scale_min": 1.0, "scale_max": 7.0}
        for system, mean in (("a", 4.0), ("b", 3.5), ("c", 4.0))
        for case, value in enumerate(np.clip(rng.normal(mean, 1.0, n), 1.0, 7.0))
    ]
    return to_table(JUDGEMENTS, rows).to_pandas()


def made(planned: PlannedDesign, size: Size, judgements: pd.DataFrame = NOTHING, **more: Any) -> list[Row]:
    costs = CaseCosts(more.get("cost_of_case", {}), more.get("judging_of_case", {}))
    rows = plans(planned, size, judgements, costs, more.get("labels"), EarlierLabels(more.get("corrected", ())))
    return list(to_table(PLANNING, rows).to_pylist())


def test_before_a_run_the_assumptions_are_printed() -> None:
    (row,) = made(PlannedDesign(design=SCORED, form="scale", ends={"empathy": (1.0, 7.0)}), Size(3, 50))
    expected = detectable(math.sqrt(2.0 * 1.5**2 / 50), 49)  # a quarter of a scale of six points
    assert row["min_detectable_difference"] == pytest.approx(float(expected.smallest))
    of_three = detectable(math.sqrt(2.0 * 1.5**2 / 50), 49, 1 - 0.05 / 3)  # pairs, of which Holm asks a third of 5%
    assert row["min_detectable_difference_holm"] == pytest.approx(float(of_three.smallest))
    assert (row["protocol"], row["criterion"], row["measure"], row["estimand"]) == ("felt", "empathy", "mean", "judge")
    assert (row["basis"], row["note"]) == ("assumptions", "assumed: scores with standard deviation 1.5 within a system")
    assert 3 * 50 - 10 < row["seeds_to_halve"] < 3 * 50  # a little less than four times as many in all


def test_stored_judgements_take_the_place_of_assumptions() -> None:
    (row,) = made(PlannedDesign(design=SCORED, form="scale", ends={"empathy": (1.0, 7.0)}), Size(3, 50), scored(200))
    expected = detectable(math.sqrt(2.0 / 50), 49)  # they were drawn with a standard deviation of 1
    assert row["basis"] == "stored judgements"
    assert row["min_detectable_difference"] == pytest.approx(float(expected.smallest), rel=0.1)
    assert row["note"] is None


def test_repeats_that_are_not_stored_are_not_made_up() -> None:
    planned = PlannedDesign(design=SCORED, form="scale", repeats=3)
    (row,) = made(planned, Size(3, 50), scored(20))
    assert row["note"] == "as with the 1 repeats that are stored"
    twice = pd.concat([scored(20), scored(20, repeat=1).assign(value=1.0)])
    assert made(planned.model_copy(update={"repeats": 1}), Size(3, 50), twice) == made(
        planned.model_copy(update={"repeats": 1}), Size(3, 50), scored(20)
    )


def test_judgements_that_are_all_the_same_tell_nothing() -> None:
    frame = scored(20).assign(value=4.0)
    (row,) = made(PlannedDesign(design=SCORED, form="scale", ends={"empathy": (1.0, 7.0)}), Size(3, 50), frame)
    assert row["basis"] == "assumptions"
    assert row["note"].startswith(NO_DIFFERENCE)


def test_a_pass_rate_is_planned_at_the_greatest_length_and_without_people() -> None:
    rng = np.random.default_rng(0)
    rows = [
        judgement(case_id=f"s{seed}", left=system, choice="No" if rng.random() < share else "Yes", n_utterances=16)
        | {"place": 12}
        for system, share in ((HUMAN, 1.0), ("a", 0.5), ("b", 0.5))
        for seed in range(100)
    ]
    (row,) = made(PlannedDesign(design=PASSED, form="locate"), Size(2, 100), to_table(JUDGEMENTS, rows).to_pandas())
    assert (row["measure"], row["n_utterances"], row["basis"]) == ("pass_rate", 16, "stored judgements")
    assert row["min_detectable_difference"] == pytest.approx(2.8 * math.sqrt(0.5 / 100), rel=0.15)


def arena(n: int) -> pd.DataFrame:
    rng = np.random.default_rng(n)
    rows = [
        judgement(case_id=f"s{seed}", left=left, right=right, n_utterances=length)
        | {"outcome": "left" if rng.random() < 0.5 else "right"}
        for seed in range(n)
        for length in (8, 16)
        for one, other in (("a", "b"), ("a", "c"), ("b", "c"))
        for left, right in ((one, other), (other, one))
    ]
    return to_table(JUDGEMENTS, rows).to_pandas()


def test_ratings_are_planned_in_points() -> None:
    planned = PlannedDesign(design=ARENA, form="pair")
    (before,) = made(planned, Size(3, 80))
    (after,) = made(planned, Size(3, 80), arena(150))
    assert (before["measure"], before["n_utterances"], before["basis"]) == ("rating", 16, "assumptions")
    points = 400.0 / math.log(10.0)
    # both orders of a pair were drawn by themselves: two comparisons a seed
    assert after["half_width"] == pytest.approx(1.99 * points * math.sqrt(2 / (3 * 0.25 * 2 * 80)), rel=0.15)
    assert before["half_width"] == pytest.approx(math.sqrt(2.0) * after["half_width"], rel=0.15)


def corrected(system: str, half: float, rho: float | None, **more: Any) -> Row:
    row = {"protocol": "felt", "criterion": "empathy", "n_utterances": None, "judge": "clerk", "measure": "mean"}
    row |= {
        "system": system,
        "opponent": None,
        "answer": None,
        "human_only_ci_low": 4.0 - half,
        "human_only_ci_high": 4.0 + half,
        "rho_within": rho,
    }
    return {**row, "n_labelled": 40, "n_labelled_seeds": 40, "n_total": 200, "target": "new_cases", **more}


LABELS = LabelPlan(n=40, price=0.5, answers=2)


def test_earlier_labels_tell_how_people_spread_and_how_the_judge_goes_with_them() -> None:
    planned = PlannedDesign(design=SCORED, form="scale", labelled=True)
    half = 2.0227 * 1.2 / math.sqrt(40)  # of 40 labels that spread by 1.2
    estimates = [corrected(system, half, 0.7) for system in "abc"]
    rows = made(planned, Size(3, 200), corrected=[*estimates, corrected("a", 9.9, 0.0, judge="other")], labels=LABELS)
    (people,) = [row for row in rows if row["estimand"] == "people"]
    design = HumanLabelDesign(2.0 * 1.2**2 * 3, 0.7, per_label=3.0)
    assert people["basis"] == "labels"
    assert people["n_labels"] == 120
    assert people["half_width"] == pytest.approx(design.half_width(120, 600, 0.95), rel=1e-3)
    assert people["note"] is not None
    assert NEVER_BY_SEEDS in people["note"]
    assert people["labels_to_halve"] is None
    assert NEVER_BY_LABELS in people["note"]


def test_labels_and_seeds_are_weighed_by_their_prices() -> None:
    planned = PlannedDesign(design=SCORED, form="scale", labelled=True)
    estimates = [corrected(system, 0.4, 0.95) for system in "abc"]
    few = LabelPlan(n=150, price=0.5, answers=2)
    rows = made(planned, Size(3, 200), corrected=estimates, labels=few, cost_of_case={"clerk": 0.001})
    judge, people = sorted(rows, key=lambda row: row["estimand"])
    assert judge["cost_of_seeds"] == pytest.approx(0.001 * judge["seeds_to_halve"])
    assert people["labels_to_halve"] is None
    assert people["cheaper"] == "seeds"
    assert people["cost_of_seeds"] == pytest.approx(0.001 * people["seeds_to_halve"])
    many = made(planned, Size(3, 5000), corrected=estimates, labels=LabelPlan(n=20, price=0.5, answers=2))
    (people,) = [row for row in many if row["estimand"] == "people"]
    assert people["cost_of_labels"] == pytest.approx(people["labels_to_halve"] * 2 * 0.5)
    assert people["cheaper"] == "labels"


def test_what_labels_of_these_dialogues_tell_is_taken_to_any_number_of_labels() -> None:
    """Of these dialogues a draw of half leaves half the variance, which the plan takes off by itself."""
    planned = PlannedDesign(design=SCORED, form="scale", labelled=True)
    half = 1.98 * 1.2 / math.sqrt(100) * math.sqrt(1.0 - 100 / 200)
    about = {"n_labelled": 100, "n_labelled_seeds": 100, "n_total": 200, "target": "given_cases"}
    estimates = [corrected(system, half, 0.7, **about) for system in "abc"]
    estimates.append(
        corrected("d", 0.0, 0.7, **about | {"n_labelled": 200, "n_labelled_seeds": 200})
    )  # known without error
    these = LabelPlan(n=100, target="given_cases")
    (people,) = [
        row for row in made(planned, Size(3, 200), corrected=estimates, labels=these) if row["estimand"] == "people"
    ]
    design = HumanLabelDesign(2.0 * 1.2**2 * 3, 0.7, fixed=True, per_label=3.0)
    assert people["half_width"] == pytest.approx(design.half_width(300, 600, 0.95), rel=5e-3)


def test_earlier_ratings_tell_as_much_of_a_difference_as_it_spreads() -> None:
    """Each of three ratings has but two thirds of the variance that it would have beside a fixed number."""
    planned = PlannedDesign(design=ARENA, form="pair", labelled=True)
    about = {"protocol": "arena", "criterion": None, "n_utterances": 16, "measure": "rating", "n_labelled_seeds": 400}
    estimates = [corrected(system, 1.966 * 30.0, 0.0, **about | {"n_labelled": 200}) for system in "abc"]
    rows = made(planned, Size(3, 2000), corrected=estimates, labels=LabelPlan(n=300))
    (people,) = [row for row in rows if row["estimand"] == "people"]
    assert people["half_width"] == pytest.approx(1.968 * 30.0 * math.sqrt(2.0 * 3 / 2), rel=1e-3)


def test_these_very_dialogues_are_known_when_all_are_labelled() -> None:
    planned = PlannedDesign(design=SCORED, form="scale", labelled=True)
    these = LabelPlan(n=200, target="given_cases")
    (people,) = [row for row in made(planned, Size(3, 200), labels=these) if row["estimand"] == "people"]
    assert (people["half_width"], people["seeds_to_halve"], people["labels_to_halve"]) == (0.0, None, None)


def test_pairs_are_labelled_in_all_and_not_by_system() -> None:
    planned = PlannedDesign(design=ARENA, form="pair", labelled=True)
    rows = made(planned, Size(14, 222), labels=LabelPlan(n=300))
    (people,) = [row for row in rows if row["estimand"] == "people"]
    assert people["n_labels"] == 300
    # a rating by 300 labels is known to 96 to 100 points (simulated with ratings); a difference to 1.4 times that
    assert 105.0 < people["half_width"] < 145.0


@pytest.mark.parametrize("size", [Size(1, 50), Size(3, 1)])
def test_one_system_or_one_case_gives_no_row(size: Size) -> None:
    assert made(PlannedDesign(design=SCORED, form="scale"), size) == []


def test_sizes_are_those_of_the_seeds_and_of_the_plan(tmp_path: Any) -> None:
    seed = {"corpus": "x", "language": "en", "utterances": ["a", "b"], "n_human": 16}
    uses = [(True, True), (True, False), (False, False)]
    seeds = to_table(
        SEEDS,
        [{**seed, "seed_id": f"s{n}", "for_arena": one, "for_gteval": two} for n, (one, two) in enumerate(uses)],
    )
    assert chats_size("locate", "each_other", seeds, 4) == (4, 3)
    assert chats_size("pair", "each_other", seeds, 4) == (4, 2)
    assert chats_size("pair", HUMAN, seeds, 4) == (4, 1)
    assert chats_size("pair", "gpt", seeds, 4) == (3, 2)
    blank = dict(zip(REQUESTS.schema.names, REQUESTS.schema.types, strict=True))
    empty = {name: "" if kind == pa.string() else [] if pa.types.is_list(kind) else 0 for name, kind in blank.items()}
    rows = [
        {**empty, "case_id": case, "item_id": item, "left": left, "right": None}
        for case, item, left in (("c1", "i1", "a"), ("c1", "i2", "b"), (None, "i3", "b"), ("", "i4", "a"))
    ]
    path = tmp_path / "felt.parquet"
    write_table(path, REQUESTS, to_table(REQUESTS, rows))
    assert planned_size(path) == (2, 3)


def several_judges(n: int) -> pd.DataFrame:
    """Scores of three systems by three judges in two repeats."""
    parts = []
    for number, judge in enumerate(("clerk", "baker", "smith")):
        for repeat in range(2):
            noise = np.random.default_rng([number, repeat]).normal(0.0, 1.0, 3 * n)
            taste = np.repeat(np.random.default_rng(number).normal(0.0, 0.3, 3), n)
            part = scored(n).assign(judge=judge, repeat=repeat)
            parts.append(part.assign(value=part["value"] + noise + taste))
    return pd.concat(parts, ignore_index=True)


def test_stored_scores_tell_the_cheapest_design() -> None:
    """A case costs 10 and a judge's score next to nothing, or the other way round."""
    planned = PlannedDesign(design=SCORED, form="scale", repeats=2)
    scores = several_judges(40)
    (dear_cases,) = made(planned, Size(3, 40), scores, cost_of_case={"clerk": 10.2}, judging_of_case={"clerk": 0.2})
    (dear_scores,) = made(planned, Size(3, 40), scores, cost_of_case={"clerk": 10.2}, judging_of_case={"clerk": 10.0})
    (free,) = made(planned, Size(3, 40), scores)
    assert dear_cases["cheapest_repeats"] > dear_scores["cheapest_repeats"]
    assert dear_cases["cheapest_seeds"] < dear_scores["cheapest_seeds"]
    repeats = dear_cases["cheapest_repeats"]
    assert dear_cases["cost_of_cheapest"] == pytest.approx(dear_cases["cheapest_seeds"] * (10.0 + 0.1 * repeats))
    assert (free["cheapest_repeats"], free["cost_of_cheapest"]) == (dear_scores["cheapest_repeats"], None)


def test_three_judges_are_planned_as_a_sample_and_two_are_not() -> None:
    judges = ["clerk", "baker", "smith"]
    design = SCORED.model_copy(update={"judges": judges})
    rows = made(PlannedDesign(design=design, form="scale", repeats=2), Size(3, 40), several_judges(40))
    assert [row["estimand"] for row in rows] == ["judge", "judge", "judge", "judges"]
    assert rows[-1]["n_judges"] == 3
    assert rows[-1]["half_width"] > np.mean([row["half_width"] for row in rows[:3]]) / np.sqrt(3.0)
    two = SCORED.model_copy(update={"judges": judges[:2]})
    rows = made(PlannedDesign(design=two, form="scale", repeats=2), Size(3, 40), several_judges(40))
    assert [row["estimand"] for row in rows] == ["judge", "judge"]


def test_without_stored_repeats_only_cases_are_planned() -> None:
    (row,) = made(PlannedDesign(design=SCORED, form="scale", repeats=3), Size(3, 40), scored(40))
    assert row["cheapest_repeats"] == 1
    assert row["note"] == "as with the 1 repeats that are stored"
    assert row["cheapest_seeds"] > 120


# The cheapest design for a difference


def components_of_labels(
    dialogue: float, error: float, between: float, *, n_annotators: int = 4, n_dialogues: int = 90
) -> list[Row]:
    """Rows of `labels/variance_components` of a run in which every annotator labelled every dialogue."""
    variances = {
        "case": dialogue / 3.0, "system x case": 2.0 * dialogue / 3.0, "annotator": 0.2, "system x annotator": between,
        "case x annotator": error / 2.0, "system x case x annotator": error / 2.0,
    }  # fmt: skip
    levels = {"system x case": n_dialogues}
    return [
        {"protocol": "felt", "criterion": "empathy", "statistic": "variance", "component": name, "estimate": value}
        | {"n_levels": levels.get(name, 4), "n": n_dialogues * n_annotators, "n_annotators": n_annotators}
        for name, value in variances.items()
    ]


def pilot_of_labels(dialogue: float, error: float, n_annotators: int, rho: float = 0.6, n: int = 30) -> list[Row]:
    """Rows of `labels/estimates` of the same run, with n labelled dialogues of each of three systems."""
    half = math.sqrt((dialogue + error / n_annotators) / n) * float(student.ppf(0.975, n - 1))
    about = {"protocol": "felt", "criterion": "empathy", "n_utterances": None, "answer": None, "measure": "mean"}
    return [
        about
        | {"system": system, "opponent": None, "judge": "clerk", "target": "new_cases", "n_labelled": n}
        | {"human_only_ci_low": -half, "human_only_ci_high": half, "rho_within": rho, "n_labelled_seeds": n}
        | {"n_total": 200}
        for system in "abc"
    ]


judge_among_annotators = {
    "protocol": "felt", "judge": "clerk", "criterion": "empathy", "annotator": None, "decided": 0.17
}  # fmt: skip


def planned_labels(target: float | None, *, answers: int = 1, n: int = 50, **prices: Any) -> dict[str, Row]:
    planned = PlannedDesign(
        design=SCORED, form="scale", labelled=True, ends={"empathy": (1.0, 7.0)}, target_difference=target
    )
    about = LabelPlan(n=n, answers=answers, n_annotators=4, price=prices.get("label"))
    rows = plans(
        planned,
        Size(3, 200),
        NOTHING,
        CaseCosts({"clerk": prices.get("case")}),
        about,
        EarlierLabels(pilot_of_labels(1.0, 0.8, 4), components_of_labels(1.0, 0.8, 0.05), [judge_among_annotators]),
    )
    return {row["estimand"]: row for row in to_table(PLANNING, rows).to_pylist()}


@pytest.mark.parametrize("answers", [1, 2, 4])
def test_annotators_of_a_pilot_are_a_part_of_the_plan(answers: int) -> None:
    rows = planned_labels(None, answers=answers)
    observed = 0.6**2 * (1.0 + 0.8 / 4)  # the part of the variance that the judge explains
    harsh = 0.25 * (1.0 / answers - 1.0 / 4)  # the fewer label a dialogue, the more it matters who
    variance = 2.0 * ((1.0 + 0.8 / answers + harsh - observed) / 50 + observed / 200)
    expected = math.sqrt(variance) * float(student.ppf(0.975, 49))
    assert rows["people"]["half_width"] == pytest.approx(expected, rel=1e-6)
    between = 2.0 * 0.05 / 4
    freedom = (variance + between) ** 2 / (variance**2 / 49 + between**2 / 3)
    expected = math.sqrt(variance + between) * float(student.ppf(0.975, freedom))
    assert rows["annotators"]["half_width"] == pytest.approx(expected, rel=1e-6)
    assert rows["annotators"]["n_annotators"] == 4


def test_the_cheapest_design_for_a_difference_is_that_of_a_search_over_all() -> None:
    found = planned_labels(0.6, label=0.5, case=0.3)["people"]
    people = HumanLabelDesign(
        2.0 * 1.2 * 3, 0.6, False, 3.0, 87.0, answers=4.0, annotators=4.0, error=1.05 / 1.2, severity_share=0.25 / 1.2
    )
    better = []
    for n, answers in itertools.product(range(2, 400), (1, 2, 3)):  # with the most labels that cost a little less
        most = min(int((0.999 * found["cost_of_cheapest"] - 0.3 * n) / (0.5 * 3 * answers)), n)
        if most > 1 and people.detectable(3 * most, 3 * n, 0.95, answers=answers, n_annotators=4).smallest <= 0.6:
            better.append((n, most, answers))
    assert not better
    n, m, each = found["cheapest_seeds"], found["cheapest_labels"], found["cheapest_answers"]
    assert people.detectable(m, 3 * n, 0.95, answers=each, n_annotators=4).smallest <= 0.6
    assert found["cost_of_cheapest"] == pytest.approx(0.3 * n + 0.5 * m * each)
    assert found["target_difference"] == 0.6
    over = planned_labels(0.6, label=0.5, case=0.3)["annotators"]
    assert over["cheapest_annotators"] >= 3
    assert over["cheapest_annotators"] * 2 > over["cheapest_answers"]


def test_dear_labels_are_traded_for_cases_and_without_prices_the_cases_stay() -> None:
    cheap, dear = (planned_labels(0.6, label=price, case=0.3)["people"] for price in (0.01, 5.0))
    given = [row["cheapest_labels"] * row["cheapest_answers"] for row in (dear, cheap)]
    assert given[0] < given[1]
    assert dear["cheapest_seeds"] > cheap["cheapest_seeds"]
    unpriced = planned_labels(0.6)["people"]
    assert (unpriced["cheapest_seeds"], unpriced["cost_of_cheapest"]) == (200, None)
    more = planned_labels(0.2)["people"]  # 200 cases are too few
    assert more["cheapest_seeds"] > 200
    assert more["cheapest_labels"] == pytest.approx(3 * more["cheapest_seeds"], rel=0.01)
    assert more["cheapest_answers"] == 3
    impossible = planned_labels(1e-4)["people"]
    assert (impossible["target_difference"], impossible["cheapest_seeds"]) == (1e-4, None)


def test_a_judges_cases_for_a_difference_are_the_fewest() -> None:
    planned = PlannedDesign(design=SCORED, form="scale", ends={"empathy": (1.0, 7.0)}, target_difference=0.5)
    (assumed,) = made(planned, Size(3, 50), cost_of_case={"clerk": 2.0})
    n = assumed["cheapest_seeds"]
    smallest = [float(detectable(math.sqrt(2.0 * 1.5**2 / m), m - 1).smallest) for m in (n - 1, n)]
    assert smallest[1] <= 0.5 < smallest[0]
    assert assumed["cost_of_cheapest"] == 2.0 * n
    (stored,) = made(planned, Size(3, 50), scored(200), cost_of_case={"clerk": 2.0}, judging_of_case={"clerk": 1.0})
    n = stored["cheapest_seeds"]
    assert n == pytest.approx(2.0 * (1.96 + 0.84) ** 2 / 0.25, rel=0.15)  # drawn with a standard deviation of 1
    (few,) = made(planned, Size(3, 50), scored(6))
    assert few["cheapest_seeds"] / max(float(scored(6)["value"].var()), 0.3) > n / float(scored(200)["value"].var())


@pytest.mark.parametrize(("n_annotators", "n", "words"), [(3, 700, "experts"), (3, 20, "too few"), (2, 700, "too few")])
def test_the_alternative_annotator_test_is_planned_before_labelling(n_annotators: int, n: int, words: str) -> None:
    planned = PlannedDesign(design=SCORED, form="scale", labelled=True, ends={"empathy": (1.0, 7.0)})
    about = LabelPlan(n=n, answers=n_annotators, n_annotators=n_annotators)
    for earlier, share in ((EarlierLabels(), DECIDED), (EarlierLabels(replacement=[judge_among_annotators]), 0.17)):
        rows = plans(planned, Size(3, 900), NOTHING, CaseCosts(), about, earlier)
        note = next(row["note"] for row in rows if row["estimand"] == "people")
        needed = [items_needed(epsilon, share, 3) for epsilon in (0.1, 0.15, 0.2)]
        assert f"{needed[0]:,} (crowd workers, margin 0.1), {needed[1]:,} (skilled annotators" in note
        assert f"decide between judge and annotator, {share:.0%} (" in note
        assert words in note.rpartition("items each")[2]
