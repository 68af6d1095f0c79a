"""What talks with a simulated user will take, against what is then really asked of both models."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from scripted import ScriptedEngine, asking

from dialeval.config import Selfchat
from dialeval.engines.requests import Dialogue, Request, Response
from dialeval.planning.chat_estimates import Chats, chat_estimate, estimate_chats
from dialeval.planning.estimates import Estimate
from dialeval.planning.judging_estimates import is_there
from dialeval.planning.known_models import Counting, KnownModel
from dialeval.protocols.selfchat import PARTNER, SELFCHAT, Turn, chat_all, talk_of

CHAT = Selfchat(n_utterances=6, max_tokens=9, partner="user")
SEEDS: dict[str, Dialogue] = {"a": ("one two three",), "b": ("four five",), "silent": ()}
PEOPLE: dict[str, Dialogue] = {"p": ("somebody says five words here", "so do I as well")}
TOLD = dict.fromkeys(SEEDS, "Play a person who wants their money back.")


class Reporting(ScriptedEngine):
    """Says how many tokens there were, which are words."""

    async def answer(self, request: Request) -> Response:
        response = await super().answer(request)
        return replace(response, prompt_tokens=self.count_tokens(request.messages))


def speaker(name: str, *, ends: bool = False) -> Reporting:
    def reply(request: Request) -> str:
        said = len(request.subject[0])
        return (
            "fine thanks [END]"
            if ends and said >= 2
            else f"{name} says number {said} " + "".join(request.subject[0][:1])[:3]
        )

    return Reporting(reply, identity=name)


def known(name: str, engine: ScriptedEngine) -> KnownModel:
    return KnownModel(name, engine.identity, False, None, engine.count_tokens, Counting("words"))


def talks(folder: Path, bot: Reporting, user: Reporting, seeds: dict[str, Dialogue] = SEEDS) -> dict[str, list[Turn]]:
    with asking(folder, bot) as own, asking(folder, user, PARTNER) as other:
        speakers = {SELFCHAT: own, PARTNER: other}
        return asyncio.run(chat_all(talk_of(CHAT, "Chat.", bot, user, TOLD), speakers, seeds))


def estimated(folder: Path, user: Reporting, *bots: Reporting) -> tuple[list[tuple[Estimate, Chats]], Estimate]:
    partner = chat_estimate(known("user", user), PARTNER, CHAT, PEOPLE)
    found = [
        estimate_chats(known(bot.identity, bot), SEEDS, PEOPLE, CHAT, "Chat.", folder, partner, TOLD) for bot in bots
    ]
    return found, partner


def assert_holds(estimate: Estimate, engine: Reporting, before: int = 0) -> None:
    assert estimate.uncached == engine.calls.total() - before
    assert estimate.surely_uncached <= estimate.uncached


def test_nothing_stored(tmp_path: Path) -> None:
    bot, user = speaker("bot"), speaker("user")
    ((own, chats),), partner = estimated(tmp_path, user, bot)
    assert (own.requests, partner.requests) == (9, 7)
    dialogues = talks(tmp_path, bot, user)
    assert_holds(own, bot)
    assert_holds(partner, user)
    for estimate, origin in ((own, "model"), (partner, "partner")):
        turns = [turn.response for said in dialogues.values() for turn in said if turn.origin == origin]
        prompts = sum(response.prompt_tokens or 0 for response in turns)
        assert estimate.prompts.low <= prompts <= estimate.prompts.most
        assert sum(response.completion_tokens or 0 for response in turns) <= estimate.answers.most
    assert not any(is_there(chats, seed_id) for seed_id in SEEDS)


def test_stored_answers_are_not_requested(tmp_path: Path) -> None:
    bot, user = speaker("bot"), speaker("user")
    talks(tmp_path, bot, user, {"a": SEEDS["a"]})
    before = bot.calls.total(), user.calls.total()
    ((own, chats),), partner = estimated(tmp_path, user, bot)
    assert is_there(chats, "a")
    talks(tmp_path, bot, user)
    assert_holds(own, bot, before[0])
    assert_holds(partner, user, before[1])
    ((own, chats),), partner = estimated(tmp_path, user, bot)
    assert own.uncached == partner.uncached == 0
    assert all(is_there(chats, seed_id) for seed_id in SEEDS)


def test_first_words_are_counted_once_for_all_chatbots(tmp_path: Path) -> None:
    one, other, user = speaker("one"), speaker("other"), speaker("user")
    found, partner = estimated(tmp_path, user, one, other)
    for bot in (one, other):
        talks(tmp_path, bot, user)
    assert [estimate.uncached for estimate, _ in found] == [9, 9]
    assert_holds(partner, user)


def test_a_talk_that_the_partner_ended_is_whole(tmp_path: Path) -> None:
    bot, user = speaker("bot"), speaker("user", ends=True)
    ((own, _),), partner = estimated(tmp_path, user, bot)
    dialogues = talks(tmp_path, bot, user)
    assert all(len(said) < CHAT.n_utterances for said in dialogues.values())
    assert own.surely_uncached <= bot.calls.total() < own.uncached
    assert partner.surely_uncached <= user.calls.total() < partner.uncached
    ((own, chats),), partner = estimated(tmp_path, user, bot)
    assert own.uncached == partner.uncached == 0
    assert all(is_there(chats, seed_id, 6) for seed_id in SEEDS)
