"""DialogBench's tables from small answers worked out by hand, and the paper's own averages."""

from __future__ import annotations

import math
from itertools import count
from typing import Any

import pytest

from dialeval.dialogbench.accuracy import (
    ablation_rows,
    accuracy_rows,
    domain_rows,
    human_rows,
    mean_rate,
    rate_of,
    unweighted_mean,
)
from dialeval.dialogbench.items import TestItem
from dialeval.dialogbench.result_tables import circular_rows, domain_count_rows, item_rows, position_rows, style_rows
from dialeval.dialogbench.tasks import ABBREVIATIONS
from dialeval.papers.dialogbench import AVERAGE, OVERALL, PublishedRow, published_rows

DIALOGUES = count()
"""Every answer is to an item of its own dialogue, unless a test says otherwise."""


def answer(**fields: Any) -> dict[str, Any]:
    row = {
        "model": "m",
        "method": "letter",
        "item_id": f"item {next(DIALOGUES)}",
        "task": "SF",
        "domain": "Travel",
        "language": "en",
        "rotation": 0,
        "n_options": 4,
        "label": "A",
        "choice": "A",
        "status": "ok",
    } | fields
    return {"correct": row["choice"] == row["label"], "cluster": f"dialogue {next(DIALOGUES)}", **row}


@pytest.mark.parametrize(
    "row",
    [row for row in published_rows() if row.table in "234"],
    ids=lambda row: f"{row.table}-{row.group}-{row.model}",
)
def test_the_papers_overall_is_our_mean_of_tasks(row: PublishedRow) -> None:
    ours = unweighted_mean([row.values[task] for task in ABBREVIATIONS])
    assert ours == pytest.approx(row.values[OVERALL], abs=0.0101)


@pytest.mark.parametrize(
    "row", [row for row in published_rows() if row.table == "7"], ids=lambda row: f"{row.group}-{row.model}"
)
def test_the_papers_average_of_domains_is_our_mean(row: PublishedRow) -> None:
    domains = [value for name, value in row.values.items() if name != AVERAGE]
    assert len(domains) == 10
    assert unweighted_mean(domains) == pytest.approx(row.values[AVERAGE], abs=0.0101)


def test_a_rate_counts_what_cannot_be_read_as_wrong() -> None:
    answers = [answer(), answer(choice="B"), answer(choice=None, status="unparsed"), answer()]
    rate = rate_of(answers)
    assert (rate.accuracy, rate.n, rate.n_unparsed) == (0.5, 4, 1)
    assert 0.0 < rate.ci_low < 0.15  # Wilson's for 2 of 4 is .15, its normal quantile 1.96 and not 3.18
    assert rate.ci_high == pytest.approx(1.0 - rate.ci_low)
    assert (rate.n_clusters, rate.note) == (4, "")


def test_items_on_one_dialogue_are_one_observation() -> None:
    """Three questions on each of ten dialogues, all answered alike, say no more than one question on each."""
    once = [answer(choice="A" if number < 7 else "B", cluster=f"d{number}") for number in range(10)]
    thrice = rate_of(once * 3)
    alone = rate_of(once)
    assert (thrice.ci_low, thrice.ci_high) == pytest.approx((alone.ci_low, alone.ci_high), abs=0.02)
    assert (thrice.n, thrice.n_clusters) == (30, 10)
    assert thrice.n_effective == pytest.approx(10, rel=0.1)


def test_a_single_dialogue_gives_no_interval() -> None:
    rate = rate_of([answer(cluster="d"), answer(choice="B", cluster="d")])
    assert rate.accuracy == 0.5
    assert math.isnan(rate.ci_low)
    assert rate.to_row()["note"] == "a single cluster gives no interval"


def test_a_mean_of_tasks_has_an_interval_of_its_own() -> None:
    easy = [answer(choice="A" if number < 45 else "B") for number in range(50)]
    hard = [answer(choice="A" if number < 25 else "B") for number in range(50)]
    mean = mean_rate([easy, hard])
    assert mean.accuracy == pytest.approx(0.7)
    expected = 1.96 * math.sqrt(0.9 * 0.1 / 50 + 0.25 / 50) / 2
    assert (mean.ci_high - mean.ci_low) / 2 == pytest.approx(expected, rel=0.1)
    assert (mean.n, mean.n_clusters) == (100, 100)
    assert math.isnan(mean_rate([]).accuracy)
    assert math.isnan(mean_rate([easy, []]).accuracy)


def test_all_right_has_an_interval() -> None:
    rate = rate_of([answer() for _ in range(12)])
    assert rate.accuracy == rate.ci_high == 1.0
    assert 0.6 < rate.ci_low < 0.8


