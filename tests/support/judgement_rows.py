"""Rows of the table `judgements` with what no test of a measure cares about filled in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from dialeval.tables.dialogues import JUDGEMENTS
from dialeval.tables.files import to_table

Row = dict[str, Any]


def judgement(**about: Any) -> Row:
    row = {"judge": "j", "protocol": "p", "request_id": "", "repeat": 0, "reason": "", "status": "ok"}
    return row | about


def frame(rows: Sequence[Row]) -> pd.DataFrame:
    return to_table(JUDGEMENTS, [judgement(**row) for row in rows]).to_pandas()


def pair(case: int, left: str, right: str, winner: str | None, **more: Any) -> Row:
    """A verdict on two dialogues of eight utterances; None: it could not be read."""
    row = {"case_id": f"s{case}", "left": left, "right": right, "outcome": winner, "n_utterances": 8}
    return row | {"status": "ok" if winner else "unparsed"} | more


def seen(case: int, model: str, choice: str | None, index: int | None = None, n: int = 16) -> Row:
    """A verdict on whether an utterance of a dialogue, and which, is a chatbot's; None: it could not be read."""
    row = {"case_id": f"s{case}", "left": model, "choice": choice, "place": index, "n_utterances": n}
    return row | {"status": "ok" if choice else "unparsed"}


def only(rows: Sequence[Row], **wanted: Any) -> Row:
    """The only row with some values."""
    (row,) = [row for row in rows if all(row[name] == value for name, value in wanted.items())]
    return row
