"""BotChat's own examples: every one of a kind that a rule knows is found by it, and the good cases by none.

Of contextual confusion and formal tone no rule is known: those files show that a judge's answer marks their utterances
(`tests/protocols/test_annotate.py` reads such answers).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from judged_dialogues import shipped_question
from origin_examples import Dialogue, dialogues_in

from dialeval.corpora import botchat
from dialeval.corpora.items import Item
from dialeval.criteria import CONFUSION, FAILURES, FORMAL, LENGTH, REPETITION, SELF_IDENTIFICATION
from dialeval.prompts.rendering import Templates
from dialeval.protocols.annotate import parse, plan
from dialeval.protocols.failure_rules import Found, Rules, longest_of_people

FILES = {
    SELF_IDENTIFICATION: "AISelf-Identification.md",
    LENGTH: "ExcessiveLength.md",
    REPETITION: "RepetitivePhrasing.md",
}


@pytest.fixture(scope="module")
def folder(real_data: Path) -> Path:
    return real_data / "botchat"


@pytest.fixture(scope="module")
def people(folder: Path) -> list[tuple[str, ...]]:
    dialogues = botchat.read_botchat_workbook(folder / "MuTual_test.xlsx", "en").dialogues
    return [tuple(utterance.text for utterance in dialogue.utterances) for dialogue in dialogues]


@pytest.fixture(scope="module")
def rules(people: list[tuple[str, ...]]) -> Rules:
    return Rules(longest_of_people((("en", text) for texts in people for text in texts), 0.99), 0.99)


def item(dialogue: Dialogue, name: str = "d") -> Item:
    speakers, texts = zip(*dialogue, strict=True)
    return Item("selfchat", f"{name}/bot", "en", "dialogue", name, speakers, texts, system="bot", case_id=name)


def examples(folder: Path, name: str) -> Iterator[Item]:
    for number, dialogue in enumerate(dialogues_in(folder / "examples" / name)):
        yield item(dialogue, str(number))


@pytest.mark.parametrize("kind", list(FILES))
def test_every_example_of_a_kind_is_found_by_its_rule(kind: str, folder: Path, rules: Rules) -> None:
    found = [rules.check(one)[kind].places for one in examples(folder, FILES[kind])]
    assert len(found) == 2
    assert all(found), found
    if kind == LENGTH:  # every single utterance of theirs is far longer than people's
        assert found == [tuple(range(3, 17))] * 2


def test_no_rule_finds_anything_in_the_good_cases(folder: Path, rules: Rules) -> None:
    cases = list(examples(folder, "GoodCases.md"))
    assert len(cases) == 2
    assert [rules.check(one) for one in cases] == [dict.fromkeys(rules.check(cases[0]), Found(()))] * 2


def test_people_are_seldom_accused(people: list[tuple[str, ...]], rules: Rules) -> None:
    """Nobody of 318 dialogues behind a seed names himself an AI, and five (1.6%) repeat; length is 5.7% by design."""
    found = [rules.check(item(tuple(zip("AB" * 8, texts, strict=False)))) for texts in people if len(texts) > 2]
    counts = {kind: sum(bool(one[kind].places) for one in found) for kind in FILES}
    assert len(found) == 318
    assert counts == {SELF_IDENTIFICATION: 0, LENGTH: 18, REPETITION: 5}


@pytest.mark.parametrize(("kind", "name"), [(CONFUSION, "ContextualCofusion.md"), (FORMAL, "FormalTone.md")])
def test_a_judges_answer_marks_the_utterances_of_the_other_failures(kind: str, name: str, folder: Path) -> None:
    question = shipped_question("failures")
    for planned in plan(question, examples(folder, name), Templates()):
        prompt = planned.request.messages[0].content
        assert kind.replace("_", " ") in prompt
        lines = [f"{one.replace('_', ' ')}: {'3, 4' if one == kind else 'none'}" for one in FAILURES]
        row = {"labels": planned.request.labels, "n_utterances": planned.n_utterances, "request_id": "r"}
        answer = {"status": "ok", "finish_reason": "stop", "text": "\n".join([*lines, "Reason: as a judge may say."])}
        marked = {one["criterion"]: one.get("places") for one in parse(question, row, answer)}
        assert marked == {one: [3, 4] if one == kind else [] for one in FAILURES} | {"good_case": None}
