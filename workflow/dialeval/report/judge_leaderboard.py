"""Leaderboards of judges: how well each agrees with the ratings, dimension by dimension."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dialeval.figures.metaeval_names import (
    ALL,
    AVERAGE,
    averaged_groups,
    deciding_dimension,
    dimension_order,
    main_dimension,
    main_language,
    scorer_names,
    shown_dimension,
)
from dialeval.report.board import (
    Board,
    Measure,
    Value,
    is_missing,
    listed,
    of_ratings,
    ordered_board,
    write_interval,
    write_number,
)
from dialeval.report.html_tables import EMBEDDED
from dialeval.report.inputs import METAEVAL, ReportInputs
from dialeval.report.summary import Leaderboard, Summary, mean_of, memorized
from dialeval.tables.files import empty_table
from dialeval.tables.metaeval import AVERAGES, CEILINGS, CORRELATIONS, JUDGE_PAIRS, REPEAT_AGREEMENT

if TYPE_CHECKING:
    import pandas as pd

_TAG_OF_METHOD = {"annotation": "came with the corpus", "file": "ready scores"}
ENSEMBLE = "ensemble"
ALPHA = 0.05
PEARSON = "Numbers are Pearson’s r of the judge’s scores with the ratings."
_AGREES = {
    "human": "agrees best with human ratings",
    "full": "agrees best with the ratings (a model's where no human rated)",
    "construction": "agrees best with the severity of perturbations",
}


def judge_boards(inputs: ReportInputs) -> tuple[Leaderboard, ...]:
    """Return a leaderboard for each benchmark and level, by human ratings and, if there are more, by all ratings."""
    averages, correlations = (
        inputs.tables.get(kind.name, empty_table(kind)).to_pandas() for kind in (AVERAGES, CORRELATIONS)
    )
    groups = averaged_groups(averages, correlations, also_full=True)
    boards, levels_with_repeats = [], set()
    for title, rows in groups:
        level = rows["level"].iloc[0]
        repeats = () if level in levels_with_repeats else repeat_sentence(inputs, level)
        boards.append(_judge_board(inputs, title, rows.assign(row=scorer_names(rows)), repeats))
        levels_with_repeats.add(level)
    return tuple(boards)


def judge_tags(inputs: ReportInputs, judge: str, method: str) -> tuple[str, ...]:
    """Return the type of a judge, if it is not a language model."""
    if method in _TAG_OF_METHOD:
        return (_TAG_OF_METHOD[method],)
    if judge in inputs.ensembles:
        return (ENSEMBLE,)
    if judge in inputs.baselines:
        return ("baseline",)
    return (EMBEDDED,) if judge in inputs.embedded else ()


def _judge_board(inputs: ReportInputs, title: str, rows: pd.DataFrame, repeats: tuple[str, ...]) -> Leaderboard:
    dimensions = dimension_order(rows["dimension"])
    deciding = deciding_dimension(dimensions)
    measures = [
        Measure(
            shown_dimension(name),
            "correlation",
            name == deciding,
            _values(rows[rows["dimension"] == name]),
            words=PEARSON,
        )
        for name in dimensions
    ]
    board = ordered_board(None, measures, dimensions.index(deciding))
    tags = {
        row: judge_tags(inputs, judge, method)
        for row, judge, method in zip(rows["row"], rows["judge"], rows["method"], strict=True)
    }
    ensembles = sorted({judge for judge in rows["judge"] if judge in inputs.ensembles})
    pairs = inputs.tables.get(JUDGE_PAIRS.name, empty_table(JUDGE_PAIRS)).to_pandas()
    summary = _summary(board, tags, rows, pairs)
    means = tuple(mean_of(judge, inputs.ensembles[judge]) for judge in ensembles)
    by_people = "benchmark" in rows and rows["raters"].iloc[0] == "human"
    ceilings = ceiling_sentence(inputs, rows["benchmark"].iloc[0], rows["level"].iloc[0]) if by_people else ()
    summary = replace(summary, basis=(*summary.basis, *ceilings, *repeats, *means, *memorized(inputs, rows["judge"])))
    return Leaderboard(METAEVAL, title, "Judge", board, summary, tags)


def _values(rows: pd.DataFrame) -> dict[str, Value]:
    known = rows.astype(object).where(rows.notna(), None)
    return {
        row["row"]: Value(
            row["pearson"],
            row["pearson_ci_low"],
            row["pearson_ci_high"],
            row["published_pearson"],
            note=row["reason"] or "",
            cases=of_ratings({str(name): value for name, value in row.items()}),
        )
        for row in known.to_dict("records")
    }


def _summary(board: Board, tags: Mapping[str, tuple[str, ...]], rows: pd.DataFrame, pairs: pd.DataFrame) -> Summary:
    """Return the judge that agrees best, the test against the second, and the types of judges.

    Args:
        board: the leaderboard.
        tags: types of the judges.
        rows: the correlations that it shows.
        pairs: the table `metaeval/judge_pairs`.
    """
    measure, ranked = board.primary, list(board.numbers)
    if measure is None or not ranked:
        return Summary("No judge has a correlation here.", ())
    first, leading = ranked[0], measure.values[ranked[0]]
    number = measure.written(first)
    answer = f"{first} {_AGREES[rows['raters'].iloc[0]]}: r = {number} on {measure.label}."
    if leading.ci_low is not None and leading.ci_low <= 0:
        interval = write_interval(leading.ci_low, leading.ci_high, "correlation")
        answer = (
            f"No judge clearly agrees with the ratings: {first} is first with r = {number} ({interval}) on "
            f"{measure.label}."
        )
    basis = []
    if len(ranked) > 1:
        basis.append(_compared(first, ranked[1], _tests(pairs, rows)))
    n = sorted({int(count) for count in rows[~rows["dimension"].isin([ALL, AVERAGE])]["n_averaged"]})
    if n[-1] > 1:
        counts = f"{n[0]} to {n[-1]}" if len(n) > 1 else f"{n[0]}"
        basis.append(f"Each number is the mean of {counts} correlations.")
    return Summary(answer, (*basis, PEARSON, *_model_types(board, tags)))


def _tests(pairs: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """Return the paired tests of judges on the corpora and dimensions that a leaderboard averages."""
    shown = rows.iloc[0]
    where = "corpus" if "corpus" in rows else "benchmark"
    of = pairs[(pairs["level"] == shown["level"]) & (pairs[where] == shown[where]) & pairs["p_holm"].notna()]
    if shown["language"] != AVERAGE:
        of = of[of["language"] == shown["language"]]
    cells = [tuple(row) for row in of[["corpus", "language", "dimension"]].to_numpy()]
    by_people = {cell for cell, kind in zip(cells, of["rater_kind"], strict=True) if kind == "human"}
    full = shown["raters"] == "full"  # a model's ratings where there are no people's
    kept = [
        kind == "human" or cell not in by_people if full else kind == shown["raters"]
        for cell, kind in zip(cells, of["rater_kind"], strict=True)
    ]
    found: pd.DataFrame = of.iloc[np.flatnonzero(kept)]
    return found


def _compared(first: str, second: str, tests: pd.DataFrame) -> str:
    """Return whether the first judge of a leaderboard is shown to agree better than the second."""
    one = tests["judge"].str.cat(tests["method"].map(" ({})".format))
    other = tests["other_judge"].str.cat(tests["other_method"].map(" ({})".format))
    straight, reversed_ = (one == first) & (other == second), (one == second) & (other == first)
    ahead = tests["difference"].where(straight, -tests["difference"])[straight | reversed_]
    settled = tests["p_holm"][straight | reversed_] <= ALPHA
    if not len(ahead):
        return f"No paired test compares {first} and {second}, so their order is not settled."
    better, worse = int((settled & (ahead > 0)).sum()), int((settled & (ahead < 0)).sum())
    if len(ahead) == better:
        where = f" on each of {len(ahead)} pairs of corpus and dimension" if better > 1 else ""
        return f"{first} agrees significantly better than {second}{where} (paired test, Holm)."
    if not better and not worse:
        where = f" on any of {len(ahead)} pairs of corpus and dimension" if len(ahead) > 1 else ""
        return f"{first} and {second} do not differ significantly{where} (paired test, Holm)."
    return (
        f"Paired tests (Holm) on {len(ahead)} pairs of corpus and dimension: {first} agrees significantly better than "
        f"{second} on {better} and significantly worse on {worse}. On {len(ahead) - better - worse}, they do not "
        "differ significantly."
    )


def _model_types(board: Board, tags: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Return sentences that explain embedded judges and baselines, if there are any."""
    sentences = []
    embedded = [judge for judge in board.models if EMBEDDED in tags[judge]]
    baselines = [judge for judge in board.models if "baseline" in tags[judge]]
    if embedded:
        are = "is an embedded model" if len(embedded) == 1 else "are embedded models"
        sentences.append(
            f"{listed(embedded)} {are}, trained without ratings: baselines. The results do not apply to language "
            "models."
        )
    if baselines:
        are = "is a baseline that does" if len(baselines) == 1 else "are baselines that do"
        sentences.append(f"{listed(baselines)} {are} not read the text for meaning: a useful judge exceeds them.")
    return sentences


