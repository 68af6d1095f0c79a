"""The twelve tasks under all their names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dialeval.dialogbench.tasks import ABBREVIATIONS, TASKS, find_task, task_of, value_of
from dialeval.errors import UserError


@pytest.mark.parametrize(
    ("name", "abbreviation"),
    [
        ("Conversational QA", "IC"),
        ("Emotion Classification En", "ED"),
        ("Multi-turn Response Selection Pretrain En", "MRG"),
        ("Knowledge-grounded Dialogue", "KRG"),
        ("Fact_Correctness En", "CRG"),
        ("Commonsense-aware Dialogue Generation", "CRG"),
        ("Persona-grounded Dialogue Pretrain", "PRG"),
        ("Dialogue NLI", "NLI"),
        ("Multi-trun_Response_Generation", "MRG"),
        ("Relation_Question", "RC"),
        ("Question_Generation", "DI"),
        ("intent_first", "IC"),
        ("fact_first", "CRG"),
        ("response_1011", "MRG"),
        ("slot filling", "SF"),
        ("od", "OD"),
    ],
)
def test_a_task_is_found_by_its_names(name: str, abbreviation: str) -> None:
    task = find_task(name)
    assert task is not None
    assert task.abbreviation == abbreviation


def test_another_name_is_no_task() -> None:
    assert find_task("Machine Translation") is None
    with pytest.raises(UserError, match="no task 'KRGG'; did you mean 'KRG'"):
        task_of("KRGG")


def test_every_published_prompt_is_one_of_the_twelve(real_data: Path) -> None:
    names = json.loads((real_data / "dialogbench" / "prompt.json").read_text(encoding="utf-8"))
    assert len(names) == 49
    assert {task.abbreviation for name in names if (task := find_task(name))} == set(ABBREVIATIONS)
    assert all(find_task(name) for name in names)


def test_what_is_shown_is_what_the_published_prompts_show(real_data: Path) -> None:
    prompts = json.loads((real_data / "dialogbench" / "prompt.json").read_text(encoding="utf-8"))
    for name, text in prompts.items():
        task = find_task(name)
        assert task is not None
        given = {field for field in ("knowledge", "persona", "hypothesis", "response") if f"{{{field}}}" in text}
        assert given == set(task.shown), name
        assert ("{test_question}" in text) == task.asks, name


def test_dimensions_are_those_of_the_papers_table_2() -> None:
    by_dimension = {task.dimension: [t.abbreviation for t in TASKS if t.dimension == task.dimension] for task in TASKS}
    assert by_dimension == {
        "correctness": ["SF", "IC", "KRG", "CRG"],
        "coherence": ["DI", "MRG"],
        "consistency": ["PRG", "RC", "ED", "NLI", "DS"],
        "safety": ["OD"],
    }
    assert [task.abbreviation for task in TASKS if task.open_ended] == ["KRG", "CRG", "MRG", "PRG"]
    assert [task.abbreviation for task in TASKS if task.fixed] == ["NLI", "OD"]


def test_closed_answers_are_found_in_both_languages() -> None:
    assert [value.en for text in ("Neutral", "矛盾", "entails") if (value := value_of(task_of("NLI"), text))] == [
        "neutral",
        "contradiction",
        "entailment",
    ]
    assert value_of(task_of("OD"), "不冒犯") is not value_of(task_of("OD"), "冒犯")
    assert value_of(task_of("ED"), "boredom") is None


@pytest.mark.parametrize("task", [task for task in TASKS if task.values], ids=lambda task: task.abbreviation)
def test_no_spelling_belongs_to_two_answers(task) -> None:  # type: ignore[no-untyped-def]
    for value in task.values:
        for name in (value.en, value.zh, *value.variants):
            assert value_of(task, name) is value
