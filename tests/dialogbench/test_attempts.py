"""Rounds of writing, the filter after them, and the table between the two."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from dialogbench_examples import OPTIONS, answer, record

from dialeval.dialogbench.briefs import WITHOUT_DOMAIN, Brief, plan_briefs
from dialeval.dialogbench.writing import (
    Attempt,
    classify_attempts,
    filter_attempts,
    items_of,
    write_items,
    written_of,
)
from dialeval.dialogbench.written_items import Rules, counts
from dialeval.engines.requests import Request, Sampling
from dialeval.prompts.rendering import PromptSet, Templates
from dialeval.tables.dialogbench import WRITTEN_ITEMS
from dialeval.tables.files import TableWriter, iterate_rows

DOMAINS = ["Film", "Music", "Travel"]
Answers = Callable[[Request], dict[str, Any]]


class Model:
    """Answers by a function and remembers what it was asked."""

    def __init__(self, answers: Answers) -> None:
        self.answers = answers
        self.request_ids: list[str] = []

    async def ask(self, requests: Sequence[Request]) -> list[dict[str, Any]]:
        self.request_ids += [request.request_id for request in requests]
        return [self.answers(request) for request in requests]


def sound(name: str) -> str:
    turns = [{"speaker1": f"{name} {n} one two three.", "speaker2": f"{name} {n} four five six."} for n in range(5)]
    return json.dumps(record(dialogue=turns))


def domain_of(request: Request) -> str:
    return dict(pair for pair in request.subject if len(pair) == 2)["domain"]  # type: ignore[misc]


def briefs(styles: bool = True) -> list[Brief]:
    return list(plan_briefs(["IC"], DOMAINS, per_cell=1, styles=styles))


def written(
    writer: Model,
    max_rounds: int = 3,
    asked: Sequence[Brief] = (),
    similarity: float | None = 0.7,
    prompt_set: PromptSet = "ours",
) -> list[Attempt]:
    return asyncio.run(
        write_items(
            writer.ask,
            asked or briefs(),
            Templates(prompt_set=prompt_set),
            Sampling(temperature=1.0),
            origin="w",
            rules=Rules(),
            duplicate_similarity=similarity,
            max_rounds=max_rounds,
        )
    )


def second_time_lucky(request: Request) -> dict[str, Any]:
    """Music is first an apology, and Travel what Film is."""
    domain = domain_of(request)
    if request.repeat == 0 and domain == "Music":
        return answer("I'm sorry, I cannot.")
    return answer(sound("Film" if request.repeat == 0 else domain))


def test_missing_items_are_requested_again_and_every_answer_is_kept() -> None:
    writer = Model(second_time_lucky)
    attempts = written(writer)
    assert [(one.round, one.outcome.domain, one.outcome.reasons) for one in attempts] == [
        (0, "Film", ()),
        (0, "Music", ("refused",)),
        (0, "Travel", ("near_duplicate",)),
        (1, "Music", ()),
        (1, "Travel", ()),
    ]
    assert len(set(writer.request_ids)) == 5
    assert [item.domain for item in items_of(attempts)] == ["Film", "Music", "Travel"]
    reasons = {(row["domain"], row["reason"]): row["n"] for row in counts(one.outcome for one in attempts)}
    assert reasons["Travel", "near_duplicate"] == reasons["Travel", "accepted_short"] == 1


def test_after_the_last_round_no_request_is_sent() -> None:
    writer = Model(lambda request: answer("Sorry."))
    assert len(written(writer, max_rounds=2)) == len(writer.request_ids) == 6


def test_every_fault_ends_with_its_reason_and_is_made_up_for() -> None:
    faults = {
        "Film": (sound("same"), ()),
        "Music": (f"```json\n{sound('same')}\n```", ("near_duplicate",)),
        "Travel": (sound("cut")[:-30], ("broken_json",)),
        "Sports": ("I'm sorry, I can't help with that.", ("refused",)),
        "Games": (sound("label").replace('"label": "A"', '"label": "F"'), ("label_outside_options",)),
        "Shopping": (
            json.dumps(record(option={str(n): text for n, text in enumerate(OPTIONS * 3, start=1)})),
            ("too_many_options",),
        ),
    }

    def faulty(request: Request) -> dict[str, Any]:
        domain = domain_of(request)
        return answer(sound(domain) if request.repeat else faults[domain][0])

    asked = list(plan_briefs(["IC"], list(faults), per_cell=1))
    attempts = written(Model(faulty), asked=asked)
    assert [one.outcome.reasons for one in attempts] == [reasons for _, reasons in faults.values()] + [()] * 5
    assert {item.item_id for item in items_of(attempts)} == {brief.item_id for brief in asked}


def refuses(domain: str) -> Answers:
    return lambda request: answer("incorrect" if request.request_id.count(domain.lower()) else "correct")


def test_the_filter_judges_accepted_items_alone_and_changes_nothing_else() -> None:
    attempts = written(Model(second_time_lucky))
    judge = Model(refuses("Music"))
    filtered = asyncio.run(filter_attempts(judge.ask, attempts, Templates(), judge="j"))
    assert len(judge.request_ids) == 3
    assert [one.outcome.reasons for one in filtered] == [
        (),
        ("refused",),
        ("near_duplicate",),
        ("filtered_out",),
        (),
    ]
    assert [one.variant for one in filtered] == ["full", None, None, "-filter", "full"]
    assert [variant for variant, _ in written_of(filtered, ["full"])] == ["full", "full"]
    assert [item.domain for _, item in written_of(filtered, ["full", "-filter"])] == ["Film", "Music", "Travel"]


def test_items_without_styles_are_a_variant_of_their_own() -> None:
    attempts = written(Model(lambda request: answer(sound(domain_of(request)))), asked=briefs(styles=False))
    assert {one.variant for one in attempts} == {"-styles"}
    filtered = asyncio.run(filter_attempts(Model(refuses("Film")).ask, attempts, Templates(), judge="j"))
    assert [one.variant for one in filtered] == [None, "-styles", "-styles"]


def test_items_of_the_basic_prompt_repeat_themselves_and_are_described_but_not_filtered() -> None:
    writer = Model(lambda request: answer(sound("same")))
    attempts = written(writer, asked=list(plan_briefs(["IC"], WITHOUT_DOMAIN, per_cell=3)), similarity=None)
    assert [(one.variant, one.outcome.item_id, one.outcome.domain) for one in attempts] == [
        ("-domains", f"en-basic/IC/00{number}", "") for number in range(3)
    ]
    judge = Model(refuses(""))
    assert asyncio.run(filter_attempts(judge.ask, attempts, Templates(), judge="j")) == attempts
    assert judge.request_ids == []
    answered = "Speaker 1: friendly\nSpeaker 2: friendly\nDomain: Film"
    rows = asyncio.run(classify_attempts(Model(lambda _: answer(answered)).ask, attempts, Templates(), judge="j"))
    assert [(row["variant"], row["requested_domain"], row["domain"]) for row in rows] == [("-domains", "", "Film")] * 3


def test_a_table_gives_back_every_attempt(tmp_path: Path) -> None:
    attempts = written(Model(second_time_lucky))
    with TableWriter(tmp_path / "w.parquet", WRITTEN_ITEMS) as table:
        table.write_all(one.to_row() for one in attempts)
    assert [Attempt.from_row(row) for row in iterate_rows(tmp_path / "w.parquet", WRITTEN_ITEMS)] == attempts


def test_the_classifier_describes_accepted_items_with_their_variant() -> None:
    attempts = written(Model(second_time_lucky))
    text = "Speaker 1: friendly\nSpeaker 2: unfriendly\nDomain: Film"
    rows = asyncio.run(classify_attempts(Model(lambda _: answer(text)).ask, attempts, Templates(), judge="j"))
    assert [(row["variant"], row["requested_domain"], row["domain"]) for row in rows] == [
        ("full", "Film", "Film"),
        ("full", "Music", "Film"),
        ("full", "Travel", "Film"),
    ]
    assert {(row["speaker1_style"], row["speaker2_style"]) for row in rows} == {("friendly", "unfriendly")}


def test_personalities_missing_from_the_prompt_are_the_writers() -> None:
    def outspoken(request: Request) -> dict[str, Any]:
        return answer(sound(domain_of(request)))

    def silent(request: Request) -> dict[str, Any]:
        item = json.loads(sound(domain_of(request)))
        return answer(json.dumps({name: value for name, value in item.items() if "personality" not in name}))

    def personalities(writer: Answers, prompt_set: PromptSet) -> set[tuple[str, str]]:
        found = written(Model(writer), 1, prompt_set=prompt_set)
        return {one.outcome.item.personalities for one in found if one.outcome.item}

    assert personalities(outspoken, "papers") == {("curt", "kind")}
    assert personalities(silent, "papers") == {("", "")}
    assert personalities(silent, "ours") == {brief.personalities for brief in briefs()} != {("", "")}