# The ceiling of a judge's correlation, for a leaderboard of judges.

MOST_CORPORA = 3
"""Corpora that are named; the table has all."""


def ceiling_sentence(inputs: ReportInputs, benchmark: str, level: str) -> tuple[str, ...]:
    """Return a sentence on the ceilings of a benchmark; empty if none is known.

    Of each corpus it is the ceiling on overall, or else on the first dimension, in one language, on the most items.
    """
    table = inputs.tables.get(CEILINGS.name)
    if table is None:
        return ()
    rows = table.to_pandas()
    rows = rows[(rows["benchmark"] == benchmark) & (rows["level"] == level) & (rows["rater_kind"] == "human")]
    rows = rows[rows["ceiling"].notna()]
    found = [_of_corpus(corpus, of_corpus) for corpus, of_corpus in rows.groupby("corpus")]
    if not found:
        return ()
    more = f", and {len(found) - MOST_CORPORA} more corpora have one" if len(found) > MOST_CORPORA else ""
    where = listed(found[:MOST_CORPORA])
    return (f"Raters differ, so no judge can be expected to agree with them beyond {where}{more}.",)


def _of_corpus(corpus: str, rows: pd.DataFrame) -> str:
    dimension = main_dimension(rows["dimension"])
    rows = rows[(rows["dimension"] == dimension) & (rows["language"] == main_language(rows["language"]))]
    row = rows.sort_values(["n", "judge", "method"], ascending=[False, True, True]).iloc[0]
    low, high = row["ceiling_ci_low"], row["ceiling_ci_high"]
    interval = "" if is_missing(low) else f" ({write_interval(low, high, 'correlation')})"
    return f"{write_number(row['ceiling'], 'correlation')}{interval} on {dimension} of {corpus}"


