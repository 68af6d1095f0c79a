"""Ratings of systems that were shown in pairs (BotChat 4.2, Table 2): Bootstrap Elo, Bradley-Terry and Davidson."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from dialeval.aggregation.differences import corrected
from dialeval.aggregation.measures.design import Design
from dialeval.aggregation.measures.grouping import Row, groups, systems_of
from dialeval.aggregation.pairwise import comparisons
from dialeval.aggregation.ratings import Rated, rate, rating_differences, rating_rows
from dialeval.aggregation.words import Words, words_shown
from dialeval.published.botchat import published_number
from dialeval.schemas.differences import scope

COLUMNS = ("judge", "case_id", "item_id", "left", "right", "n_utterances", "criterion", "outcome", "status")
"""Columns of the table `judgements` that ratings and win rates are made of."""


class Ratings(NamedTuple):
    """Rows of a table `ratings`, best first in each group, and those of the table `differences` that are of them."""

    ratings: list[Row]
    differences: list[Row]


def ratings(judgements: pd.DataFrame, design: Design, words: Words) -> Ratings:
    """Rates the systems of each group, and compares every two ratings.

    Bradley-Terry stands there twice: plain, and with length and place held fixed, where lengths are known. Intervals
    are percentile intervals over resampled cases, those of the latter from a covariance that is robust to dependence
    within a case. Verdicts that could not be read rate nobody; their number stands beside.

    Args:
        judgements: the protocol's table `judgements`, with the columns of `COLUMNS`.
        design: the protocol's design.
        words: lengths of the dialogues, for the ratings that hold length fixed.
    """
    systems = sorted(players(judgements, design))  # so that no number depends on how a list of them is ordered
    rows: list[Row] = []
    differences: list[Row] = []
    for about, of in groups(judgements, design):
        found = _rated(of, systems, design, words)
        for row in rating_rows(found, systems):
            system, elo, n = row.pop("model"), row.pop("elo"), row.pop("n_comparisons")
            published = published_number(design.protocol, "ratings", system, about["n_utterances"])
            rows.append({**about, "system": system, "estimate": elo, "n": n, **row, "published": published})
        differences += rating_differences(found, systems, "ratings", scope(about), about["judge"])
    return Ratings(rows, corrected(differences))


def players(judgements: pd.DataFrame, design: Design) -> list[str]:
    """Returns who is rated: whoever is shown, the one beside whom all are shown included, last."""
    return [*systems_of(judgements, design), *([design.reference] if design.reference else [])]


def _rated(judgements: pd.DataFrame, systems: list[str], design: Design, words: Words) -> Rated:
    """Returns the ratings of one group's comparisons by every method."""
    with np.errstate(invalid="ignore"):
        log_ratio = np.log(words_shown(judgements, "left", words) / words_shown(judgements, "right", words))
    known = None if np.isnan(log_ratio).any() else log_ratio
    games = comparisons(judgements, systems)
    return rate(games, len(systems), design.elo, design.random_seed, known, equal_pairs=design.equal_pairs)
