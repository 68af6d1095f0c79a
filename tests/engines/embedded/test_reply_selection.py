"""The judge that selects: what it adds to the forest, and that it tells replies from others better."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from dialeval.corpora import readers
from dialeval.engines.embedded import reply_selection
from dialeval.engines.embedded.features import N_FEATURES, Reader
from dialeval.engines.embedded.learning import Learned, learn
from dialeval.engines.embedded.reply_selection import (
    N_RANDOM,
    UPTAKE_FEATURES,
    ExpectedReply,
    Places,
    Replies,
    ReplyFit,
    SelectedReplies,
    Selector,
    Uptake,
    describe_replies,
)
from dialeval.engines.embedded.statistics import Statistics
from dialeval.engines.embedded.texts import Batch
from dialeval.engines.requests import Dialogue
from embedded_ratings import held_out_dimensions

# The judge that selects: what it adds to the forest, and that it tells replies from others better.


@pytest.fixture(scope="module")
def known(english: list[Dialogue]) -> tuple[Statistics, ReplyFit]:
    return Statistics(english[40:]), ReplyFit(english[40:])


def separable(n: int = 200) -> Replies:
    rng = np.random.default_rng(0)
    is_true = rng.random(n) < 0.3
    return Replies(rng.normal(size=(n, 3)) + is_true[:, None] * [2.0, 0.0, -1.0], is_true)


def test_the_selector_is_a_regression_where_both_sorts_weigh_the_same() -> None:
    replies = separable()
    scaled = (replies.values - replies.values.mean(axis=0)) / replies.values.std(axis=0)
    oracle = LogisticRegression(C=0.1, class_weight="balanced", tol=1e-10, max_iter=1000).fit(scaled, replies.is_true)
    assert Selector([replies]).log_odds(replies.values) == pytest.approx(oracle.decision_function(scaled), abs=1e-3)


@pytest.mark.parametrize("kept", [[], [True], [False]])
def test_without_both_sorts_it_has_no_opinion(kept: Sequence[bool]) -> None:
    replies = separable()
    rows = np.isin(replies.is_true, kept)
    selector = Selector([Replies(replies.values[rows], replies.is_true[rows])])
    assert (selector.log_odds(replies.values) == 0).all()


def test_strange_replies_are_put_in_the_place_of_true_ones(
    known: tuple[Statistics, ReplyFit], english: list[Dialogue]
) -> None:
    replies = describe_replies(english[:20], *known, random_seed=1)
    assert np.isfinite(replies.values).all()
    n_true = int(replies.is_true.sum())
    assert 2 * n_true < len(replies.is_true) <= (1 + N_RANDOM) * n_true
    again = describe_replies(english[:20], *known, random_seed=1)
    np.testing.assert_array_equal(replies.values, again.values)


def test_one_dialogue_has_no_strange_replies(known: tuple[Statistics, ReplyFit], english: list[Dialogue]) -> None:
    assert describe_replies(english[:1], *known, random_seed=1).is_true.all()


def test_the_reader_adds_one_column(known: tuple[Statistics, ReplyFit], english: list[Dialogue]) -> None:
    statistics, fit = known
    selector = Selector([describe_replies(english[:20], *known, random_seed=1)])
    reader = Reader(statistics, SelectedReplies(fit, selector))
    described = reader.describe(Batch(english[20:30]))
    assert described.values.shape[1] == N_FEATURES + 1
    assert (described.values[described.turn == 0, -1] == 0).all()
    alone = np.concatenate([reader.describe(Batch([dialogue])).values for dialogue in english[20:30]])
    np.testing.assert_array_equal(described.values, alone)
    beginning = reader.describe(Batch([english[20][:2]])).values
    np.testing.assert_array_equal(beginning, described.values[:2])


def test_replaced_utterances_score_lower_and_a_repetition_is_no_merit(
    selection: Learned, english: list[Dialogue]
) -> None:
    """What a reply takes up speaks for it, all the more if it takes up everything: the kinds of damage hold against."""
    rows = held_out_dimensions(selection, english, random_seed=1)
    found = {(row.level, row.dimension, row.damage): row for row in rows}
    replaced = found["turn", "relevance", "replaced"]
    assert replaced.auc > 0.7
    assert replaced.noticed > 0.7
    assert found["turn", "relevance", "repeated"].auc > 0.4


@pytest.mark.slow
def test_what_is_learned_does_not_depend_on_the_order(selection: Learned, english: list[Dialogue]) -> None:
    again = learn("selection", english[::-1], random_seed=1)
    for level in ("turn", "dialogue"):
        np.testing.assert_array_equal(
            again.model_for(english[0]).rate(english[:5], level),
            selection.model_for(english[0]).rate(english[:5], level),
        )


@pytest.mark.slow
def test_it_beats_the_forest_on_mutual(real_data: Path) -> None:
    """Every second dialogue of MuTual. Reached: relevance .82 (forest .76), coherence .81 (.73), .82 (.71)."""
    folder = real_data / "mutual" / "test"
    if not folder.is_dir():
        pytest.skip(f"MuTual's dialogues are not at {folder}")
    read = readers.read_mutual_folder(folder, "en").dialogues
    dialogues = sorted({tuple(utterance.text for utterance in one.utterances) for one in read})[::2]
    auc = {}
    for method in ("forest", "selection"):
        for row in held_out_dimensions(learn(method, dialogues, random_seed=0), dialogues, random_seed=0):
            auc[method, row.dimension, row.damage] = row.auc
    assert auc["selection", "relevance", "replaced"] > max(0.78, auc["forest", "relevance", "replaced"] + 0.02)
    assert auc["selection", "coherence", "replaced"] > max(0.78, auc["forest", "coherence", "replaced"] + 0.02)
    assert auc["selection", "coherence", "strayed"] > auc["forest", "coherence", "strayed"]


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

    monkeypatch.setattr(reply_selection, "DIMENSIONS", 4)
    given, said = Places(QUESTIONS).of(QUESTIONS), Places(ANSWERS).of(ANSWERS)
    assert given.mean(axis=0) == pytest.approx(np.zeros(4), abs=1e-5)
    penalty = reply_selection.PENALTY * (given**2).sum() / 4
    oracle = Ridge(alpha=penalty, fit_intercept=False).fit(given, said).predict(given)
    oracle /= np.linalg.norm(oracle, axis=1, keepdims=True)
    assert ExpectedReply(QUESTIONS, ANSWERS).expected(QUESTIONS) == pytest.approx(oracle, abs=1e-4)


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


def values(taken_up: Uptake, *dialogues: Dialogue) -> dict[str, list[float]]:
    table = taken_up.values(Batch(dialogues))
    assert np.isfinite(table).all()
    return {name: [float(value) for value in table[:, number]] for number, name in enumerate(UPTAKE_FEATURES)}


@pytest.fixture(scope="module")
def taken_up() -> Uptake:
    """Of seven utterances two have the word rare, six the word common: idf ln(8 / 3) = .9808 and ln(8 / 7) = .1335."""
    return Uptake(["rare common", "rare common", *["common"] * 4, "other"])


def test_sums_by_rarity(taken_up: Uptake) -> None:
    rare, common, strange = 0.9808, 0.1335, np.log(8)
    found = values(taken_up, ("rare", "common", "Rares common blue"))
    assert found["rarest_taken_up"] == pytest.approx([0, 0, rare], abs=1e-4)
    assert found["rarest_taken_up_from_last"] == pytest.approx([0, 0, common], abs=1e-4)
    total = rare + common
    assert found["share_taken_up"] == pytest.approx([0, 0, total / (total + strange)], abs=1e-4)
    assert found["taken_up"][2] == pytest.approx(np.log1p(total), abs=1e-4)
    assert found["taken_up_squared"][2] == pytest.approx(np.log1p(rare**2 + common**2), abs=1e-4)
    assert found["root_taken_up_squared"][2] == pytest.approx(np.hypot(rare, common), abs=1e-4)
    assert found["root_taken_up_from_last_squared"][2] == pytest.approx(common, abs=1e-4)
    assert found["taken_up_from_last_squared"][2] == pytest.approx(np.log1p(common**2), abs=1e-4)
    assert found["rarest_new"] == pytest.approx([rare, common, strange], abs=1e-4)
    assert found["new"][2] == pytest.approx(np.log1p(strange), abs=1e-4)
    assert found["turn"] == [0, 1, 2]
    assert found["words_before"] == pytest.approx(np.log1p([0, 1, 2]))
    assert found["words_of_last"] == pytest.approx(np.log1p([0, 1, 1]))


def test_unknown_words_are_distinguished(taken_up: Uptake) -> None:
    found = values(taken_up, ("zorp", "flim", "zorp"))
    assert found["rarest_taken_up"] == pytest.approx([0, 0, np.log(8)])


def test_a_dialogue_is_described_the_same_beside_others(taken_up: Uptake) -> None:
    first, second = ("rare", "rare zorp"), ("common", "zorp", "...", "")
    both, alone = values(taken_up, first, second), values(taken_up, second)
    assert {name: found[2:] for name, found in both.items()} == alone


def test_nothing_but_marks() -> None:
    assert values(Uptake(["...", "?!"]), ("...", ""))["new"] == [0, 0]
