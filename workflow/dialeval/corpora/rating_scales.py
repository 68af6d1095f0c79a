"""Dimensions and scales of human ratings in the public data sets.

The files hold bare numbers. The scales are those of the data sets' own publications as far as the values bear them
out; FED's public files count from zero where its paper counts from one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from dialeval.corpora.items import Rating
from dialeval.corpora.rated_sources import PEOPLE, Scale, rating_value, repeated_ratings
from dialeval.errors import UserError, nearest

Dimensions = Mapping[str, tuple[str, Scale]]
"""By the name in a file: ours, and the scale that raters had."""
MODEL_SCALE = Scale(1.0, 5.0)
"""GPT-4 always rated from 1 to 5 (comp-analysis, Table 2)."""

ONE_TO_FIVE = Scale(1.0, 5.0)
_TWO = Scale(0.0, 2.0)
_THREE = Scale(1.0, 3.0)
_OR_NOT = Scale(0.0, 1.0)

FED_TURN: Dimensions = {
    "Interesting": ("interestingness", _TWO),
    "Engaging": ("engaging", _TWO),
    "Specific": ("specificity", _TWO),
    "Relevant": ("relevance", _TWO),
    "Correct": ("correct", _TWO),
    "Semantically appropriate": ("semantically appropriate", _TWO),
    "Understandable": ("understandability", _OR_NOT),
    "Fluent": ("fluent", _TWO),
    "Overall": ("overall", Scale(0.0, 4.0)),
}
FED_DIALOGUE: Dimensions = {
    "Coherent": ("coherence", _TWO),
    "Error recovery": ("error recovery", _TWO),
    "Consistent": ("consistent", _OR_NOT),
    "Diverse": ("diversity", _TWO),
    "Depth": ("depth", _TWO),
    "Likeable": ("engagingness", _TWO),
    "Understanding": ("understanding", _TWO),
    "Flexible": ("flexible", _TWO),
    "Informative": ("informativeness", _TWO),
    "Inquisitive": ("inquisitive", _TWO),
    "Overall": ("overall", Scale(0.0, 4.0)),
}
"""FED's names: ours, and the scale in its public file."""
USR: Dimensions = {
    "Understandable": ("understandability", _OR_NOT),
    "Natural": ("natural", _THREE),
    "Maintains Context": ("relevance", _THREE),
    "Engaging": ("interestingness", _THREE),
    "Uses Knowledge": ("uses knowledge", _OR_NOT),
    "Overall": ("overall", ONE_TO_FIVE),
}
CONTURE_TURN: Dimensions = {"overall impression": ("overall", _TWO)}
CONTURE_DIALOGUE: Dimensions = {
    "coherent": ("coherence", _THREE),
    "error recovery": ("error recovery", _THREE),
    "consistent": ("consistent", _OR_NOT),
    "diverse": ("diversity", _THREE),
    "topic depth": ("topic depth", _THREE),
    "likeable": ("engagingness", _THREE),
    "understanding": ("understanding", _THREE),
    "flexible": ("flexible", _THREE),
    "informative": ("informativeness", _THREE),
    "inquisitive": ("inquisitive", _THREE),
    "human (overall)": ("overall", ONE_TO_FIVE),
}
GRADE: Dimensions = {"HumanScores": ("relevance", ONE_TO_FIVE)}
"""People rated how coherent a response is with its context: our relevance."""
ZHAO: Dimensions = {
    "content": ("content", ONE_TO_FIVE),
    "grammar": ("grammar", ONE_TO_FIVE),
    "relevance": ("relevance", ONE_TO_FIVE),
    "fact": ("fact", _OR_NOT),
    "overall": ("overall", ONE_TO_FIVE),
}
_GRADE_OF_DSTC10 = {"relevance": GRADE["HumanScores"]}
_ZHAO_OF_DSTC10 = {**ZHAO, "appropriateness": ZHAO["overall"]}
"""*Appropriateness* is what Zhao's sets call *overall*."""
DSTC10_SETS: Mapping[str, Dimensions] = {
    "convai2-grade": _GRADE_OF_DSTC10,
    "dailydialog-grade": _GRADE_OF_DSTC10,
    "empathetic-grade": _GRADE_OF_DSTC10,
    "dailydialog-gupta": {"overall": ("overall", ONE_TO_FIVE)},
    "dailydialog-zhao": _ZHAO_OF_DSTC10,
    "persona-zhao": _ZHAO_OF_DSTC10,
    "persona-usr": USR,
    "topical-usr": USR,
    "fed-turn": FED_TURN,
    "fed-dial": FED_DIALOGUE,
}
"""Dimensions and scales of the sets whose authors publish them."""

