from __future__ import annotations

import numpy as np
import pytest

from dialeval.engines.embedded import expected_reply
from dialeval.engines.embedded.expected_reply import ExpectedReply, Places

QUESTIONS = [("where", f"x{number % 5}") for number in range(30)] + [("when", f"x{number % 5}") for number in range(30)]
ANSWERS = [("here", f"y{number % 7}") for number in range(30)] + [("now", f"y{number % 7}") for number in range(30)]


def test_what_goes_together_is_expected() -> None:
    learned = ExpectedReply(QUESTIONS, ANSWERS)
    fit = learned.expected(QUESTIONS) @ learned.place(ANSWERS).T
    same = np.arange(60)[:, None] // 30 == np.arange(60) // 30
    assert fit[same].min() > 0 > fit[~same].max()


def test_it_is_the_ridge_regression_of_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    """The map between centred places, with the penalty times the mean variance of a dimension."""
    from sklearn.linear_model import Ridge

    monkeypatch.setattr(expected_reply, "DIMENSIONS", 4)
    given, said = Places(QUESTIONS).of(QUESTIONS), Places(ANSWERS).of(ANSWERS)
    assert given.mean(axis=0) == pytest.approx(np.zeros(4), abs=1e-9)
    penalty = expected_reply.PENALTY * (given**2).sum() / 4
    oracle = Ridge(alpha=penalty, fit_intercept=False).fit(given, said).predict(given)
    oracle /= np.linalg.norm(oracle, axis=1, keepdims=True)
    assert ExpectedReply(QUESTIONS, ANSWERS).expected(QUESTIONS) == pytest.approx(oracle, abs=1e-6)


def test_a_text_lies_where_it_lies_whatever_others_there_are() -> None:
    learned = ExpectedReply(QUESTIONS, ANSWERS)
    together = learned.expected(QUESTIONS)
    alone = np.concatenate([learned.expected([question]) for question in QUESTIONS])
    np.testing.assert_array_equal(together, alone)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_handful_of_pairs_is_enough(n: int) -> None:
    learned = ExpectedReply(QUESTIONS[:n], ANSWERS[:n])
    assert np.isfinite(learned.expected([("where",), ()])).all()
    assert np.isfinite(learned.place([("here",), ()])).all()
