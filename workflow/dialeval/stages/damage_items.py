"""Damages dialogues and responses by rule, and reads the published damaged sets (comp-analysis, Tables 10 and 11)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from pydantic import BaseModel

from dialeval.corpora.dialogue_items import chosen, items_of_dialogues, not_between_two
from dialeval.corpora.items import Item, item_rows, iterate_items
from dialeval.corpora.robustness_pairs import read_sets
from dialeval.corpora.robustness_sets import PAPER_SETS, Pair, wanted_sets
from dialeval.corpora.speakers import left_out
from dialeval.perturbations.quality import well_rated
from dialeval.perturbations.registry import STRATEGIES, find_strategy
from dialeval.perturbations.suite import Outcome, damage_all, ladders, pools, published_outcome
from dialeval.perturbations.wordnet import WordNet, with_wordnet
from dialeval.schemas.metaeval import ITEMS, RATINGS
from dialeval.schemas.robustness import PAIRS
from dialeval.schemas.shared import UTTERANCES
from dialeval.tables import TableWriter, iterate_rows, read_table, to_table, write_table
from dialeval.text.counting import counted


class Settings(BaseModel, defer_build=True):
    """What is damaged, how and how often; `published` is the folder of the published sets."""

    strategies: list[str] | None
    limit: int | None
    dialogue_draws: int
    turn_draws: int
    ladder_strategies: list[str]
    ladder_steps: int
    ladder_limit: int | None
    published: Path | None
    random_seed: int
    min_quality: float | None = None
    wordnet: Path | None = None


def stage(
    settings: Settings,
    dialogues: list[Path],
    rated: list[Path],
    ratings: list[Path],
    items: Path,
    pairs: Path,
) -> None:
    """Writes the tables `items` (originals, unless they are rated items anyway, and damaged ones) and `pairs`."""
    own: list[Item] = []
    for table_of_dialogues in (read_table(path, UTTERANCES) for path in dialogues):
        own.extend(items_of_dialogues(table_of_dialogues))
        if others := not_between_two(table_of_dialogues):
            print(left_out("dialogues", others, "since not just two speak in them"))
    elsewhere = list(chain.from_iterable(iterate_items(path) for path in rated))
    rated_by = chain.from_iterable(iterate_rows(path, RATINGS) for path in ratings)
    well = well_rated(elsewhere, rated_by, settings.min_quality)
    good = chosen([*own, *well], settings.limit, settings.random_seed)
    already = {(item.corpus, item.language, item.item_id) for item in elsewhere}
    originals = {(item.corpus, item.language, item.item_id): item for item in good}
    rows, damaged = [], []
    for row, item in _outcomes(settings, good, [*own, *elsewhere], originals):
        rows.append(row)
        if item is not None:
            damaged.append(item)
    asked = [item for key, item in originals.items() if key not in already]
    with TableWriter(items, ITEMS) as table:
        table.write_all(item_rows([*asked, *damaged]))
    write_table(pairs, PAIRS, to_table(PAIRS, rows))
    n_ok = sum(row["status"] == "ok" for row in rows)
    print(
        f"{counted(len(damaged), 'damaged item')} of {counted(len(originals), 'original')}; "
        f"{counted(len(rows) - n_ok, 'time')} a rule did not apply"
    )


def _outcomes(
    settings: Settings, good: list[Item], everything: list[Item], originals: dict[tuple[str, str, str], Item]
) -> Iterator[Outcome]:
    strategies = [find_strategy(name) for name in settings.strategies or STRATEGIES]
    if settings.wordnet:
        wordnet = WordNet(settings.wordnet)
        strategies = [with_wordnet(strategy, wordnet) for strategy in strategies]
    pool_of = pools(everything)
    yield from damage_all(
        good,
        strategies,
        pool_of,
        n_draws={"dialogue": settings.dialogue_draws, "turn": settings.turn_draws},
        random_seed=settings.random_seed,
    )
    yield from ladders(
        chosen(good, settings.ladder_limit, settings.random_seed),
        [find_strategy(name) for name in settings.ladder_strategies],
        pool_of,
        n_steps=settings.ladder_steps,
        random_seed=settings.random_seed,
    )
    for pair in _published(settings):
        original = pair.original
        originals[original.corpus, original.language, original.item_id] = original
        yield published_outcome(pair)


def _published(settings: Settings) -> Iterator[Pair]:
    """Yields the published pairs of the strategies asked for, and says which sets are not in the folder."""
    if settings.published is None:
        return
    names = wanted_sets(settings.published, settings.strategies)
    absent = [name for name in PAPER_SETS if name not in names] if settings.strategies is None else []
    if absent:
        print(f"{settings.published} does not have these published sets, so they are not read: {', '.join(absent)}")
    yield from chain.from_iterable(read_sets(settings.published, names).values())
