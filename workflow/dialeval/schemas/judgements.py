"""The table of judgements: what one judge said about one dialogue, or about two, under one protocol."""

from __future__ import annotations

from typing import Literal

from dialeval.schemas.columns import FLOAT, INT, PLACES, TEXT, maybe, schema
from dialeval.schemas.table import Table

Status = Literal["ok", "unparsed", "refused", "truncated", "low_mass", "missing"]
"""Whether an answer could be read, and if not, why: not in the form asked for, refused, cut off, with too little
probability on the labels, or without an answer at all."""

Outcome = Literal["left", "right", "tie"]
"""Which of two dialogues is preferred."""

Form = Literal["scale", "probability", "pair", "detect", "mark"]
"""The form of a question: a number, the probability of labels, a choice between two, what is seen and where it begins,
or which of several kinds are seen, and wherever they are."""

# fmt: off
JUDGEMENTS = Table(
    "judgements", schema(
        judge=TEXT, protocol=TEXT, request_id=TEXT, corpus=maybe(TEXT), language=maybe(TEXT), item_id=maybe(TEXT),
        case_id=maybe(TEXT), left=maybe(TEXT), right=maybe(TEXT), n_utterances=maybe(INT), criterion=maybe(TEXT),
        repeat=INT, choice=maybe(TEXT), outcome=maybe(TEXT), place=maybe(INT), places=maybe(PLACES), value=maybe(FLOAT),
        scale_min=maybe(FLOAT), scale_max=maybe(FLOAT), mass=maybe(FLOAT), reason=TEXT, status=TEXT
    ),
    row="answer of a judge, and criterion that it is about (`judgements/<judge>/<protocol>`; ready scores: "
    "`judgements/<metric>/file`; means of several judges: `judgements/<ensemble>/<protocol>`, or `.../ensemble`)",
    columns={
        "case_id": "what dialogues have in common: their ChatSEED, or another case",
        "left": "system whose dialogue is shown, of a pair first; `human` for people",
        "right": "system whose dialogue is shown second",
        "criterion": "what is judged, where a question names it",
        "choice": (
            "what the judge said. UniEval: Yes (an AI took part) or No; pairs: the conversation that is AI "
            "(Conversation 1, Conversation 2, Both, Neither)"
        ),
        "outcome": "the side preferred, or taken for human: left, right or tie",
        "place": "first utterance of the AI, counted from 1 as in the paper",
        "places": "all utterances that show it, where a judge was asked for all, counted from 1",
        "value": "the score, on the scale from `scale_min` to `scale_max`",
        "mass": "probability that the labels together captured",
        "reason": "the judge's reason, or why the answer could not be read",
    },
)
# fmt: on
