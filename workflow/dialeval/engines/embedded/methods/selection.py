"""The forest, joined by a model that does nothing but tell true replies from strange ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dialeval.corpora.clusters import without
from dialeval.engines.embedded.classifiers import Calibration, Dimensions, KindClassifier, Lengths, Trees
from dialeval.engines.embedded.interfaces import Learner
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


def learn_judges(parts: Sequence[Sequence[Dialogue]], random_seed: int) -> list[Judge]:
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


LEARNER = Learner(
    learn_judges,
    (
        Calibration, Dimensions, ExpectedReply, Judge, KindClassifier, KneserNey, LanguageModel, Lengths, Order,
        Places, ReplyFit, ReplyModel, SelectingReader, Selector, Signs, Statistics, TakenUp, Topics, Trees,
        WordWeights,
    ),
    needs=MIN_DIALOGUES,
    min_folds=3,
    report=held_back_report,
)  # fmt: skip
