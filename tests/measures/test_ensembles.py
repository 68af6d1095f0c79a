"""The mean of several judges: every member counts once, on what all of them scored."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialeval.measures.combined_judges import ENSEMBLE_COLUMNS, ensemble_judgements
from dialeval.tables.dialogues import JUDGEMENTS
from dialeval.tables.files import to_table


def scores(values: dict[Any, float | None], scale: tuple[float, float] = (0.0, 1.0), **more: Any) -> pa.Table:
    """Scores on coherence by item, one of several repeats where a key is a pair."""
    rows = [
        {
            "judge": "j", "protocol": "p", "request_id": "", "corpus": "c", "language": "en", "reason": "",
            "item_id": str(key[0] if isinstance(key, tuple) else key), "criterion": "coherence", "repeat": 0,
            "value": value, "scale_min": scale[0], "scale_max": scale[1], "status": "ok" if value else "missing",
        }
        | more
        for key, value in values.items()
    ]  # fmt: skip
    return to_table(JUDGEMENTS, rows).select(ENSEMBLE_COLUMNS)


def values(table: pa.Table) -> dict[str, float | None]:
    return dict(zip(table["item_id"].to_pylist(), table["value"].to_pylist(), strict=True))


def test_the_mean_is_of_scores_from_0_to_1_on_any_scale() -> None:
    by_hand = ensemble_judgements(
        "both", "yes_no", {"a": [scores({1: 0.5, 2: 0.0})], "b": [scores({2: 5.0, 1: 2.0}, (1.0, 5.0))]}
    )
    assert values(by_hand) == {"1": (0.5 + 0.25) / 2, "2": 0.5}
    row = by_hand.to_pylist()[0]
    assert (row["judge"], row["protocol"], row["status"], row["scale_min"], row["scale_max"]) == (
        "both",
        "yes_no",
        "ok",
        0.0,
        1.0,
    )
    assert row["request_id"] == "yes_no/c/en/1/coherence"


def test_on_a_scale_that_all_members_have_it_is_written_as_they_are() -> None:
    scale = (1.0, 5.0)
    (row,) = ensemble_judgements(
        "both", "rating", {"a": [scores({1: 2.0}, scale)], "b": [scores({1: 5.0}, scale)]}
    ).to_pylist()
    assert (row["value"], row["scale_min"], row["scale_max"]) == (3.5, 1.0, 5.0)
    given = {
        "a": [scores({1: 2.0, 2: 2.0}, scale)],
        "b": [pa.concat_tables([scores({1: 5.0}, scale), scores({2: 0.25})])],
    }
    rows = ensemble_judgements("both", "rating", given).to_pylist()
    assert [(row["value"], row["scale_max"]) for row in rows] == [(3.5, 5.0), (0.25, 1.0)]


def test_a_missing_score_makes_no_mean_of_fewer_and_is_named() -> None:
    given = {
        "a": [scores({1: 0.5, 2: None, 3: None})],
        "b": [scores({1: None, 2: 0.5, 3: None})],
        "c": [scores({1: 1, 2: 1, 3: 1})],
    }
    rows = ensemble_judgements("three", "yes_no", given).to_pylist()
    assert [row["value"] for row in rows] == [None, None, None]
    assert [row["reason"] for row in rows] == ["no score of b", "no score of a", "no score of a, b"]
    assert {row["status"] for row in rows} == {"missing"}


def test_repeats_are_averaged_first_so_that_more_repeats_do_not_count_more() -> None:
    often = scores({(1, 0): 0.0, (1, 1): 0.2, (1, 2): None})
    assert values(ensemble_judgements("both", "rating", {"a": [often], "b": [scores({1: 0.9})]})) == {
        "1": pytest.approx(0.5)
    }


def test_of_a_members_two_methods_the_first_counts_alone_criterion_by_criterion() -> None:
    probability = scores({1: 0.2})
    rating = pa.concat_tables([scores({1: 5.0}, (1.0, 5.0)), scores({1: 1.0}, (1.0, 5.0), criterion="diversity")])
    other = pa.concat_tables([scores({1: 0.4}), scores({1: 0.4}, criterion="diversity")])
    rows = ensemble_judgements("both", "ensemble", {"a": [probability, rating], "b": [other]}).to_pylist()
    assert {row["criterion"]: row["value"] for row in rows} == {"coherence": pytest.approx(0.3), "diversity": 0.2}


def test_items_without_a_members_answer_have_no_row() -> None:
    given = {"a": [scores({1: 0.5, 2: 0.5})], "b": [scores({2: 0.5, 3: 0.5})]}
    assert values(ensemble_judgements("both", "yes_no", given)) == {"2": 0.5}
    nothing = {"a": [scores({1: 0.5})], "b": [scores({1: 0.5}, language="zh")]}
    assert len(ensemble_judgements("both", "yes_no", nothing)) == 0
    assert len(ensemble_judgements("both", "yes_no", {"a": [scores({})], "b": [scores({})]})) == 0


def test_whose_dialogue_it_is_comes_from_the_members_that_know() -> None:
    given = {"file": [scores({1: 0.5})], "model": [scores({1: 0.5}, left="bot", case_id="seed", n_utterances=4)]}
    (row,) = ensemble_judgements("both", "yes_no", given).to_pylist()
    assert (row["left"], row["case_id"], row["n_utterances"]) == ("bot", "seed", 4)


some = st.lists(st.none() | st.floats(0, 1), min_size=12, max_size=12)


@given(st.lists(some, min_size=2, max_size=4), st.permutations(range(12)))
def test_it_is_numpys_mean_whatever_the_order_of_rows(members: list[list[float | None]], order: list[int]) -> None:
    given = {str(n): [scores(dict(enumerate(column)))] for n, column in enumerate(members)}
    given["0"] = [given["0"][0].take(order)]
    found = values(ensemble_judgements("e", "yes_no", given))
    expected = np.mean(np.array(members, dtype=np.float64), axis=0)
    known = np.array([found[str(n)] for n in range(12)], dtype=np.float64)
    np.testing.assert_allclose(known, expected, rtol=1e-15, equal_nan=True)
