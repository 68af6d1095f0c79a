"""Training sets as inputs: what is read, and what is refused in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from dialeval.engines.encoder.metric import Encoded
from dialeval.errors import UserError
from dialeval.training.encoder_examples import ExampleSet, ExpertOrder, read_set


class Letters:
    """Each character is a token."""

    def encode(self, dialogues: Sequence[Sequence[str]]) -> list[Encoded]:
        return [Encoded(tuple(map(ord, "".join(one)))[-6:], 1, max(0, len("".join(one)) - 6)) for one in dialogues]


def pair(number: int, part: str = "train", **changes: Any) -> list[dict[str, Any]]:
    shared = {"pair_id": f"p{number}", "part": part, "level": "turn", "criterion": "relevance", "domain": "daily"}
    return [
        {
            **shared,
            "example_id": f"p{number}/{good}",
            "good": good,
            "utterances": ["ab", "c" * (number + good)],
            **changes,
        }
        for good in (1, 0)
    ]


def read(rows: list[dict[str, Any]]) -> ExampleSet:
    return read_set(rows, lambda level: Letters(), "t.parquet")  # type: ignore[arg-type, return-value]


def refused(rows: list[dict[str, Any]]) -> str:
    with pytest.raises(UserError) as error:
        read(rows)
    return str(error.value)


def test_pairs_are_read_by_part_with_their_experts() -> None:
    rows = [
        row
        for number in range(3000)  # more than are read at once
        for row in pair(number % 9, ("train", "development", "held_out")[number % 3], domain="ab"[number % 2])
    ]
    found = read(rows)
    assert (found.level, found.criteria, found.experts) == ("turn", ("relevance",), ("a", "b"))
    assert [len(found.parts[part]) for part in ("train", "development", "held_out")] == [1000] * 3
    assert found.numbers("train").tolist()[:4] == [0, 1, 0, 1]
    train = found.parts["train"]
    assert train.input(2).ids == tuple(map(ord, "abcccc"))
    assert train.input(3).ids == tuple(map(ord, "abccc"))
    assert train.lengths().tolist()[:6] == [3, 2, 6, 5, 6, 6]
    assert [one.ids for one in train.inputs()[:2]] == [tuple(map(ord, "abc")), tuple(map(ord, "ab"))]
    assert train.n_cut == sum(len("".join(row["utterances"])) > 6 for row in rows if row["part"] == "train")
    assert found.parts["held_out"].names[:2] == ["p2/1", "p2/0"]
    assert not train.names  # of millions nobody asks


def test_experts_of_dialogues_are_criteria() -> None:
    rows = [
        *pair(1, level="dialogue", criterion="coherence"), *pair(2, level="dialogue", criterion="engagingness"),
        *pair(3, "development", level="dialogue", criterion="coherence"),
    ]  # fmt: skip
    assert read(rows).experts == ("coherence", "engagingness")


def test_the_digest_follows_inputs_and_experts() -> None:
    rows = [*pair(1), *pair(2), *pair(3, "development"), *pair(4, "held_out")]
    other = [dict(row) for row in rows]
    other[0]["utterances"] = ["ab", "d"]
    moved = [dict(row) | {"domain": "chat"} for row in rows]
    assert read(rows).digest() == read(rows).digest()
    assert len({read(one).digest() for one in (rows, other, moved, rows[2:])}) == 4


def test_what_is_no_set_is_refused_in_words() -> None:
    pairs = [*pair(1), *pair(2, "development")]
    assert "t.parquet is empty: its corpora give no pair" in refused([])
    assert "part train has no pair to learn from" in refused(pair(2, "development"))
    assert "part development has no pair to stop the training" in refused(pair(1))
    assert "'p1/0' and 'p1/1' are not a pair" in refused([*pairs[1::-1], *pairs[2:]])
    assert "has no pair" in refused([*pairs, pairs[0]])
    assert "not a pair of level turn; define a training set for each level" in refused(
        [*pairs, *pair(3, level="dialogue")]
    )
    assert "chat has no pair in part train" in refused([*pairs, *pair(3, "held_out", domain="chat")])


# The order in which examples are learned.


def order(sizes: tuple[int, ...] = (50, 21, 3), **changes: Any) -> tuple[ExpertOrder, Any]:
    rng = np.random.default_rng(0)
    experts = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    fields: dict[str, Any] = {"at_once": 8, "together": 1, "passes": 2, "max_steps": None, "random_seed": 7} | changes
    return ExpertOrder(rng.integers(3, 200, len(experts)), experts, **fields), experts


def batches(made: ExpertOrder, size: int = 8) -> Any:
    return np.array(list(made)).reshape(-1, size)


def test_a_batch_is_of_one_expert_and_a_pass_meets_every_example() -> None:
    made, experts = order()
    found = batches(made)
    assert all(len(set(experts[batch])) == 1 for batch in found)
    per_pass = 7 + 3 + 1
    assert len(found) == 2 * per_pass == made.steps
    assert len(made) == found.size
    for number in range(2):
        counts = Counter(found[number * per_pass : (number + 1) * per_pass].ravel().tolist())
        assert set(counts) == set(range(74))
        assert sum(counts.values()) - 74 == per_pass * 8 - 74  # what fills the last batch of each expert


def test_passes_are_drawn_anew_and_the_same_every_time() -> None:
    made, _ = order()
    first = list(made)
    assert first == list(made) == list(order()[0])
    assert first[: len(first) // 2] != first[len(first) // 2 :]
    assert first != list(order(random_seed=8)[0])


def test_what_is_in_a_batch_is_of_like_length() -> None:
    rng = np.random.default_rng(1)
    lengths = rng.integers(3, 250, 1600)
    made = ExpertOrder(
        lengths, np.zeros(1600, np.int64), at_once=16, together=1, passes=1, max_steps=None, random_seed=0
    )
    padded = sum(16 * lengths[batch].max() for batch in batches(made, 16))
    assert padded < 1.15 * lengths.sum()


@pytest.mark.parametrize(
    ("changes", "steps"),
    [({"together": 4}, 5), ({"together": 100}, 1), ({"max_steps": 3}, 3), ({"max_steps": 99}, 22), ({"passes": 1}, 11)],
)
def test_steps_are_whole(changes: dict[str, Any], steps: int) -> None:
    made, _ = order(**changes)
    assert made.steps == steps
    assert len(list(made)) == len(made) == steps * changes.get("together", 1) * 8


def test_an_expert_of_few_examples_repeats_them() -> None:
    made, experts = order(sizes=(2, 16))
    small = [batch for batch in batches(made) if experts[batch[0]] == 0]
    assert all(Counter(batch.tolist()).most_common(1)[0][1] == 4 for batch in small)
