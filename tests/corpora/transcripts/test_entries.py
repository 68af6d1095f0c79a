"""The entries of dialogues: who says what, where a text stands, and lists that are no plain dialogue."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from dialeval.corpora.transcripts.readers import read
from dialeval.errors import UserError

ACTS = [{"id": "teacher", "text": "Hi"}, {"id": "heron", "text": "Hello"}, {"id": "teacher", "text": "Why?"}]


@pytest.mark.parametrize(
    ("record", "speakers"),
    [
        ({"dialog": [ACTS[:2], ACTS[2:]]}, ("teacher", "heron", "teacher")),
        ({"dialogue": ACTS, "speakers": ["teacher", "heron"]}, ("teacher", "heron", "teacher")),
        ({"dialog": [[0, "Hi"], [1, "Hello"], [0, "Why?"]]}, ("0", "1", "0")),
        ([["M: Hi", "W: Hello", "M: Why?"], [{"question": "Who?"}], "4-1"], ("M", "W", "M")),
        ({"dialogue_id": 1, "turns": [{"speaker": "USER", "utterance": one["text"]} for one in ACTS]}, ("USER",) * 3),
    ],
)
def test_who_says_what(tmp_path: Path, record: Any, speakers: tuple[str, ...]) -> None:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps([record]), encoding="utf-8")
    (found,) = read(path, "auto", {}, Counter())
    assert (found.speakers, found.utterances) == (speakers, ("Hi", "Hello", "Why?"))


def test_ids_of_messages_are_no_speakers(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text(json.dumps({"dialogue_id": 1, "dialogue": ACTS}), encoding="utf-8")
    (found,) = read(path, "auto", {}, Counter())
    assert found.speakers == ("A", "B", "A")


def written(folder: Path, record: Any) -> Path:
    (folder / "mine.json").write_text(json.dumps([record]), encoding="utf-8")
    return folder / "mine.json"


# Speakers in other fields than the usual ones, and lists that are no plain dialogue.


@pytest.mark.parametrize(
    ("entries", "speakers"),
    [
        ([{"sender_name": "Ann"}, {"sender_name": "Ann"}, {"sender_name": "Bob"}], ("Ann", "Ann", "Bob")),
        ([{"agent": "agent_1"}, {"agent": "agent_1"}, {"agent": "agent_2"}], ("agent_1", "agent_1", "agent_2")),
        ([{"creator": {"name": "Ann"}}, {"creator": {"name": "Ann"}}, {"creator": {"name": "B"}}], ("Ann", "Ann", "B")),
        ([{"speaker_id": 0}, {"speaker_id": 0}, {"speaker_id": 1}], ("0", "0", "1")),
        ([{"is_user": True}, {"is_user": True}, {"is_user": False}], ("user", "user", "assistant")),
        ([{"isBot": False}, {"isBot": False}, {"isBot": True}], ("user", "user", "assistant")),
        ([{"type": "human"}, {"type": "human"}, {"type": "ai"}], ("human", "human", "ai")),
        ([{}, {}, {}], ("A", "B", "A")),
    ],
)
def test_speakers_are_found_in_other_fields(
    tmp_path: Path, entries: list[dict[str, Any]], speakers: tuple[str, ...]
) -> None:
    texts = ("Where?", "And when?", "There.")
    said = [{**entry, "content": text} for entry, text in zip(entries, texts, strict=True)]
    notes: Counter[str] = Counter()
    (found,) = read(written(tmp_path, {"id": "7", "messages": said}), "auto", {}, notes)
    assert (found.speakers, found.utterances) == (speakers, texts)
    unnamed = "dialogues without names of speakers, read as two alternating speakers, A and B"
    assert notes[unnamed] == (entries[0] == {})


def test_messages_of_langchain_have_types(tmp_path: Path) -> None:
    call = {"name": "look", "args": {"bird": "heron"}, "id": "x", "type": "tool_call"}
    plain = [
        {"type": "system", "content": "Be brief."},
        {"type": "human", "content": "Where?"},
        {"type": "ai", "content": "", "tool_calls": [call]},
        {"type": "tool", "content": "mill", "tool_call_id": "x"},
        {"type": "ai", "content": "There."},
    ]
    for messages in (plain, [{"type": one["type"], "data": one} for one in plain]):
        (found,) = read(written(tmp_path, {"id": "7", "messages": messages}), "auto", {}, Counter())
        assert (found.speakers, found.utterances) == (("human", "ai"), ("Where?", "There."))
        assert [(hidden.kind, hidden.text) for hidden in found.hidden_messages] == [
            ("system", "Be brief."),
            ("tool_call", 'look({"bird": "heron"})'),
            ("tool_result", "mill"),
        ]


def _tree(*parents: tuple[str, str | None, str, str]) -> list[dict[str, Any]]:
    return [{"id": own, "parent_id": above, "role": who, "content": text} for own, above, who, text in parents]


def test_of_two_answers_to_one_message_the_branch_that_ends_last_is_read(tmp_path: Path) -> None:
    messages = _tree(
        ("a", None, "user", "Where?"),
        ("b", "a", "assistant", "No."),
        ("c", "a", "assistant", "There."),
        ("d", "c", "user", "Why?"),
        ("e", "d", "assistant", "So."),
    )
    notes: Counter[str] = Counter()
    (found,) = read(written(tmp_path, {"id": "7", "messages": messages}), "auto", {}, notes)
    assert found.utterances == ("Where?", "There.", "Why?", "So.")
    assert notes["dialogues with branches, of which the one that ends last is read"] == 1


def test_answers_of_several_people_to_one_message_are_one_dialogue(tmp_path: Path) -> None:
    messages = _tree(("a", None, "ann", "Where?"), ("b", "a", "bob", "There."), ("c", "a", "cy", "Here."))
    (found,) = read(written(tmp_path, {"id": "7", "messages": messages}), "auto", {}, Counter())
    assert found.utterances == ("Where?", "There.", "Here.")


@pytest.mark.parametrize(
    "answer",
    [
        {"text": "", "content": "There."},
        {"text": None, "content": "There."},
        {
            "text": "Hm. There.",
            "content": [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "There."}],
        },
    ],
)
def test_the_text_is_in_the_field_that_has_one(tmp_path: Path, answer: dict[str, Any]) -> None:
    messages = [{"role": "user", "content": "Where?"}, {"role": "assistant", **answer}]
    (found,) = read(written(tmp_path, {"id": "7", "messages": messages}), "auto", {}, Counter())
    assert found.utterances == ("Where?", "There.")


def test_parts_of_gemini_may_be_thoughts_calls_results_and_images(tmp_path: Path) -> None:
    record = {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "Where?"}, {"inlineData": {"mimeType": "image/png"}}]},
            {
                "role": "model",
                "parts": [{"text": "Hm.", "thought": True}, {"functionCall": {"name": "look", "args": {}}}],
            },
            {"role": "user", "parts": [{"functionResponse": {"name": "look", "response": {"at": "mill"}}}]},
            {"role": "model", "parts": [{"text": "There."}]},
        ],
    }
    (found,) = read(written(tmp_path, record), "auto", {}, Counter())
    assert (found.speakers, found.utterances) == (("user", "model"), ("Where?\n[inlineData]", "There."))
    assert [hidden.kind for hidden in found.hidden_messages] == ["system", "reasoning", "tool_call", "tool_result"]


def test_a_system_prompt_may_be_a_list_of_parts(tmp_path: Path) -> None:
    messages = [{"role": "user", "content": "Where?"}, {"role": "assistant", "content": "There."}]
    record = {"model": "heron", "system": [{"type": "text", "text": "Be brief."}], "messages": messages}
    (found,) = read(written(tmp_path, record), "auto", {}, Counter())
    assert (found.system, [hidden.text for hidden in found.hidden_messages]) == ("heron", ["Be brief."])


def test_a_list_of_messages_may_be_json_in_a_text(tmp_path: Path) -> None:
    messages = json.dumps([{"role": "user", "content": "Where?"}, {"role": "assistant", "content": "There."}])
    (found,) = read(written(tmp_path, {"call_id": "7", "messages": messages}), "auto", {}, Counter())
    assert (found.dialogue_id, found.utterances) == ("7", ("Where?", "There."))


def test_roles_stand_in_for_speakers_who_are_called_otherwise(tmp_path: Path) -> None:
    said = [("p2", "Bot", "Hi"), ("p1", "Human", "Hello"), ("p2", "Bot", "Why?")]
    entries = [{"sender": who, "sender_class": role, "text": text} for who, role, text in said]
    (found,) = read(written(tmp_path, {"dialog": entries}), "auto", {}, Counter())
    assert found.speakers == ("Bot", "Human", "Bot")
    people = [entry | {"sender_class": "Human"} for entry in entries]  # two people stay two
    (found,) = read(written(tmp_path, {"dialog": people}), "auto", {}, Counter())
    assert found.speakers == ("p2", "p1", "p2")


def test_entries_may_be_pairs_of_a_role_and_a_text(tmp_path: Path) -> None:
    (found,) = read(written(tmp_path, {"messages": [["Human", "Hi"], ["Assistant", "Hello"]]}), "auto", {}, Counter())
    assert (found.speakers, found.utterances) == (("Human", "Assistant"), ("Hi", "Hello"))
    with pytest.raises(UserError, match="entry 1 must be a text or an object"):
        list(read(written(tmp_path, {"messages": [["Hi", "Hello"], ["Why?", "So."]]}), "auto", {}, Counter()))


def test_the_list_of_messages_may_be_within_another_object(tmp_path: Path) -> None:
    messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    record = {"id": "7", "conversation": {"topic": "x", "messages": messages}}
    (found,) = read(written(tmp_path, record), "auto", {}, Counter())
    assert (found.dialogue_id, found.utterances) == ("7", ("Hi", "Hello"))


def test_internal_notes_among_messages_are_left_out(tmp_path: Path) -> None:
    kinds = [("message", "user", "Hi"), ("note", "agent", "He is angry."), ("message", "agent", "Hello")]
    notes: Counter[str] = Counter()
    messages = [{"type": kind, "role": who, "content": text} for kind, who, text in kinds]
    (found,) = read(written(tmp_path, {"messages": messages}), "auto", {}, notes)
    assert (found.utterances, notes["internal notes left out"]) == (("Hi", "Hello"), 1)


def test_answers_of_two_named_bots_to_one_message_are_one_dialogue(tmp_path: Path) -> None:
    messages = _tree(("a", None, "user", "Where?"), ("b", "a", "assistant", "There."), ("c", "a", "assistant", "Here."))
    named = [{**message, "name": name} for message, name in zip(messages, ("ann", "x", "y"), strict=True)]
    (found,) = read(written(tmp_path, {"id": "7", "messages": named}), "auto", {}, Counter())
    assert found.utterances == ("Where?", "There.", "Here.")


@pytest.mark.parametrize(
    ("texts", "speakers", "said"),
    [
        (["customer: Hi", "agent: Hello"], ("customer", "agent"), ("Hi", "Hello")),
        (["doctor: Hi", "patient: Hello", "doctor: Why?"], ("doctor", "patient", "doctor"), ("Hi", "Hello", "Why?")),
        (["patient: It hurts: here", "doctor: Why?"], ("patient", "doctor"), ("It hurts: here", "Why?")),
        (["Well: no", "Then: yes"], ("A", "B"), ("Well: no", "Then: yes")),
        (["Note: no", "Note: yes"], ("A", "B"), ("Note: no", "Note: yes")),
        (["Ann: no", "yes"], ("A", "B"), ("Ann: no", "yes")),
    ],
)
def test_texts_may_begin_with_their_speaker(
    tmp_path: Path, texts: list[str], speakers: tuple[str, ...], said: tuple[str, ...]
) -> None:
    (found,) = read(written(tmp_path, {"dialogue": texts}), "auto", {}, Counter())
    assert (found.speakers, found.utterances) == (speakers, said)


@pytest.mark.parametrize("names", [("0", "1", "10"), ("turn_1", "turn_2", "turn_10")])
def test_entries_may_be_numbered_in_an_object(tmp_path: Path, names: tuple[str, ...]) -> None:
    said = [("user", "Hi"), ("assistant", "Hello"), ("user", "Why?")]
    entries = {name: {"role": who, "text": text} for name, (who, text) in zip(names, said, strict=True)}
    shuffled = {name: entries[name] for name in sorted(names, reverse=True)}
    (found,) = read(written(tmp_path, {"id": "7", "dialogue": shuffled}), "auto", {}, Counter())
    assert list(zip(found.speakers, found.utterances, strict=True)) == said


@pytest.mark.parametrize("names", [("user_utterance", "system_utterance"), ("transcript", "system_transcript")])
def test_exchanges_may_be_utterances_of_user_and_system(tmp_path: Path, names: tuple[str, str]) -> None:
    entries = [{"turn_id": 0, **dict(zip(names, ("Hi", "Hello"), strict=True))}]
    (found,) = read(written(tmp_path, {"dialogue": entries}), "auto", {}, Counter())
    assert (found.speakers, found.utterances) == (("user", "assistant"), ("Hi", "Hello"))


@pytest.mark.parametrize(
    ("roles", "speakers", "prompts"),
    [
        (("USER", "SYSTEM", "USER", "SYSTEM"), ("USER", "SYSTEM", "USER", "SYSTEM"), 0),
        (("system", "user", "assistant", "user"), ("user", "assistant", "user"), 1),
        (("user", "system", "assistant", "user"), ("user", "assistant", "user"), 1),
        (("system", "user", "user", "user"), ("user", "user", "user"), 1),
    ],
)
def test_a_system_that_answers_is_no_prompt(
    tmp_path: Path, roles: tuple[str, ...], speakers: tuple[str, ...], prompts: int
) -> None:
    messages = [{"role": role, "content": f"Text {n}."} for n, role in enumerate(roles)]
    (found,) = read(written(tmp_path, {"id": "7", "messages": messages}), "auto", {}, Counter())
    assert (found.speakers, len(found.hidden_messages)) == (speakers, prompts)
