"""Stages of self-chat: chatbots continue the ChatSEEDs, and their dialogues become items."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from itertools import chain
from pathlib import Path

from pydantic import BaseModel

from dialeval.config.botchat import Selfchat
from dialeval.config.models import Model, VllmModel
from dialeval.config.running import Answering as AnsweringSettings
from dialeval.corpora.dialogues import scenarios_of
from dialeval.corpora.items import chatbot_items, human_items, item_rows
from dialeval.engines.answering import open_engine
from dialeval.engines.requests import Dialogue, Engine, Request, Response
from dialeval.engines.store import run_of
from dialeval.prompts.rendering import Templates
from dialeval.protocols.planned_requests import in_shard
from dialeval.protocols.selfchat import (
    PARTNER,
    SELFCHAT,
    TEMPLATE,
    Talk,
    Turn,
    Voice,
    chat_all,
    follow,
    partner_messages,
    rows,
    talk_of,
)
from dialeval.stages.answering import AnsweringModel, answering_model
from dialeval.tables.dialogues import GENERATED, SEEDS, UTTERANCES
from dialeval.tables.files import TableWriter, read_table
from dialeval.tables.metaeval import ITEMS
from dialeval.text import counted


class SelfchatSettings(BaseModel, defer_build=True):
    """The chatbot and how it chats; `shard` of `shards` is this job's part of the seeds.

    `partner` is the model that `selfchat.partner` names.
    """

    name: str
    model: Model
    selfchat: Selfchat
    answering: AnsweringSettings
    partner: Model | None = None
    shard: int = 1
    shards: int = 1

    @property
    def part(self) -> str:
        """Return the job's name in a store."""
        return f"shard-{self.shard}-of-{self.shards}"


def selfchat(
    settings: SelfchatSettings,
    seeds: Path,
    scenarios: list[Path],
    learned: list[Path],
    partner_learned: list[Path],
    store: Path,
    generated: Path,
    usage: list[Path],
    templates: Templates,
) -> None:
    """Write the table `generated`: a chatbot continues the ChatSEEDs, with itself or a simulated user (BotChat 3.1).

    The table has a row for each utterance of every dialogue, seed utterances included. `usage` are the records of the
    chatbot's usage and, if there is one, of the partner's.
    """
    by_id = {
        row["seed_id"]: tuple(row["utterances"])
        for row in read_table(seeds, SEEDS).to_pylist()
        if in_shard(row["seed_id"], settings.shard, settings.shards)
    }
    chat = settings.selfchat
    engine = open_engine(settings.model, learned, store, SELFCHAT)
    partner = _partner(settings, engine, partner_learned, store)
    played = {name: scenario for path in scenarios for name, scenario in scenarios_of(path).items()}
    messages = partner_messages(by_id, played, templates, chat.end)
    talk = talk_of(chat, templates.render(TEMPLATE), engine, partner, messages)
    ask = partial(
        answering_model, store=store, max_failure_share=settings.answering.max_failure_share, unit="utterances"
    )
    turns = [talk.voice(turn).protocol for seed in by_id.values() for turn in range(len(seed), chat.n_utterances)]
    with ExitStack() as opened:
        speakers = {
            SELFCHAT: opened.enter_context(
                ask(
                    engine,
                    name=settings.name,
                    protocol=SELFCHAT,
                    total=turns.count(SELFCHAT),
                    writer=settings.part,
                    run=run_of(generated.parent, settings.shards),
                )
            )
        }
        if partner is not None and chat.partner is not None:
            # jobs of other chatbots ask the partner for the same first words, and each is paid for once
            writer = f"{settings.name}-{settings.part}"
            speakers[PARTNER] = opened.enter_context(
                ask(partner, name=chat.partner, protocol=PARTNER, total=turns.count(PARTNER), writer=writer)
            )
        own, *others = speakers.values()
        dialogues = own.run(_talk(talk, speakers, by_id), others)
    with TableWriter(generated, GENERATED) as table:
        table.write_all(rows(settings.name, by_id, dialogues))
    for speaker, path in zip(speakers.values(), usage, strict=True):
        speaker.write_usage(path)


def _partner(settings: SelfchatSettings, engine: Engine, learned: list[Path], store: Path) -> Engine | None:
    """Return the simulated user's engine; one vLLM in two roles is one vLLM."""
    if settings.partner is None:
        return None
    if settings.partner == settings.model and isinstance(settings.model, VllmModel):
        return engine
    return open_engine(settings.partner, learned, store, PARTNER)


async def _talk(talk: Talk, speakers: dict[str, AnsweringModel], seeds: dict[str, Dialogue]) -> dict[str, list[Turn]]:
    """Let a chatbot continue all seeds, and count the tokens of all answers."""
    answerings = {protocol: speaker.answering for protocol, speaker in speakers.items()}
    dialogues = await chat_all(talk, answerings, seeds)

    def stored(voice: Voice, request: Request) -> Response | None:
        answering = answerings[voice.protocol]
        return answering.store.get(answering.key(request))

    for seed_id, seed in seeds.items():  # dialogues that broke off count too, as far as they came
        for voice, request, response in follow(talk, seed_id, seed, stored).steps:
            if response is not None:
                speakers[voice.protocol].count(answerings[voice.protocol].key(request), response)
    return dialogues


class SelfchatItemsSettings(BaseModel, defer_build=True):
    """Whether chatbots talk with a simulated user."""

    partnered: bool = False


def selfchat_items(
    settings: SelfchatItemsSettings, human: Path, seeds: Path, dialogues: list[Path], items: Path
) -> None:
    """Write the table `items`: the human dialogues, then each chatbot's, in the order of the seeds."""
    of_seeds = read_table(seeds, SEEDS)
    all_items = chain(
        human_items(read_table(human, UTTERANCES), of_seeds, partnered=settings.partnered),
        chatbot_items(dialogues, of_seeds, partnered=settings.partnered),
    )
    with TableWriter(items, ITEMS) as table:
        table.write_all(item_rows(all_items), group_size=512)
    print(f"{counted(table.rows, 'human dialogue')} and {counted(len(dialogues), 'chatbot')}")
