"""The rated data sets of comp-analysis and xDial-Eval: what people rated, and on which scale.

The files hold bare numbers. The scales are those of the data sets' own publications as far as the values bear them
out; FED's public files count from zero where its paper counts from one.
"""

from __future__ import annotations

from dialeval.corpora.rated import Scale
from dialeval.errors import UserError, nearest

MODEL_SCALE = Scale(1.0, 5.0)
"""GPT-4 was always asked for 1 to 5 (comp-analysis, Table 2)."""

_ONE_TO_FIVE = Scale(1.0, 5.0)
_USR = {
    "relevance": Scale(1.0, 3.0),
    "interestingness": Scale(1.0, 3.0),
    "understandability": Scale(0.0, 1.0),
    "overall": Scale(1.0, 5.0),
}

RATED_BY_PEOPLE: dict[str, dict[str, Scale]] = {
    "persona-usr": _USR,
    "topical-usr": _USR,
    "persona-zhao": {"overall": _ONE_TO_FIVE},
    "dailydialog-zhao": {"relevance": _ONE_TO_FIVE, "overall": _ONE_TO_FIVE},
    "fed-turn": {
        "relevance": Scale(0.0, 2.0),
        "specificity": Scale(0.0, 2.0),
        "interestingness": Scale(0.0, 2.0),
        "understandability": Scale(0.0, 1.0),
        "overall": Scale(0.0, 4.0),
    },
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
