"""Stages that perturb rated dialogues."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from pydantic import BaseModel

from dialeval.config.models import Model
from dialeval.config.running import Answering as AnsweringSettings
from dialeval.corpora.dialogues import left_out
from dialeval.corpora.items import Item, chosen, item_rows, items_of_dialogues, iterate_items, not_between_two
from dialeval.corpora.rated_items import rating_rows
from dialeval.corpora.robustness_sets import PAPER_SETS, Pair, read_sets, wanted_sets
from dialeval.engines.opening import open_engine
from dialeval.engines.requests import Sampling
from dialeval.perturbations.registry import STRATEGIES, find_strategy
from dialeval.perturbations.rewriting import PROTOCOL, rewrite_all
from dialeval.perturbations.suite import (
    Outcome,
    constructed_items,
    damage_all,
    ladders,
    pools,
    published_outcome,
    rewritten_outcome,
    well_rated,
)
from dialeval.perturbations.wordnet import WordNet, with_wordnet
from dialeval.prompts.rendering import Templates
from dialeval.stages.answering import asking
from dialeval.tables.dialogues import UTTERANCES
from dialeval.tables.files import TableWriter, iterate_rows, read_table, to_table, write_table
from dialeval.tables.metaeval import ITEMS, RATINGS
from dialeval.tables.robustness import PAIRS
from dialeval.tables.training import TRAINING_OVERLAP
from dialeval.text import counted
from dialeval.training.training_sets import Recipe, known_dialogues, overlap_rows, refuse_overlap

# Makes rated items of people's dialogues by damaging them step by step; their reference is known by construction.


class ConstructRatedSettings(BaseModel, defer_build=True):
    """The corpus to make, how its dialogues are damaged, and which of the user's criteria that lowers."""

    name: str
    languages: list[str] | None
    strategies: list[str]
    steps: int
    limit: int | None
    random_seed: int
    hurt: dict[str, list[str]] = {}


def construct_rated(settings: ConstructRatedSettings, utterances: Path, items: Path, ratings: Path) -> None:
    """Writes the tables `items` and `ratings`."""
    people = read_table(utterances, UTTERANCES)
    if others := not_between_two(people):
        print(left_out("dialogues", others, "since not just two speak in them"))
    dialogues = [
        item
        for item in items_of_dialogues(people)
        if item.level == "dialogue" and (settings.languages is None or item.language in settings.languages)
    ]
    made = list(
        constructed_items(
            settings.name,
            chosen(dialogues, settings.limit, settings.random_seed),
            [find_strategy(name) for name in settings.strategies],
            n_steps=settings.steps,
            random_seed=settings.random_seed,
            hurt=settings.hurt,
        )
    )
    with TableWriter(items, ITEMS) as table:
        table.write_all(item_rows(item for item, _ in made))
    references = [rating for _, given in made for rating in given]
    write_table(ratings, RATINGS, to_table(RATINGS, list(rating_rows(references))))
    print(f"{counted(len(made), 'item')} made, each with a reference by construction; no person rated them")


# Damages dialogues and responses by rule, and reads the published damaged sets (comp-analysis, Tables 10 and 11).


class DamageItemsSettings(BaseModel, defer_build=True):
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


def damage_items(
    settings: DamageItemsSettings,
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
    settings: DamageItemsSettings, good: list[Item], everything: list[Item], originals: dict[tuple[str, str, str], Item]
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


def _published(settings: DamageItemsSettings) -> Iterator[Pair]:
    """Yields the published pairs of the strategies asked for, and says which sets are not in the folder."""
    if settings.published is None:
        return
    names = wanted_sets(settings.published, settings.strategies)
    absent = [name for name in PAPER_SETS if name not in names] if settings.strategies is None else []
    if absent:
        print(f"{settings.published} does not have these published sets, so they are not read: {', '.join(absent)}")
    yield from chain.from_iterable(read_sets(settings.published, names).values())


# Has a model damage items where rules are poor, and checks what comes back; what fails is asked for once more.


class RewriteItemsSettings(BaseModel, defer_build=True):
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


def rewrite_items(
    settings: RewriteItemsSettings,
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


# Finds the dialogues of a training set that are judged later, and refuses them or lets them be left out.


def check_overlap(settings: Recipe, utterances: list[Path], judged: Path, overlap: Path) -> None:
    """Writes the table `training_overlap`, which is empty where overlap is refused."""
    known = known_dialogues(settings, utterances)
    rows = list(overlap_rows(settings.name, known, judged))
    if settings.overlap == "refuse":
        refuse_overlap(settings.name, rows, len(known))
    print(f"{settings.name}: {len(rows)} of {len(known)} dialogues are judged later, or hold text of such")
    write_table(overlap, TRAINING_OVERLAP, to_table(TRAINING_OVERLAP, rows))
