"""One's own criteria on chatbots' dialogues, from the question to the table, with a judge whose answers are known."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dialeval.config import Protocol
from dialeval.corpora.items import Item, item_rows
from dialeval.criteria import YES_NO, Criterion, Words
from dialeval.engines.answering import response_row
from dialeval.engines.requests import Request, Response
from dialeval.measures.design import Design
from dialeval.prompts.rendering import Templates
from dialeval.protocols.item_prompts import ParseSettings, PlanSettings
from dialeval.protocols.planned_requests import request_from_row
from dialeval.stages import judging, measures
from dialeval.tables.dialogues import REQUESTS, RESPONSES
from dialeval.tables.files import TableWriter, iterate_rows, read_table, to_table, write_table
from dialeval.tables.measures import CHECKLIST, MEANS, RATES
from dialeval.tables.metaeval import ITEMS

SAID = {
    "kind": ["Hello.", "Good day, how can I help?", "My kettle broke.", "I am sorry. Here is your money. Goodbye."],
    "curt": ["Hello.", "What.", "My kettle broke.", "So? Here is your money."],
    "lost": ["Hello.", "Blue.", "My kettle broke.", "Seven."],
}
QUESTIONS = {
    "greets": ("Does the assistant greet?", "Good day"),
    "sorry": ("Does the assistant say sorry?", "am sorry"),
    "solves": ("Does the user get the money back?", "your money"),
    "closes": ("Does the assistant say goodbye?", "Goodbye"),
}


def criteria(**more: Any) -> list[Criterion]:
    return [
        Criterion(name, scale=YES_NO, words=Words({"dialogue": asked, "turn": asked}), **more)
        for name, (asked, _) in QUESTIONS.items()
    ]


def judge(request: Request) -> Response:
    """Says Yes where what a question is about stands in the prompt; of Blue it says nothing that can be read."""
    prompt = request.messages[-1].content
    mark = next(mark for asked, mark in QUESTIONS.values() if asked in prompt)
    if "Blue" in prompt and "goodbye" in prompt:
        return Response("", label_logprobs={}, label_mass=0.0)
    yes = 0.9 if mark in prompt else 0.2
    return Response("", label_logprobs={"Yes": math.log(yes), "No": math.log(1 - yes)}, label_mass=1.0)


def writes(request: Request) -> Response:
    """Write a line for each question, Yes where what it is about stands in the prompt; of Blue none on goodbye."""
    prompt = request.messages[-1].content
    lines = [
        f"{name}: {'Yes' if mark in prompt else 'No'}"
        for name, (_, mark) in QUESTIONS.items()
        if not ("Blue" in prompt and name == "closes")
    ]
    return Response("\n".join(lines))


FORMS: dict[str, tuple[Any, Any, Callable[[Request], Response]]] = {
    "probability": (judging.plan_probability, judging.parse_probability, judge),
    "scale": (judging.plan_scale, judging.parse_scale, writes),
}


def judged(
    folder: Path, own: list[Criterion], form: str = "probability", **of: str
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Plans, answers and reads a protocol; returns the requests and the design of its measures."""
    items = [
        Item("selfchat", f"s{case}/{name}", "en", "dialogue", f"s{case}", ("user", "chatbot") * 2, tuple(said), name,
             f"s{case}", "chatbot")
        for name, said in SAID.items()
        for case in range(3)
    ]  # fmt: skip
    with TableWriter(folder / "items", ITEMS) as table:
        table.write_all(item_rows(items))
    protocol = Protocol.model_validate(
        {"form": form, "data": {"source": "selfchat", **of}, "criteria": [one.name for one in own]}
    )
    asked: dict[str, Any] = {"name": "polite", "protocol": protocol, "criteria": own, "own": own}
    settings = PlanSettings(**asked, n_seed_utterances=1)
    plan, parse, answers = FORMS[form]
    plan(settings, [folder / "items"], [], [], folder / "requests", Templates())
    requests = list(iterate_rows(folder / "requests", REQUESTS))
    rows = [
        response_row(request, f"{number:032x}", answers(request)) | {"dropped": 0}
        for number, request in enumerate(map(request_from_row, requests))
    ]
    write_table(folder / "responses", RESPONSES, to_table(RESPONSES, rows))
    reading = ParseSettings(**asked, judge="scripted")
    responses = [folder / "responses"]
    parse(reading, folder / "requests", responses, [], folder / "judgements")
    return requests, {"protocol": "polite", "judges": ["scripted"], "systems": list(SAID)}


def measured(folder: Path, stage: Callable[..., None], table: Any, design: dict[str, Any]) -> list[dict[str, Any]]:
    stage(Design(**design), [folder / "judgements"], [], [], folder)
    return read_table(folder / f"{table.file}.parquet", table).to_pylist()


@pytest.mark.parametrize(("form", "each"), [("probability", 4), ("scale", 1)])
def test_a_checklist_is_the_share_of_its_questions_answered_with_yes(tmp_path: Path, form: str, each: int) -> None:
    requests, design = judged(tmp_path, criteria(), form)
    assert len(requests) == 3 * 3 * each
    rows = measured(tmp_path, measures.measure_checklist, CHECKLIST, design)
    found = {row["system"]: (row["estimate"], row["n"], row["n_missing"], row["n_criteria"]) for row in rows}
    assert found["kind"] == (1.0, 3, 0, 4)
    assert found["curt"] == (0.25, 3, 0, 4)
    assert found["lost"] == (None, 0, 3, 4), "an answer that could not be read leaves the dialogue out"
    rows = measured(tmp_path, measures.measure_rates, RATES, design)
    shares = {(row["criterion"], row["system"]): (row["estimate"], row["n"], row["n_unparsed"]) for row in rows}
    assert shares["solves", "curt"] == (1.0, 3, 0)
    assert shares["sorry", "curt"] == (0.0, 3, 0)
    assert shares["closes", "lost"] == (0.0, 3, 3)


def test_means_by_criterion_are_the_judges_probabilities(tmp_path: Path) -> None:
    _, design = judged(tmp_path, criteria())
    rows = measured(tmp_path, measures.measure_means, MEANS, design)
    by_name = {(row["criterion"], row["system"]): row["estimate"] for row in rows}
    assert by_name["greets", "kind"] == pytest.approx(0.9)
    assert by_name["greets", "curt"] == pytest.approx(0.2)
    assert by_name["solves", "kind"] == pytest.approx(0.9)
    assert by_name["closes", "lost"] is None


@pytest.mark.parametrize(("turns", "each"), [("last", ["4"]), ("all", ["2", "4"])])
def test_criteria_about_responses_concern_the_evaluated_speakers(tmp_path: Path, turns: str, each: list[str]) -> None:
    requests, _ = judged(tmp_path, criteria(level="turn")[:1], turns=turns)
    assert [row["item_id"] for row in requests[: len(each)]] == [f"s0/kind/{end}" for end in each]
    assert len(requests) == 3 * 3 * len(each)
    assert {(row["left"], row["case_id"]) for row in requests} == {(name, f"s{n}") for name in SAID for n in range(3)}
    last = requests[len(each) - 1]["messages"][-1]["content"]
    assert last.index("My kettle broke.") < last.index("I am sorry.")


def test_both_sides_are_shown_and_the_judged_one_is_named(tmp_path: Path) -> None:
    requests, _ = judged(tmp_path, criteria())
    prompt = requests[0]["messages"][-1]["content"]
    assert "User: My kettle broke." in prompt
    assert "Chatbot: I am sorry." in prompt
    assert "only" in prompt.split("kettle broke.")[1]
    assert "Chatbot" in prompt.split("### Question")[1]
