"""Data sets and exports of applications: each has a small file in its format, of which every dialogue is known."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from public_formats import ANSWERED, ASKED, EXAMPLES, EXCHANGE, LAST, MORE, lines

from dialeval.corpora.transcripts.applications import APPLICATIONS
from dialeval.corpora.transcripts.conversions import DATA_SETS
from dialeval.corpora.transcripts.items import Options, read_items
from dialeval.corpora.transcripts.readers import FORMATS, detect_format, read
from dialeval.corpora.transcripts.transcript import Transcript
from dialeval.errors import UserError


def written(folder: Path, content: bytes | str, name: str = "chats.json") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def dialogues(path: Path, notes: Counter[str] | None = None) -> list[Transcript]:
    return list(read(path, "auto", {}, Counter() if notes is None else notes))


def turns_of(one: Transcript) -> tuple[tuple[str, str], ...]:
    return tuple(zip(one.speakers, one.utterances, strict=True))


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_format_is_detected_and_its_dialogues_are_read(tmp_path: Path, name: str) -> None:
    example = EXAMPLES[name]
    path = written(tmp_path, example.content, example.name)
    assert detect_format(path) == name.split(" ")[0]
    found = dialogues(path)
    assert len(found) == example.n
    assert (found[0].dialogue_id, found[0].system or found[0].model) == (example.dialogue_id, example.system)
    assert turns_of(found[0]) == example.turns
    assert tuple(hidden.kind for hidden in found[0].hidden_messages) == example.hidden_messages


def test_every_format_has_an_example() -> None:
    with_example = {name.split(" ")[0] for name in EXAMPLES}
    assert {*DATA_SETS, *APPLICATIONS} - with_example == {"batch"}  # which is always refused
    assert {*DATA_SETS, *APPLICATIONS} <= {*FORMATS}


def test_fields_of_a_dialogue_can_be_named(tmp_path: Path) -> None:
    record = json.loads(EXAMPLES["ultrachat"].content)
    path = written(tmp_path, lines(record | {"meta": {"bot": "heron"}}))
    (found,) = read(path, "auto", {"system": "meta.bot"}, Counter())
    assert (found.system or found.model, turns_of(found)[:2]) == ("heron", EXCHANGE)


def test_every_list_of_a_file_is_read(tmp_path: Path) -> None:
    chats = {
        split: [{"id": split, "messages": [{"role": who, "content": text} for who, text in EXCHANGE]}]
        for split in ("train", "dev", "test")
    }
    assert [one.dialogue_id for one in dialogues(written(tmp_path, json.dumps(chats)))] == ["train", "dev", "test"]


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (
            {"story": "S.", "questions": [{"turn_id": 1}], "answers": [{"turn_id": 2}]},
            "the 'turn_id' of questions and answers differ",
        ),
        ({"story": "S.", "questions": ["a", "b", "c"], "answers": {"input_text": ["a"]}}, "3 texts have 1 responses"),
        ({"chat": {"turn_1": {}, "more": {}}, "num_turns": 1}, "'chat' is .*must be an object with turn_1"),
        ({"convo_id": 1, "original": [["agent"]]}, r"'original', entry 1: .*must be a speaker and a text"),
        ({"personality": [], "utterances": [{"history": "Hi"}]}, "'history' is .*must be a list of texts"),
        ({"goal": {}, "log": "x"}, "'log' is .*must be a list of objects"),
        (
            {"custom_id": "a", "method": "POST", "body": {}},
            "one side of a dialogue. Join them: write one object for each 'custom_id'",
        ),
        ({"user_name": "Ann", "character_name": "B", "mes": "Hi"}, "no 'mes', or no line with 'character_name' before"),
        ({"internal": ["x"], "visible": []}, "'internal' is .*must be a list of pairs of texts"),
    ],
)
def test_what_does_not_fit_its_format_is_reported(tmp_path: Path, record: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=rf"chats.json, line 1[:,] .*{words}"):
        dialogues(written(tmp_path, lines(record)))


# Threads of tweets.

_HEADER = "tweet_id,author_id,inbound,created_at,text,response_tweet_id,in_response_to_tweet_id\n"


def tweets(folder: Path, *rows: str) -> Path:
    return written(folder, _HEADER + "".join(f"{row}\n" for row in rows), "twcs.csv")


def test_each_customer_of_a_thread_has_a_dialogue(tmp_path: Path) -> None:
    path = tweets(
        tmp_path,
        "1,Mill,False,,News!,,",
        f"2,ann,True,,{ASKED},,1",
        "3,bob,True,,And eels?,,1",
        f"4,Mill,False,,{ANSWERED},,2",
        "5,Mill,False,,No eels.,,3",
        "6,cy,True,,Me too,,999",
        "7,Mill,False,,Yes.,,6",
        "8,dot,True,,Me too,,999",
        "9,Mill,False,,No.,,8",
    )
    notes: Counter[str] = Counter()
    found = {one.dialogue_id: turns_of(one) for one in dialogues(path, notes)}
    assert found == {
        "1-ann": (("Mill", "News!"), ("ann", ASKED), ("Mill", ANSWERED)),
        "1-bob": (("Mill", "News!"), ("bob", "And eels?"), ("Mill", "No eels.")),
        "6": (("cy", "Me too"), ("Mill", "Yes.")),
        "8": (("dot", "Me too"), ("Mill", "No.")),
    }
    assert notes["threads with several customers, read as one dialogue for each customer"] == 1


def test_tweets_in_a_circle_and_of_one_side_are_counted(tmp_path: Path) -> None:
    notes: Counter[str] = Counter()
    path = tweets(
        tmp_path, "1,ann,True,,a,,2", "2,Mill,False,,b,,1", "3,bob,True,,c,,", "4,d,True,,e,,", "5,M,False,,f,,4"
    )
    assert [one.dialogue_id for one in dialogues(path, notes)] == ["4"]
    assert notes["tweets that answer each other in a circle, left out"] == 2
    assert notes["threads of one side, without an answer or without a customer, left out"] == 1


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("1,ann,maybe,,a,,", "'inbound' is 'maybe'; it must be True or False"),
        (",ann,True,,a,,", "tweet '' of 'ann' needs an author and its own id"),
        ("1,ann,True,,a,", "6 cells, but 7 columns"),
    ],
)
def test_a_wrong_tweet_is_reported(tmp_path: Path, row: str, words: str) -> None:
    with pytest.raises(UserError, match=f"twcs.csv, line 2: {words}"):
        dialogues(tweets(tmp_path, row))


def test_subtitles_without_speakers_are_refused_with_a_way(tmp_path: Path) -> None:
    path = written(tmp_path, "1\n00:00:01,000 --> 00:00:02,000\nHello there.\n", "talk.srt")
    with pytest.raises(UserError, match=r"talk.srt, line 3: no speaker in the subtitle 'Hello there.'; write `Ann: "):
        dialogues(path)


# What else is not a dialogue as it stands.


@pytest.mark.parametrize("content", [{"conversations": []}, [{"messages": []}, {"messages": []}]])
def test_a_file_in_which_nothing_is_said_has_no_dialogues(tmp_path: Path, content: Any) -> None:
    with pytest.raises(UserError, match=r"chats.json has no dialogues: none of its [12] object"):
        read_items("chats", written(tmp_path, json.dumps(content)), Options())


def test_a_list_of_intercom_says_that_the_parts_must_be_retrieved(tmp_path: Path) -> None:
    one = {"type": "conversation", "id": "c1", "source": {"body": "<p>Hi</p>"}, "contacts": {"contacts": []}}
    path = written(tmp_path, json.dumps({"type": "conversation.list", "conversations": [one]}))
    assert detect_format(path) == "intercom"
    with pytest.raises(UserError, match="a conversation of Intercom without its parts.*retrieve each conversation by"):
        dialogues(path)


def test_openais_preferences_are_two_systems(tmp_path: Path) -> None:
    record = {
        "input": {"messages": [{"role": "user", "content": ASKED}], "tools": []},
        "preferred_output": [{"role": "assistant", "content": ANSWERED}],
        "non_preferred_output": [{"role": "assistant", "content": "No."}],
    }
    found = {one.system: one.utterances for one in dialogues(written(tmp_path, lines(record)))}
    assert found == {"chosen": (ASKED, ANSWERED), "rejected": (ASKED, "No.")}


def test_column_names_of_replies_may_be_written_with_capitals(tmp_path: Path) -> None:
    path = written(tmp_path, f"Question,Answer,Model\n{ASKED},{ANSWERED},heron\n{MORE},{LAST},reed\n", "replies.csv")
    assert [(one.system, one.utterances) for one in dialogues(path)] == [
        ("heron", (ASKED, ANSWERED)),
        ("reed", (MORE, LAST)),
    ]
