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
from dialeval.corpora.rated_sources import rating_rows
from dialeval.corpora.robustness_sets import PAPER_SETS, Pair, read_sets, wanted_sets
from dialeval.criteria import Level
from dialeval.engines.answering import open_engine
from dialeval.engines.requests import Sampling
from dialeval.perturbations.registry import STRATEGIES, find_strategy
from dialeval.perturbations.rewriting import PROTOCOL, rewrite_all
from dialeval.perturbations.suite import (
    Outcome,
    constructed_items,
    ladders,
    perturb_all,
    pools,
    published_outcome,
    rewritten_outcome,
    well_rated,
)
from dialeval.perturbations.wordnet import WordNet, with_wordnet
from dialeval.prompts.rendering import Templates
from dialeval.stages.answering import answering_model
from dialeval.tables.dialogues import UTTERANCES
from dialeval.tables.files import TableWriter, iterate_rows, read_table, to_table, write_table
from dialeval.tables.metaeval import ITEMS, RATINGS
from dialeval.tables.robustness import PAIRS
from dialeval.tables.training import TRAINING_OVERLAP
from dialeval.text import counted
from dialeval.training.training_sets import Recipe, known_dialogues, overlap_rows, refuse_overlap


class ConstructRatedSettings(BaseModel, defer_build=True):
    """The corpus to make, its perturbations, and the user's criteria that these lower."""

    name: str
    languages: list[str] | None
    strategies: list[str]
    steps: int
    limit: int | None
    random_seed: int
    sensitivities: dict[str, list[str]] = {}


def construct_rated(settings: ConstructRatedSettings, utterances: Path, items: Path, ratings: Path) -> None:
    """Write the tables `items` and `ratings` of human dialogues perturbed step by step, rated by construction."""
    people = read_table(utterances, UTTERANCES)
    if others := not_between_two(people):
        print(left_out("dialogues", others, "since they do not have exactly two speakers"))
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
            sensitivities=settings.sensitivities,
        )
    )
    with TableWriter(items, ITEMS) as table:
        table.write_all(item_rows(item for item, _ in made))
    references = [rating for _, given in made for rating in given]
    write_table(ratings, RATINGS, to_table(RATINGS, list(rating_rows(references))))
    print(f"{counted(len(made), 'item')} made, each with a reference by construction instead of human ratings")


class PerturbationSettings(BaseModel, defer_build=True):
    """The items to perturb, the perturbations, and the number of copies."""

    strategies: list[str] | None
    limit: int | None
    dialogue_draws: int
    turn_draws: int
    random_seed: int
    min_quality: float | None = None

    def draws(self) -> dict[Level, int]:
        """Return how often a strategy perturbs an item of each level."""
        return {"dialogue": self.dialogue_draws, "turn": self.turn_draws}

    def originals(self, own: list[Item], rated: list[Item], ratings: list[Path]) -> list[Item]:
        """Return the items that are perturbed: drawn from the run's dialogues and from well rated ones."""
        rated_by = chain.from_iterable(iterate_rows(path, RATINGS) for path in ratings)
        return chosen([*own, *well_rated(rated, rated_by, self.min_quality)], self.limit, self.random_seed)


class PerturbItemsSettings(PerturbationSettings):
    """Perturbations by rule, severity ladders, and the folder of the published sets."""

    ladder_strategies: list[str]
    ladder_steps: int
    ladder_limit: int | None
    published: Path | None
    wordnet: Path | None = None


