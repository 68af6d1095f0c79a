"""What people rated in the public data sets, and on which scale: in the papers' copies and in the authors' own files.

The files hold bare numbers. The scales are those of the data sets' own publications as far as the values bear them
out; FED's public files count from zero where its paper counts from one.
"""

from __future__ import annotations

from collections.abc import Mapping

from dialeval.corpora.rated import Scale
from dialeval.errors import UserError, nearest

Dimensions = Mapping[str, tuple[str, Scale]]
"""By the name in a file: ours, and the scale that raters had."""
MODEL_SCALE = Scale(1.0, 5.0)
"""GPT-4 was always asked for 1 to 5 (comp-analysis, Table 2)."""

_ONE_TO_FIVE = Scale(1.0, 5.0)
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
    "Overall": ("overall", _ONE_TO_FIVE),
}
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
    "human (overall)": ("overall", _ONE_TO_FIVE),
}
ZHAO: Dimensions = {
    "content": ("content", _ONE_TO_FIVE),
    "grammar": ("grammar", _ONE_TO_FIVE),
    "relevance": ("relevance", _ONE_TO_FIVE),
    "fact": ("fact", _OR_NOT),
    "overall": ("overall", _ONE_TO_FIVE),
}

RATED_BY_PEOPLE: dict[str, dict[str, Scale]] = {
    "persona-usr": dict(USR.values()),
    "topical-usr": dict(USR.values()),
    "persona-zhao": {"overall": _ONE_TO_FIVE},
    "dailydialog-zhao": {"relevance": _ONE_TO_FIVE, "overall": _ONE_TO_FIVE},
    "fed-turn": dict(FED_TURN.values()),
    "conture-turn": {"overall": Scale(0.0, 2.0)},
    "convai2-grade": {"overall": _ONE_TO_FIVE},
    "dailydialog-grade": {"overall": _ONE_TO_FIVE},
    "empathetic-grade": {"overall": _ONE_TO_FIVE},
    "dailydialog-gupta": {"overall": _ONE_TO_FIVE},
    "dstc10-persona_clean": {"overall": _ONE_TO_FIVE},
    "dstc10-topical_clean": {"overall": _ONE_TO_FIVE},
    "fed-dial": {"overall": Scale(0.0, 4.0)},
    "conture-dial": {"overall": Scale(0.0, 5.0)},  # published as 1 to 5, but FED's files of that kind count from zero
}
"""By data set and dimension; what is not here and has a rating was rated by GPT-4."""

N_RATERS: dict[str, int] = {"persona-usr": 3, "topical-usr": 3, "dailydialog-zhao": 4}
"""People behind each mean, where it is one number for all items (comp-analysis, appendix)."""

_SINGLE_DIMENSION = {"persona-usr": "relevance", "topical-usr": "relevance"}


def scales_of(dataset: str, source: str) -> dict[str, Scale]:
    """Returns the scales on which people rated a data set, by dimension.

    Raises:
        UserError: nothing is known of it; the message begins with `source`.
    """
    if dataset not in RATED_BY_PEOPLE:
        raise UserError(
            f"{source}: the scales of the data set '{dataset}' are not known ({nearest(dataset, RATED_BY_PEOPLE)}); a "
            "set of your own is read from JSON Lines (reader rated_jsonl), where every rating names its scale"
        )
    return RATED_BY_PEOPLE[dataset]


def single_dimension(dataset: str) -> str:
    """Returns the dimension of the one rating per item that xDial-Eval correlates with.

    The paper speaks of relevance, but the numbers are those of *overall* for dailydialog-zhao, fed-turn, conture-turn
    and fed-dial, and of *relevance* for persona-usr (so it is taken to be for topical-usr, of the same authors). Of
    sets that have a single rating only, it is the overall one.
    """
    return _SINGLE_DIMENSION.get(dataset, "overall")
