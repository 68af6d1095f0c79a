"""Published dialogues and answers in the place of a model's own."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from dialeval.corpora.botchat import PublishedAnswer, PublishedDialogue, Shown
from dialeval.errors import UserError
from dialeval.protocols.imported_answers import Key, responses, turns

SEED = ("Is it raining?", "No, not now.")
LINES = ("Good.", "Yes.", "Then let's go.")


def taken(*utterances: str, n: int = 5, limited: bool = False, seed_id: str = "s1") -> tuple[list[str], dict[str, int]]:
    notes: Counter[str] = Counter()
    dialogues = {
        "s1": PublishedDialogue((*SEED, *LINES), "f, row 2"),
        seed_id: PublishedDialogue(utterances, "f, row 3"),
    }
    found = turns({"s1": SEED}, dialogues, n_utterances=n, only_some_seeds=limited, source="c.tsv", notes=notes)
    return [turn.text for turn in found["s1"]], dict(+notes)


def test_dialogues_are_cut_and_short_ones_counted() -> None:
    assert taken(*SEED, *LINES) == (list(LINES), {})
    assert taken(*SEED, *LINES, n=4) == (list(LINES[:2]), {})
    assert taken(*SEED, "Good.", "") == (
        ["Good.", ""],
        {"dialogues shorter than 5 utterances": 1, "empty utterances": 1},
    )


def test_a_dialogue_must_begin_with_its_seed() -> None:
    assert taken("Is  it raining?\n", "No, not now.", *LINES) == (list(LINES), {})
    assert taken("is it raining", "No... not now", *LINES) == (
        list(LINES),
        {"seeds that differ in case or punctuation; this run's are shown": 1},
    )
    with pytest.raises(UserError, match=r"f, row 3: the dialogue begins with 'Is it snowing\?.*but seed 's1' is"):
        taken("Is it snowing?", SEED[1], *LINES)


def test_a_dialogue_of_no_seed_is_refused_unless_seeds_are_limited() -> None:
    with pytest.raises(UserError, match=r"f, row 3: 's9' is not among the 1 seeds.*seeds\.corpus"):
        taken(*SEED, *LINES, seed_id="s9")
    assert taken(*SEED, *LINES, seed_id="s9", limited=True) == (list(LINES), {})


def test_without_any_dialogue_there_is_an_error() -> None:
    with pytest.raises(UserError, match="no seed has a published dialogue"):
        turns({"s1": SEED}, {}, n_utterances=4, only_some_seeds=True, source="c.tsv", notes=Counter())


def planned(model: str, *, protocol: str = "unieval", right: str | None = None, n: int = 3) -> dict[str, Any]:
    subject = [["a", "b", "c"]] * (1 if right is None else 2)
    return {
        "request_id": f"{protocol}/s1/{model}/{right}/{n}", "protocol": protocol, "case_id": "s1", "left": model,
        "right": right, "n_utterances": n, "subject": subject,
    }  # fmt: skip


def answer(text: str, *conversations: list[str]) -> PublishedAnswer:
    return PublishedAnswer(text, tuple(json.dumps(texts) for texts in conversations), "f, row 2")


def joined(
    rows: list[dict[str, Any]], answers: dict[Key, PublishedAnswer]
) -> tuple[list[tuple[str, str, str]], dict[str, int]]:
    notes: Counter[str] = Counter()
    found = list(responses(rows, answers, "f", notes))
    return [(row["status"], row["text"], row["finish_reason"]) for row in found], dict(+notes)


def test_half_an_emoji_in_a_published_answer_can_be_tabled() -> None:
    answers = {(Shown("s1", "bot", None), None): answer("Choice: No\nReason: \ud83d", ["a", "b", "c"])}
    rows, _ = joined([planned("bot")], answers)
    assert rows == [("ok", "Choice: No\nReason: \ufffd", "")]


def test_answers_meet_requests_and_the_rest_is_missing() -> None:
    answers = {(Shown("s1", "bot", None), None): answer("Choice: No")}
    rows = [planned("human"), planned("bot"), {**planned("bot"), "case_id": "s2"}]
    assert joined(rows, answers) == (
        [("missing", "", ""), ("ok", "Choice: No", ""), ("missing", "", "")],
        {"requests without a published response: missing": 2},
    )


def test_arenas_answers_meet_by_length() -> None:
    answers = {(Shown("s1", "a", "b"), n): answer(f"at {n}") for n in (8, 16)}
    rows = [planned("a", protocol="arena", right="b", n=n) for n in (16, 8)]
    assert joined(rows, answers)[0] == [("ok", "at 16", ""), ("ok", "at 8", "")]


def test_identical_texts_are_dropped_unless_they_differ_here() -> None:
    answers = {(Shown("s1", "bot", "human"), None): answer("EM"), (Shown("s1", "human", "bot"), None): answer("EM ")}
    row = planned("bot", protocol="gteval", right="human")
    assert joined([row, {**row, "case_id": "s2"}], answers) == (
        [("missing", "", "EM"), ("missing", "", "")],
        {
            "pairs that are identical in the file (EM) and differ in this run: missing": 1,
            "requests without a published response: missing": 1,
            "pairs of identical texts, left out as by the authors": 1,
        },
    )


def test_yes_without_an_index_is_counted() -> None:
    texts = ("Choice: Yes\nReason: all 16 of them", "Choice: Yes\nIndex: None", "Choice: Yes\nIndex: 2", "Choice: No")
    answers = {(Shown(f"s{n}", "bot", None), None): answer(text) for n, text in enumerate(texts)}
    rows = [{**planned("bot"), "case_id": f"s{n}"} for n in range(len(texts))]
    (note,) = joined(rows, answers)[1].items()
    assert note == ("responses 'Choice: Yes' without an index: unparsed here; the authors count them as passed", 2)


def test_answers_about_other_texts_are_counted() -> None:
    note = "responses on another text than the dialogue of this run"
    single = {(Shown("s1", "bot", None), None): answer("Choice: No", ["a", " b", "c", "d"])}
    assert joined([planned("bot")], single)[1] == {note: 1}
    pair = planned("bot", protocol="gteval", right="human")
    for second, notes in ((["a", "b", "c"], {}), (["a", "x", "c"], {note: 1}), (["a"], {note: 1})):
        answers = {(Shown("s1", "bot", "human"), None): answer("Choice: Both", ["a", " b", "c", "d"], second)}
        assert joined([pair], answers)[1] == notes


def test_a_chatbot_under_another_name_is_reported() -> None:
    answers = {(Shown("s1", name, None), None): answer("Choice: No") for name in ("human", "gpt4", "claude2")}
    with pytest.raises(
        UserError, match=r"about the chatbot 'GPT-4'.*claude2, gpt4; .*names: \{NAME_IN_THE_FILE: GPT-4\}"
    ):
        joined([planned("human"), planned("GPT-4")], answers)


def test_unplanned_answers_are_counted() -> None:
    answers = {
        (Shown("s1", "bot", None), None): answer("Choice: No"),
        (Shown("s9", "bot", None), None): answer("Choice: No"),
        (Shown("s1", "other", None), None): answer("Choice: No"),
    }
    assert joined([planned("bot")], answers)[1] == {
        "responses on pairs that this run does not compare": 1,
        "responses on models that are not chatbots of this run": 1,
    }
