"""Has a model damage items where rules are poor, and checks what comes back; what fails is asked for once more."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

from pydantic import BaseModel

from dialeval.config.models import Model
from dialeval.config.running import Answering as AnsweringSettings
from dialeval.corpora.dialogue_items import chosen, items_of_dialogues
from dialeval.corpora.items import item_rows, iterate_items
from dialeval.engines.opening import open_engine
from dialeval.engines.request import Sampling
from dialeval.perturbations.asking import rewrite_all
from dialeval.perturbations.quality import well_rated
from dialeval.perturbations.registry import STRATEGIES, find_strategy
from dialeval.perturbations.rewriting import PROTOCOL
from dialeval.perturbations.suite import rewritten_outcome
from dialeval.prompts.rendering import Templates
from dialeval.schemas.metaeval import ITEMS, RATINGS
from dialeval.schemas.robustness import PAIRS
from dialeval.schemas.shared import UTTERANCES
from dialeval.stages.asking import asking
from dialeval.tables import TableWriter, iterate_rows, read_table, to_table, write_table


class Settings(BaseModel, defer_build=True):
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
    min_quality: float | None = None
    rewritten: list[str] | None = None


def stage(
    settings: Settings,
    dialogues: list[Path],
    rated: list[Path],
    ratings: list[Path],
    learned: list[Path],
    store: Path,
    items: Path,
    pairs: Path,
    usage: Path,
    templates: Templates,
) -> None:
    """Writes the tables `items` (the damaged ones) and `pairs`, and a record of the usage."""
    own = [item for path in dialogues for item in items_of_dialogues(read_table(path, UTTERANCES))]
    elsewhere = list(chain.from_iterable(iterate_items(path) for path in rated))
    rated_by = chain.from_iterable(iterate_rows(path, RATINGS) for path in ratings)
    well = well_rated(elsewhere, rated_by, settings.min_quality)
    good = chosen([*own, *well], settings.limit, settings.random_seed)
    strategies = [find_strategy(name) for name in settings.strategies or STRATEGIES]
    draws = {"dialogue": settings.dialogue_draws, "turn": settings.turn_draws}
    wanted = [
        (item, strategy, draw)
        for strategy in strategies
        if (strategy.by_model if settings.rewritten is None else strategy.name in settings.rewritten)
        for item in good
        if item.level == strategy.level
        for draw in range(draws[item.level])
    ]
    with asking(
        open_engine(settings.model, learned, store, PROTOCOL),
        store,
        name=settings.name,
        protocol=PROTOCOL,
        max_failure_share=settings.answering.max_failure_share,
        total=len(wanted),
        unit="items",
    ) as rewriter:
        templates, sampling = templates, Sampling(temperature=settings.temperature)
        results = rewriter.run(rewrite_all(rewriter.answering, wanted, templates, sampling, seen=rewriter.count))
    outcomes = [rewritten_outcome(*one, result) for one, result in zip(wanted, results, strict=True)]
    with TableWriter(items, ITEMS) as table:
        table.write_all(item_rows(item for _, item in outcomes if item is not None))
    write_table(pairs, PAIRS, to_table(PAIRS, [row for row, _ in outcomes]))
    rewriter.write_usage(usage)
