"""What does not fit a judge's window loses its oldest utterances, and never its instruction or response."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
from judged_dialogues import shipped_question

from dialeval.corpora.items import Item
from dialeval.corpora.transcripts.transcript import names_system
from dialeval.criteria import SHIPPED, Criterion, Scale, Words
from dialeval.engines.requests import Message, Request
from dialeval.prompts.rendering import Templates
from dialeval.protocols import scores
from dialeval.protocols.item_prompts import blinded, shortened

RATING, YES_NO = shipped_question("rating", max_tokens=1), shipped_question("yes_no")
LONG = Item(
    "fed", "1", "en", "turn", "1", ("human", "chatbot") * 10, (*tuple(f"word{n} " * 20 for n in range(19)), "The end.")
)


@dataclass
class Window:
    """Counts words."""

    context_window: int | None

    def count_tokens(self, messages: tuple[Message, ...]) -> int:
        return sum(len(message.content.split()) for message in messages)


def requests() -> list[Request]:
    templates = Templates()
    return [
        next(scores.plan_scale(RATING, [LONG], templates)).request,
        next(scores.plan_probability(YES_NO, [LONG], templates)).request,
    ]


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("window", [200, 300, 400])
def test_as_few_as_possible_are_left_out(number: int, window: int) -> None:
    whole, words = requests()[number], Window(window)
    request, dropped = shortened(whole, Templates(), words, SHIPPED)
    assert 0 < dropped < 19
    assert words.count_tokens(request.messages) + 1 <= window
    content = request.messages[0].content
    assert "The end." in content
    assert f"word{dropped} " in content
    assert f"word{dropped - 1} " not in content
    assert words.count_tokens(request.messages) + 21 + 1 > window  # one more utterance would not fit
    assert request.subject[0] == LONG.utterances[dropped:]
    assert content.split("### Response")[1] == whole.messages[0].content.split("### Response")[1]


@pytest.mark.parametrize("window", [None, 10_000])
def test_what_fits_is_left_alone(window: int | None) -> None:
    for request in requests():
        assert shortened(request, Templates(), Window(window), SHIPPED) == (request, 0)


def test_what_cannot_fit_is_left_to_the_engine() -> None:
    for request in requests():
        assert shortened(request, Templates(), Window(30), SHIPPED) == (request, 0)


@pytest.mark.parametrize("form", ["scale", "probability"])
def test_no_judge_reads_a_systems_name(form: str) -> None:
    """A transcript may call its speaker as the system is called; what is called by its role stays as it is."""
    plan = {
        "scale": lambda item: scores.plan_scale(RATING, [item], Templates()),
        "probability": lambda item: scores.plan_probability(YES_NO, [item], Templates()),
    }[form]
    named = Item("own", "1", "en", "dialogue", "1", ("Ann", "able-2", "Ann"), ("Hi.", "Hello.", "Bye."), "Able-2")
    request = next(iter(plan(replace(named, judged="able-2")))).request
    content = request.messages[0].content
    assert "able-2" not in content.casefold()
    assert "A: Hi.\nB: Hello.\nA: Bye." in content
    assert "what B says" in content
    assert (request.subject[2], request.subject[3][0]) == (("A", "B", "A"), "B")
    by_role = replace(named, speakers=("user", "assistant", "user"), judged="assistant")
    for item in (by_role, replace(by_role, system="Assistant"), replace(by_role, system="A")):
        assert "User: Hi.\nAssistant: Hello.\nUser: Bye." in next(iter(plan(item))).request.messages[0].content


def test_what_a_shorter_prompt_keeps() -> None:
    """The language of its words, who is judged, the scale, and what was asked to be JSON."""
    words = {"zh": Words(meaning={"turn": "回应了对方的感受"})}
    criteria = {"empathy": Criterion("empathy", scale=Scale(1, 7), translations=words)}
    item = replace(LONG, language="zh", judged="chatbot")
    structured = shipped_question("rating", max_tokens=1, answers="structured")
    planned = scores.plan_scale(structured, [item], Templates(), lambda _: [list(criteria.values())])
    whole = next(planned).request
    request, dropped = shortened(whole, Templates(), Window(300), criteria)
    assert dropped
    kept = whole.messages[0].content.split("### Response")[1]
    assert request.messages[0].content.split("### Response")[1] == kept
    assert "empathy: 回应了对方的感受" in kept
    assert "Rate only what Chatbot says" in kept
    assert '"empathy": a whole number from 1 to 7' in kept
    assert request.answer_schema == whole.answer_schema


# No label of a speaker names the system of a dialogue, however the name is written; roles and others' names stay.


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
def test_a_label_that_identifies_a_speaker(label: str, system: str) -> None:
    assert names_system(label, system)


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
def test_a_label_that_identifies_no_speaker(label: str, system: str) -> None:
    assert not names_system(label, system)


@pytest.mark.parametrize("form", ["scale", "probability"])
def test_a_judge_is_shown_letters_and_every_word_that_was_reported(form: str) -> None:
    item = Item("own", "1", "en", "dialogue", "1", ("Ann", "Heron (bot)"), ("Hi.", "I am Heron."), "heron",
                judged="Heron (bot)")  # fmt: skip
    planned = {
        "scale": lambda: scores.plan_scale(RATING, [item], Templates()),
        "probability": lambda: scores.plan_probability(YES_NO, [item], Templates()),
    }[form]()
    content = next(iter(planned)).request.messages[0].content
    assert "A: Hi.\nB: I am Heron." in content
    assert "what B says" in content
    assert "(bot)" not in content


def test_one_identifying_label_makes_letters_of_all() -> None:
    item = Item("own", "1", "en", "dialogue", "1", ("Ann", "Ben", "heron-7b", "Ann"), ("1", "2", "3", "4"), "heron")
    assert blinded(item) == (("A", "B", "C", "A"), "")
