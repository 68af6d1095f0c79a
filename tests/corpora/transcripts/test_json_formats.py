"""ChatGPT's export: the way through the tree that the user saw last."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from dialeval.corpora.transcripts.items import Options, read_items
from dialeval.corpora.transcripts.readers import detect_format, read
from dialeval.corpora.transcripts.transcript import HiddenMessage
from dialeval.errors import UserError

# ChatGPT's export: the way through the tree that the user saw last.


def node(parent: str | None, role: str | None, *parts: Any, **more: Any) -> dict[str, Any]:
    if role is None:
        return {"parent": parent, "message": None}
    content = more.pop("content", {"content_type": "text", "parts": [*parts]})
    return {"parent": parent, "message": {"author": {"role": role}, "content": content, **more}}


MAPPING = {
    "root": node(None, None),
    "hidden": node("root", "system", "", metadata={"is_visually_hidden_from_conversation": True}),
    "ask": node("hidden", "user", "Where do herons nest?", {"content_type": "image_asset_pointer"}),
    "first": node("ask", "assistant", "I cannot say."),
    "call": node("ask", "assistant", content={"content_type": "code", "text": "find()"}, recipient="browser"),
    "found": node("call", "tool", "On a mill."),
    "think": node("found", "assistant", content={"content_type": "thoughts", "thoughts": [{"content": "Hm."}]}),
    "last": node("think", "assistant", "On the old mill.", metadata={"model_slug": "heron-7b"}),
}
CHAT = {"conversation_id": "c1", "id": "c1", "title": "Herons", "mapping": MAPPING, "current_node": "last"}


def written(folder: Path, *chats: Any) -> Path:
    path = folder / "conversations.json"
    path.write_text(json.dumps(chats), encoding="utf-8")
    return path


def test_what_the_user_saw_last_is_the_dialogue(tmp_path: Path) -> None:
    path = written(tmp_path, CHAT)
    (found,) = read(path, "auto", {}, Counter())
    assert detect_format(path) == "chatgpt"
    assert (found.dialogue_id, found.system) == ("c1", "heron-7b")
    assert found.speakers == ("user", "assistant")
    assert found.utterances == ("Where do herons nest?\n[image_asset_pointer]", "On the old mill.")
    assert found.hidden_messages == (
        HiddenMessage(1, "tool_call", "browser(find())"),
        HiddenMessage(1, "tool_result", "On a mill."),
        HiddenMessage(1, "reasoning", "Hm."),
    )


def test_another_branch_and_another_model(tmp_path: Path) -> None:
    mapping = MAPPING | {"more": node("last", "user", "Thanks"), "end": node("more", "assistant", "Bye.")}
    mapping["end"]["message"]["metadata"] = {"model_slug": "reed"}
    branch = CHAT | {"current_node": "first", "default_model_slug": "sedge"}
    notes: Counter[str] = Counter()
    one, two = read(written(tmp_path, branch, CHAT | {"mapping": mapping, "current_node": "end"}), "auto", {}, notes)
    assert (one.system, one.utterances[1:]) == ("sedge", ("I cannot say.",))
    assert (two.system, len(two.utterances)) == ("reed", 4)
    assert notes["conversations with several models, attributed to the last one"] == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"current_node": "gone"}, "the node 'gone' is not there"),
        ({"mapping": []}, "the node 'last' is not there"),
        ({"mapping": MAPPING | {"root": node("last", None)}}, "the node 'last' stands above itself"),
    ],
)
def test_a_broken_tree_is_reported(tmp_path: Path, change: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=f"conversations.json, record 1: in 'mapping' {words}; export"):
        list(read(written(tmp_path, CHAT | change), "auto", {}, Counter()))


def test_events_that_are_none_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "trackers.json"
    path.write_text(json.dumps([{"sender_id": "c1", "events": ["user: hi"]}]), encoding="utf-8")
    with pytest.raises(UserError, match="trackers.json, record 1: 'events' must be a list of objects"):
        read_items("bot", path, Options())


# What was preferred and what was not are two dialogues on one case.

CHOSEN = ("Where?", "On a mill.", "Which?", "The old one.")
ASKED = [{"role": "user", "content": "Where?"}]


def marked(*texts: str) -> str:
    return "".join(f"\n\n{('Human', 'Assistant')[n % 2]}: {text}" for n, text in enumerate(texts))


def lines(folder: Path, *records: Any) -> Path:
    path = folder / "pairs.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def test_marks_say_who_speaks(tmp_path: Path) -> None:
    path = lines(tmp_path, {"chosen": marked(*CHOSEN), "rejected": marked(*CHOSEN[:3], "No:\n\nidea.")})
    reading = read_items("pairs", path, Options())
    assert detect_format(path) == "preferences"
    assert [(one.item_id, one.case_id, one.judged) for one in reading.items] == [
        ("pair-1/chosen", "pair-1", "assistant"),
        ("pair-1/rejected", "pair-1", "assistant"),
    ]
    assert [one.utterances for one in reading.items] == [CHOSEN, (*CHOSEN[:3], "No:\n\nidea.")]


@pytest.mark.parametrize(
    "record",
    [
        {"prompt": "Where?", "chosen": "On a mill.", "rejected": "No."},
        {"prompt": ASKED, "chosen": [{"role": "assistant", "content": "On a mill."}], "rejected": "No."},
        {"prompt": "Where?", "chosen": [*ASKED, {"role": "assistant", "content": "On a mill."}], "rejected": "No."},
        {"prompt": marked("Where?"), "chosen": "On a mill.", "rejected": "No."},
        {"prompt": marked("Where?") + "\n\nAssistant:", "chosen": " On a mill.", "rejected": " No."},
    ],
)
def test_a_prompt_may_stand_apart(tmp_path: Path, record: dict[str, Any]) -> None:
    chosen, rejected = read(lines(tmp_path, record | {"prompt_id": "q7"}), "auto", {}, Counter())
    assert (chosen.dialogue_id, chosen.utterances) == ("q7", ("Where?", "On a mill."))
    assert (rejected.speakers, rejected.utterances[-1]) == (chosen.speakers, "No.")


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ({"chosen": 3, "rejected": "x"}, "line 1, 'chosen' must be a text or a list of messages, not 3"),
        ({"chosen": "x", "rejected": None}, "line 1, 'rejected' must be a text or a list"),
    ],
)
def test_what_is_no_dialogue_is_reported(tmp_path: Path, record: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=words):
        list(read(lines(tmp_path, record), "auto", {}, Counter()))


# A reply and what came before it, in two fields, are a dialogue; what was asked is the case.


def replies_lines(folder: Path, *records: Any) -> Path:
    path = folder / "replies.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("record", "utterances"),
    [
        ({"instruction": "Where?", "output": "Here."}, ("Where?", "Here.")),
        ({"prompt": "Where?", "response": "Here."}, ("Where?", "Here.")),
        ({"prompt": "Where?", "completion": "Here."}, ("Where?", "Here.")),
        ({"context": ["Hi", "Hello", "Where?"], "response": "Here."}, ("Hi", "Hello", "Where?", "Here.")),
        ({"context": [{"role": "user", "content": "Where?"}], "response": "Here."}, ("Where?", "Here.")),
        ({"context": "Where?", "response": "Here.", "": 1.5}, ("Where?", "Here.")),
        ({"instruction": "Sum up.", "input": "A text.", "output": "So."}, ("Sum up.\n\nA text.", "So.")),
        ({"instruction": "Where?", "context": "A mill.", "response": "There."}, ("Where?\n\nA mill.", "There.")),
        (
            {"history": [["Hi", "Hello"]], "instruction": "Where?", "input": "", "output": "Here."},
            ("Hi", "Hello", "Where?", "Here."),
        ),
    ],
)
def test_what_came_before_a_reply(tmp_path: Path, record: dict[str, Any], utterances: tuple[str, ...]) -> None:
    (found,) = read(replies_lines(tmp_path, record), "auto", {}, Counter())
    assert found.utterances == utterances
    assert found.speakers == (("user", "assistant") * 2)[: len(utterances)]


def test_systems_meet_on_the_labelled_criteria(tmp_path: Path) -> None:
    several = {
        "instruction": "Where?",
        "completions": [{"model": name, "response": name} for name in ("heron", "reed")],
    }
    path = replies_lines(tmp_path, several, {"instruction": "Where?", "output": "x", "generator": "sedge"})
    items = read_items("replies", path, Options()).items
    assert [item.system for item in items] == ["heron", "reed", "sedge"]
    assert len({item.case_id for item in items} - {""}) == 1


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ({"prompt": "Hi", "response": None}, "line 1: 'response' must be a text or a list of messages, not None"),
        ({"prompt": 3, "response": "x"}, "line 1: 'prompt' is 3; it must be a text or a list of them"),
        ({"context": {"a": 1}, "response": "x"}, "line 1: 'context' is {'a': 1}; it must be"),
        ({"instruction": "Hi", "completions": ["x"]}, "line 1: 'completions' must be a list of objects with 'model'"),
    ],
)
def test_what_is_no_reply_is_reported(tmp_path: Path, record: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=words):
        list(read(replies_lines(tmp_path, record), "auto", {}, Counter()))


# Replies in tables and with marks of speakers, two of them that are compared, and prompts that have other names.


@pytest.mark.parametrize(
    "prompt",
    [
        marked("Hi", "Hello", "Where?") + "\n\nAssistant:",
        "Hi\n<extra_id_1>Assistant\nHello\n<extra_id_1>User\nWhere?",
        "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nHello<|im_end|>\n<|im_start|>user\nWhere?<|im_end|>",
    ],
)
def test_a_prompt_with_marks_of_speakers_is_a_dialogue(tmp_path: Path, prompt: str) -> None:
    (found,) = read(replies_lines(tmp_path, {"prompt": prompt, "completion": " Here."}), "auto", {}, Counter())
    assert found.utterances == ("Hi", "Hello", "Where?", "Here.")
    assert [speaker in ("user", "human") for speaker in found.speakers] == [True, False, True, False]


def test_marks_within_a_reply_are_its_text(tmp_path: Path) -> None:
    reply = "Here.\n\nHuman: Really?"
    (found,) = read(replies_lines(tmp_path, {"prompt": "Where?", "response": reply}), "auto", {}, Counter())
    assert found.utterances == ("Where?", reply)


@pytest.mark.parametrize("field", ["question", "instruction", "input"])
def test_preferences_keep_their_question_and_system_prompt(tmp_path: Path, field: str) -> None:
    record = {"system": "You are an ornithologist.", field: "Where?", "chosen": "On a mill.", "rejected": "No."}
    chosen, rejected = read(replies_lines(tmp_path, record), "auto", {}, Counter())
    assert chosen.utterances == ("Where?", "On a mill.")
    assert rejected.utterances == ("Where?", "No.")
    assert chosen.hidden_messages[0].text == "You are an ornithologist."


def test_replies_of_several_models_may_be_called_answers(tmp_path: Path) -> None:
    answers = [{"answer": "On a mill.", "model": "heron", "rank": 1}, {"answer": "No.", "model": "reed", "rank": 2}]
    first, second = read(replies_lines(tmp_path, {"prompt": "Where?", "answers": answers}), "auto", {}, Counter())
    assert (first.system, first.utterances) == ("heron", ("Where?", "On a mill."))
    assert (second.system, second.utterances) == ("reed", ("Where?", "No."))


@pytest.mark.parametrize(
    ("context", "replies", "named"),
    [
        ({"prompt": "Where?"}, ("response_a", "response_b"), ("model_a", "model_b")),
        ({"instruction": "Where?"}, ("output_1", "output_2"), ("generator_1", "generator_2")),
        ({"prompt": "Where?"}, ("response_0", "response_1"), ("response_0_source", "response_1_source")),
        ({"context": [{"role": "user", "content": "Where?"}]}, ("response1", "response2"), ()),
        ({"question": "Where?", "label": "A>B"}, ("response_A", "response_B"), ()),
        ({"history": "Where?"}, ("human_ref_A", "human_ref_B"), ()),
        ({"input": "Where?"}, ("output_1", "output_2"), ()),
    ],
)
def test_two_replies_to_one_context_are_two_systems_on_one_case(
    tmp_path: Path, context: dict[str, Any], replies: tuple[str, ...], named: tuple[str, ...]
) -> None:
    systems = ("heron", "reed") if named else replies
    record = {"id": "q7", **context, **dict(zip(replies, ("Mill.", "No."), strict=True))}
    path = replies_lines(tmp_path, record | dict(zip(named, systems, strict=False)))
    items = read_items("pairs", path, Options()).items
    assert [item.utterances for item in items] == [("Where?", "Mill."), ("Where?", "No.")]
    assert tuple(item.system for item in items) == systems
    assert {item.case_id for item in items} == {"q7"}


def test_arenas_table_has_lists_of_texts_in_its_cells(tmp_path: Path) -> None:
    path = tmp_path / "train.csv"
    path.write_text(
        "id,model_a,model_b,prompt,response_a,response_b,winner_model_a,winner_model_b,winner_tie\n"
        '7,heron,reed,"[""Where?"",""And [then]?""]","[""Mill."",""Here.""]","[""No."",null]",1,0,0\n'
        '8,reed,heron,"[""Why?""]","[""So.""]","[""\\ud83c\\udf55""]",0,0,1\n'
    )
    items = read_items("arena", path, Options()).items
    assert {item.item_id: item.utterances for item in items} == {
        "7/heron": ("Where?", "Mill.", "And [then]?", "Here."),
        "7/reed": ("Where?", "No.", "And [then]?"),
        "8/reed": ("Why?", "So."),
        "8/heron": ("Why?", "🍕"),
    }


@pytest.mark.parametrize("bracket", ["", "[sic] "])
def test_a_table_may_have_a_row_for_each_reply(tmp_path: Path, bracket: str) -> None:
    path = tmp_path / "replies.csv"
    path.write_text(
        f'prompt,response,model\n"{bracket}Where, please?",Mill.,heron\n"{bracket}Where, please?",No.,reed\n'
    )
    items = read_items("replies", path, Options()).items
    assert [(one.system, one.utterances) for one in items] == [
        ("heron", (f"{bracket}Where, please?", "Mill.")),
        ("reed", (f"{bracket}Where, please?", "No.")),
    ]
    assert len({item.case_id for item in items} - {""}) == 1


@pytest.mark.parametrize("field", ["session_id", "conversationId", "Chat ID"])
def test_replies_of_one_conversation_are_joined(tmp_path: Path, field: str) -> None:
    rows = [("7", "Hi", "Hello"), ("8", "Why?", "So."), ("7", "Where?", "Mill."), ("7", "Thanks", "Bye")]
    table = "".join(f"{name},{prompt},{reply},heron\n" for name, prompt, reply in rows)
    (tmp_path / "log.csv").write_text(f"{field},prompt,response,model\n{table}")
    records = [{field: name, "prompt": prompt, "response": reply, "model": "heron"} for name, prompt, reply in rows]
    for path in (tmp_path / "log.csv", replies_lines(tmp_path, *records)):
        found = {one.dialogue_id: one.utterances for one in read(path, "auto", {}, Counter())}
        assert found.pop("7") == ("Hi", "Hello", "Where?", "Mill.", "Thanks", "Bye")
        assert list(found.values()) == [("Why?", "So.")]


def test_replies_of_one_conversation_with_their_history_or_to_one_prompt_stay_apart(tmp_path: Path) -> None:
    told = [
        {"session_id": 7, "history": [], "prompt": "Hi", "response": "Hello"},
        {"session_id": 7, "history": [["Hi", "Hello"]], "prompt": "Where?", "response": "Mill."},
    ]
    found = list(read(replies_lines(tmp_path, *told), "auto", {}, Counter()))
    assert [one.utterances for one in found] == [("Hi", "Hello"), ("Hi", "Hello", "Where?", "Mill.")]
    samples = [{"session_id": 7, "prompt": "Hi", "response": reply} for reply in ("Hello", "Yes?")]
    assert len(list(read(replies_lines(tmp_path, *samples), "auto", {}, Counter()))) == 2


def test_more_than_two_replies_are_all_read(tmp_path: Path) -> None:
    record = {"prompt": "Where?", "response_0": "Mill.", "response_1": "No.", "response_2": "Here.", "response_id": 7}
    items = read_items("replies", replies_lines(tmp_path, record), Options()).items
    assert [(item.system, item.utterances[1]) for item in items] == [
        ("response_0", "Mill."),
        ("response_1", "No."),
        ("response_2", "Here."),
    ]


def test_two_replies_of_one_system_have_ids_of_their_own(tmp_path: Path) -> None:
    sources = {"response_0_source": "heron", "response_1_source": "heron"}
    record = {"prompt": "Where?", "response_0": "Mill.", "response_1": "No.", **sources}
    items = read_items("replies", replies_lines(tmp_path, record), Options()).items
    assert [(item.item_id, item.case_id, item.utterances[1]) for item in items] == [
        ("pair-1/heron", "pair-1", "Mill."),
        ("pair-1-2/heron", "pair-1", "No."),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Human: Hi\nAssistant: Hello\nHuman: Why?",
        "\n\nHuman: Hi\n\nAssistant: Hello\n\nHuman: Why?",
        "USER: Hi ASSISTANT: Hello</s>USER: Why?",
        "### Human: Hi### Assistant: Hello### Human: Why?",
    ],
)
def test_marks_may_stand_in_lines_or_within_one(tmp_path: Path, text: str) -> None:
    (tmp_path / "m.jsonl").write_text(json.dumps({"text": text}), encoding="utf-8")
    (found,) = read(tmp_path / "m.jsonl", "auto", {}, Counter())
    assert (found.utterances, found.speakers[0], found.speakers[2]) == (("Hi", "Hello", "Why?"), *found.speakers[::2])
    assert len({*found.speakers}) == 2


@pytest.mark.parametrize("response", ["Agent: Stop!\nThief: No!", "Sure:\nHuman: Hi\nAssistant: Hello"])
def test_speakers_within_a_reply_are_its_text(tmp_path: Path, response: str) -> None:
    (tmp_path / "m.jsonl").write_text(json.dumps({"prompt": "Write a scene.", "response": response}), encoding="utf-8")
    (found,) = read(tmp_path / "m.jsonl", "auto", {}, Counter())
    assert found.utterances == ("Write a scene.", response)
