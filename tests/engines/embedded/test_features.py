from __future__ import annotations

import numpy as np
import pytest

from dialeval.engines.embedded.features import NAMES, describe
from dialeval.engines.embedded.statistics import Statistics
from dialeval.engines.embedded.texts import Batch
from dialeval.engines.requests import Dialogue


@pytest.fixture(scope="module")
def statistics(english: list[Dialogue]) -> Statistics:
    return Statistics(english[20:])


def _feature(statistics: Statistics, dialogue: Dialogue, name: str) -> list[float]:
    return [float(value) for value in describe(Batch([dialogue]), statistics).values[:, NAMES.index(name)]]


def test_one_row_for_each_utterance(statistics: Statistics, english: list[Dialogue]) -> None:
    described = describe(Batch(english[:20]), statistics)
    assert described.values.shape == (sum(map(len, english[:20])), len(NAMES))
    assert np.isfinite(described.values).all()


def test_a_row_depends_on_its_own_dialogue_alone(statistics: Statistics, english: list[Dialogue]) -> None:
    together = describe(Batch(english[:20]), statistics).values
    alone = np.concatenate([describe(Batch([dialogue]), statistics).values for dialogue in english[:20]])
    np.testing.assert_array_equal(together, alone)


def test_a_beginning_that_dialogues_share_is_described_as_in_each(
    statistics: Statistics, english: list[Dialogue]
) -> None:
    dialogues = [english[0], english[0][:3], (*english[0][:3], "Not today."), english[1], english[0]]
    together = describe(Batch(dialogues), statistics)
    alone = [describe(Batch([dialogue]), statistics) for dialogue in dialogues]
    assert len(together.values) == len(english[0]) + 1 + len(english[1])
    np.testing.assert_array_equal(together.values[together.beginning], np.concatenate([one.values for one in alone]))
    np.testing.assert_array_equal(together.nearest[together.beginning], np.concatenate([one.nearest for one in alone]))


def test_the_last_rows_are_the_same_alone(statistics: Statistics, english: list[Dialogue]) -> None:
    every, last = describe(Batch(english[:20]), statistics), describe(Batch(english[:20], only_ends=True), statistics)
    ends = np.cumsum([*map(len, english[:20])]) - 1
    np.testing.assert_array_equal(last.values, every.values[ends])
    np.testing.assert_array_equal(last.nearest, every.nearest[ends])
    assert last.turn.tolist() == every.turn[ends].tolist()


def test_a_row_depends_on_what_came_before_alone(statistics: Statistics, english: list[Dialogue]) -> None:
    dialogue = english[0]
    np.testing.assert_array_equal(
        describe(Batch([dialogue[:4]]), statistics).values, describe(Batch([dialogue]), statistics).values[:4]
    )


def test_a_repetition_is_seen_even_of_words_never_heard(statistics: Statistics) -> None:
    dialogue = ("Flurb zig wopple grunt nim?", "Not today.", "Flurb zig wopple grunt nim?")
    assert _feature(statistics, dialogue, "repetition") == pytest.approx([0, 0, 1])
    assert list(describe(Batch([dialogue]), statistics).nearest) == [0, 0, 2]


def test_a_question_without_its_mark_is_seen(statistics: Statistics) -> None:
    assert _feature(statistics, ("Where is it?", "how are you", "I am here."), "question") == [1, 1, 0]


def test_word_salad_is_less_fluent(statistics: Statistics) -> None:
    fluency = _feature(statistics, ("I think you should go there now.", "There should I go now you think."), "fluency")
    assert fluency[1] < fluency[0]


def test_silence_is_described(statistics: Statistics) -> None:
    assert np.isfinite(describe(Batch([("...", "", "?!")]), statistics).values).all()
