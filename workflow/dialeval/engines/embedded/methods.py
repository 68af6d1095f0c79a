"""How each embedded method learns: for each a constant with its name in capitals.

`config.models` has the protocols that each method serves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from dialeval.corpora.clusters import without
from dialeval.engines.embedded.baselines import Length, Overlap, Perplexity
from dialeval.engines.embedded.chatbots import Generic, Ngram, Random, Retrieval
from dialeval.engines.embedded.classifiers import Calibration, Dimensions, Lengths, PerturbationClassifier, Trees
from dialeval.engines.embedded.features import Reader
from dialeval.engines.embedded.interfaces import Learner, each_without_its_fold
from dialeval.engines.embedded.judge import MIN_DIALOGUES, Judge, held_out_report
from dialeval.engines.embedded.reply_selection import (
    ExpectedReply,
    Places,
    ReplyFit,
    SelectedReplies,
    Selector,
    Uptake,
    describe_replies,
)
from dialeval.engines.embedded.statistics import KneserNey, LanguageModel, Order, ReplyModel, Statistics, Topics
from dialeval.engines.embedded.texts import Signs, WordWeights
from dialeval.engines.requests import Dialogue

GENERIC = Learner(each_without_its_fold(lambda *_: Generic()), (Generic,), needs=0)
"""Replies with stock phrases in turn."""

RANDOM = Learner(each_without_its_fold(Random), (Random,))
"""Replies with an utterance drawn at random from human dialogues, and rates at random."""

NGRAM = Learner(each_without_its_fold(Ngram), (Ngram, WordWeights))
"""Writes word by word from Kneser-Ney trigrams, with the last utterance as topic."""

RETRIEVAL = Learner(each_without_its_fold(lambda dialogues, _: Retrieval(dialogues)), (Retrieval, WordWeights))
"""Selects the human reply in the most similar context."""

LENGTH = Learner(each_without_its_fold(lambda *_: Length()), (Length,), needs=0)
"""Rates by the number of words."""

OVERLAP = Learner(each_without_its_fold(lambda *_: Overlap()), (Overlap,), needs=0)
"""Rates by the share of words that occur in the context."""

PERPLEXITY = Learner(each_without_its_fold(lambda dialogues, _: Perplexity(dialogues)), (Perplexity, KneserNey, Order))
"""Rates by the probability of the words."""

_Learned = TypeVar("_Learned")
_Folds = Mapping[int, Sequence[Dialogue]]


def _judges(
    parts: Sequence[Sequence[Dialogue]],
    random_seed: int,
    learned_from: Callable[[list[Dialogue]], _Learned],
    readers: Callable[[_Folds, Mapping[int, _Learned], int], Mapping[int, Reader]],
) -> list[Judge]:
    """Return for each fold the judge that learned nothing from it.

    Args:
        parts: dialogues by fold.
        random_seed: of every draw.
        learned_from: learns the parameters of a reader, once without each pair of folds.
        readers: returns a reader for each inner fold, from the parameters that were learned without it, and the seed.
    """
    known: dict[tuple[int, int], _Learned] = {}

    def learned_without(fold: int, other: int) -> _Learned:
        key = (min(fold, other), max(fold, other))
        if key not in known:
            known[key] = learned_from(without(parts, *key))
        return known[key]

    def judge_without(fold: int) -> Judge:
        inner = {other: part for other, part in enumerate(parts) if other != fold and part}
        learned = {other: learned_without(fold, other) for other in inner}
        return Judge(inner, readers(inner, learned, random_seed), random_seed)

    return [judge_without(fold) for fold in range(len(parts))]


def learn_forest_judges(parts: Sequence[Sequence[Dialogue]], random_seed: int) -> list[Judge]:
    """Return for each fold the judge that learned nothing from it."""

    def readers(inner: _Folds, learned: Mapping[int, Statistics], seed: int) -> Mapping[int, Reader]:
        return {fold: Reader(statistics) for fold, statistics in learned.items()}

    return _judges(parts, random_seed, Statistics, readers)


FOREST = Learner(
    learn_forest_judges,
    (
        Calibration, Dimensions, Judge, KneserNey, LanguageModel, Lengths, Order, PerturbationClassifier, Reader,
        ReplyModel, Statistics, Topics, Trees,
    ),
    needs=MIN_DIALOGUES,
    min_folds=3,
    report=held_out_report,
)  # fmt: skip
"""Separates human dialogues from perturbed ones by randomised trees, and scores dimensions."""


def learn_selecting_judges(parts: Sequence[Sequence[Dialogue]], random_seed: int) -> list[Judge]:
    """Return for each fold the judge that learned nothing from it; its readers score replies, too."""

    def learned_from(dialogues: list[Dialogue]) -> tuple[Statistics, ReplyFit]:
        return Statistics(dialogues), ReplyFit(dialogues)

    def readers(inner: _Folds, learned: Mapping[int, tuple[Statistics, ReplyFit]], seed: int) -> Mapping[int, Reader]:
        replies = {fold: describe_replies(inner[fold], *parameters, seed) for fold, parameters in learned.items()}
        return {
            fold: Reader(
                statistics,
                SelectedReplies(fit, Selector([others for other, others in replies.items() if other != fold])),
            )
            for fold, (statistics, fit) in learned.items()
        }

    return _judges(parts, random_seed, learned_from, readers)


SELECTION = Learner(
    learn_selecting_judges,
    (*FOREST.classes, ExpectedReply, Places, ReplyFit, SelectedReplies, Selector, Signs, Uptake),
    needs=MIN_DIALOGUES,
    min_folds=3,
    report=held_out_report,
)
"""The forest with a model that separates true replies from random ones."""
