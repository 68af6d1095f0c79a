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
from dialeval.labels.judge_checks import judge_checks
from dialeval.measures import bias, scores
from dialeval.measures.design import Design, dialogue_words
from dialeval.measures.differences import differences as system_differences
from dialeval.measures.differences import judge_differences, ranks, with_adjusted_p
from dialeval.measures.item_values import COLUMNS as DIFFERENCE_COLUMNS
from dialeval.measures.ratings import COLUMNS as RATING_COLUMNS
from dialeval.measures.ratings import battle_ratings, win_rates
from dialeval.measures.ratings import ratings as system_ratings
from dialeval.measures.variance_components import variance_components
from dialeval.tables.dialogues import JUDGEMENTS, REQUESTS, SEEDS
from dialeval.tables.files import read_table, read_tables, to_table, write_for_people, write_rows, write_table
from dialeval.tables.labels import CALIBRATION, ESTIMATES, LABELS, REPLACEMENT, SELECTIVE
from dialeval.tables.labels import DIFFERENCES as LABELS_DIFFERENCES
from dialeval.tables.measures import (
    AGREEMENT,
    BATTLE_DIFFERENCES,
    BATTLE_RATINGS,
    BIAS,
    CHECKLIST,
    DIFFERENCES,
    EXAMPLES,
    JUDGE_DIFFERENCES,
    MEANS,
    PASS_RATES,
    PASS_RATES_AT_GT_LENGTH,
    RANKS,
    RATES,
    RATINGS,
    VARIANCE_COMPONENTS,
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
    """Return columns of all judges' tables `judgements`, of the rows about systems.

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
    """Return the stage that writes the table of a measure.

    Args:
        of: the table.
        columns: the columns of `judgements` that the measure needs.
        measured: returns the rows of the table.
        cascaded: returns the rows with those of a cascade corrected to what its second judge would say; None for a
            measure that is not corrected.
    """

    def measure(settings: Design, judgements: list[Path], items: list[Path], seeds: list[Path], folder: Path) -> None:
        design = settings.of_measure(of.file)
        rows = measured(read_judgements(judgements, columns), design, Sources(items, seeds))
        if cascaded and design.cascade:
            rows = cascaded(rows, of.file, read_tables(judgements, JUDGEMENTS, CASCADE_COLUMNS), design)
        write_rows(folder, under(settings.protocol, of), rows)

    measure.__doc__ = f"Write the table `{of.file}` of a protocol.\n\n{of.caption}"
    return measure


def _means(of: Table) -> Callable[..., None]:
    """Return the stage that writes a table of means or proportions of systems."""
    return _measure(of, scores.COLUMNS, lambda frame, design, _: scores.mean_rows(of.file, frame, design), with_cascade)


def _human_lengths(seeds: Iterable[Path]) -> dict[str, int]:
    """Return the number of human utterances by ChatSEED, of those that serve Arena."""
    rows = read_tables(seeds, SEEDS, ["seed_id", "n_human", "for_arena"]).to_pylist()
    return {row["seed_id"]: row["n_human"] for row in rows if row["for_arena"]}


def _bias(frame: pd.DataFrame, design: Design, sources: Sources) -> Rows:
    if design.cascade is not None:  # a mixture of two judges has no bias of its own
        frame = frame[frame["judge"] != design.cascade.name]
        design = design.model_copy(update={"judges": [*frame["judge"].unique()]})
    return bias.bias(frame, design, dialogue_words(sources.items))


measure_means, measure_rates, measure_checklist = map(_means, (MEANS, RATES, CHECKLIST))
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

measure_judge_differences = _measure(
    JUDGE_DIFFERENCES,
    (*DIFFERENCE_COLUMNS, "repeat"),
    lambda frame, design, _: judge_differences(frame, design),
)
measure_variance_components = _measure(
    VARIANCE_COMPONENTS,
    (*DIFFERENCE_COLUMNS, "repeat"),
    lambda frame, design, _: variance_components(frame, design),
)


def measure_ratings(
    settings: Design,
    judgements: list[Path],
    items: list[Path],
    ratings: list[Path],
    folder: Path,
) -> None:
    """Write the table `ratings` of a protocol of pairs (BotChat, Table 2 and appendix A), and their differences."""
    design = settings.of_measure("ratings")
    found = system_ratings(read_judgements(judgements, RATING_COLUMNS), design, dialogue_words(items))
    rated, compared = found.ratings, found.differences
    if design.cascade:
        of_cascade = read_tables(judgements, JUDGEMENTS, CASCADE_COLUMNS)
        rated = with_cascade(rated, "ratings", of_cascade, design)
        compared = differences_with_cascade(compared, "ratings", of_cascade, design)
    write_rows(folder, under(settings.protocol, RATINGS), rated)
    for path in ratings:
        write_table(path, under(settings.protocol, DIFFERENCES), to_table(DIFFERENCES, compared))


def measure_differences(
    settings: Design,
    judgements: list[Path],
    ratings: list[Path],
    seeds: list[Path],
    folder: Path,
) -> None:
    """Write the table `differences` of a protocol: those of its ratings, then those of all other measures."""
    design, of_ratings = settings.of_measure("differences"), read_tables(ratings, DIFFERENCES).to_pylist()
    frame = read_judgements(judgements, DIFFERENCE_COLUMNS)
    compared = system_differences(frame, design, _human_lengths(seeds))
    if design.cascade:
        of_cascade = read_tables(judgements, JUDGEMENTS, CASCADE_COLUMNS)
        compared = differences_with_cascade(compared, "differences", of_cascade, design)
    write_rows(folder, under(settings.protocol, DIFFERENCES), [*of_ratings, *compared])


class MeasureRanksSettings(BaseModel, defer_build=True):
    """The protocol, and the simultaneous confidence of all ranks."""

    protocol: str
    confidence: float


def measure_ranks(settings: MeasureRanksSettings, folder: Path) -> None:
    """Write the table `ranks` of a protocol beside its `differences`: simultaneous confidence sets of ranks."""
    differences = under(settings.protocol, DIFFERENCES)
    compared = read_table(folder / f"{differences.file}.parquet", differences).to_pylist()
    write_rows(folder, under(settings.protocol, RANKS), ranks(compared, settings.confidence))


class RateBattlesSettings(BaseModel, defer_build=True):
    """The column names, the meanings of the winner's values, and the settings of Elo."""

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
    """Write the tables `battles/ratings` and `battles/differences` of the models in a table of battles."""
    found = read(battles, **settings.model_dump(exclude={"elo", "random_seed"}))
    rated, compared = battle_ratings(found, settings.elo, settings.random_seed)
    clusters = f" in {counted(found.n_clusters, 'cluster')}" if settings.cluster else ""
    print(f"{battles}: {counted(len(found), 'battle')}{clusters} between {counted(len(rated), 'model')}")
    print("".join(f"{noted(count, note)}\n" for note, count in found.notes.items()), end="")
    write_for_people(table, csv, BATTLE_RATINGS, rated)
    write_for_people(differences, differences_csv, BATTLE_DIFFERENCES, compared)


class CorrectSettings(Terms):
    """How numbers are corrected, resampled, and the protocols with labels, in the order of the table."""

    protocols: list[LabelledDesign]
    resamples: int = 1000
    random_seed: int = 0


def correct(
    settings: CorrectSettings,
    labels: Path,
    judgements: list[Path],
    planned: list[Path],
    folder: Path,
) -> None:
    """Write the tables of human-corrected estimates, their differences, and of judges checked by labels.

    A protocol without labels has no rows. `planned` are the tables `<protocol>.parquet` of requests of the protocols
    under which a judge answered only a part.
    """
    plans = {path.stem: read_table(path, REQUESTS, PLAN_COLUMNS).to_pandas() for path in planned}
    given: pd.DataFrame = read_table(labels, LABELS).to_pandas()
    by_judges = read_judgements(judgements, JUDGEMENT_COLUMNS)
    numbers, compared = [], []
    checks: list[Rows] = [[], [], []]
    resampling = {"resamples": settings.resamples, "random_seed": settings.random_seed}
    for design in settings.protocols:
        judged = by_judges[by_judges["protocol"] == design.protocol]
        for table, found in zip(checks, judge_checks(judged, given, design, settings, **resampling), strict=True):
            table += found
        if design.protocol in plans:
            judged = with_planned(judged, plans[design.protocol])
        rows, pairs = corrected_numbers(judged, given, design, settings)
        numbers += rows
        compared += pairs
    write_rows(folder, ESTIMATES, numbers)
    write_rows(folder, LABELS_DIFFERENCES, with_adjusted_p(compared))
    for about, table in zip((REPLACEMENT, CALIBRATION, SELECTIVE), checks, strict=True):
        write_rows(folder, about, table)
