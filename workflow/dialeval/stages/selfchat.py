"""Lets a chatbot continue the ChatSEEDs, talking to itself (BotChat 3.1)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel

from dialeval.config import Answering as AnsweringSettings
from dialeval.config import Model, Selfchat
from dialeval.engines.opening import open_engine
from dialeval.engines.request import Request, Response, Sampling
from dialeval.engines.store import run_of
from dialeval.prompts.rendering import Templates
from dialeval.protocols.planning import in_shard
from dialeval.protocols.selfchat import PROTOCOL, TEMPLATE, Turn, chat_all, follow, rows
from dialeval.schemas.botchat import GENERATED, SEEDS
from dialeval.stages.asking import asking
from dialeval.stages.command import run
from dialeval.tables import Provenance, TableWriter, read_table


class Settings(BaseModel):
    """The chatbot and how it chats; `shard` of `shards` is this job's part of the seeds."""

    name: str
    model: Model
    selfchat: Selfchat
    answering: AnsweringSettings
    prompts_directory: Path | None = None
    shard: int = 1
    shards: int = 1


def stage(
    settings: Settings,
    seeds: Path,
    learned: list[Path],
    store: Path,
    generated: Path,
    usage: Path,
    provenance: Provenance,
) -> None:
    """Writes the table `generated` and a record of the usage.

    The table has every dialogue, seed utterances included, one row per utterance.
    """
    by_id = {
        row["seed_id"]: tuple(row["utterances"])
        for row in read_table(seeds, SEEDS).to_pylist()
        if in_shard(row["seed_id"], settings.shard, settings.shards)
    }
    chat = settings.selfchat
    system = Templates(settings.prompts_directory).render(TEMPLATE)
    sampling = Sampling(temperature=chat.temperature, max_tokens=chat.max_tokens)
    engine = open_engine(settings.model, learned, store, PROTOCOL)
    how: dict[str, Any] = {"n_utterances": chat.n_utterances, "system": system, "sampling": sampling}
    with asking(
        engine,
        store,
        name=settings.name,
        protocol=PROTOCOL,
        max_failure_share=settings.answering.max_failure_share,
        total=sum(chat.n_utterances - len(seed) for seed in by_id.values()),
        unit="utterances",
        writer=f"shard-{settings.shard}-of-{settings.shards}",
        run=run_of(generated.parent, settings.shards),
    ) as chatbot:
        answering = chatbot.answering

        def stored(request: Request) -> Response | None:
            return answering.store.get(answering.key(request))

        async def chat_and_count() -> dict[str, list[Turn]]:
            dialogues = await chat_all(answering, by_id, **how)
            for seed_id, seed in by_id.items():  # dialogues that broke off count too, as far as they came
                for request, response in follow(engine, seed_id, seed, stored, **how):
                    if response is not None:
                        chatbot.count(answering.key(request), response)
            return dialogues

        dialogues = chatbot.run(chat_and_count())
    with TableWriter(generated, GENERATED, provenance) as table:
        table.write_all(rows(settings.name, by_id, dialogues))
    chatbot.write_usage(usage)


if __name__ == "__main__":
    run(stage)
