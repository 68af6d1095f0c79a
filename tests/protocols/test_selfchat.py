"""Self-chat: roles, windows, resuming, and what happens when an utterance cannot be had."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted import ScriptedEngine, asking

from dialeval.config import Selfchat
from dialeval.corpora.dialogues import Scenario
from dialeval.engines.answering import Answering
from dialeval.engines.requests import OPENING_LINE, AnswerFailure, Dialogue, Request, Response, Sampling
from dialeval.prompts.rendering import Templates, without_marks
from dialeval.protocols.selfchat import (
    PARTNER,
    SELFCHAT,
    Talk,
    Turn,
    Voice,
    chat_all,
    follow,
    history,
    partner_messages,
    rows,
    talk_of,
)

SEEDS: dict[str, Dialogue] = {f"s{n}": (f"hello {n}", f"hi {n}") for n in range(6)}


def run(
    folder: Path, engine: ScriptedEngine, seeds: dict[str, Dialogue] = SEEDS, n: int = 6, max_tokens: int = 10
) -> tuple[dict[str, list[Turn]], Answering]:
    with asking(folder, engine) as answering:
        talk = Talk(n, Voice(engine, lambda _: "Chat.", Sampling(max_tokens=max_tokens)))
        dialogues = asyncio.run(chat_all(talk, {SELFCHAT: answering}, seeds))
    return dialogues, answering


@given(st.lists(st.text(min_size=1), min_size=1, max_size=20))
def test_the_last_utterance_is_the_users_and_roles_alternate(utterances: list[str]) -> None:
    messages = history("system", utterances)
    assert messages[0] == ("system", "system")
    shown = [without_marks(text) for text in utterances]
    assert messages[-1] == ("user", shown[-1])
    assert [message.content for message in messages[1:]] == shown
    roles = [message.role for message in messages[1:]]
    assert all(one != other for one, other in pairwise(roles))


def test_dialogues_grow_to_their_length(tmp_path: Path) -> None:
    engine = ScriptedEngine(lambda request: f" turn {len(request.messages)} of {request.subject[0][0]} ")
    dialogues, answering = run(tmp_path, engine)
    assert set(dialogues) == set(SEEDS)
    assert [turn.text for turn in dialogues["s1"]] == [f"turn {n} of hello 1" for n in (3, 4, 5, 6)]
    assert answering.n_sent == 6 * 4


def test_the_number_in_flight_changes_no_dialogue(tmp_path: Path) -> None:
    def texts(concurrency: int) -> dict[str, list[str]]:
        engine = ScriptedEngine(concurrency=concurrency, seconds=0.0005)
        dialogues, _ = run(tmp_path / str(concurrency), engine)
        return {seed_id: [turn.text for turn in turns] for seed_id, turns in sorted(dialogues.items())}

    assert texts(1) == texts(3) == texts(100)


def test_a_stopped_dialogue_goes_on_where_it_was(tmp_path: Path) -> None:
    broken = ScriptedEngine(
        lambda r: AnswerFailure("server", "500") if len(r.subject[0]) == 4 else f"t{len(r.subject[0])}"
    )
    dialogues, answering = run(tmp_path, broken)
    assert dialogues == {}
    assert answering.failures == {"server": 6}
    well = ScriptedEngine(lambda r: f"t{len(r.subject[0])}")
    dialogues, answering = run(tmp_path, well)
    assert [turn.text for turn in dialogues["s0"]] == ["t2", "t3", "t4", "t5"]
    assert answering.n_sent == 6 * 2


def test_the_oldest_utterances_give_way_to_the_window(tmp_path: Path) -> None:
    engine = ScriptedEngine(lambda request: "one two three", context_window=1 + 10 + 7)
    dialogues, _ = run(tmp_path, engine, {"s": ("a b", "c d")}, n=7)
    # room for seven words of history: 2+2, 2+2+3, then the oldest go
    assert [turn.dropped for turn in dialogues["s"]] == [0, 0, 2, 3, 4]
    assert [turn.text for turn in dialogues["s"]] == ["one two three"] * 5


def test_an_utterance_longer_than_the_window_fails_in_words(tmp_path: Path) -> None:
    engine = ScriptedEngine(context_window=12)
    dialogues, answering = run(tmp_path, engine, {"s": ("a", "b c d e f")})
    assert dialogues == {}
    assert answering.failures == {"context": 1}
    assert "does not fit a window of 12" in answering.first_message["context"]


def test_rows_follow_the_seeds(tmp_path: Path) -> None:
    dialogues, _ = run(tmp_path, ScriptedEngine(lambda request: "x"), n=3)
    del dialogues["s2"]
    table = list(rows("bot", SEEDS, dialogues))
    assert [(row["seed_id"], row["turn"], row["origin"]) for row in table][:4] == [
        ("s0", 0, "seed"), ("s0", 1, "seed"), ("s0", 2, "model"), ("s1", 0, "seed"),
    ]  # fmt: skip
    assert not [row for row in table if row["seed_id"] == "s2"]


def test_seeds_that_are_equal_are_requested_once(tmp_path: Path) -> None:
    def reply(request: Request) -> str:
        return f"t{len(request.subject[0])}"

    engine = ScriptedEngine(reply)
    dialogues, answering = run(tmp_path, engine, {"s": ("a", "b"), "twin": ("a", "b")})
    assert answering.n_sent == 4
    assert [turn.text for turn in dialogues["s"]] == [turn.text for turn in dialogues["twin"]]


@pytest.mark.parametrize("n", [2, 1])
def test_a_seed_as_long_as_the_dialogue_needs_no_request(tmp_path: Path, n: int) -> None:
    _, answering = run(tmp_path, ScriptedEngine(), n=n)
    assert answering.n_sent == 0


def test_an_answer_lost_to_the_budget_is_no_utterance(tmp_path: Path) -> None:
    class Thinker(ScriptedEngine):
        async def answer(self, request: Request) -> Response:
            return Response(text="", finish_reason="length", reasoning="thinking and thinking")

    dialogues, answering = run(tmp_path, Thinker(), {"s": ("a", "b")})
    assert dialogues == {}
    assert answering.failures == {"truncated": 1}


# A talk with a simulated user: who says what to whom, who ends it, and what each model is asked and paid for.

PARTNER_SEEDS: dict[str, Dialogue] = {"kettle": ("My kettle broke.",), "rain": ("It rains.",), "silent": ()}
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
    return talk_of(chat, "Chat.", chatbot, partner, partner_messages(PARTNER_SEEDS, PLAYED, Templates(), chat.end))


def partner_run(
    folder: Path,
    chatbot: ScriptedEngine,
    partner: ScriptedEngine,
    seeds: Mapping[str, Dialogue] = PARTNER_SEEDS,
) -> tuple[dict[str, list[Turn]], dict[str, Answering]]:
    with asking(folder, chatbot) as own, asking(folder, partner, PARTNER) as other:
        answering = {SELFCHAT: own, PARTNER: other}
        talk = a_talk(chatbot, partner)
        dialogues = asyncio.run(chat_all(talk, answering, seeds))
        for seed_id, turns in dialogues.items():  # what is stored tells the same talk
            followed = follow(
                talk, seed_id, PARTNER_SEEDS[seed_id], lambda voice, request: answering[voice.protocol].store.get(
                    answering[voice.protocol].key(request)
                )
            )  # fmt: skip
            assert followed.ended
            assert followed.utterances == (*PARTNER_SEEDS[seed_id], *(turn.text for turn in turns))
    return dialogues, answering


def engines(
    said_by_user: Callable[[Request], str | AnswerFailure] = user, **more: int
) -> tuple[ScriptedEngine, ScriptedEngine]:
    chatbot = ScriptedEngine(bot, identity='{"engine":"bot"}', concurrency=more.get("chatbot", 4), seconds=0.001)
    partner = ScriptedEngine(said_by_user, identity='{"engine":"user"}', concurrency=more.get("partner", 4))
    return chatbot, partner


def test_both_speak_in_turn_and_the_user_begins(tmp_path: Path) -> None:
    dialogues, answering = partner_run(tmp_path, *engines())
    assert [turn.text for turn in dialogues["kettle"]] == ["bot1", "user2", "bot3", "user4", "bot5"]
    assert [turn.text for turn in dialogues["silent"]] == ["user0", "bot1", "user2", "bot3", "user4", "bot5"]
    assert [turn.origin for turn in dialogues["rain"]] == ["model", "partner", "model", "partner", "model"]
    assert (answering[SELFCHAT].n_sent, answering[PARTNER].n_sent) == (9, 7)
    table = list(rows("bot", PARTNER_SEEDS, dialogues))
    assert [row["origin"] for row in table[:3]] == ["seed", "model", "partner"]


def test_a_seed_of_two_is_gone_on_with_by_the_user(tmp_path: Path) -> None:
    two: dict[str, Dialogue] = {"kettle": ("a", "b")}
    chatbot, partner = engines()
    talk = a_talk(chatbot, partner)
    assert [talk.voice(turn).protocol for turn in range(4)] == [PARTNER, SELFCHAT, PARTNER, SELFCHAT]
    with asking(tmp_path, chatbot) as one, asking(tmp_path, partner, PARTNER) as other:
        dialogues = asyncio.run(chat_all(talk, {SELFCHAT: one, PARTNER: other}, two))
    assert [turn.text for turn in dialogues["kettle"]] == ["user2", "bot3", "user4", "bot5"]


def test_each_sees_the_other_as_the_user() -> None:
    talk = a_talk(*engines())
    assert talk.partner is not None
    utterances = ("My kettle broke.", "Oh dear.", "I want my money back.")
    request, _ = talk.chatbot.next_request("kettle", utterances)
    assert [message.role for message in request.messages] == ["system", "user", "assistant", "user"]
    request, _ = talk.partner.next_request("kettle", utterances[:2])
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
    persona_message = partner_messages({"s": ("x",)}, {"s": Scenario("s", "x", persona, goal)}, Templates(), "[END]")[
        "s"
    ]
    plain = partner_messages({"s": ("x",)}, {"s": Scenario("s", "x", "p", "g")}, Templates(), "[END]")["s"]
    assert len(persona_message.splitlines()) <= len(plain.splitlines())


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
    dialogues, answering = partner_run(tmp_path, *engines(lambda _: last), {"kettle": PARTNER_SEEDS["kettle"]})
    assert [turn.text for turn in dialogues["kettle"]] == utterances
    again, answering = partner_run(tmp_path, *engines(lambda _: last), {"kettle": PARTNER_SEEDS["kettle"]})
    assert [turn.text for turn in again["kettle"]] == utterances
    assert answering[SELFCHAT].n_sent == answering[PARTNER].n_sent == 0


def test_a_chatbot_cannot_end_the_talk(tmp_path: Path) -> None:
    chatbot, partner = engines()
    chatbot._reply = lambda request: f"Bye. [END] {len(request.subject[0])}"
    dialogues, _ = partner_run(tmp_path, chatbot, partner, {"kettle": PARTNER_SEEDS["kettle"]})
    assert [turn.text for turn in dialogues["kettle"]] == [
        "Bye. [END] 1", "user2", "Bye. [END] 3", "user4", "Bye. [END] 5",
    ]  # fmt: skip


def test_a_talk_that_is_over_before_the_chatbot_spoke_is_none(tmp_path: Path) -> None:
    dialogues, answering = partner_run(tmp_path, *engines(lambda _: "[END]"), {"silent": ()})
    assert dialogues == {}
    assert answering[PARTNER].failures == {"ended": 1}
    assert "give the scenario an opening" in answering[PARTNER].first_message["ended"]


def test_failures_of_either_are_distinguished_and_the_rest_goes_on(tmp_path: Path) -> None:
    def fails_in_the_rain(request: Request) -> str | AnswerFailure:
        return AnswerFailure("server", "500") if "It rains." in request.subject[0] else user(request)

    dialogues, answering = partner_run(tmp_path, *engines(fails_in_the_rain))
    assert set(dialogues) == {"kettle", "silent"}
    assert answering[PARTNER].failures == {"server": 1}
    assert not answering[SELFCHAT].failures
    dialogues, answering = partner_run(tmp_path, *engines())
    assert set(dialogues) == set(PARTNER_SEEDS)
    assert (answering[SELFCHAT].n_sent, answering[PARTNER].n_sent) == (2, 2)


@pytest.mark.parametrize(("chatbot", "partner"), [(1, 5), (5, 1), (2, 2)])
def test_both_engines_bound_what_is_in_flight(tmp_path: Path, chatbot: int, partner: int) -> None:
    many = {f"s{n}": (f"hello {n}",) for n in range(8)}
    one, other = engines(chatbot=chatbot, partner=partner)
    talk = talk_of(CHAT, "Chat.", one, other, dict.fromkeys(many, "Be a user."))
    with asking(tmp_path, one) as own, asking(tmp_path, other, PARTNER) as others:
        assert len(asyncio.run(chat_all(talk, {SELFCHAT: own, PARTNER: others}, many))) == 8
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
    partner_run(tmp_path, one, other, {"kettle": PARTNER_SEEDS["kettle"]})
    assert one.asked_for == (6, 10, 2 if shared else 1)
    assert other.asked_for == (6, 10, 2 if shared else 1)
    assert one.grown == other.grown == 5
