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


# What was preferred and what was not are two dialogues on one case.

CHOSEN = ("Where?", "On a mill.", "Which?", "The old one.")


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


# A reply and what came before it, in two fields, are a dialogue; what was asked is the case.


def replies_lines(folder: Path, *records: Any) -> Path:
    path = folder / "replies.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def test_systems_meet_on_the_labelled_criteria(tmp_path: Path) -> None:
    several = {
        "instruction": "Where?",
        "completions": [{"model": name, "response": name} for name in ("heron", "reed")],
    }
    path = replies_lines(tmp_path, several, {"instruction": "Where?", "output": "x", "generator": "sedge"})
    items = read_items("replies", path, Options()).items
    assert [item.system for item in items] == ["heron", "reed", "sedge"]
    assert len({item.case_id for item in items} - {""}) == 1


# Replies in tables and with marks of speakers, two of them that are compared, and prompts that have other names.


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


def test_two_replies_of_one_system_have_ids_of_their_own(tmp_path: Path) -> None:
    sources = {"response_0_source": "heron", "response_1_source": "heron"}
    record = {"prompt": "Where?", "response_0": "Mill.", "response_1": "No.", **sources}
    items = read_items("replies", replies_lines(tmp_path, record), Options()).items
    assert [(item.item_id, item.case_id, item.utterances[1]) for item in items] == [
        ("pair-1/heron", "pair-1", "Mill."),
        ("pair-1-2/heron", "pair-1", "No."),
    ]
