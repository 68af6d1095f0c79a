"""Tables of means, rates, checklists and pass rates: estimates of each system, by judge, criterion and length."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from dialeval.measures.design import Design, Row, by_criterion, cases, lengths_of, systems_of
from dialeval.measures.item_values import (
    ItemValues,
    at_human_length,
    item_values,
    long_enough,
    passed,
)
from dialeval.papers.botchat import published_number
from dialeval.stats.clustered import clustered_mean, clustered_proportion
from dialeval.stats.rates import pass_rates as rates_by_group

COLUMNS = (
    "judge", "case_id", "corpus", "language", "item_id", "left", "n_utterances", "criterion", "choice", "value",
    "scale_min", "scale_max", "status",
)  # fmt: skip
"""Columns of the table `judgements` that means, rates and checklists need."""
PASS_COLUMNS = (
    "judge", "case_id", "item_id", "left", "n_utterances", "criterion", "choice", "place", "status"
)  # fmt: skip
"""Columns of the table `judgements` that pass rates need."""


def means(judgements: pd.DataFrame, design: Design) -> list[Row]:
    """Return the rows of a table `means`: the mean score of each system on each criterion.

    Args:
        judgements: the protocol's table `judgements`, with the columns of `COLUMNS`.
        design: the protocol's design.
    """
    rows = []
    for found in item_values("means", judgements, design, {}):
        low, high = found.columns["scale_min"], found.columns["scale_max"]
        scale = None if low is None or high is None else (low, high)
        rows += _rows(found, systems_of(judgements, design), design.confidence, scale)
    return rows


def checklist(judgements: pd.DataFrame, design: Design) -> list[Row]:
    """Return the rows of a table `checklist`: the mean share of yes by system.

    An item with an unparsed answer to any question has no share and counts as missing: a share of the other questions
    is not comparable.

    Args:
        judgements: the protocol's table `judgements`, with the columns of `COLUMNS`.
        design: the protocol's design.
    """
    systems = systems_of(judgements, design)
    return [
        row
        for found in item_values("checklist", judgements, design, {})
        for row in _rows(found, systems, design.confidence, (0.0, 1.0))
    ]


def rates(judgements: pd.DataFrame, design: Design) -> list[Row]:
    """Return the rows of a table `rates`: for each answer the proportion of items with it, of yes and no that of yes.

    Unparsed items stay in the denominator.

    Args:
        judgements: the protocol's table `judgements`, with the columns of `COLUMNS`.
        design: the protocol's design.
    """
    systems = systems_of(judgements, design)
    return [
        row
        for found in item_values("rates", judgements, design, {})
        for row in _rows(found, systems, design.confidence)
    ]


def _rows(
    found: ItemValues, systems: Sequence[str], confidence: float, scale: tuple[float, float] | None = None
) -> list[Row]:
    """Return a row for each system: the mean of its scores, or the proportion of its items."""
    rows = []
    for system, value, has_item in zip(systems, found.value, found.has_item, strict=True):
        known = ~np.isnan(value)
        n_missing = int((has_item & ~known).sum())
        if found.is_score:
            estimate = clustered_mean(value[known], found.cluster[known], scale=scale, confidence=confidence)
            n: Row = {"n": int(known.sum()), "n_missing": n_missing}
        else:
            successes, cluster = np.nan_to_num(value[has_item]), found.cluster[has_item]
            estimate = clustered_proportion(successes, cluster, confidence=confidence, note="no item")
            n = {"n": int(has_item.sum()), "n_unparsed": n_missing}
        limits = {"estimate": estimate.estimate, "low": estimate.ci_low, "high": estimate.ci_high}
        rows.append({**found.group, "system": system, **limits, **n, **estimate.columns(), **found.columns})
    return rows


def pass_rates(judgements: pd.DataFrame, design: Design) -> list[Row]:
    """Return the rows of a table `pass_rates`: the share of dialogues that pass at each N (BotChat, Figure 4).

    Intervals are clustered by case, on which a system has one dialogue, or several repeats. A dialogue counts at N only
    if it has N utterances or more. An unparsed verdict stays in the denominator.

    Args:
        judgements: the protocol's table `judgements`, with the columns of `PASS_COLUMNS`.
        design: the protocol's design.
    """
    systems = systems_of(judgements, design)
    rows = []
    for about, of_criterion in by_criterion(judgements, design):
        for n in lengths_of(design):
            for row in _pass_rows(*long_enough(of_criterion, n), systems, design.confidence):
                published = published_number(design.protocol, "pass_rates", row["system"], n)
                rows.append({**about, "n_utterances": n, **row, "published": published})
    return rows


def pass_rates_at_gt_length(judgements: pd.DataFrame, design: Design, human_lengths: dict[str, int]) -> list[Row]:
    """Return the rows of a table `pass_rates_at_gt_length`: the share of dialogues that pass at human length.

    A dialogue passes if no AI utterance is seen within the length of the human dialogue of its case (BotChat, Figure
    7).

    Args:
        judgements: the protocol's table `judgements`, with the columns of `PASS_COLUMNS`.
        design: the protocol's design.
        human_lengths: number of utterances of the human dialogue of each case that has a long enough one.
    """
    systems = systems_of(judgements, design)
    return [
        {**about, **row}
        for about, of_criterion in by_criterion(judgements, design)
        for row in _pass_rows(*at_human_length(of_criterion, human_lengths), systems, design.confidence)
    ]


def _pass_rows(
    judgements: pd.DataFrame, limits: pd.Series[int], systems: Sequence[str], confidence: float
) -> list[Row]:
    """Return a row of pass rates for each system; `limits` is the N of each judgement."""
    code = {system: number for number, system in enumerate(systems)}
    rates = rates_by_group(
        passed(judgements, limits),
        [code[system] for system in judgements["left"]],
        len(systems),
        cluster=pd.factorize(cases(judgements))[0],
        confidence=confidence,
    )
    return [
        {
            "system": system,
            "estimate": rates.rate.estimate[number],
            "low": rates.rate.ci_low[number],
            "high": rates.rate.ci_high[number],
            "n": int(rates.n[number]),
            "n_unparsed": int(rates.unparsed[number]),
            **rates.rate.columns(number),
        }
        for number, system in enumerate(systems)
    ]
