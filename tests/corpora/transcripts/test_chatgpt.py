"""ChatGPT's export: the way through the tree that the user saw last."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from dialeval.corpora.transcripts.readers import looks_of, read
from dialeval.corpora.transcripts.transcript import Aside
from dialeval.errors import UserError


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
    assert looks_of(path) == "chatgpt"
    assert (found.dialogue_id, found.system) == ("c1", "heron-7b")
    assert found.speakers == ("user", "assistant")
    assert found.utterances == ("Where do herons nest?\n[image_asset_pointer]", "On the old mill.")
    assert found.asides == (
        Aside(1, "tool_call", "browser(find())"),
        Aside(1, "tool_result", "On a mill."),
        Aside(1, "reasoning", "Hm."),
    )


def test_another_branch_and_another_model(tmp_path: Path) -> None:
    mapping = MAPPING | {"more": node("last", "user", "Thanks"), "end": node("more", "assistant", "Bye.")}
    mapping["end"]["message"]["metadata"] = {"model_slug": "reed"}
    branch = CHAT | {"current_node": "first", "default_model_slug": "sedge"}
    notes: Counter[str] = Counter()
    one, two = read(written(tmp_path, branch, CHAT | {"mapping": mapping, "current_node": "end"}), "auto", {}, notes)
    assert (one.system, one.utterances[1:]) == ("sedge", ("I cannot say.",))
    assert (two.system, len(two.utterances)) == ("reed", 4)
    assert notes["conversations in which several models answered, taken for the last one's"] == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"current_node": "gone"}, "the node 'gone' is not there"),
        ({"mapping": []}, "the node 'last' is not there"),
        ({"mapping": MAPPING | {"root": node("last", None)}}, "the node 'last' stands above itself"),
    ],
)
def test_a_broken_tree_is_told(tmp_path: Path, change: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=f"conversations.json, record 1: in 'mapping' {words}; export"):
        list(read(written(tmp_path, CHAT | change), "auto", {}, Counter()))
