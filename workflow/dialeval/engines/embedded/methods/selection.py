"""The forest, joined by a model that does nothing but tell true replies from strange ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dialeval.engines.embedded.abilities import Learner
from dialeval.engines.embedded.classifiers import Calibration, KindClassifier, Lengths
from dialeval.engines.embedded.dimensions import Dimensions
from dialeval.engines.embedded.evaluation import held_back_report
from dialeval.engines.embedded.expected_reply import ExpectedReply, Places
from dialeval.engines.embedded.judge import MIN_DIALOGUES, Judge
from dialeval.engines.embedded.kneser_ney import KneserNey, Order
from dialeval.engines.embedded.language_model import LanguageModel
from dialeval.engines.embedded.reply_fit import ReplyFit
from dialeval.engines.embedded.reply_model import ReplyModel
from dialeval.engines.embedded.selection import SelectingReader, Selector, describe_replies
from dialeval.engines.embedded.statistics import Statistics
from dialeval.engines.embedded.taken_up import TakenUp
from dialeval.engines.embedded.topics import Topics
from dialeval.engines.embedded.trees import Trees
from dialeval.engines.embedded.word_signs import Signs
from dialeval.engines.embedded.word_weights import WordWeights
from dialeval.engines.request import Dialogue
from dialeval.text.folds import without


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