# Agreement of judges with themselves, for a leaderboard of judges.

MOST_JUDGES = 3
"""Judges that are named; the table has all."""
_THE_SAME = 0.9995  # the same each time, as it is written


def repeat_sentence(inputs: ReportInputs, level: str) -> tuple[str, ...]:
    """Return a sentence on judges' agreement with themselves at a level; empty without repeats."""
    table = inputs.tables.get(REPEAT_AGREEMENT.name)
    if table is None:
        return ()
    rows = table.to_pandas()
    rows = rows[(rows["level"] == level) & rows["pairwise_pearson"].notna()]
    found = [_of_judge(judge, method, of_judge) for (judge, method), of_judge in rows.groupby(["judge", "method"])]
    if not found:
        return ()
    more = f", and the table has {len(found) - MOST_JUDGES} more" if len(found) > MOST_JUDGES else ""
    words = "Over repeats, judges agree with themselves by a mean correlation of"
    return (f"{words} {listed(found[:MOST_JUDGES])}{more}.",)


def _of_judge(judge: str, method: str, rows: pd.DataFrame) -> str:
    values = rows["pairwise_pearson"]
    lowest = rows.sort_values("pairwise_pearson").iloc[0]
    mean = f"{write_number(float(values.mean()), 'correlation')} for {judge} ({method})"
    if len(rows) == 1 or values.min() > _THE_SAME:
        return mean
    return (
        f"{mean}, lowest on {lowest['dimension']} of {lowest['corpus']} "
        f"({write_number(float(lowest['pairwise_pearson']), 'correlation')})"
    )
