"""Requests for items: what they ask for, and how often they are asked again."""

from __future__ import annotations

import json
import re

import pytest

from dialeval.corpora.dialogbench_tasks import ABBREVIATIONS, TASKS
from dialeval.dialogbench.briefs import plan_basic, plan_briefs
from dialeval.dialogbench.subjects import fields_of
from dialeval.dialogbench.writing import plan, plan_top_up, prompt
from dialeval.engines.request import request_key
from dialeval.errors import UserError
from dialeval.prompts.rendering import Templates

TEMPLATES = Templates()


def test_a_request_is_sampled_at_temperature_one_and_says_what_it_is_about() -> None:
    brief = next(plan_briefs(["MRG"], ["Film"], per_cell=1))
    planned = next(plan([brief], TEMPLATES))
    request = planned.request
    assert (planned.case_id, planned.left) == ("en/MRG/film/000", "MRG")
    assert request.request_id == "dialogbench_writing/en/MRG/film/000/0"
    assert (request.kind, request.sampling.temperature, request.repeat) == ("chat", 1.0, 0)
    assert fields_of(request.subject) == {
        "task": "MRG",
        "language": "en",
        "domain": "Film",
        "number": "0",
        "repeat": "0",
    }


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.abbreviation)
def test_a_prompt_asks_for_what_the_paper_asks_for(task, language: str) -> None:  # type: ignore[no-untyped-def]
    brief = next(plan_briefs([task.abbreviation], ["Physics"], per_cell=1, language=language))
    text = prompt(brief, TEMPLATES)
    assert re.search(r"10 turns or more|至少 10 轮", text)
    assert re.search(r"Avoid questions|不用问句", text)
    assert all(personality in text for personality in brief.personalities)
    assert ("unfriendly" in text) == (language == "en")
    assert all(emotion in text for emotion in brief.emotions)
    assert brief.drawn[1] in text
    assert ("Physics" if language == "en" else "物理") in text
    assert text.index('"dialogue"') < text.index('"option"') < text.index('"analysis"') < text.index('"label"')
    assert ('"test_question"' in text) == task.asks
    assert all(f'"{name}"' in text for name in task.shown)
    letters = "".join(re.findall(r'"([A-D])": "', text))
    assert letters == "ABCD"[: task.n_options]
    assert re.search(r"alike in length|长短和口吻相近", text) is not None or bool(task.values)
    assert ('{"speaker1": "..."}]' in text) == task.open_ended


def test_the_form_that_is_asked_for_is_json() -> None:
    for abbreviation in ABBREVIATIONS:
        text = prompt(next(plan_briefs([abbreviation], ["Film"], per_cell=1)), TEMPLATES)
        form = text[text.rindex("\n{") :].replace("..., ", "")
        assert "label" in json.loads(form)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_without_styles_no_personality_is_asked_for(language: str) -> None:
    text = prompt(next(plan_briefs(["IC"], ["Film"], per_cell=1, language=language, styles=False)), TEMPLATES)
    assert "personality" not in text.lower()
    assert "unfriendly" not in text
    assert "性格" not in text


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_basic_prompt_names_no_domain(language: str) -> None:
    basic = prompt(next(plan_basic(["DS"], per_task=1, language=language)), TEMPLATES)
    plain = prompt(next(plan_briefs(["DS"], ["Film"], per_cell=1, language=language, styles=False)), TEMPLATES)
    given = [line for line in plain.splitlines() if line not in basic.splitlines()]
    assert len(given) == 1
    assert ("Film" if language == "en" else "影视") in given[0]
    assert set(basic.splitlines()) < set(plain.splitlines())


def test_items_asked_for_in_the_same_words_are_requests_of_their_own() -> None:
    same = list(plan_basic(["DS"], per_task=3))
    first = [one.request for one in plan(same, TEMPLATES)]
    assert len({request.messages for request in first}) == 1
    assert [request.repeat for request in first] == [0, 1000, 2000]
    assert len({request_key(request, "{}") for request in first}) == 3
    again = [one.request for one in plan_top_up(same, [same[0].item_id], TEMPLATES, round_number=1, max_rounds=2)]
    assert [request.repeat for request in again] == [1001, 2001]
    cells = list(plan_briefs(["DS", "RC"], ["Film", "Music"], per_cell=2, styles=False))
    numbers = {one.case_id: one.request.repeat for one in plan(cells, TEMPLATES)}
    assert [numbers[f"en-nostyles/DS/film/00{number}"] for number in range(2)] == [0, 1000]
    assert {numbers[f"en-nostyles/RC/film/00{number}"] for number in range(2)} == {0}  # other relations, other words


def test_a_round_asks_again_for_what_is_missing_as_another_request() -> None:
    briefs = list(plan_briefs(["OD"], ["Film", "Music"], per_cell=2))
    first = list(plan_top_up(briefs, [], TEMPLATES, round_number=0, max_rounds=2))
    assert [planned.request for planned in first] == [planned.request for planned in plan(briefs, TEMPLATES)]
    accepted = ["en/OD/film/000", "en/OD/music/001"]
    second = list(plan_top_up(briefs, accepted, TEMPLATES, round_number=1, max_rounds=2))
    assert [planned.case_id for planned in second] == ["en/OD/film/001", "en/OD/music/000"]
    before = {planned.case_id: planned.request for planned in first}
    for planned in second:
        assert planned.request.messages == before[planned.case_id].messages
        assert planned.request.request_id != before[planned.case_id].request_id
        assert request_key(planned.request, "{}") != request_key(before[planned.case_id], "{}")
    assert list(plan_top_up(briefs, accepted, TEMPLATES, round_number=2, max_rounds=2)) == []


def test_a_limit_below_one_round_is_refused() -> None:
    with pytest.raises(UserError, match="0 rounds of writing"):
        list(plan_top_up([], [], TEMPLATES, round_number=0, max_rounds=0))
