"""What the rows of the table `judgements` have in common, whatever the form of the question."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dialeval.schemas.judgements import Status

ABOUT = (
    "protocol",
    "request_id",
    "corpus",
    "language",
    "item_id",
    "case_id",
    "left",
    "right",
    "n_utterances",
    "repeat",
)
"""Columns that a judgement takes over from its request."""


def judgement(judge: str, planned: Mapping[str, Any], status: Status, **said: Any) -> dict[str, Any]:
    """Returns a row of the table `judgements`.

    Args:
        judge: name of the judge.
        planned: row of `requests`; a column that is not there is empty.
        status: whether the answer could be read.
        said: what the judge said: `choice`, `outcome`, `value`, `reason` and so on.
    """
    about = {name: planned.get(name) for name in ABOUT}
    return {"judge": judge, **about, "repeat": planned.get("repeat") or 0, "reason": "", "status": status, **said}
