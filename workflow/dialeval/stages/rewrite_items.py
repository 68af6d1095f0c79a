"""Has a model damage items where rules are poor, and checks what comes back; what fails is asked for once more."""

from __future__ import annotations

import time
from itertools import chain
from pathlib import Path

from pydantic import BaseModel

from dialeval.aggregation.usage import TokenSums, Usage, write_usage
from dialeval.config import Answering as AnsweringSettings
from dialeval.config import Model
from dialeval.corpora.dialogue_items import chosen, items_of_dialogues
from dialeval.corpora.items import iterate_items
from dialeval.corpora.rated import item_rows
from dialeval.engines.answering import Answering
from dialeval.engines.opening import open_engine
from dialeval.engines.request import Sampling
from dialeval.engines.store import ResponseStore
from dialeval.perturbations.asking import rewrite_all
from dialeval.perturbations.registry import STRATEGIES, find_strategy
from dialeval.perturbations.rewriting import PROTOCOL
from dialeval.perturbations.suite import rewritten_outcome
from dialeval.progress import Progress
from dialeval.prompts.rendering import Templates
from dialeval.stages.command import run
from dialeval.tables import Provenance, TableWriter, read_table, to_table, write_table


class Settings(BaseModel):
    """The rewriter, and what it damages."""

    name: str
    model: Model
    answering: AnsweringSettings
    strategies: list[str] | None
    limit: int | None
    dialogue_draws: int
    turn_draws: int
    temperature: float
    random_seed: int
    prompts_directory: Path | None = None


def stage(
    settings: Settings,
    dialogues: list[Path],
    rated: list[Path],
    learned: list[Path],
    store: Path,
    items: Path,
    pairs: Path,
    usage: Path,
    provenance: Provenance,
) -> None:
    """Writes the tables `items` (the damaged ones) and `pairs`, and a record of the usage."""
    own = [item for path in dialogues for item in items_of_dialogues(read_table(path, "utterances"))]
    elsewhere = list(chain.from_iterable(iterate_items(path) for path in rated))
    good = chosen([*own, *elsewhere], settings.limit, settings.random_seed)
    strategies = [find_strategy(name) for name in settings.strategies or STRATEGIES]
    draws = {"dialogue": settings.dialogue_draws, "turn": settings.turn_draws}
    wanted = [
        (item, strategy, draw)
        for strategy in strategies
        if strategy.template is not None
        for item in good
        if item.level == strategy.level
        for draw in range(draws[item.level])
    ]
    engine = open_engine(settings.model, learned, store, PROTOCOL)
    progress = Progress(f"rewriting by {settings.name}", len(wanted), "items")
    with ResponseStore(store, identity=engine.identity, name=settings.name, protocol=PROTOCOL, writer="whole") as kept:
        answering = Answering(engine, kept, progress, max_failure_share=settings.answering.max_failure_share)
        start, tokens = time.monotonic(), TokenSums()
        sampling = Sampling(temperature=settings.temperature)
        results = answering.run(
            rewrite_all(answering, wanted, Templates(settings.prompts_directory), sampling, seen=tokens.add)
        )
        seconds = time.monotonic() - start
    progress.finish()
    answering.check_failures()
    outcomes = [rewritten_outcome(*one, result) for one, result in zip(wanted, results, strict=True)]
    with TableWriter(items, "items", provenance) as table:
        table.write_all(item_rows([item for _, item in outcomes if item is not None]))
    write_table(pairs, "pairs", to_table("pairs", [row for row, _ in outcomes]), provenance)
    write_usage(usage, Usage.of_job(settings.name, PROTOCOL, answering, tokens, seconds))


if __name__ == "__main__":
    run(stage)
