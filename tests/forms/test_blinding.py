"""No label of a speaker tells whose a dialogue is, however the name is written; roles and others' names stay."""

from __future__ import annotations

import pytest

from dialeval.corpora.items import Item
from dialeval.corpora.transcripts.judging import tells
from dialeval.engines.request import Sampling
from dialeval.forms import probability, scale
from dialeval.forms.blinding import blinded
from dialeval.prompts.rendering import Templates


@pytest.mark.parametrize(
    ("label", "system"),
    [
        ("heron", "heron"),
        ("HERON", "Heron"),
        ("Heron:", "heron"),
        ("heron (bot)", "heron"),
        ("Assistant (Heron)", "heron"),
        ("heron-7b", "heron"),
        ("Heron 7B", "heron-7b"),
        ("HeronBot", "heron"),
        ("Heron", "heron-7b-chat"),
        ("ｈｅｒｏｎ", "heron"),
        ("苍鹭助手", "苍鹭"),
        ("🦩🦩", "🦩🦩"),
    ],
)
def test_a_label_that_tells(label: str, system: str) -> None:
    assert tells(label, system)


@pytest.mark.parametrize(
    ("label", "system"),
    [
        ("user", "heron"),
        ("Ann", "heron"),
        ("assistant", "assistant-2"),
        ("Chatbot:", "chatbot-2"),
        ("GPT", "gpt-4o"),
        ("Customer", "customer-bot"),
        ("user", "us"),
        ("A", "alpha"),
        ("Ann", "A"),
        ("Assistant", "assistant"),
        ("🦩", "🦩🦩"),
        ("wren", ""),
        ("", "heron"),
    ],
)
def test_a_label_that_tells_nothing(label: str, system: str) -> None:
    assert not tells(label, system)


@pytest.mark.parametrize("form", ["scale", "probability"])
def test_a_judge_is_shown_letters_and_every_word_that_was_said(form: str) -> None:
    item = Item("own", "1", "en", "dialogue", "1", ("Ann", "Heron (bot)"), ("Hi.", "I am Heron."), "heron",
                judged="Heron (bot)")  # fmt: skip
    planned = {
        "scale": lambda: scale.plan([item], Templates(), Sampling(max_tokens=1), 1),
        "probability": lambda: probability.plan([item], Templates()),
    }[form]()
    content = next(iter(planned)).request.messages[0].content
    assert "A: Hi.\nB: I am Heron." in content
    assert "what B says" in content
    assert "(bot)" not in content


def test_one_label_that_tells_makes_letters_of_all() -> None:
    item = Item("own", "1", "en", "dialogue", "1", ("Ann", "Ben", "heron-7b", "Ann"), ("1", "2", "3", "4"), "heron")
    assert blinded(item) == (("A", "B", "C", "A"), "")
