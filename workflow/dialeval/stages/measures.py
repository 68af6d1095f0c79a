"""Stages that turn judgements, and labels beside them, into tables of measures: rates, means, ratings, differences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import BaseModel

from dialeval.config.botchat import Elo
from dialeval.corpora.battles import read
from dialeval.labels.correction import corrected_numbers
from dialeval.labels.joined_judgements import JUDGEMENT_COLUMNS, PLAN_COLUMNS, LabelledDesign, Terms, with_planned
from dialeval.measures.bias import COLUMNS as BIAS_COLUMNS
from dialeval.measures.bias import agreement, bias
from dialeval.measures.design import Design
from dialeval.measures.dialogue_lengths import dialogue_words
from dialeval.measures.differences import COLUMNS as DIFFERENCES_COLUMNS
from dialeval.measures.differences import corrected, differences, ranks
from dialeval.measures.examples import COLUMNS as EXAMPLES_COLUMNS
from dialeval.measures.examples import examples
from dialeval.measures.ratings import COLUMNS as RATINGS_COLUMNS
from dialeval.measures.ratings import battle_ratings, ratings, win_rates
from dialeval.measures.scores import (
    COLUMNS,
    checklist,
    means,
    pass_rates,
    pass_rates_at_gt_length,
    rates,
)
from dialeval.measures.scores import (
    PASS_COLUMNS as PASSES_COLUMNS,
)
from dialeval.tables.dialogues import JUDGEMENTS, REQUESTS, SEEDS
from dialeval.tables.files import read_table, read_tables, to_table, write_for_people, write_table
from dialeval.tables.labels import CORRECTED, LABELS
from dialeval.tables.labels import DIFFERENCES as LABELS_DIFFERENCES
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

# What the stages that measure have in common: what they read beside judgements, and how they write their table.


def read_judgements(paths: Iterable[Path], columns: Sequence[str]) -> pd.DataFrame:
    """Returns some columns of all judges' tables `judgements`, of what systems said.

    What belongs to no system, such as most rated items, is for meta-evaluation and measures nobody.
    """
    frame: pd.DataFrame = read_tables(paths, JUDGEMENTS, columns).to_pandas()
    return frame.dropna(subset=["left"])


def for_cascade(
    rows: list[dict[str, Any]], measure: str, judgements: Sequence[Path], design: Design
) -> list[dict[str, Any]]:
    """Returns the rows of a measure's table, those of a cascade with what the expensive judge would say."""
    if design.cascade is None:
        return rows
    from dialeval.labels.cascade_estimates import COLUMNS, with_cascade  # imports scipy, which few stages need

    return with_cascade(rows, measure, read_tables(judgements, JUDGEMENTS, COLUMNS), design)


def differences_for_cascade(
    rows: list[dict[str, Any]], measure: str, judgements: Sequence[Path], design: Design
) -> list[dict[str, Any]]:
    """Returns the rows of a table of differences, those of a cascade between what the expensive judge would say."""
    if design.cascade is None:
        return rows
    from dialeval.labels.cascade_estimates import COLUMNS, differences_with_cascade  # as above

    return differences_with_cascade(rows, measure, read_tables(judgements, JUDGEMENTS, COLUMNS), design)


def human_lengths(seeds: Iterable[Path]) -> dict[str, int]:
    """Returns the number of human utterances by ChatSEED, of those that serve Arena."""
    rows = read_tables(seeds, SEEDS, ["seed_id", "n_human", "for_arena"]).to_pylist()
    return {row["seed_id"]: row["n_human"] for row in rows if row["for_arena"]}


def write_measure(parquet: Path, csv: Path, protocol: str, table: Table, rows: list[dict[str, Any]]) -> None:
    """Writes the table of a measure under the protocol's name."""
    write_for_people(parquet, csv, under(protocol, table), to_table(table, rows))


# Measures what judges score systems at, by criterion.


def measure_means(
    settings: Design,
    judgements: list[Path],
    items: list[Path],
    seeds: list[Path],
    table: Path,
    csv: Path,
) -> None:
    """Writes the table `means` of a protocol."""
    frame = read_judgements(judgements, COLUMNS)
    rows = for_cascade(means(frame, settings), "means", judgements, settings)
    write_measure(table, csv, settings.protocol, MEANS, rows)


