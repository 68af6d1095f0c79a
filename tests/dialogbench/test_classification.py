"""The judge's description of a dialogue: two styles and a domain."""

from __future__ import annotations

from typing import Any

import pytest
from dialogbench_examples import answer, item

from dialeval.dialogbench.classification import parse, plan
from dialeval.dialogbench.domains import NAMES
from dialeval.prompts.rendering import Templates

SOUND = "Speaker 1: friendly\nSpeaker 2: unfriendly\nDomain: Film"


def described(text: str, **fields: Any) -> tuple[str | None, str | None, str | None, str]:
    row = parse("j", item(), answer(text, **fields))
    return row["speaker1_style"], row["speaker2_style"], row["domain"], row["status"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (SOUND, ("friendly", "unfriendly", "Film", "ok")),
        (f"Sure.\n{SOUND}\nThat is all.", ("friendly", "unfriendly", "Film", "ok")),
        ("**Speaker 1:** Neutral.\n- speaker2: neutral\n**Domain**: movies", ("neutral", "neutral", "Film", "ok")),
        ("Speaker 1: neutral\nSpeaker 2: neutral\nDomain: Beekeeping", ("neutral", "neutral", "other", "ok")),
        ("Speaker 1: rude\nSpeaker 2: neutral\nDomain: Film", (None, "neutral", "Film", "unparsed")),
        ("Speaker 1: neutral\nDomain: Film", ("neutral", None, "Film", "unparsed")),
        (SOUND + "\nSpeaker 1: neutral", (None, "unfriendly", "Film", "unparsed")),
        ("Both are friendly.", (None, None, None, "unparsed")),
        ("", (None, None, None, "unparsed")),
    ],
)
def test_a_description_is_read(text: str, expected: tuple[str | None, ...]) -> None:
    assert described(text) == expected


def test_an_answer_that_failed_keeps_its_status() -> None:
    assert described(SOUND, status="missing") == (None, None, None, "missing")


def test_the_request_shows_the_dialogue_and_the_domains() -> None:
    planned = next(plan([item()], Templates()))
    text = planned.request.messages[0].content
    assert "Speaker 1: The boiler is cold again." in text
    assert ", ".join(NAMES) in text
    assert item().question not in text
