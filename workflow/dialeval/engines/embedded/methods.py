"""How each embedded method learns: a constant for each, which bears its name in capitals.

`config.models` says what a method can be asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from dialeval.corpora.clusters import without
from dialeval.engines.embedded.baselines import Length, Overlap, Perplexity
from dialeval.engines.embedded.chatbots import Generic, Ngram, Random, Retrieval
from dialeval.engines.embedded.classifiers import Calibration, Dimensions, KindClassifier, Lengths, Trees
from dialeval.engines.embedded.features import PlainReader
from dialeval.engines.embedded.interfaces import Learner, each_without_its_fold
from dialeval.engines.embedded.judge import MIN_DIALOGUES, Judge, held_back_report
from dialeval.engines.embedded.language_model import KneserNey, LanguageModel, Order
from dialeval.engines.embedded.reply_selection import (
    ExpectedReply,
    Places,
    ReplyFit,
    SelectingReader,
    Selector,
    TakenUp,
    describe_replies,
)
from dialeval.engines.embedded.statistics import ReplyModel, Statistics
from dialeval.engines.embedded.texts import Signs, Topics, WordWeights
from dialeval.engines.requests import Dialogue

GENERIC = Learner(each_without_its_fold(lambda *_: Generic()), (Generic,), needs=0)
"""Says stock replies in turn, whatever was said."""

RANDOM = Learner(each_without_its_fold(Random), (Random,))
"""Says an utterance drawn at random from people's dialogues, and rates at random."""

NGRAM = Learner(each_without_its_fold(Ngram), (Ngram, WordWeights))
"""Writes word by word from Kneser-Ney trigrams, with the last utterance as topic."""

RETRIEVAL = Learner(each_without_its_fold(lambda dialogues, _: Retrieval(dialogues)), (Retrieval, WordWeights))
"""Selects a person's reply from the most similar place."""

LENGTH = Learner(each_without_its_fold(lambda *_: Length()), (Length,), needs=0)
"""Rates by the number of words."""

OVERLAP = Learner(each_without_its_fold(lambda *_: Overlap()), (Overlap,), needs=0)
"""Rates by the share of words that were said before."""

PERPLEXITY = Learner(each_without_its_fold(lambda dialogues, _: Perplexity(dialogues)), (Perplexity, KneserNey, Order))
"""Rates by how likely the words are."""


def learn_forest_judges(parts: Sequence[Sequence[Dialogue]], random_seed: int) -> list[Judge]:
    """Returns for each fold the judge learned without it; statistics without the same two folds are counted once."""
    counted: dict[tuple[int, int], PlainReader] = {}

    def reader(*left_out: int) -> PlainReader:
        key = (min(left_out), max(left_out))
        if key not in counted:
            counted[key] = PlainReader(Statistics(without(parts, *key)))
        return counted[key]

    return [
        Judge(
            {other: parts[other] for other in range(len(parts)) if other != fold},
            partial(reader, fold),
            random_seed,
        )
        for fold in range(len(parts))
    ]


FOREST = Learner(
    learn_forest_judges,
    (
        Calibration, Dimensions, Judge, KindClassifier, KneserNey, LanguageModel, Lengths, Order,
        PlainReader, ReplyModel, Statistics, Topics, Trees, WordWeights,
    ),
    needs=MIN_DIALOGUES,
    min_folds=3,
    report=held_back_report,
)  # fmt: skip
"""Tells people's dialogues from spoiled ones by randomised trees, and scores on dimensions."""


def learn_selecting_judges(parts: Sequence[Sequence[Dialogue]], random_seed: int) -> list[Judge]:
    """Returns for each fold the judge learned without it; what is learned without the same two is learned once."""
    known: dict[tuple[int, int], tuple[Statistics, ReplyFit]] = {}

    def learned_without(*left_out: int) -> tuple[Statistics, ReplyFit]:
        key = (min(left_out), max(left_out))
        if key not in known:
            dialogues = without(parts, *key)
            known[key] = (Statistics(dialogues), ReplyFit(dialogues))
        return known[key]

    def judge_without(fold: int) -> Judge:
        inner = {other: parts[other] for other in range(len(parts)) if other != fold}
        used = {other: learned_without(fold, other) for other, dialogues in inner.items() if dialogues}
        return Judge(inner, _readers(inner, used, random_seed).__getitem__, random_seed)

    return [judge_without(fold) for fold in range(len(parts))]


def _readers(
    inner: Mapping[int, Sequence[Dialogue]], used: Mapping[int, tuple[Statistics, ReplyFit]], random_seed: int
) -> dict[int, SelectingReader]:
    """Returns for each inner fold what describes it, of which nothing was learned from it."""
    replies = {number: describe_replies(inner[number], *learned, random_seed) for number, learned in used.items()}
    return {
        number: SelectingReader(*learned, Selector([one for other, one in replies.items() if other != number]))
        for number, learned in used.items()
    }


SELECTION = Learner(
    learn_selecting_judges,
    (
        Calibration, Dimensions, ExpectedReply, Judge, KindClassifier, KneserNey, LanguageModel, Lengths, Order,
        Places, ReplyFit, ReplyModel, SelectingReader, Selector, Signs, Statistics, TakenUp, Topics, Trees,
        WordWeights,
    ),
    needs=MIN_DIALOGUES,
    min_folds=3,
    report=held_back_report,
)  # fmt: skip
"""The forest, joined by a model that does nothing but tell true replies from strange ones."""
