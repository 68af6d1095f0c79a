"""Tells people's dialogues from spoiled ones by randomised trees, and scores on dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from dialeval.corpora.clusters import without
from dialeval.engines.embedded.classifiers import Calibration, Dimensions, KindClassifier, Lengths, Trees
from dialeval.engines.embedded.features import PlainReader
from dialeval.engines.embedded.interfaces import Learner
from dialeval.engines.embedded.judge import MIN_DIALOGUES, Judge, held_back_report
from dialeval.engines.embedded.language_model import KneserNey, LanguageModel, Order
from dialeval.engines.embedded.statistics import ReplyModel, Statistics
from dialeval.engines.embedded.texts import Topics, WordWeights
from dialeval.engines.requests import Dialogue


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
