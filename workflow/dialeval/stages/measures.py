"""Stages that turn judgements, and labels beside them, into tables of measures: rates, means, ratings, differences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa
from pydantic import BaseModel

from dialeval.config.botchat import Elo
from dialeval.corpora.battles import read
from dialeval.labels.cascade_estimates import COLUMNS as CASCADE_COLUMNS
from dialeval.labels.cascade_estimates import differences_with_cascade, with_cascade
from dialeval.labels.correction import corrected_numbers
from dialeval.labels.joined_judgements import JUDGEMENT_COLUMNS, PLAN_COLUMNS, LabelledDesign, Terms, with_planned
from dialeval.measures import bias, scores
from dialeval.measures.design import Design, dialogue_words
from dialeval.measures.differences import differences as system_differences
from dialeval.measures.differences import ranks, with_adjusted_p
from dialeval.measures.item_values import COLUMNS as DIFFERENCE_COLUMNS
from dialeval.measures.ratings import COLUMNS as RATING_COLUMNS
from dialeval.measures.ratings import battle_ratings, win_rates
from dialeval.measures.ratings import ratings as system_ratings
from dialeval.tables.dialogues import JUDGEMENTS, REQUESTS, SEEDS
from dialeval.tables.files import read_table, read_tables, to_table, write_for_people, write_table
from dialeval.tables.labels import DIFFERENCES as LABELS_DIFFERENCES
from dialeval.tables.labels import ESTIMATES, LABELS
from dialeval.tables.measures import (
    AGREEMENT,
    BATTLE_DIFFERENCES,
    BATTLE_RATINGS,
    BIAS,
    CHECKLIST,
    DIFFERENCES,
    EXAMPLES,
    MEANS,
    PASS_RATES,
    PASS_RATES_AT_GT_LENGTH,
    RANKS,
    RATES,
    RATINGS,
    WIN_RATES,
    under,
)
from dialeval.tables.schema import Table
from dialeval.text import counted, noted

Rows = list[dict[str, Any]]


class Sources(NamedTuple):
    """The tables that a measure may need beside judgements: of items, and of seeds."""

    items: list[Path]
    seeds: list[Path]


def read_judgements(paths: Iterable[Path], columns: Sequence[str]) -> pd.DataFrame:
    """Returns columns of all judges' tables `judgements`, of the rows about systems.

    Rows about no system, such as those of most rated items, serve meta-evaluation alone.
    """
    frame: pd.DataFrame = read_tables(paths, JUDGEMENTS, columns).to_pandas()
    return frame.dropna(subset=["left"])


def _measure(
    of: Table,
    columns: Sequence[str],
    measured: Callable[[pd.DataFrame, Design, Sources], Rows],
    cascaded: Callable[[Rows, str, pa.Table, Design], Rows] | None = None,
) -> Callable[..., None]:
    """Returns the stage that writes the table of a measure.

    Args:
        of: the table.
        columns: the columns of `judgements` that the measure needs.
        measured: returns the rows of the table.
        cascaded: returns the rows with those of a cascade corrected to what its second judge would say; None for a
            measure that is not corrected.
    """

    def measure(
        settings: Design, judgements: list[Path], items: list[Path], seeds: list[Path], table: Path, csv: Path
    ) -> None:
        rows = measured(read_judgements(judgements, columns), settings, Sources(items, seeds))
        if cascaded and settings.cascade:
            rows = cascaded(rows, of.file, read_tables(judgements, JUDGEMENTS, CASCADE_COLUMNS), settings)
        write_for_people(table, csv, under(settings.protocol, of), to_table(of, rows))

    measure.__doc__ = f"Writes the table `{of.file}` of a protocol.\n\n{of.caption}"
    return measure


def _human_lengths(seeds: Iterable[Path]) -> dict[str, int]:
    """Returns the number of human utterances by ChatSEED, of those that serve Arena."""
    rows = read_tables(seeds, SEEDS, ["seed_id", "n_human", "for_arena"]).to_pylist()
    return {row["seed_id"]: row["n_human"] for row in rows if row["for_arena"]}


def _bias(frame: pd.DataFrame, design: Design, sources: Sources) -> Rows:
    if design.cascade is not None:  # a mixture of two judges has no bias of its own
        frame = frame[frame["judge"] != design.cascade.name]
        design = design.model_copy(update={"judges": [*frame["judge"].unique()]})
    return bias.bias(frame, design, dialogue_words(sources.items))


measure_means = _measure(MEANS, scores.COLUMNS, lambda frame, design, _: scores.means(frame, design), with_cascade)
measure_rates = _measure(RATES, scores.COLUMNS, lambda frame, design, _: scores.rates(frame, design), with_cascade)
measure_checklist = _measure(
    CHECKLIST, scores.COLUMNS, lambda frame, design, _: scores.checklist(frame, design), with_cascade
)
measure_win_rates = _measure(WIN_RATES, RATING_COLUMNS, lambda frame, design, _: win_rates(frame, design), with_cascade)
measure_pass_rates = _measure(
    PASS_RATES, scores.PASS_COLUMNS, lambda frame, design, _: scores.pass_rates(frame, design)
)
measure_pass_rates_at_gt_length = _measure(
    PASS_RATES_AT_GT_LENGTH,
    scores.PASS_COLUMNS,
    lambda frame, design, sources: scores.pass_rates_at_gt_length(frame, design, _human_lengths(sources.seeds)),
)
measure_agreement = _measure(AGREEMENT, scores.COLUMNS, lambda frame, design, _: bias.agreement(frame, design))
measure_bias = _measure(BIAS, bias.COLUMNS, _bias)
measure_examples = _measure(
    EXAMPLES, scores.EXAMPLE_COLUMNS, lambda frame, design, sources: scores.examples(frame, design, sources.items)
)


def measure_ratings(
    settings: Design,
    judgements: list[Path],
    items: list[Path],
    table: Path,
    csv: Path,
    differences: Path,
) -> None:
    """Writes the table `ratings` of a protocol of pairs (BotChat, Table 2 and appendix A), and their differences."""
    found = system_ratings(read_judgements(judgements, RATING_COLUMNS), settings, dialogue_words(items))
    rated, compared = found.ratings, found.differences
    if settings.cascade:
        of_cascade = read_tables(judgements, JUDGEMENTS, CASCADE_COLUMNS)
        rated = with_cascade(rated, "ratings", of_cascade, settings)
        compared = differences_with_cascade(compared, "ratings", of_cascade, settings)
    write_for_people(table, csv, under(settings.protocol, RATINGS), to_table(RATINGS, rated))
    write_table(differences, under(settings.protocol, DIFFERENCES), to_table(DIFFERENCES, compared))


def measure_differences(
    settings: Design,
    judgements: list[Path],
    ratings: list[Path],
    seeds: list[Path],
    table: Path,
    csv: Path,
) -> None:
    """Writes the table `differences` of a protocol: those of its ratings, then those of all other measures."""
    of_ratings = read_tables(ratings, DIFFERENCES).to_pylist()
    frame = read_judgements(judgements, DIFFERENCE_COLUMNS)
    compared = system_differences(frame, settings, _human_lengths(seeds))
    if settings.cascade:
        of_cascade = read_tables(judgements, JUDGEMENTS, CASCADE_COLUMNS)
        compared = differences_with_cascade(compared, "differences", of_cascade, settings)
    rows = to_table(DIFFERENCES, [*of_ratings, *compared])
    write_for_people(table, csv, under(settings.protocol, DIFFERENCES), rows)


class RankSystemsSettings(BaseModel, defer_build=True):
    """The protocol, and the simultaneous confidence of all ranks."""

    protocol: str
    confidence: float


def rank_systems(settings: RankSystemsSettings, differences: Path, table: Path, csv: Path) -> None:
    """Writes the table `ranks` of a protocol: the simultaneous confidence set of each system's rank."""
    compared = read_table(differences, under(settings.protocol, DIFFERENCES)).to_pylist()
    write_for_people(table, csv, under(settings.protocol, RANKS), to_table(RANKS, ranks(compared, settings.confidence)))


