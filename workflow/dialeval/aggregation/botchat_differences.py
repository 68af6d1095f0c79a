"""Is one chatbot better than another? Paired differences of UniEval, GTEval and Arena, seed by seed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from dialeval.aggregation.differences import Row, about, mean_rows
from dialeval.aggregation.pairwise import Comparisons, comparisons
from dialeval.aggregation.unieval import passed
from dialeval.stats.arrays import FloatArray, IntArray
from dialeval.stats.differences import mean_differences, paired_differences
from dialeval.tables import HUMAN

HEAD_TO_HEAD = "head_to_head"


def unieval_differences(
    verdicts: pd.DataFrame,
    judges: Sequence[str],
    models: Sequence[str],
    lengths: Sequence[int],
    human_lengths: Mapping[str, int],
) -> Iterator[Row]:
    """Yields the differences of UniEval's pass rates, at every N and at the length of the human dialogue.

    Pairs are compared on the seeds on which both dialogues are long enough; people are among them.

    Args:
        verdicts: table `judgements` of UniEval.
        judges: the judges, in the order of the table.
        models: the chatbots, in the order of the table.
        lengths: the N.
        human_lengths: seeds that serve GTEval -> number of human utterances.
    """
    systems = [HUMAN, *models]
    for judge in judges:
        of_judge = verdicts[verdicts["judge"] == judge]
        for n in lengths:
            long_enough = of_judge[of_judge["n_utterances"] >= n]
            shared = about("unieval_pass_rates", "pass_rate", f"N = {n}", judge)
            yield from _passes(long_enough, pd.Series(n, index=long_enough.index), systems, shared)
        with_length = of_judge[of_judge["case_id"].isin(list(human_lengths))]
        shared = about("unieval_at_gt_length", "pass_rate", "human length", judge)
        yield from _passes(with_length, with_length["case_id"].map(human_lengths), systems, shared)


def gteval_differences(verdicts: pd.DataFrame, judges: Sequence[str], models: Sequence[str]) -> Iterator[Row]:
    """Yields the differences of GTEval's win-or-tie rates, on the seeds and orders that both models have.

    Args:
        verdicts: table `judgements` of GTEval.
        judges: the judges, in the order of the table.
        models: the chatbots, in the order of the table.
    """
    for judge in judges:
        of_judge = verdicts[verdicts["judge"] == judge]
        games = comparisons(of_judge, [*models, HUMAN])
        first = games.left < len(models)
        outcome = np.where(first, games.outcome, 1.0 - games.outcome)
        held = np.where(np.isnan(outcome), 0.0, outcome >= 0.5)
        model = np.where(first, games.left, games.right)
        values, cluster = _by_item(held, model, len(models), 2 * games.cluster + first, games.cluster)
        yield from mean_rows(
            paired_differences(values, cluster), models, about("gteval", "win_or_tie", "human length", judge)
        )


def arena_differences(
    verdicts: pd.DataFrame, judges: Sequence[str], models: Sequence[str], lengths: Sequence[int]
) -> Iterator[Row]:
    """Yields, for every two models that met, the share of their comparisons that the first wins less that it loses.

    Args:
        verdicts: table `judgements` of Arena.
        judges: the judges, in the order of the table.
        models: the chatbots, in the order of the table.
        lengths: the N that dialogues were cut to.
    """
    for judge in judges:
        of_judge = verdicts[verdicts["judge"] == judge]
        for n in lengths:
            games = comparisons(of_judge[of_judge["n_utterances"] == n], models)
            yield from head_to_head(games, models, about("arena_win_rates", HEAD_TO_HEAD, f"N = {n}", judge))


def head_to_head(games: Comparisons, models: Sequence[str], shared: Row) -> list[Row]:
    """Returns a row per two models that met; a verdict that could not be read is won by neither."""
    swapped = games.left > games.right
    first, second = np.minimum(games.left, games.right), np.maximum(games.left, games.right)
    outcome = np.where(swapped, 1.0 - games.outcome, games.outcome)
    met, pair = np.unique(first * len(models) + second, return_inverse=True)
    found = mean_differences(
        (outcome == 1.0).astype(np.float64),
        (outcome == 0.0).astype(np.float64),
        pair,
        met // max(len(models), 1),
        met % max(len(models), 1),
        games.cluster,
    )
    return mean_rows(found, models, shared)


def _passes(verdicts: pd.DataFrame, limits: pd.Series[int], systems: Sequence[str], shared: Row) -> list[Row]:
    """Returns the differences of pass rates; `limits` is the N of each verdict."""
    code = {model: number for number, model in enumerate(systems)}
    seed = pd.factorize(verdicts["case_id"])[0].astype(np.int64)
    held = np.nan_to_num(passed(verdicts, limits))  # what could not be read does not pass
    system = np.array([code[model] for model in verdicts["left"]], dtype=np.int64)
    values, cluster = _by_item(held, system, len(systems), seed, seed)
    return mean_rows(paired_differences(values, cluster), systems, shared)


def _by_item(
    value: FloatArray, system: IntArray, n_systems: int, item: IntArray, cluster: IntArray
) -> tuple[FloatArray, IntArray]:
    """Values by system and item, means where one was asked again, shape [n_systems, n_items], and items' clusters."""
    _, first_row, code = np.unique(item, return_index=True, return_inverse=True)
    n_items = len(first_row)
    cell = system * n_items + code
    size = n_systems * n_items
    count = np.bincount(cell, minlength=size)
    total = np.bincount(cell, value, minlength=size)
    mean = np.divide(total, count, out=np.full(size, np.nan), where=count > 0)
    return mean.reshape(n_systems, n_items), cluster[first_row]
