"""A whole production: a writer with every fault, asked again until nothing is wanting or the limit is reached."""

from __future__ import annotations

import json

from dialogbench_examples import OPTIONS, answer, record

from dialeval.dialogbench.briefs import Brief, plan_briefs
from dialeval.dialogbench.checking import checked
from dialeval.dialogbench.filtering import filtered, parse
from dialeval.dialogbench.writing import plan_top_up
from dialeval.dialogbench.written import Outcome, read_written
from dialeval.prompts.rendering import Templates

DOMAINS = ["Film", "Music", "Travel", "Sports", "Games", "Shopping", "History"]
BRIEFS = list(plan_briefs(["IC"], DOMAINS, per_cell=1))


def sound(name: str) -> str:
    turns = [{"speaker1": f"{name} {n} one two three.", "speaker2": f"{name} {n} four five six."} for n in range(5)]
    return json.dumps(record(dialogue=turns))


FAULTS = (
    sound("same"),
    f"```json\n{sound('same')}\n```",
    sound("cut")[:-30],
    "I'm sorry, I can't help with that.",
    sound("label").replace('"label": "A"', '"label": "F"'),
    json.dumps(record(option={str(n): text for n, text in enumerate(OPTIONS * 3, start=1)})),
    sound("filter"),
)


def one_round(number: int, max_rounds: int, done: dict[str, Outcome], writer: dict[str, str]) -> list[Outcome]:
    """Asks for what is wanting, and adds what is accepted to `done`."""
    briefs: dict[str, Brief] = {brief.item_id: brief for brief in BRIEFS}
    planned = list(plan_top_up(BRIEFS, done, Templates(), round_number=number, max_rounds=max_rounds))
    read = [read_written(briefs[one.case_id], answer(writer[one.case_id]), "w") for one in planned]
    ruled = checked([*done.values(), *read])[len(done) :]
    judged = [
        filtered(one, parse("j", one.item, answer("incorrect" if "filter" in one.item.utterances[0] else "correct")))
        if one.item and one.accepted
        else one
        for one in ruled
    ]
    done |= {one.item_id: one for one in judged if one.accepted}
    return judged


def test_every_fault_ends_with_its_reason_and_is_made_up_for() -> None:
    done: dict[str, Outcome] = {}
    first = one_round(0, 3, done, dict(zip([brief.item_id for brief in BRIEFS], FAULTS, strict=True)))
    assert [one.reasons for one in first] == [
        (),
        ("near_duplicate",),
        ("broken_json",),
        ("refused",),
        ("label_outside_options",),
        ("too_many_options",),
        ("filtered_out",),
    ]
    second = one_round(1, 3, done, {brief.item_id: sound(brief.domain) for brief in BRIEFS})
    assert [one.reasons for one in second] == [()] * 6
    assert set(done) == {brief.item_id for brief in BRIEFS}
    assert one_round(2, 3, done, {}) == []


def test_a_writer_that_never_gets_it_right_is_not_asked_for_ever() -> None:
    done: dict[str, Outcome] = {}
    apology = dict.fromkeys((brief.item_id for brief in BRIEFS), "Sorry.")
    asked = [len(one_round(number, 2, done, apology)) for number in range(4)]
    assert asked == [7, 7, 0, 0]
    assert done == {}
