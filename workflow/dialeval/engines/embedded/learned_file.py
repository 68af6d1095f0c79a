"""The file of what an embedded model learned: numbers and texts, which anyone may pass on and open."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dialeval.engines.embedded.baselines import Length, Overlap, Perplexity
from dialeval.engines.embedded.classifiers import Calibration, DialogueClassifier, KindClassifier, UtteranceClassifier
from dialeval.engines.embedded.dimensions import Dimensions
from dialeval.engines.embedded.evaluation import ReportRow
from dialeval.engines.embedded.judge import Judge, Part
from dialeval.engines.embedded.kneser_ney import KneserNey, Order
from dialeval.engines.embedded.language_model import LanguageModel
from dialeval.engines.embedded.learning import METHODS, VERSION, Learned
from dialeval.engines.embedded.ngram import Ngram
from dialeval.engines.embedded.plain_data import packed, unpacked
from dialeval.engines.embedded.reply_model import ReplyModel
from dialeval.engines.embedded.retrieval import Retrieval
from dialeval.engines.embedded.statistics import Statistics
from dialeval.engines.embedded.stock_replies import Generic, Random
from dialeval.engines.embedded.topics import Topics
from dialeval.engines.embedded.trees import Trees
from dialeval.engines.embedded.word_weights import WordWeights
from dialeval.errors import UserError

FORMAT = 1
"""Raised by hand when what is written here is laid out otherwise."""
_CLASSES: dict[str, type] = {
    of.__name__: of
    for of in (
        Calibration, DialogueClassifier, Dimensions, Generic, Judge, KindClassifier, KneserNey, LanguageModel, Learned,
        Length, Ngram, Order, Overlap, Part, Perplexity, Random, ReplyModel, ReportRow, Retrieval, Statistics, Topics,
        Trees, UtteranceClassifier, WordWeights,
    )
}  # fmt: skip
_REMEDY = "delete it, and the next run learns it again"


def learned_bytes(learned: Learned) -> bytes:
    """Returns the file of a learned model; what was learned alike is the same file."""
    return packed({"versions": _versions(), "learned": learned}, _CLASSES)


def read_learned(path: Path) -> Learned:
    """Reads what `learned_bytes` wrote; the file may be from anyone.

    Raises:
        UserError: it is not such a model, a damaged one, or one that another version wrote.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}; {_REMEDY}") from error
    if not content.startswith(b"PK"):
        raise UserError(
            f"{path} is not a learned embedded model, or one of an earlier version, which was a pickle: such a file "
            f"can run what it likes and is not opened; {_REMEDY}"
        )
    try:
        found: Any = unpacked(content, _CLASSES)
        versions, learned = found["versions"], found["learned"]
        if versions == _versions() and (not isinstance(learned, Learned) or learned.method not in METHODS):
            raise ValueError("it holds something else")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(f"{path} is damaged, or no learned embedded model ({error!s:.200}); {_REMEDY}") from error
    if versions != _versions():
        raise UserError(
            f"{path} was learned with other versions ({versions}) than the ones in use ({_versions()}); {_REMEDY}"
        )
    assert isinstance(learned, Learned)
    return learned


def _versions() -> dict[str, int]:
    return {"file": FORMAT, "learning": VERSION}
