"""Small test items and answers of models for the tests of DialogBench."""

from __future__ import annotations

import json
from typing import Any

from dialeval.dialogbench.items import TestItem

UTTERANCES = (
    "The boiler is cold again.",
    "It was fine when I left.",
    "I had to wash in the sink.",
    "Poor you. I'll ring Mr Bell.",
    "He said last time that it was the valve.",
    "Then he should have brought one.",
    "He had one, but it did not fit.",
    "I'll tell him the size on the phone.",
    "He needs the number on the plate.",
    "I have it on a photo somewhere.",
)
OPTIONS = (
    "to ring the plumber about the valve",
    "to wash in the sink from now on",
    "to buy a valve and fit it at once",
    "to take a photo of the sink today",
)


def item(task: str = "IC", **fields: Any) -> TestItem:
    """Return a sound item of intent classification, or what is asked for."""
    settings: dict[str, Any] = {
        "item_id": "i1",
        "task": task,
        "domain": "Household Chores",
        "language": "en",
        "utterances": UTTERANCES,
        "options": OPTIONS,
        "label": "A",
        "question": "What does speaker 2 mean to do?",
        "personalities": ("curt", "kind"),
        "analysis": "It is promised.",
    }
    return TestItem(**settings | fields)


def record(**fields: Any) -> dict[str, Any]:
    """Return the same as a record of the published format."""
    sound = {
        "id": "i1",
        "task": "Intent Classification",
        "domain": "Household Chores",
        "speaker1 personality": "curt",
        "speaker2 personality": "kind",
        "dialogue": [
            {"speaker1": first, "speaker2": second}
            for first, second in zip(UTTERANCES[::2], UTTERANCES[1::2], strict=True)
        ],
        "test_question": "What does speaker 2 mean to do?",
        "option": dict(zip("ABCD", OPTIONS, strict=True)),
        "analysis": "It is promised.",
        "label": "A",
    }
    return sound | fields


def answer(text: str | None = None, **fields: Any) -> dict[str, Any]:
    """Return a row of responses; without a text, that of a sound record."""
    content = json.dumps(record()) if text is None else text
    return {
        "status": "ok",
        "text": content,
        "finish_reason": "stop",
        "label_logprobs": None,
        "label_mass": None,
        "logprob": None,
        "n_tokens": None,
    } | fields