RATED_BY_PEOPLE: dict[str, dict[str, Scale]] = {
    "persona-usr": dict(USR.values()),
    "topical-usr": dict(USR.values()),
    "persona-zhao": {"overall": ONE_TO_FIVE},
    "dailydialog-zhao": {"relevance": ONE_TO_FIVE, "overall": ONE_TO_FIVE},
    "fed-turn": dict(FED_TURN.values()),
    "conture-turn": {"overall": _TWO},
    "convai2-grade": {"overall": ONE_TO_FIVE},
    "dailydialog-grade": {"overall": ONE_TO_FIVE},
    "empathetic-grade": {"overall": ONE_TO_FIVE},
    "dailydialog-gupta": {"overall": ONE_TO_FIVE},
    "dstc10-persona_clean": {"overall": ONE_TO_FIVE},
    "dstc10-topical_clean": {"overall": ONE_TO_FIVE},
    "fed-dial": {"overall": Scale(0.0, 4.0)},
    "conture-dial": {"overall": Scale(0.0, 5.0)},  # published as 1 to 5, but FED's files of that kind count from zero
}
"""By data set and dimension; what is not here and has a rating was rated by GPT-4."""

N_RATERS: dict[str, int] = {"persona-usr": 3, "topical-usr": 3, "dailydialog-zhao": 4}
"""People behind each mean, where it is one number for all items (comp-analysis, appendix)."""

_SINGLE_DIMENSION = {"persona-usr": "relevance", "topical-usr": "relevance"}


def scales_of(dataset: str, source: str) -> dict[str, Scale]:
    """Return the scales on which people rated a data set, by dimension.

    Raises:
        UserError: nothing is known of it; the message begins with `source`.
    """
    if dataset not in RATED_BY_PEOPLE:
        raise UserError(
            f"{source}: the scales of the data set '{dataset}' are unknown ({nearest(dataset, RATED_BY_PEOPLE)}); "
            f"for your own set use JSON Lines (reader rated_jsonl), where every rating names its scale"
        )
    return RATED_BY_PEOPLE[dataset]


def single_dimension(dataset: str) -> str:
    """Return the dimension of the one rating per item that xDial-Eval correlates with.

    The paper speaks of relevance, but the numbers are those of *overall* for dailydialog-zhao, fed-turn, conture-turn
    and fed-dial, and of *relevance* for persona-usr (so it is taken to be for topical-usr, of the same authors). Of
    sets that have a single rating only, it is the overall one.
    """
    return _SINGLE_DIMENSION.get(dataset, "overall")


# Ratings in files of data sets' own authors: a number per rater, or words that there is none.

_NOT_APPLICABLE = re.compile(r"\s*(?:n/?a\b.*|nan\s*)", re.IGNORECASE | re.DOTALL)
"""As a whole or before the rater's reason, in parentheses."""


def ratings_of(
    item: tuple[str, str], annotations: Mapping[str, Any], dimensions: Dimensions, place: str, notes: Counter[str]
) -> list[Rating]:
    """Return all ratings of an item: of several raters each singly and their mean.

    Args:
        item: corpus and id.
        annotations: dimension -> list with a number per rater, null or N/A where one gave none; or a single number, of
            an unknown number of raters.
        notes: counts the ratings that are missing, and the items without a rating on a dimension.

    Raises:
        UserError: a dimension is not known, or a rating is neither a number on its scale nor N/A.
    """
    ratings: list[Rating] = []
    for name, values in annotations.items():
        if name not in dimensions:
            raise UserError(
                f"{place}: '{name:.60}' is not rated in this data set ({nearest(f'{name:.60}', dimensions)}); "
                f"rename it, or use reader rated_jsonl, where every rating names its scale"
            )
        dimension, scale = dimensions[name]
        where = f"{place}, '{name:.60}'"
        if not isinstance(values, list):
            mean = rating_value(values, scale, where)
            ratings.append(Rating(*item, dimension, "human", PEOPLE, None, mean, None, *scale))
            continue
        checked = [
            None if is_missing(value) else rating_value(value, scale, f"{where}, rater {number}")
            for number, value in enumerate(values, start=1)
        ]
        if n_missing := checked.count(None):
            notes["ratings that are missing or N/A"] += n_missing
        if not (found := repeated_ratings((*item, dimension), ("human", PEOPLE), checked, scale)):
            notes[f"items without a rating on {dimension}"] += 1
        ratings += found
    return ratings


def is_missing(value: object) -> bool:
    """Return whether a rater gave no number: null, NaN, or N/A with or without a reason."""
    if isinstance(value, str):
        return _NOT_APPLICABLE.fullmatch(value) is not None
    return value is None or value != value
