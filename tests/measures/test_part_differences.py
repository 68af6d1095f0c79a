"""Differences of DialogBench's accuracies and ablations, and of robustness ratios: the tables' own numbers, paired."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dialeval.dialogbench.accuracy import (
    SAME_ITEMS,
    ablation_differences,
    ablation_rows,
    accuracy_differences,
    accuracy_rows,
)
from dialeval.measures.differences import with_adjusted_p
from dialeval.measures.robustness import ScoredPairs, average_rows, robustness_differences, robustness_rows
from dialeval.papers.dialogbench import OVERALL
from dialeval.stats.differences import ALL_THE_SAME
from dialeval.tables.dialogbench import DIALOGBENCH_DIFFERENCES
from dialeval.tables.files import to_table
from dialeval.tables.robustness import ROBUSTNESS_DIFFERENCES

Row = dict[str, Any]


def answers(
    model: str, shares: dict[str, float], *, method: str = "letter", variant: str = "", n: int = 30
) -> list[Row]:
    """Answers to n items of each task, two from one dialogue, of which a share is right."""
    return [
        {"source": "mine", "model": model, "method": method, "item_id": f"{task}-{variant}{number}", "task": task,
         "language": "en", "rotation": 0, "n_options": 4, "cluster": f"{variant}dialogue {number // 2}", "label": "A",
         "choice": "A" if number < share * n else "B", "correct": number < share * n, "status": "ok"}
        for task, share in shares.items()
        for number in range(n)
    ]  # fmt: skip


def of(rows: list[Row], **wanted: Any) -> Row:
    (row,) = [row for row in rows if all(row[name] == value for name, value in wanted.items())]
    return row


def test_models_and_methods_are_compared_on_every_task_and_over_all() -> None:
    full = [
        *answers("good", {"SF": 0.9, "KRG": 0.8}), *answers("bad", {"SF": 0.3, "KRG": 0.2}),
        *answers("good", {"SF": 0.9, "KRG": 0.8}, method="choice"),
    ]  # fmt: skip
    rows = with_adjusted_p(accuracy_differences(full, 0.95))
    table = accuracy_rows(full)
    for name, tasks in (("SF", 30), (OVERALL, 60)):
        row = of(rows, scope=f"mine, en, {name}", system="good (letter)", opponent="bad (letter)")
        good, bad = (of(table, model=model, method="letter", name=name)["accuracy"] for model in ("good", "bad"))
        assert (row["system_value"], row["opponent_value"]) == (pytest.approx(good), pytest.approx(bad))
        assert row["difference"] == pytest.approx(good - bad)
        assert (row["n"], row["n_clusters"], row["family_size"]) == (tasks, 15, 3)
        assert row["p_holm"] < 0.05
    same = of(rows, scope=f"mine, en, {OVERALL}", system="good (letter)", opponent="good (choice)")
    assert (same["difference"], same["note"]) == (0.0, ALL_THE_SAME)
    assert to_table(DIALOGBENCH_DIFFERENCES, rows).num_rows == len(rows)


def test_two_items_of_a_dialogue_are_not_two_dialogues() -> None:
    first, second = answers("a", {"SF": 0.7}), answers("b", {"SF": 0.5})
    together, *_ = accuracy_differences([*first, *second], 0.95)
    alone, *_ = accuracy_differences([row | {"cluster": row["item_id"]} for row in (*first, *second)], 0.95)
    assert together["difference"] == alone["difference"]
    assert together["ci_high"] - together["ci_low"] > 1.1 * (alone["ci_high"] - alone["ci_low"])


def test_an_ablation_is_a_difference_of_two_means_of_different_items() -> None:
    full = answers("m", {"SF": 0.9, "KRG": 0.8})
    variants = {
        "full": full,
        "-styles": answers("m", {"SF": 0.6, "KRG": 0.3}, variant="plain "),
        "-filter": [*full, *answers("m", {"SF": 0.1, "KRG": 0.5}, variant="refused ", n=10)],
    }
    rows = with_adjusted_p(ablation_differences(variants, 0.95))
    for row in ablation_rows(variants):
        if row["variant"] != "full":
            found = of(rows, scope=f"{row['variant']}, en, {row['name']}")
            assert found["difference"] == pytest.approx(row["difference"])
            assert found["ci_low"] < found["difference"] < found["ci_high"]
    styles = of(rows, scope=f"-styles, en, {OVERALL}")
    assert (styles["system"], styles["opponent"]) == ("m (letter), -styles", "m (letter), full")
    assert styles["p"] < 0.05
    assert to_table(DIALOGBENCH_DIFFERENCES, rows).num_rows == len(rows)


def test_an_ablation_that_changes_no_item_is_nothing_to_test() -> None:
    full = answers("m", {"SF": 0.9})
    for row in ablation_differences({"full": full, "-filter": full}, 0.95):
        assert (row["difference"], row["note"]) == (0.0, SAME_ITEMS)
        assert np.isnan([row["ci_low"], row["ci_high"], row["p"]]).all()


def scored(noticed: dict[str, float], strategies: tuple[str, ...], n_dialogues: int = 12) -> ScoredPairs:
    """Every dialogue is damaged five times by each strategy; judges notice a share of the dialogues."""

    def parts() -> Iterator[tuple[Row, np.ndarray]]:
        for strategy in strategies:
            for judge, share in noticed.items():
                cell = {"corpus": "c", "language": "en", "level": "turn", "perturbation": strategy}
                about = {"judge": judge, "method": "rating", **cell, "dimension": "relevance", "threshold": 0.2}
                yield about, np.repeat(np.arange(n_dialogues) < share * n_dialogues, 5)

    groups, drops = zip(*parts(), strict=True)
    n = 5 * n_dialogues
    return ScoredPairs(
        groups=list(groups),
        group=np.repeat(np.arange(len(groups)), n),
        original=np.ones(n * len(groups)),
        perturbed=1.0 - 0.5 * np.concatenate(drops),
        cluster=np.tile(np.repeat(np.arange(n_dialogues), 5), len(groups)),
    )


def test_judges_are_compared_on_the_same_pairs_by_dialogue() -> None:
    pairs = scored({"sharp": 0.75, "dull": 0.25}, ("random_response", "replace_pronoun"))
    rows = with_adjusted_p(robustness_differences(pairs, 0.95))
    row = of(rows, scope="c, en, turn, random_response, relevance")
    ratio = {one["judge"]: one["ratio"] for one in robustness_rows(pairs, 0.95)}
    assert row["difference"] == pytest.approx(ratio["sharp"] - ratio["dull"])
    assert (row["n"], row["n_clusters"]) == (60, 12)
    # as one pair of every dialogue would have it, and not five
    assert row["ci_low"] < 0.15
    single = ScoredPairs(pairs.groups, *(part[::5] for part in pairs_arrays(pairs)))
    alone = of(with_adjusted_p(robustness_differences(single, 0.95)), scope=row["scope"])
    assert (row["ci_low"], row["ci_high"]) == (pytest.approx(alone["ci_low"]), pytest.approx(alone["ci_high"]))
    averages = {one["judge"]: one["average"] for one in average_rows(pairs, 0.95)}
    overall = of(rows, table="averages")
    assert overall["difference"] == pytest.approx(averages["sharp"] - averages["dull"])
    assert (overall["n"], overall["n_clusters"]) == (120, 12)
    assert to_table(ROBUSTNESS_DIFFERENCES, rows).num_rows == len(rows)


def pairs_arrays(pairs: ScoredPairs) -> tuple[np.ndarray, ...]:
    return pairs.group, pairs.original, pairs.perturbed, pairs.cluster


def test_a_pair_without_scores_is_not_noticed_and_a_judge_without_any_is_not_compared() -> None:
    pairs = scored({"sharp": 0.75, "silent": 0.25}, ("random_response",))
    damaged = pairs.perturbed.copy()
    damaged[:5] = np.nan
    damaged[60:] = np.nan
    assert list(robustness_differences(replace(pairs, perturbed=damaged), 0.95)) == []
    damaged[60:] = 1.0
    (ratio, average) = robustness_differences(replace(pairs, perturbed=damaged), 0.95)
    assert (ratio["system_value"], average["system_value"]) == (pytest.approx(40 / 60), pytest.approx(40 / 60))