def perturb_items(
    settings: PerturbItemsSettings,
    dialogues: list[Path],
    rated: list[Path],
    ratings: list[Path],
    items: Path,
    pairs: Path,
) -> None:
    """Write the tables `items` and `pairs` of perturbations by rule and of the published sets (Tables 10 and 11).

    `items` holds the perturbed items, and the originals that are in no table of rated items.
    """
    own: list[Item] = []
    for table_of_dialogues in (read_table(path, UTTERANCES) for path in dialogues):
        own.extend(items_of_dialogues(table_of_dialogues))
        if others := not_between_two(table_of_dialogues):
            print(left_out("dialogues", others, "since they do not have exactly two speakers"))
    elsewhere = list(chain.from_iterable(map(iterate_items, rated)))
    good = settings.originals(own, elsewhere, ratings)
    already = {(item.corpus, item.language, item.item_id) for item in elsewhere}
    originals = {(item.corpus, item.language, item.item_id): item for item in good}
    rows, perturbed = [], []
    for row, item in _outcomes(settings, good, [*own, *elsewhere], originals):
        rows.append(row)
        if item is not None:
            perturbed.append(item)
    new = [item for key, item in originals.items() if key not in already]
    with TableWriter(items, ITEMS) as table:
        table.write_all(item_rows([*new, *perturbed]))
    write_table(pairs, PAIRS, to_table(PAIRS, rows))
    n_ok = sum(row["status"] == "ok" for row in rows)
    print(
        f"{counted(len(perturbed), 'perturbed item')} of {counted(len(originals), 'original')}; "
        f"{counted(len(rows) - n_ok, 'time')} a rule did not apply"
    )


def _outcomes(
    settings: PerturbItemsSettings, good: list[Item], all_items: list[Item], originals: dict[tuple[str, str, str], Item]
) -> Iterator[Outcome]:
    strategies = [find_strategy(name) for name in settings.strategies or STRATEGIES]
    if settings.wordnet:
        wordnet = WordNet(settings.wordnet)
        strategies = [with_wordnet(strategy, wordnet) for strategy in strategies]
    pool_of = pools(all_items)
    yield from perturb_all(
        good,
        strategies,
        pool_of,
        n_draws=settings.draws(),
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


def _published(settings: PerturbItemsSettings) -> Iterator[Pair]:
    """Yield the published pairs of the perturbations; prints the missing sets."""
    if settings.published is None:
        return
    names = wanted_sets(settings.published, settings.strategies)
    absent = [name for name in PAPER_SETS if name not in names] if settings.strategies is None else []
    if absent:
        print(f"{settings.published} does not have these published sets, so they are skipped: {', '.join(absent)}")
    yield from chain.from_iterable(read_sets(settings.published, names).values())


class RewriteItemsSettings(PerturbationSettings):
    """The rewriter, and the strategies that it makes."""

    name: str
    model: Model
    answering: AnsweringSettings
    temperature: float
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
    """Write the tables `items` and `pairs` of items that a model perturbed; a rewriting that fails is retried once."""
    own = [item for path in dialogues for item in items_of_dialogues(read_table(path, UTTERANCES))]
    good = settings.originals(own, list(chain.from_iterable(map(iterate_items, rated))), ratings)
    strategies = [find_strategy(name) for name in settings.strategies or STRATEGIES]
    wanted = [
        (item, strategy, draw)
        for strategy in strategies
        if (strategy.by_model if settings.rewritten is None else strategy.name in settings.rewritten)
        for item in good
        if item.level == strategy.level
        for draw in range(settings.draws()[item.level])
    ]
    with answering_model(
        open_engine(settings.model, learned, store, PROTOCOL),
        store,
        name=settings.name,
        protocol=PROTOCOL,
        max_failure_share=settings.answering.max_failure_share,
        total=len(wanted),
        unit="items",
    ) as rewriter:
        sampling = Sampling(temperature=settings.temperature)
        results = rewriter.run(rewrite_all(rewriter.answering, wanted, templates, sampling, record=rewriter.count))
    outcomes = [rewritten_outcome(*one, result) for one, result in zip(wanted, results, strict=True)]
    with TableWriter(items, ITEMS) as table:
        table.write_all(item_rows(item for _, item in outcomes if item is not None))
    write_table(pairs, PAIRS, to_table(PAIRS, [row for row, _ in outcomes]))
    rewriter.write_usage(usage)


def check_overlap(settings: Recipe, utterances: list[Path], judged: Path, overlap: Path) -> None:
    """Write the table `training_overlap`: the dialogues of a training set that are judged later.

    Raises:
        UserError: there are some, and the training set refuses them.
    """
    known = known_dialogues(settings, utterances)
    rows = list(overlap_rows(settings.name, known, judged))
    if settings.overlap == "refuse":
        refuse_overlap(settings.name, rows, len(known))
    print(
        f"{settings.name}: {len(rows)} of {len(known)} dialogues are judged in this run, or share text with judged ones"
    )
    write_table(overlap, TRAINING_OVERLAP, to_table(TRAINING_OVERLAP, rows))
