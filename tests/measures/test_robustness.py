"""Pairs of scores become ratios: strictly above theta, missing is not noticing, originals and damaged joined by key."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from dialeval.corpora.items import Item
from dialeval.measures.robustness import (
    average_rows,
    ladder_rows,
    pair_count_rows,
    robustness_rows,
    score_drop_rows,
    score_pairs,
    threshold_rows,
)
from dialeval.perturbations.registry import STRATEGIES
from dialeval.perturbations.strategy import build_pool
from dialeval.perturbations.suite import ladders, perturb_all, targets_of_items
from dialeval.tables.dialogues import JUDGEMENTS
from dialeval.tables.files import empty_table, to_table
from dialeval.tables.robustness import PAIRS

WORDS = ("kettle", "harbour", "violin", "tractor", "lantern", "orchard", "saddle", "compass")


def dialogue(number: int) -> Item:
    texts = tuple(
        f"The {WORDS[(number + n) % 8]} number {n} is broken, and I want it mended by noon." for n in range(8)
    )
    name = f"d{number}"
    return Item("mine", name, "en", "dialogue", name, ("human", "chatbot") * 4, texts)


ITEMS = [dialogue(number) for number in range(6)]
POOLS = {"mine": build_pool(ITEMS)}


def suite(*names: str, draws: int = 2) -> tuple[list[dict[str, Any]], dict[str, Item]]:
    outcomes = list(
        perturb_all(ITEMS, [STRATEGIES[n] for n in names], POOLS, n_draws={"dialogue": draws, "turn": 1}, random_seed=0)
    )
    items = {item.item_id: item for item in ITEMS} | {item.item_id: item for _, item in outcomes if item}
    return [row for row, _ in outcomes], items


def scores(items: dict[str, Item], judges: dict[str, Any]) -> pa.Table:
    rows = [
        {
            "judge": judge,
            "protocol": "yes_no",
            "request_id": "",
            "corpus": item.corpus,
            "language": item.language,
            "item_id": item.item_id,
            "criterion": dimension,
            "repeat": 0,
            "reason": "",
            "value": function(item),
            "scale_min": 0.0,
            "scale_max": 1.0,
            "status": "ok",
        }
        for judge, function in judges.items()
        for item in items.values()
        for dimension in ("coherence", "engagingness", "informativeness")
    ]
    return to_table(JUDGEMENTS, rows)


def by_length(item: Item) -> float:
    return min(1.0, sum(map(len, item.utterances)) / 1000)


def find(rows: Any, **where: Any) -> dict[str, Any]:
    (row,) = [row for row in rows if all(row[name] == value for name, value in where.items())]
    return row


def test_length_notices_less_content_and_no_other_order() -> None:
    rows, items = suite("order_shuffle", "content_reduction")
    scored = score_pairs(to_table(PAIRS, rows), scores(items, {"length": by_length, "flat": lambda item: 0.5}))
    ratios = robustness_rows(scored, 0.95)
    assert find(ratios, judge="length", perturbation="order_shuffle")["ratio"] == 0
    drops = find(score_drop_rows(scored), judge="length", perturbation="content_reduction")
    assert drops["p05"] > 0
    low_theta = [row for row in threshold_rows(scored, [0.0], 0.95) if row["judge"] == "length"]
    assert find(low_theta, perturbation="content_reduction")["ratio"] == 1
    assert all(row["ratio"] == 0 for row in ratios if row["judge"] == "flat")
    assert all(row["ratio"] == 0 for row in threshold_rows(scored, [0.0], 0.95) if row["judge"] == "flat")


def test_theta_is_strict() -> None:
    rows, items = suite("utterance_replacement", draws=1)
    original_ids = {item.item_id for item in ITEMS}

    def falls(by: float) -> Any:
        return lambda item: 0.5 if item.item_id in original_ids else 0.5 - by

    judges = {"at": falls(0.1), "above": falls(0.1001), "increase_ratio": falls(-0.3)}
    ratios = robustness_rows(score_pairs(to_table(PAIRS, rows), scores(items, judges)), 0.95)
    assert [find(ratios, judge=name)["ratio"] for name in judges] == [0, 1, 0]
    assert find(ratios, judge="at")["threshold"] == 0.1
    assert [find(ratios, judge=name)["increase_ratio"] for name in judges] == [0, 0, 1]


def test_a_score_missing_on_the_damaged_side_is_missing_and_not_noticed() -> None:
    rows, items = suite("utterance_replacement", draws=1)
    original_ids = {item.item_id for item in ITEMS}
    judges = {"half": lambda item: 0.9 if item.item_id in original_ids else None}
    row = find(robustness_rows(score_pairs(to_table(PAIRS, rows), scores(items, judges)), 0.95))
    assert (row["n"], row["n_missing"]) == (6, 6)
    assert row["ratio"] != row["ratio"]  # no pair has both scores


def test_averages_are_means_of_the_papers_cells() -> None:
    rows, items = suite("order_shuffle", "content_reduction", "utterance_replacement", "utterance_replacement_3")
    scored = score_pairs(to_table(PAIRS, rows), scores(items, {"length": by_length}))
    ratios = robustness_rows(scored, 0.95)
    average = find(average_rows(scored, 0.95))
    cells = [row["ratio"] for row in ratios if row["perturbation"] != "utterance_replacement_3"]
    assert average["n_cells"] == 3
    assert average["average"] == pytest.approx(sum(cells) / 3)
    assert average["ci_low"] <= average["average"] < average["ci_high"]
    assert average["n_clusters"] == 6


def test_a_ratios_clusters_are_the_dialogues_that_were_damaged() -> None:
    rows, items = suite("order_shuffle", draws=5)
    row = find(robustness_rows(score_pairs(to_table(PAIRS, rows), scores(items, {"length": by_length})), 0.95))
    assert (row["n"], row["n_clusters"]) == (30, 6)
    assert row["n_effective"] == pytest.approx(row["n"] / row["design_effect"])


def test_pairs_are_counted_with_what_became_of_them() -> None:
    rows, _ = suite("order_shuffle")
    short = Item("mine", "short", "en", "dialogue", "short", ("human", "chatbot"), ("Hello.", "Hello."))
    more = perturb_all([short], [STRATEGIES["order_shuffle"]], POOLS, n_draws={"dialogue": 1, "turn": 1}, random_seed=0)
    rows += [row for row, _ in more]
    row = find(pair_count_rows(to_table(PAIRS, rows)))
    assert (row["n_requested"], row["n_pairs"], row["n_not_applicable"]) == (13, 12, 1)
    assert row["reasons"].startswith("1 ")
    assert row["published_n"] == 200


def test_ladders_fall_for_a_judge_that_counts_and_not_for_one_that_does_not() -> None:
    outcomes = list(ladders(ITEMS, [STRATEGIES["content_reduction"]], POOLS, n_steps=3, random_seed=0))
    items = {item.item_id: item for item in ITEMS} | {item.item_id: item for _, item in outcomes if item}
    table = scores(items, {"length": by_length, "flat": lambda item: 0.5})
    rows = list(ladder_rows(to_table(PAIRS, [row for row, _ in outcomes]), table, 0.95))
    assert find(rows, judge="length")["strictly_decreasing"] == 1
    assert (find(rows, judge="flat")["strictly_decreasing"], find(rows, judge="flat")["non_increasing"]) == (0, 1)


def test_ladders_are_no_pairs() -> None:
    outcomes = list(ladders(ITEMS, [STRATEGIES["content_reduction"]], POOLS, n_steps=3, random_seed=0))
    pairs = to_table(PAIRS, [row for row, _ in outcomes])
    items = {item.item_id: item for item in ITEMS} | {item.item_id: item for _, item in outcomes if item}
    assert score_pairs(pairs, scores(items, {"length": by_length})).groups == []


def test_only_the_dimensions_aimed_at_are_wanted_of_an_item() -> None:
    rows, _ = suite("order_shuffle", "generic_utterance", draws=1)
    wanted = targets_of_items(rows)
    assert wanted["mine", "en", "d0"] == {"coherence", "engagingness", "informativeness"}
    shuffled = next(row["item_id"] for row in rows if row["perturbation"] == "order_shuffle")
    assert wanted["mine", "en", shuffled] == {"coherence"}


def test_nothing_damaged_gives_empty_tables() -> None:
    scored = score_pairs(empty_table(PAIRS), scores({"d0": ITEMS[0]}, {"length": by_length}))
    assert robustness_rows(scored, 0.95) == []
    assert list(average_rows(scored, 0.95)) == []
    assert list(score_drop_rows(scored)) == []
    assert list(ladder_rows(empty_table(PAIRS), empty_table(JUDGEMENTS), 0.95)) == []


HURT = {"empathy": ["order_shuffle", "content_reduction"], "tact": ["dullness"]}


def test_ones_own_criteria_are_compared_where_the_damage_lowers_them() -> None:
    rows, items = suite("order_shuffle", "generic_utterance", "content_reduction", draws=1)
    wanted = targets_of_items(rows, HURT)
    by_strategy = {row["perturbation"]: wanted["mine", "en", row["item_id"]] for row in rows}
    assert by_strategy["order_shuffle"] == {"coherence", "empathy"}
    assert by_strategy["generic_utterance"] == {"engagingness", "informativeness"}
    own = scores(items, {"length": by_length})
    empathy = [row | {"criterion": "empathy"} for row in own.to_pylist() if row["criterion"] == "coherence"]
    both = pa.concat_tables([own, to_table(JUDGEMENTS, empathy)])
    ratios = robustness_rows(score_pairs(to_table(PAIRS, rows), both, HURT), 0.95)
    asked = {
        (row["perturbation"], row["dimension"]): row["threshold"] for row in ratios if row["dimension"] == "empathy"
    }
    assert asked == {("order_shuffle", "empathy"): 0.2, ("content_reduction", "empathy"): 0.2}
    papers = robustness_rows(score_pairs(to_table(PAIRS, rows), own), 0.95)
    assert [row for row in ratios if row["dimension"] != "empathy"] == papers  # and change nothing of the others
    averages = list(average_rows(score_pairs(to_table(PAIRS, rows), both, HURT), 0.95))
    assert averages == list(average_rows(score_pairs(to_table(PAIRS, rows), own), 0.95))