class RateBattlesSettings(BaseModel, defer_build=True):
    """The names of the columns, what words for winners mean, and the settings of Elo."""

    left: str | None
    right: str | None
    winner: str | None
    cluster: str | None
    outcomes: dict[str, str]
    elo: Elo
    random_seed: int


def rate_battles(
    settings: RateBattlesSettings,
    battles: Path,
    table: Path,
    csv: Path,
    differences: Path,
    differences_csv: Path,
) -> None:
    """Writes the tables `battles/ratings` and `battles/differences` of the models in a table of battles."""
    found = read(battles, **settings.model_dump(exclude={"elo", "random_seed"}))
    rated, compared = battle_ratings(found, settings.elo, settings.random_seed)
    clusters = f" in {counted(found.n_clusters, 'cluster')}" if settings.cluster else ""
    print(f"{battles}: {counted(len(found), 'battle')}{clusters} between {counted(len(rated), 'model')}")
    print("".join(f"{noted(count, note)}\n" for note, count in found.notes.items()), end="")
    write_for_people(table, csv, BATTLE_RATINGS, rated)
    write_for_people(differences, differences_csv, BATTLE_DIFFERENCES, compared)


class CorrectSettings(Terms):
    """How numbers are corrected, and the protocols with labels, in the order of the table."""

    protocols: list[LabelledDesign]


def correct(
    settings: CorrectSettings,
    labels: Path,
    judgements: list[Path],
    planned: list[Path],
    table: Path,
    csv: Path,
    differences: Path,
    differences_csv: Path,
) -> None:
    """Writes the tables `corrected` and `differences` of human-corrected estimates.

    A protocol without labels has no rows. `planned` are the tables `<protocol>.parquet` of requests of the protocols
    under which a judge answered only a part.
    """
    plans = {path.stem: read_table(path, REQUESTS, PLAN_COLUMNS).to_pandas() for path in planned}
    given: pd.DataFrame = read_table(labels, LABELS).to_pandas()
    by_judges = read_judgements(judgements, JUDGEMENT_COLUMNS)
    numbers, compared = [], []
    for design in settings.protocols:
        judged = by_judges[by_judges["protocol"] == design.protocol]
        if design.protocol in plans:
            judged = with_planned(judged, plans[design.protocol])
        rows, pairs = corrected_numbers(judged, given, design, settings)
        numbers += rows
        compared += pairs
    write_for_people(table, csv, ESTIMATES, to_table(ESTIMATES, numbers))
    tests = to_table(LABELS_DIFFERENCES, with_adjusted_p(compared))
    write_for_people(differences, differences_csv, LABELS_DIFFERENCES, tests)