def test_overall_and_dimensions_are_unweighted_means_of_tasks() -> None:
    answers = [answer() for _ in range(3)] + [answer(choice="B")]  # SF: 0.75 of 4
    answers += [answer(task="IC", choice="B") for _ in range(2)]  # IC: 0 of 2
    answers += [answer(task="OD", label="B", choice="B", n_options=2) for _ in range(2)]  # OD: 2 of 2
    rows = {(row["scope"], row["name"]): row for row in accuracy_rows(answers)}
    assert rows["task", "SF"]["accuracy"] == 0.75
    assert rows["dimension", "correctness"]["accuracy"] == pytest.approx(0.375)
    assert rows["dimension", "safety"]["accuracy"] == 1.0
    overall = rows["overall", OVERALL]
    assert overall["accuracy"] == pytest.approx(1.75 / 3)  # not 5 of 8
    assert (overall["n_tasks"], overall["n"]) == (3, 8)
    assert overall["ci_low"] < overall["accuracy"] < overall["ci_high"]
    assert ("dimension", "coherence") not in rows


def test_published_accuracies_stand_beside_ours() -> None:
    rows = accuracy_rows([answer(model="gpt-4-0314"), answer(model="gpt-4-0314", task="OD")])
    published = {row["name"]: row["published"] for row in rows if row["scope"] != "dimension"}
    assert published == {"SF": pytest.approx(0.9609), "OD": pytest.approx(0.8447), OVERALL: pytest.approx(0.8606)}


def test_people_have_rows_of_published_accuracies() -> None:
    rows = human_rows(["en", "de"])
    assert len(rows) == 13
    assert [(row["name"], row["accuracy"], row["n"]) for row in rows[-2:]] == [("OD", 0.86, 0), (OVERALL, 0.925, 0)]
    assert {(row["model"], row["language"]) for row in rows} == {("human", "en")}
    assert set(rows[0]) == set(accuracy_rows([answer()])[0])


def test_only_the_first_rotation_counts_for_accuracy() -> None:
    rows = accuracy_rows([answer(), answer(rotation=1, choice="B")])
    assert rows[0]["accuracy"] == 1.0
    assert rows[0]["n"] == 1


def test_domains_are_averaged_by_group_and_strangers_come_last() -> None:
    answers = [answer(), answer(domain="Film", choice="B"), answer(domain="Physics"), answer(domain="Chess")]
    rows = domain_rows(answers)
    assert [(row["group"], row["domain"], row["accuracy"]) for row in rows] == [
        ("daily life", "Travel", 1.0),
        ("daily life", "Film", 0.0),
        ("daily life", "mean", 0.5),
        ("professional knowledge", "Physics", 1.0),
        ("professional knowledge", "mean", 1.0),
        ("", "Chess", 1.0),
    ]


def test_a_model_that_always_says_b_gets_the_share_of_b() -> None:
    answers = [answer(label=label, choice="B") for label in "AABBBBCCDD"]
    assert accuracy_rows(answers)[0]["accuracy"] == pytest.approx(0.4)
    rows = {row["letter"]: row for row in position_rows(answers)}
    assert {letter: row["accuracy"] for letter, row in rows.items()} == {"A": 0.0, "B": 1.0, "C": 0.0, "D": 0.0}
    assert {letter: row["share_chosen"] for letter, row in rows.items()} == {"A": 0.0, "B": 1.0, "C": 0.0, "D": 0.0}
    assert rows["A"]["chi_square"] == pytest.approx(30.0)  # 3 x 2.5^2/2.5 + 7.5^2/2.5
    assert rows["A"]["p_uniform"] == pytest.approx(1.38e-6, rel=0.01)


def test_letters_chosen_alike_are_uniform() -> None:
    rows = position_rows([answer(label="A", choice=letter) for letter in "ABCD"])
    assert all(row["p_uniform"] == pytest.approx(1.0) for row in rows)
    assert [row["n"] for row in rows] == [4, 0, 0, 0]
    assert math.isnan(rows[1]["accuracy"])


def test_nothing_read_gives_no_test_and_options_are_kept_apart() -> None:
    rows = position_rows([answer(choice=None, status="unparsed"), answer(n_options=2, task="OD")])
    assert [(row["n_options"], row["letter"]) for row in rows] == [
        (4, "A"),
        (4, "B"),
        (4, "C"),
        (4, "D"),
        (2, "A"),
        (2, "B"),
    ]
    assert math.isnan(rows[0]["p_uniform"])
    assert rows[0]["n_unparsed"] == 1


