"""What is put in is written as the rest."""

from __future__ import annotations

import pytest

from dialeval.training.pairs.manner import Manner

TOKENISED = ["i do n't know , maybe later .", "is n't it late ?"]


@pytest.mark.parametrize(
    ("utterances", "text", "written"),
    [
        (["I don't know.", "Why?"], "That's nice, really.", "That's nice, really."),
        (["i don't know.", "why?"], "That's nice, Ann.", "that's nice, ann."),
        (TOKENISED, "I don't mind. That's 6:30, Ann!", "i do n't mind . that 's 6:30 , ann !"),
        (["Look , a cat .", "Where ?"], "It can't be...", "It ca n't be ..."),
        (["Look , a cat .", "Where?"], "It's there.", "It's there."),
        (["你好。", "嗯？"], "我明白了。", "我明白了。"),
        (["…"], "Okay.", "okay."),
    ],
)
def test_capitals_and_blanks_are_as_in_the_dialogue(utterances: list[str], text: str, written: str) -> None:
    assert Manner(utterances).written(text) == written


def test_what_is_written_alike_already_stays() -> None:
    for text in TOKENISED:
        assert Manner(TOKENISED).written(text) == text
