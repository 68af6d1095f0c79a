"""Tells people's dialogues from spoiled ones by randomised trees, and scores on dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from dialeval.engines.embedded.abilities import Learner
from dialeval.engines.embedded.classifiers import Calibration, KindClassifier, Lengths
from dialeval.engines.embedded.dimensions import Dimensions
from dialeval.engines.embedded.evaluation import held_back_report
from dialeval.engines.embedded.judge import MIN_DIALOGUES, Judge
from dialeval.engines.embedded.kneser_ney import KneserNey, Order
from dialeval.engines.embedded.language_model import LanguageModel
from dialeval.engines.embedded.reading import PlainReader
from dialeval.engines.embedded.reply_model import ReplyModel
from dialeval.engines.embedded.statistics import Statistics
from dialeval.engines.embedded.topics import Topics
from dialeval.engines.embedded.trees import Trees
from dialeval.engines.embedded.word_weights import WordWeights
from dialeval.engines.request import Dialogue
from dialeval.text.folds import without


def learn_judges(parts: Sequence[Sequence[Dialogue]], random_seed: int) -> list[Judge]:
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


LEARNER = Learner(
    learn_judges,
    (
        Calibration, Dimensions, Judge, KindClassifier, KneserNey, LanguageModel, Lengths, Order,
        PlainReader, ReplyModel, Statistics, Topics, Trees, WordWeights,
    ),
    needs=MIN_DIALOGUES,
    min_folds=3,
    report=held_back_report,
)  # fmt: skip