def test_with_all_rotations_every_item_counts_in_every_place() -> None:
    """Of two items one is known and the other's answer is always A: half the answers hang on content alone."""
    answers = [
        answer(item_id=name, rotation=rotation, label="ABCD"[rotation], choice=choice or "ABCD"[rotation], cluster=name)
        for name, choice in (("known", None), ("guessed", "A"))
        for rotation in range(4)
    ]
    rows = position_rows(answers)
    assert [(row["letter"], row["accuracy"], row["n"], row["orders"]) for row in rows] == [
        ("A", 1.0, 2, 4),
        ("B", 0.5, 2, 4),
        ("C", 0.5, 2, 4),
        ("D", 0.5, 2, 4),
    ]
    assert [row["n_chosen"] for row in rows] == [5, 1, 1, 1]
    assert rows[0]["chi_square"] == pytest.approx(3.0)  # of one item that tells, not of eight answers
    assert position_rows([row for row in answers if row["rotation"] == 0])[0]["orders"] == 1


def test_circular_finds_a_model_that_prefers_a_place() -> None:
    """Single-pass accuracy is flattered when the preferred place happens to be right more often than not."""
    answers = []
    for number, first in enumerate("BBBA"):
        for rotation in range(4):
            label = "ABCD"[("ABCD".index(first) + rotation) % 4]
            answers.append(answer(item_id=f"b{number}", rotation=rotation, label=label, choice="B"))
    task, overall = circular_rows(answers)
    assert (task["single_accuracy"], task["mean_accuracy"], task["accuracy"]) == (0.75, 0.25, 0.0)
    assert (overall["task"], overall["accuracy"], overall["n"]) == (OVERALL, 0.0, 4)
    knowing = [row | {"choice": row["label"], "correct": True} for row in answers]
    assert circular_rows(knowing)[0]["accuracy"] == 1.0


def test_items_without_every_rotation_are_left_out() -> None:
    assert circular_rows([answer(rotation=0), answer(rotation=1)]) == []


def described(one: str | None, two: str | None, domain: str | None = "Travel") -> dict[str, Any]:
    return {"judge": "j", "language": "en", "speaker1_style": one, "speaker2_style": two, "domain": domain}


def test_styles_and_domains_are_counted_before_and_after() -> None:
    classified = {
        "full": [described("friendly", "unfriendly"), described("neutral", "unfriendly", "other")],
        "-styles": [described("friendly", None, None), described("friendly", "friendly", "Film")],
    }
    styles = {(row["variant"], row["speaker"], row["style"]): row for row in style_rows(classified)}
    assert styles["full", 2, "unfriendly"]["share"] == 1.0
    assert styles["full", 1, "friendly"]["share"] == 0.5
    assert (styles["-styles", 2, "friendly"]["n"], styles["-styles", 2, "friendly"]["n_unparsed"]) == (1, 1)
    domains = {(row["variant"], row["domain"]): row["n"] for row in domain_count_rows(classified)}
    shares = {(row["variant"], row["domain"]): row for row in domain_count_rows(classified)}
    assert (
        0.0
        <= shares["full", "Travel"]["ci_low"]
        < shares["full", "Travel"]["share"]
        < shares["full", "Travel"]["ci_high"]
    )
    assert (domains["full", "Travel"], domains["full", "other"], domains["-styles", "Film"]) == (1, 1, 1)
    assert len(domains) == 2 * 21


def test_ablations_are_compared_with_the_full_procedure() -> None:
    chinese = {"language": "zh"}
    variants = {
        "full": [answer(**chinese), answer(choice="B", **chinese)],
        "-filter": [answer(choice="B", **chinese), answer(choice="B", **chinese)],
    }
    rows = {(row["variant"], row["name"]): row for row in ablation_rows(variants)}
    assert rows["-filter", "SF"]["difference"] == -0.5
    assert rows["full", OVERALL]["difference"] == 0.0
    assert rows["-filter", "SF"]["published_gpt4"] == pytest.approx(0.8729)
    assert all("published" not in row for row in rows.values())


def test_items_are_counted_beside_the_papers_table_1() -> None:
    def item(task: str, n: int) -> TestItem:
        return TestItem("i", task, "Travel", "en", ("hi",) * n, ("a", "b"), "A", origin="bundled")

    rows = item_rows([item("OD", 10), item("SF", 8), item("OD", 9), item("SF", 19), item("SF", 18)])
    assert [(row["task"], row["n"], row["mean_turns"]) for row in rows] == [("SF", 3, 7.5), ("OD", 2, 4.75)]
    assert [row["n_short"] for row in rows] == [2, 2]  # a lone tenth utterance of speaker 1 begins a tenth turn
    assert (rows[1]["published_n"], rows[1]["published_turns"]) == (802.0, 8.25)
