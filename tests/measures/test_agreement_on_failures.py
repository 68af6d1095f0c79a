"""Agreement on kinds, and the clearest examples: known answers by hand, and scikit-learn's kappa by its formula."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from judged_dialogues import items_of
from judgement_rows import frame

from dialeval.corpora.items import item_rows
from dialeval.measures.bias import CONSTANT, ONE_VALUE, agreement
from dialeval.measures.design import Design
from dialeval.measures.differences import differences
from dialeval.measures.scores import MAX_EXAMPLES, examples, mean_rows
from dialeval.stats.agreement import NO_VARIATION
from dialeval.stats.clustered import clustered_proportion
from dialeval.tables.files import HUMAN, to_table, write_table
from dialeval.tables.measures import AGREEMENT, EXAMPLES
from dialeval.tables.metaeval import ITEMS

Row = dict[str, Any]


def flagged(judge: str, system: str, case: str, places: Sequence[int] | None, kind: str = "long", **more: Any) -> Row:
    """A judgement that a kind shows in some utterances of a dialogue; None: it could not be read."""
    return {
        "judge": judge, "protocol": "failures", "request_id": "", "corpus": "selfchat", "language": "en",
        "item_id": f"{case}/{system}", "case_id": case, "left": system, "criterion": kind, "repeat": 0, "reason": "",
        "choice": None if places is None else "Yes" if places else "No", "places": places,
        "place": places[0] if places else None, "status": "unparsed" if places is None else "ok", **more,
    }  # fmt: skip


def design(*judges: str) -> Design:
    return Design(protocol="failures", judges=[*judges, "rules"], criteria=["long"], resamples=200)


def kappa(first: Sequence[int], second: Sequence[int]) -> float:
    one, other = np.array(first), np.array(second)
    by_chance = one.mean() * other.mean() + (1 - one.mean()) * (1 - other.mean())
    return float(((one == other).mean() - by_chance) / (1 - by_chance))


def judged(first: Sequence[int | None], second: Sequence[int | None]) -> pd.DataFrame:
    def places(yes: int | None) -> list[int] | None:
        return None if yes is None else [3] * yes

    pairs = enumerate(zip(first, second, strict=True))
    return frame(
        [
            row
            for case, (one, other) in pairs
            for row in (flagged("j", "bot", str(case), places(one)), flagged("rules", "bot", str(case), places(other)))
        ]
    )


def test_agreement_by_hand() -> None:
    first, second = 2 * [1, 1, 1, 0, 0, 0, 0, 1], 2 * [1, 1, 0, 0, 0, 1, 0, 1]
    [row] = to_table(AGREEMENT, agreement(judged(first, second), design("j"))).to_pylist()
    assert [row[name] for name in ("judge", "other_judge", "criterion")] == ["j", "rules", "long"]
    assert [row[name] for name in ("n", "n_clusters")] == [16, 16]
    assert [row[name] for name in ("n_both", "n_judge_only", "n_other_only")] == [6, 2, 2]
    assert row["ac1"] == pytest.approx((0.75 - 0.5) / 0.5)  # both mark half: chance is 2 (1/2) (1/2)
    assert row["ac1_ci_low"] < 0.5 < row["ac1_ci_high"]
    assert row["estimate"] == pytest.approx(kappa(first, second))
    assert row["ci_low"] < row["estimate"] < row["ci_high"]
    expected = clustered_proportion(2 * [1, 1, 0, 1], range(8))  # of what the rules mark, what the judge marks
    assert (row["precision"], row["precision_ci_low"], row["precision_ci_high"]) == pytest.approx(
        (0.75, expected.ci_low, expected.ci_high)
    )
    assert row["recall"] == 0.75


def test_what_could_not_be_read_is_left_out_and_counted_out() -> None:
    [row] = agreement(judged([1, 0, None, 1], [1, 0, 1, None]), design("j"))
    assert (row["n"], row["n_both"], row["estimate"]) == (2, 1, 1.0)


def test_two_who_say_one_thing_have_no_kappa() -> None:
    [row] = to_table(AGREEMENT, agreement(judged([0, 0, 0], [0, 0, 0]), design("j"))).to_pylist()
    assert (row["note"], row["n"], row["precision"], row["recall"]) == (ONE_VALUE, 3, None, None) or (
        row["note"] == ONE_VALUE and np.isnan(row["precision"]) and np.isnan(row["recall"])
    )


@pytest.mark.parametrize(
    ("first", "second", "expected", "note"),
    [
        ([0] * 20, [0] * 19 + [1], 0.0, CONSTANT),
        ([1, 1, 1], [0, 0, 0], 0.0, CONSTANT),
        (5 * [1, 0, 0, 0], 5 * [1, 0, 0, 0], 1.0, NO_VARIATION),
    ],
)
def test_a_kappa_that_no_resample_moves_has_no_interval(
    first: list[int], second: list[int], expected: float, note: str
) -> None:
    [row] = to_table(AGREEMENT, agreement(judged(first, second), design("j"))).to_pylist()
    assert (row["estimate"], row["note"]) == (expected, note)
    assert row["ci_low"] is None or np.isnan(row["ci_low"])
    assert row["ci_high"] is None or np.isnan(row["ci_high"])


def test_a_kappa_of_a_rare_kind_has_no_interval_and_says_how_many_it_takes() -> None:
    [row] = to_table(
        AGREEMENT, agreement(judged([1] * 3 + [0] * 17, [0] + [1] * 3 + [0] * 16), design("j"))
    ).to_pylist()
    assert (
        row["note"]
        == "no interval: 6 answers of 4 clusters differ from the most frequent answer, and 10 of 5 are needed"
    )
    assert row["ci_low"] is None or np.isnan(row["ci_low"])
    assert row["ac1_ci_low"] < row["ac1"] < row["ac1_ci_high"]


def test_of_repeats_the_majority_counts() -> None:
    rows = [flagged("rules", "bot", case, [3]) for case in "ab"]
    rows += [flagged("j", "bot", "a", places, repeat=n) for n, places in enumerate([[3], [3], []])]
    rows += [flagged("j", "bot", "b", places, repeat=n) for n, places in enumerate([[3], []])]  # a draw is no answer
    [row] = agreement(frame(rows), design("j"))
    assert (row["n"], row["n_both"]) == (1, 1)


def test_every_two_judges_are_compared_on_what_both_judge() -> None:
    rows = [flagged(judge, "bot", case, [3]) for judge in ("j", "k", "rules") for case in "ab"]
    rows += [flagged("j", "bot", "a", [3], "formal"), flagged("k", "bot", "a", [], "formal")]
    found = agreement(frame(rows), design("j", "k"))
    assert [(row["judge"], row["other_judge"], row["criterion"]) for row in found] == [
        ("j", "k", "long"), ("j", "rules", "long"), ("k", "rules", "long"), ("j", "k", "formal"),
    ]  # fmt: skip


def test_the_interval_covers_a_known_kappa() -> None:
    """Judge and rules see a failure of half the dialogues and err independently: kappa is (1 - 2 e) squared."""
    rng, error, runs, hits = np.random.default_rng(5), 0.15, 60, 0
    truth = (1 - 2 * error) ** 2
    for _ in range(runs):
        there = rng.random(80) < 0.5
        first, second = (np.where(rng.random(80) < error, ~there, there).astype(int).tolist() for _ in range(2))
        [row] = agreement(judged(first, second), design("j"))
        hits += row["ci_low"] <= truth <= row["ci_high"]
    assert hits >= 0.85 * runs  # 95% nominal; a binomial of 60 is below 51 once in some thousand


@pytest.fixture
def items(tmp_path: Path) -> list[Path]:
    texts = {f"{n}": ("Hi.", "Ho.", f"third {n}", "x" * 500, "fifth") for n in range(9)}
    found = items_of(dict.fromkeys((HUMAN, "a", "b", "c"), texts))
    path = tmp_path / "items.parquet"
    write_table(path, ITEMS, to_table(ITEMS, list(item_rows(found))))
    return [path]


def clearest(rows: Sequence[Row], items: list[Path]) -> list[Row]:
    return to_table(EXAMPLES, examples(frame(rows), design("j", "k"), items)).to_pylist()


def test_the_clearest_is_seen_by_most_in_the_same_place_and_most_often(items: list[Path]) -> None:
    rows = [
        flagged("j", "a", "0", [3]), flagged("k", "a", "0", [4]), flagged("rules", "a", "0", [3]),
        flagged("j", "b", "1", [3, 4, 5]), flagged("k", "b", "1", []),
        flagged("j", "c", "2", [4]), flagged("k", "c", "2", [4]), flagged("rules", "c", "2", []),
        flagged("j", HUMAN, "3", [3]), flagged("k", "a", "4", None),
    ]  # fmt: skip
    found = clearest(rows, items)
    assert [(row["rank"], row["system"], row["case_id"], row["utterance"],
        row["n_flagged_utterances"]) for row in found] == [
        (1, "a", "0", 3, 2), (2, "c", "2", 4, 1), (3, "b", "1", 3, 3),
    ]  # fmt: skip
    assert [row["flagged_by"] for row in found] == ["j, k, rules", "j, k", "j"]
    assert (found[0]["text"], found[0]["before"]) == ("third 0", "Ho.")
    assert found[1]["text"] == "x" * 399 + "…"


def test_dialogues_without_a_case_have_examples(items: list[Path]) -> None:
    found = clearest([flagged("rules", "a", "0", [3]) | {"case_id": None}], items)
    assert [(row["item_id"], row["case_id"]) for row in found] == [("0/a", None)]


def test_every_system_has_one_before_any_has_two(items: list[Path]) -> None:
    rows = [flagged("j", "a", str(n), [3]) for n in range(9)] + [flagged("rules", system, "0", [3]) for system in "bc"]
    found = clearest(rows, items)
    assert len(found) == MAX_EXAMPLES
    assert sorted(row["system"] for row in found[:3]) == ["a", "b", "c"]
    assert [row["system"] for row in found[3:]] == ["a", "a"]
    assert found == clearest(rows[::-1], items)


def test_what_no_rule_finds_is_no_example_of_a_good_case(items: list[Path]) -> None:
    rules = [flagged("rules", "a", "0", None, "good_case", choice="Yes", status="ok")]
    assert clearest(rules, items) == []
    [row] = clearest([*rules, flagged("j", "a", "0", None, "good_case", choice="Yes", status="ok")], items)
    assert (row["utterance"], row["flagged_by"]) == (None, "rules, j")
    assert row["text"].startswith("Hi. / Ho. / third 0 / xxx")


def test_rules_have_rates_and_differences_of_the_failures_that_they_judge() -> None:
    rows = [flagged(judge, system, case, [3]) for judge in ("j", "rules") for system in "ab" for case in "xyz"]
    rows += [flagged("j", system, case, [], "formal") for system in "ab" for case in "xyz"]
    made = design("j").model_copy(update={"measures": ["rates"]})
    expected = [("j", "long"), ("rules", "long"), ("j", "formal")]
    found = [(row["judge"], row["criterion"]) for row in mean_rows("rates", frame(rows), made)]
    assert sorted(set(found)) == sorted(expected)
    compared = {(row["judge"], row["scope"]) for row in differences(frame(rows), made, {})}
    assert compared == set(expected)
