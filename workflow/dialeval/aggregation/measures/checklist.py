"""Checklists: several yes or no questions about an item, whose share of yes is its score."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from dialeval.aggregation.measures.design import Design
from dialeval.aggregation.measures.grouping import Row, at_lengths, systems_of
from dialeval.aggregation.measures.means import mean_row
from dialeval.aggregation.measures.scores import Scores, is_yes, labels_of, scores_of


def checklist(judgements: pd.DataFrame, design: Design) -> list[Row]:
    """Returns the rows of a table `checklist`: the mean share of yes by system.

    An item with an answer that could not be read, to any of the questions, has no score and is counted as missing: a
    share of the others would rest on other questions than everybody else's.

    Args:
        judgements: the protocol's table `judgements`, with the columns of `scores.COLUMNS`.
        design: the protocol's design.
    """
    systems = systems_of(judgements, design)
    return [
        {**about, "system": system, **mean_row(found, number, design.confidence, (0.0, 1.0)), "n_criteria": n_criteria}
        for about, found, n_criteria in listed(judgements, design, systems)
        for number, system in enumerate(systems)
    ]


def listed(judgements: pd.DataFrame, design: Design, systems: list[str]) -> Iterator[tuple[Row, Scores, int]]:
    """Yields each judge's shares of yes at each length, and how many questions they are of."""
    criteria = list(judgements["criterion"].dropna().unique())
    for judge in design.of_answers().judges:
        for length, of in at_lengths(judgements[judgements["judge"] == judge], design):
            yield {"judge": judge, **length}, _shares(of, systems, criteria), len(criteria)


def _shares(judgements: pd.DataFrame, systems: list[str], criteria: list[str]) -> Scores:
    """Returns the share of yes by system and item, NaN where an answer is missing.

    Items are numbered alike for every question; a question that was not asked about an item is an answer that is
    missing.
    """
    yes = is_yes(labels_of(judgements))
    found = scores_of(judgements, systems, np.ones(len(yes)))
    parts = []
    for criterion in criteria:
        of_criterion = (judgements["criterion"] == criterion).to_numpy()
        parts.append(scores_of(judgements, systems, np.where(of_criterion, yes, np.nan)).value)
    share = np.mean(parts, axis=0) if parts else found.value
    return Scores(share, found.asked, found.cluster)