# Measures to how many items a judge gives an answer.


def measure_rates(
    settings: Design,
    judgements: list[Path],
    items: list[Path],
    seeds: list[Path],
    table: Path,
    csv: Path,
) -> None:
    """Writes the table `rates` of a protocol."""
    frame = read_judgements(judgements, COLUMNS)
    rows = for_cascade(rates(frame, settings), "rates", judgements, settings)
    write_measure(table, csv, settings.protocol, RATES, rows)


# Measures how many of a system's dialogues pass for human (BotChat, Figure 4).


def measure_pass_rates(
    settings: Design,
    judgements: list[Path],
    items: list[Path],
    seeds: list[Path],
    table: Path,
    csv: Path,
) -> None:
    """Writes the table `pass_rates` of a protocol."""
    frame = read_judgements(judgements, PASSES_COLUMNS)
    rows = pass_rates(frame, settings)
    write_measure(table, csv, settings.protocol, PASS_RATES, rows)


# Measures how many dialogues pass for human at the length of the human one (BotChat, Figure 7).


def measure_pass_rates_at_gt_length(
    settings: Design,
    judgements: list[Path],
    items: list[Path],
    seeds: list[Path],
    table: Path,
    csv: Path,
) -> None:
    """Writes the table `pass_rates_at_gt_length` of a protocol."""
    frame = read_judgements(judgements, PASSES_COLUMNS)
    rows = pass_rates_at_gt_length(frame, settings, human_lengths(seeds))
    write_measure(table, csv, settings.protocol, PASS_RATES_AT_GT_LENGTH, rows)


# Measures who wins how often against whom (BotChat, Figures 5 and 6).


def measure_win_rates(
    settings: Design,
    judgements: list[Path],
    items: list[Path],
    seeds: list[Path],
    table: Path,
    csv: Path,
) -> None:
    """Writes the table `win_rates` of a protocol."""
    frame = read_judgements(judgements, RATINGS_COLUMNS)
    rows = for_cascade(win_rates(frame, settings), "win_rates", judgements, settings)
    write_measure(table, csv, settings.protocol, WIN_RATES, rows)


# Rates systems that were shown in pairs (BotChat, Table 2 and appendix A), and compares the ratings.


def measure_ratings(
    settings: Design,
    judgements: list[Path],
    items: list[Path],
    table: Path,
    csv: Path,
    differences: Path,
) -> None:
    """Writes the table `ratings` of a protocol, and the rows of its table `differences` that are of ratings."""
    found = ratings(read_judgements(judgements, RATINGS_COLUMNS), settings, dialogue_words(items))
    rated = for_cascade(found.ratings, "ratings", judgements, settings)
    compared = differences_for_cascade(found.differences, "ratings", judgements, settings)
    write_measure(table, csv, settings.protocol, RATINGS, rated)
    write_table(differences, under(settings.protocol, DIFFERENCES), to_table(DIFFERENCES, compared))


# Compares every two systems by whatever else is measured of them.


def measure_differences(
    settings: Design,
    judgements: list[Path],
    ratings: list[Path],
    seeds: list[Path],
    table: Path,
    csv: Path,
) -> None:
    """Writes the table `differences` of a protocol, those of its ratings, which are made with them, first."""
    of_ratings = read_tables(ratings, DIFFERENCES).to_pylist()
    frame = read_judgements(judgements, DIFFERENCES_COLUMNS)
    compared = differences(frame, settings, human_lengths(seeds))
    rows = [*of_ratings, *differences_for_cascade(compared, "differences", judgements, settings)]
    write_measure(table, csv, settings.protocol, DIFFERENCES, rows)


# Measures whether judges, and rules, see the same kinds in the same dialogues.


def measure_agreement(
    settings: Design,
    judgements: list[Path],
    items: list[Path],
    seeds: list[Path],
    table: Path,
    csv: Path,
) -> None:
    """Writes the table `agreement` of a protocol."""
    frame = read_judgements(judgements, COLUMNS)
    rows = agreement(frame, settings)
    write_measure(table, csv, settings.protocol, AGREEMENT, rows)


# Measures the judges: position and length bias, self-preference, agreement with themselves and each other.


