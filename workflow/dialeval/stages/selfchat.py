"""Lets a chatbot continue the ChatSEEDs, talking to itself (BotChat 3.1)."""

from __future__ import annotations

import asyncio
from pathlib import Path

from pydantic import BaseModel

from dialeval.config import Answering as AnsweringSettings
from dialeval.config import Model, Selfchat
from dialeval.engines.answering import Answering
from dialeval.engines.opening import open_engine
from dialeval.engines.request import Sampling
from dialeval.engines.store import ResponseStore
from dialeval.progress import Progress
from dialeval.prompts.rendering import Templates
from dialeval.protocols.planning import in_shard
from dialeval.protocols.selfchat import TEMPLATE, chat_all, rows
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
    settings: Settings, seeds: Path, learned: list[Path], store: Path, generated: Path, provenance: Provenance
) -> None:
    """Writes the table `generated`: every dialogue, seed utterances included, one row per utterance."""
    by_id = {
        row["seed_id"]: tuple(row["utterances"])
        for row in read_table(seeds, "seeds").to_pylist()
        if in_shard(row["seed_id"], settings.shard, settings.shards)
    }
    chat = settings.selfchat
    system = Templates(settings.prompts_directory).render(TEMPLATE)
    sampling = Sampling(temperature=chat.temperature, max_tokens=chat.max_tokens)
    engine = open_engine(settings.model, learned)
    title = f"self-chat of {settings.name}"
    progress = Progress(title, sum(chat.n_utterances - len(seed) for seed in by_id.values()), "utterances")
    writer = f"shard-{settings.shard}-of-{settings.shards}"
    with ResponseStore(
        store, identity=engine.identity, name=settings.name, protocol="selfchat", writer=writer
    ) as responses:
        answering = Answering(engine, responses, progress, max_failure_share=settings.answering.max_failure_share)
        dialogues = asyncio.run(
            chat_all(answering, by_id, n_utterances=chat.n_utterances, system=system, sampling=sampling)
        )
    progress.finish()
    answering.check_failures()
    with TableWriter(generated, "generated", provenance) as table:
        table.write_all(rows(settings.name, by_id, dialogues))


if __name__ == "__main__":
    run(stage)
