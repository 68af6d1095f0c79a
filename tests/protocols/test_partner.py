"""A talk with a simulated user: who says what to whom, who ends it, and what each model is asked and paid for."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted import ScriptedEngine

from dialeval.config import Selfchat
from dialeval.corpora.scenarios import Scenario
from dialeval.engines.answering import Answering
from dialeval.engines.request import AnswerFailure, Dialogue, Request
from dialeval.engines.store import ResponseStore
from dialeval.engines.system_messages import OPENING_LINE
from dialeval.progress import Progress
from dialeval.prompts.rendering import Templates
from dialeval.protocols.partner import talk_of, told_partner
from dialeval.protocols.selfchat import Turn, chat_all, follow, rows
from dialeval.protocols.voices import PARTNER, SELFCHAT, Talk

SEEDS: dict[str, Dialogue] = {"kettle": ("My kettle broke.",), "rain": ("It rains.",), "silent": ()}
PLAYED = {
    "kettle": Scenario("kettle", "My kettle broke.", "a busy nurse", "her money back"),
    "rain": Scenario("rain", "It rains.", "a gardener"),
    "silent": Scenario("silent", persona="somebody shy", goal="company"),
}
CHAT = Selfchat(n_utterances=6, max_tokens=10, partner="user")


def bot(request: Request) -> str:
    return f"bot{len(request.subject[0])}"


def user(request: Request) -> str:
    return f"user{len(request.subject[0])}"


def a_talk(chatbot: ScriptedEngine, partner: ScriptedEngine, chat: Selfchat = CHAT) -> Talk:
    return talk_of(chat, "Chat.", chatbot, partner, told_partner(SEEDS, PLAYED, Templates(), chat.end))


def run(
    folder: Path,
    chatbot: ScriptedEngine,
    partner: ScriptedEngine,
    seeds: Mapping[str, Dialogue] = SEEDS,
) -> tuple[dict[str, list[Turn]], dict[str, Answering]]:
    with (
        ResponseStore(folder, identity=chatbot.identity, name="bot", protocol=SELFCHAT) as own,
        ResponseStore(folder, identity=partner.identity, name="user", protocol=PARTNER) as other,
    ):
        asked = {
            SELFCHAT: Answering(chatbot, own, Progress("t", None, "u", stream=io.StringIO())),
            PARTNER: Answering(partner, other, Progress("t", None, "u", stream=io.StringIO())),
        }
        talk = a_talk(chatbot, partner)
        dialogues = asyncio.run(chat_all(talk, asked, seeds))
        for seed_id, turns in dialogues.items():  # what is stored tells the same talk
            followed = follow(
                talk, seed_id, SEEDS[seed_id], lambda voice, request: asked[voice.protocol].store.get(
                    asked[voice.protocol].key(request)
                )
            )  # fmt: skip
            assert followed.ended
            assert followed.utterances == (*SEEDS[seed_id], *(turn.text for turn in turns))
    return dialogues, asked


def engines(
    said_by_user: Callable[[Request], str | AnswerFailure] = user, **more: int
) -> tuple[ScriptedEngine, ScriptedEngine]:
    chatbot = ScriptedEngine(bot, identity='{"engine":"bot"}', concurrency=more.get("chatbot", 4), seconds=0.001)
    partner = ScriptedEngine(said_by_user, identity='{"engine":"user"}', concurrency=more.get("partner", 4))
    return chatbot, partner


def test_both_speak_in_turn_and_the_user_begins(tmp_path: Path) -> None:
    dialogues, asked = run(tmp_path, *engines())
    assert [turn.text for turn in dialogues["kettle"]] == ["bot1", "user2", "bot3", "user4", "bot5"]
    assert [turn.text for turn in dialogues["silent"]] == ["user0", "bot1", "user2", "bot3", "user4", "bot5"]
    assert [turn.origin for turn in dialogues["rain"]] == ["model", "partner", "model", "partner", "model"]
    assert (asked[SELFCHAT].asked, asked[PARTNER].asked) == (9, 7)
    table = list(rows("bot", SEEDS, dialogues))
    assert [row["origin"] for row in table[:3]] == ["seed", "model", "partner"]


def test_a_seed_of_two_is_gone_on_with_by_the_user(tmp_path: Path) -> None:
    two: dict[str, Dialogue] = {"kettle": ("a", "b")}
    chatbot, partner = engines()
    talk = a_talk(chatbot, partner)
    assert [talk.voice(turn).protocol for turn in range(4)] == [PARTNER, SELFCHAT, PARTNER, SELFCHAT]
    with ResponseStore(tmp_path, identity="i", name="bot", protocol=SELFCHAT) as store:
        one = Answering(chatbot, store, Progress("t", None, "u", stream=io.StringIO()))
        other = Answering(partner, store, Progress("t", None, "u", stream=io.StringIO()))
        dialogues = asyncio.run(chat_all(talk, {SELFCHAT: one, PARTNER: other}, two))
    assert [turn.text for turn in dialogues["kettle"]] == ["user2", "bot3", "user4", "bot5"]


def test_each_sees_the_other_as_the_user() -> None:
    talk = a_talk(*engines())
    assert talk.partner is not None
    said = ("My kettle broke.", "Oh dear.", "I want my money back.")
    request, _ = talk.chatbot.next_request("kettle", said)
    assert [message.role for message in request.messages] == ["system", "user", "assistant", "user"]
    request, _ = talk.partner.next_request("kettle", said[:2])
    system, *others = request.messages
    assert [(message.role, message.content) for message in others] == [
        ("user", OPENING_LINE), ("assistant", "My kettle broke."), ("user", "Oh dear."),
    ]  # fmt: skip
    assert "a busy nurse" in system.content
    assert "her money back" in system.content
    assert CHAT.end in system.content
    assert "writes first" not in system.content
    first, _ = talk.partner.next_request("silent", ())
    assert [message.role for message in first.messages] == ["system", "user"]
    assert "writes first" in first.messages[0].content


@given(st.text(max_size=40), st.text(max_size=40))
def test_a_scenario_stays_within_its_lines(persona: str, goal: str) -> None:
    told = told_partner({"s": ("x",)}, {"s": Scenario("s", "x", persona, goal)}, Templates(), "[END]")["s"]
    plain = told_partner({"s": ("x",)}, {"s": Scenario("s", "x", "p", "g")}, Templates(), "[END]")["s"]
    assert len(told.splitlines()) <= len(plain.splitlines())


@pytest.mark.parametrize(
    ("last", "utterances"),
    [
        ("[END]", ["bot1"]),
        ("Thanks, bye! [END]", ["bot1", "Thanks, bye!"]),
        ("Bye. [END] and more", ["bot1", "Bye."]),
        ("[end]", ["bot1", "[end]", "bot3", "[end]", "bot5"]),
    ],
)
def test_the_partner_ends_the_talk(tmp_path: Path, last: str, utterances: list[str]) -> None:
    dialogues, asked = run(tmp_path, *engines(lambda _: last), {"kettle": SEEDS["kettle"]})
    assert [turn.text for turn in dialogues["kettle"]] == utterances
    again, asked = run(tmp_path, *engines(lambda _: last), {"kettle": SEEDS["kettle"]})
    assert [turn.text for turn in again["kettle"]] == utterances
    assert asked[SELFCHAT].asked == asked[PARTNER].asked == 0


def test_a_chatbot_cannot_end_the_talk(tmp_path: Path) -> None:
    chatbot, partner = engines()
    chatbot._reply = lambda request: f"Bye. [END] {len(request.subject[0])}"
    dialogues, _ = run(tmp_path, chatbot, partner, {"kettle": SEEDS["kettle"]})
    assert [turn.text for turn in dialogues["kettle"]] == [
        "Bye. [END] 1", "user2", "Bye. [END] 3", "user4", "Bye. [END] 5",
    ]  # fmt: skip


def test_a_talk_that_is_over_before_the_chatbot_spoke_is_none(tmp_path: Path) -> None:
    dialogues, asked = run(tmp_path, *engines(lambda _: "[END]"), {"silent": ()})
    assert dialogues == {}
    assert asked[PARTNER].failures == {"ended": 1}
    assert "give it an opening" in asked[PARTNER].first_message["ended"]


def test_failures_of_either_are_told_apart_and_the_rest_goes_on(tmp_path: Path) -> None:
    def fails_in_the_rain(request: Request) -> str | AnswerFailure:
        return AnswerFailure("server", "500") if "It rains." in request.subject[0] else user(request)

    dialogues, asked = run(tmp_path, *engines(fails_in_the_rain))
    assert set(dialogues) == {"kettle", "silent"}
    assert asked[PARTNER].failures == {"server": 1}
    assert not asked[SELFCHAT].failures
    dialogues, asked = run(tmp_path, *engines())
    assert set(dialogues) == set(SEEDS)
    assert (asked[SELFCHAT].asked, asked[PARTNER].asked) == (2, 2)


@pytest.mark.parametrize(("chatbot", "partner"), [(1, 5), (5, 1), (2, 2)])
def test_both_engines_bound_what_is_in_flight(tmp_path: Path, chatbot: int, partner: int) -> None:
    many = {f"s{n}": (f"hello {n}",) for n in range(8)}
    one, other = engines(chatbot=chatbot, partner=partner)
    talk = talk_of(CHAT, "Chat.", one, other, dict.fromkeys(many, "Be a user."))
    with (
        ResponseStore(tmp_path, identity="a", name="bot", protocol=SELFCHAT) as own,
        ResponseStore(tmp_path, identity="b", name="user", protocol=PARTNER) as others,
    ):
        asked = {
            SELFCHAT: Answering(one, own, Progress("t", None, "u", stream=io.StringIO())),
            PARTNER: Answering(other, others, Progress("t", None, "u", stream=io.StringIO())),
        }
        assert len(asyncio.run(chat_all(talk, asked, many))) == 8
    assert one.most_in_flight <= min(chatbot, partner)
    assert other.most_in_flight <= min(chatbot, partner)


class Roomy(ScriptedEngine):
    """Says how often each dialogue lies in its cache, and how long dialogues got."""

    def room_for_dialogues(self, n_utterances: int, max_tokens: int, *, histories: int) -> Roomy:
        self.asked_for = (n_utterances, max_tokens, histories)
        self.grown = 0
        return self

    @asynccontextmanager
    async def dialogue(self, length: int) -> AsyncIterator[Callable[[], None]]:
        def grown() -> None:
            self.grown += 1

        yield grown


@pytest.mark.parametrize("shared", [True, False])
def test_a_cache_has_room_for_both_roles(tmp_path: Path, shared: bool) -> None:
    one = Roomy(bot, identity='{"engine":"bot"}')
    other = one if shared else Roomy(user, identity='{"engine":"user"}')
    run(tmp_path, one, other, {"kettle": SEEDS["kettle"]})
    assert one.asked_for == (6, 10, 2 if shared else 1)
    assert other.asked_for == (6, 10, 2 if shared else 1)
    assert one.grown == other.grown == 5