def measure_bias(
    settings: Design,
    judgements: list[Path],
    items: list[Path],
    seeds: list[Path],
    table: Path,
    csv: Path,
) -> None:
    """Writes the table `bias` of a protocol."""
    frame = read_judgements(judgements, BIAS_COLUMNS)
    if settings.cascade is not None:  # a mixture of two judges has no bias of its own
        frame = frame[frame["judge"] != settings.cascade.name]
        settings = settings.model_copy(update={"judges": [*frame["judge"].unique()]})
    rows = bias(frame, settings, dialogue_words(items))
    write_measure(table, csv, settings.protocol, BIAS, rows)


# Measures how many questions of a checklist are answered with yes.


def measure_checklist(
    settings: Design,
    judgements: list[Path],
    items: list[Path],
    seeds: list[Path],
    table: Path,
    csv: Path,
) -> None:
    """Writes the table `checklist` of a protocol."""
    frame = read_judgements(judgements, COLUMNS)
    rows = for_cascade(checklist(frame, settings), "checklist", judgements, settings)
    write_measure(table, csv, settings.protocol, CHECKLIST, rows)


# Picks the dialogues that show each kind most clearly.


def measure_examples(
    settings: Design,
    judgements: list[Path],
    items: list[Path],
    seeds: list[Path],
    table: Path,
    csv: Path,
) -> None:
    """Writes the table `examples` of a protocol."""
    frame = read_judgements(judgements, EXAMPLES_COLUMNS)
    rows = examples(frame, settings, items)
    write_measure(table, csv, settings.protocol, EXAMPLES, rows)


# Says which places the systems can have, by what is known of every two of them.


class RankSystemsSettings(BaseModel, defer_build=True):
    """Whose differences these are, and with what confidence all places hold together."""

    protocol: str
    confidence: float


def rank_systems(settings: RankSystemsSettings, differences: Path, table: Path, csv: Path) -> None:
    """Writes the table `ranks` of a protocol."""
    compared = read_table(differences, under(settings.protocol, DIFFERENCES)).to_pylist()
    rows = ranks(compared, settings.confidence)
    write_for_people(table, csv, under(settings.protocol, RANKS), to_table(RANKS, rows))


# Rates the models of a plain table of battles.


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
    """Writes the tables `battles/ratings` and `battles/differences`, and says what was read."""
    found = read(battles, **settings.model_dump(exclude={"elo", "random_seed"}))
    ratings, compared = battle_ratings(found, settings.elo, settings.random_seed)
    clusters = f" in {counted(found.n_clusters, 'cluster')}" if settings.cluster else ""
    print(f"{battles}: {counted(len(found), 'battle')}{clusters} between {counted(len(ratings), 'model')}")
    print("".join(f"{noted(count, note)}\n" for note, count in found.notes.items()), end="")
    write_for_people(table, csv, BATTLE_RATINGS, ratings)
    write_for_people(differences, differences_csv, BATTLE_DIFFERENCES, compared)


# Corrects what judges say by people's labels: numbers of systems, and which of these are told apart.


class CorrectSettings(Terms):
    """How numbers are corrected, and the protocols under which people labelled, in the order of the table."""

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
    """Writes the tables `corrected` and `differences`; a protocol under which nobody labelled has no rows.

    Of protocols under which not everything was asked `planned` are the tables `requests`, called as the protocols are.
    """
    plans = {path.stem: read_table(path, REQUESTS, PLAN_COLUMNS).to_pandas() for path in planned}
    said: pd.DataFrame = read_table(labels, LABELS).to_pandas()
    by_judges = read_judgements(judgements, JUDGEMENT_COLUMNS)
    numbers, compared = [], []
    for design in settings.protocols:
        judged = by_judges[by_judges["protocol"] == design.protocol]
        if design.protocol in plans:
            judged = with_planned(judged, plans[design.protocol])
        rows, pairs = corrected_numbers(judged, said, design, settings)
        numbers += rows
        compared += pairs
    write_for_people(table, csv, CORRECTED, to_table(CORRECTED, numbers))
    tests = to_table(LABELS_DIFFERENCES, corrected(compared))
    write_for_people(differences, differences_csv, LABELS_DIFFERENCES, tests)
