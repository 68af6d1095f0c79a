from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialeval.criteria import DIMENSIONS, Level
from dialeval.engines.embedded.baselines import HALF_LENGTH, MIN_COUNT, ORDINARY, Length, Overlap, Perplexity
from dialeval.engines.embedded.chatbots import Random
from dialeval.engines.embedded.learning import Learned
from dialeval.engines.requests import Dialogue

LEVELS: tuple[Level, ...] = ("turn", "dialogue")
DIALOGUE = ("The red cat sleeps.", "A red dog!", "Dogs bark, a dog barks.")


def test_length_counts_words_of_the_response_or_of_all() -> None:
    words = "word " * int(HALF_LENGTH["turn"])
    assert Length().rate([("Hello.", words)], "turn") == pytest.approx(np.full((1, 5), 0.5))
    assert Length().rate([DIALOGUE], "turn")[0, 0] == pytest.approx(5 / 17)
    assert Length().rate([DIALOGUE], "dialogue")[0, 0] == pytest.approx(12 / 132)


def test_overlap_is_the_share_of_different_earlier_words() -> None:
    """Of `dogs bark a dog barks`, `a` and `dog` were said before; of `a red dog`, `red`."""
    assert Overlap().rate([DIALOGUE], "turn")[0, 0] == pytest.approx(2 / 5)
    assert Overlap().rate([DIALOGUE], "dialogue")[0, 0] == pytest.approx((1 / 3 + 2 / 5) / 2)


def test_overlap_without_context_or_words_is_nothing() -> None:
    assert not Overlap().rate([("Hello.",), ("Hello.", "...")], "turn").any()
    assert not Overlap().rate([("Hello.",)], "dialogue").any()


def test_perplexity_of_a_single_known_text() -> None:
    """One utterance `hi`, twice: `hi` and the end each follow histories seen twice, of one kind."""
    assert MIN_COUNT == 2
    unigram = 1.5 / 3.5  # each of 3 numbers has .5, and follows one kind of history
    bigram = 0.25 + 0.75 * unigram
    trigram = (2 - 0.75) / 2 + 0.75 / 2 * bigram
    expected = 1 / (1 + math.exp(ORDINARY - math.log(trigram)))
    assert Perplexity([("hi", "hi")]).rate([("hello", "hi")], "turn")[0] == pytest.approx([expected] * 5)


def test_perplexity_prefers_what_people_say(english: list[Dialogue]) -> None:
    baseline = Perplexity(english[20:])
    scores = baseline.rate([("I think so.",), ("think I so.",), ("Flurb zig wopple.",)], "turn")[:, 0]
    assert scores[0] > scores[1] > scores[2]


def test_random_scores_depend_on_seed_level_and_texts() -> None:
    scores = {
        tuple(Random([("a", "b")], seed).rate([dialogue], level)[0])
        for seed in (1, 2)
        for level in LEVELS
        for dialogue in (("a", "b"), ("a", "c"))
    }
    assert len(scores) == 8
    assert all(len(set(row)) == 5 for row in scores)


@pytest.mark.parametrize("name", ["forest", "selection", "random", "length", "overlap", "perplexity"])
@pytest.mark.parametrize("level", LEVELS)
def test_scores_do_not_depend_on_the_batch(
    raters: dict[str, Learned], english: list[Dialogue], name: str, level: Level
) -> None:
    dialogues = [english[0][:1], english[0][:5], ("...",), (" ", ""), english[0] * 3, ("नमस्ते", "你好吗？", "مرحبا")]
    rater = raters[name].model_for(english[0])
    together = rater.rate(dialogues, level)
    np.testing.assert_array_equal(together, np.concatenate([rater.rate([dialogue], level) for dialogue in dialogues]))
    assert together.shape == (len(dialogues), len(DIMENSIONS[level]))
    assert ((together >= 0) & (together <= 1)).all()
    assert rater.rate([], level).shape == (0, len(DIMENSIONS[level]))


@pytest.mark.parametrize("name", ["forest", "selection", "length", "overlap", "perplexity"])
@given(st.lists(st.text(max_size=30), min_size=1, max_size=4).map(tuple), st.sampled_from(LEVELS))
@settings(max_examples=10)
def test_any_text_has_a_score(raters: dict[str, Learned], name: str, dialogue: Dialogue, level: Level) -> None:
    scores = raters[name].model_for(dialogue).rate([dialogue], level)
    assert np.isfinite(scores).all()
    assert ((scores >= 0) & (scores <= 1)).all()
