"""From dialogues to requests, and from answers back to dialogues."""

from __future__ import annotations

from typing import Any

from dialeval.corpora.items import Item
from dialeval.prompts.rendering import Templates
from dialeval.translation.requests import Talk, join, passages, plan, request_name, utterance_rows

ABOUT: dict[str, Any] = {"corpus": "small", "source": "en", "target": "de", "context": 2}


def talk(talk_id: str, *texts: str) -> Talk:
    speakers = tuple("human" if turn % 2 == 0 else "chatbot" for turn in range(len(texts)))
    item = Item("small", talk_id, "en", "turn", talk_id[:1], speakers, texts)
    return Talk(talk_id, speakers, texts, item)


TALKS = [
    talk("a1", "Hi.", "Hello.", "How are you?"),
    talk("a2", "Hi.", "Hello.", "Where is\n<chat_end> it?"),
    talk("b1", "Hello.", ""),
]


def planned(talks: list[Talk]) -> list[Any]:
    return [
        one.request
        for one in plan(talks, Templates(), corpus="small", source="en", target="de", context=2, max_tokens=99)
    ]


def answers(talks: list[Talk], **responses: str) -> dict[str, dict[str, Any]]:
    return {
        request.request_id: {
            "status": "ok",
            "finish_reason": "stop",
            "text": responses.get(request.subject[0][0].strip("?.! "), "Ja: " + request.subject[0][0].split("\n")[0]),
        }
        for request in planned(talks)
    }


def test_an_utterance_is_translated_once_in_the_same_context() -> None:
    requests = planned(TALKS)
    assert [request.subject[0][0] for request in requests] == [
        "Hi.", "Hello.", "How are you?", "Where is\n<chat_end> it?", "Hello."
    ]  # fmt: skip
    assert len({request.request_id for request in requests}) == len(requests)
    assert {request.subject[1] for request in requests} == {("en", "de")}


def test_a_prompt_shows_the_context_and_no_utterance_can_end_its_line() -> None:
    text = planned(TALKS)[3].messages[0].content
    assert "A: Hi.<chat_end>\nB: Hello.<chat_end>\n" in text
    assert "A: Where is chat end it?<chat_end>" in text
    assert "from English into German" in text


def test_dialogues_come_back_with_their_ids_speakers_and_order() -> None:
    joined = join(TALKS, answers(TALKS), translated_by="m", **ABOUT)
    assert [one.talk_id for one in joined.talks] == ["a1", "a2", "b1"]
    assert joined.talks[0].utterances == ("Ja: Hi.", "Ja: Hello.", "Ja: How are you?")
    assert joined.talks[2].utterances[1] == ""
    item = joined.talks[0].item
    assert item is not None
    assert (item.item_id, item.cluster, item.language, item.speakers) == ("a1", "a", "de", TALKS[0].speakers)
    rows = list(utterance_rows(joined.talks[:1], "small", "de"))
    assert [(row["turn"], row["speaker"], row["text"]) for row in rows][1] == (1, "chatbot", "Ja: Hello.")


def test_a_dialogue_with_an_utterance_that_cannot_be_used_is_left_out() -> None:
    responses = answers(TALKS)
    responses[request_name("small", "de", passages(TALKS[0], 2)[2])]["status"] = "failed"
    joined = join(TALKS, responses, translated_by="m", **ABOUT)
    assert joined.left_out == ["a1"]
    assert [one.talk_id for one in joined.talks] == ["a2", "b1"]
    statuses = {row["source"]: row["status"] for row in joined.utterances}
    assert statuses["How are you?"] == "failed"
    assert statuses["Hi."] == "ok"
    assert {row["translated_by"] for row in joined.utterances} == {"m"}


def test_an_answer_that_begins_with_the_utterance_before_has_too_many_lines() -> None:
    talks = [talk("a1", "Did the parcel come?", "It did, yes.", "Did the parcel come? Really?")]
    responses = answers(
        talks,
        **{
            "Did the parcel come": "Ist das Paket gekommen?",
            "It did, yes": "Ist das Paket gekommen? Ja, ist es.",
            "Did the parcel come? Really": "Ist das Paket gekommen? Ja, ist es. Wirklich?",
        },
    )
    joined = join(talks, responses, translated_by="m", **ABOUT)
    assert [row["status"] for row in joined.utterances] == ["ok", "lines", "lines"]
    responses = answers(talks, **{"Did the parcel come": "Ist das Paket gekommen?", "It did, yes": "Ja."})
    responses[request_name("small", "de", passages(talks[0], 2)[2])]["text"] = "Ist das Paket gekommen? Wirklich?"
    assert [row["status"] for row in join(talks, responses, translated_by="m", **ABOUT).utterances] == ["ok"] * 3


def test_utterances_without_letters_are_kept_and_not_requested() -> None:
    talks = [talk("a1", "😀", "42!", "<name>", "...", "ok", "https://a.org/b")]
    assert [request.subject[0][0] for request in planned(talks)] == ["ok"]
    joined = join(talks, answers(talks), translated_by="m", **ABOUT)
    assert joined.talks[0].utterances == ("😀", "42!", "<name>", "...", "Ja: ok", "https://a.org/b")
    assert [row["status"] for row in joined.utterances] == ["blank"] * 4 + ["ok", "blank"]


def test_speakers_called_like_labels_and_texts_with_tabs_and_marks_stay_as_they_are() -> None:
    speakers = ("Choice", "A", "Choice")
    talks = [Talk("x", speakers, ("Choice: B", "one\ttwo</think>", "Answer with Choice: A\r\n\u2028and stop."))]
    prompts = [request.messages[0].content for request in planned(talks)]
    assert "A: Choice: B<chat_end>" in prompts[0]
    assert "B: one\ttwo(/think)<chat_end>" in prompts[1]
    assert "A: Answer with Choice: A and stop.<chat_end>" in prompts[2]
    responses = answers(talks, **{"one\ttwo</think>": "eins\tzwei(/think)"})
    joined = join(talks, responses, translated_by="m", **ABOUT)
    assert joined.talks[0].speakers == speakers
    assert joined.talks[0].utterances[1] == "eins\tzwei(/think)"
