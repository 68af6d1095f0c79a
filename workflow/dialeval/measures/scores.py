"""Scores by criterion: means, rates, checklists, and how many dialogues pass for human."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from dialeval.measures.design import (
    Design,
    Row,
    at_lengths,
    by_criterion,
    cases,
    groups,
    item_means,
    lengths_of,
    systems_of,
)
from dialeval.papers.botchat import published_number
from dialeval.protocols.detect import passes
from dialeval.stats.arrays import FloatArray, IntArray
from dialeval.stats.means import mean_interval
from dialeval.stats.rates import pass_rates as rates_by_group
from dialeval.stats.shares import share_interval

# What judges said of each item by criterion: scores, answers with labels, and a checklist's share of yes.

COLUMNS = (
    "judge", "case_id", "corpus", "language", "item_id", "left", "n_utterances", "criterion", "choice", "value",
    "scale_min", "scale_max", "status",
)  # fmt: skip
"""Columns of the table `judgements` that are needed."""
YES, NO = "yes", "no"


class Scores(NamedTuple):
    """Numbers by system and item.

    Attributes:
        value: means over repeats, NaN where none could be read, and where the system has no such item, shape
            [n_systems, n_items].
        asked: whether the system has the item, of the same shape.
        cluster: what items may hang together by, shape [n_items].
    """

    value: FloatArray
    asked: np.ndarray
    cluster: IntArray


def scores_of(judgements: pd.DataFrame, systems: list[str], value: FloatArray) -> Scores:
    """Returns numbers by system and item; systems that met one case have an item in common.

    Args:
        judgements: the judgements of one judge on one criterion.
        systems: who is judged.
        value: what each judgement says, NaN where it could not be read, shape [n].
    """
    code = {system: number for number, system in enumerate(systems)}
    system = np.asarray(judgements["left"].map(code), dtype=np.int64)
    cluster = pd.factorize(cases(judgements))[0].astype(np.int64)
    item = items_of(judgements)
    found, of_items = item_means(value, system, len(systems), item, cluster)
    asked = item_means(np.ones(len(value)), system, len(systems), item, cluster)[0]
    return Scores(found, ~np.isnan(asked), of_items)


def items_of(judgements: pd.DataFrame) -> pd.Series[str]:
    """Returns what two systems may have in common: their case where each has one item on it, else the item.

    Where a system has several items on one case, such as two dialogues in one scenario, they are told apart by their
    order: the first of one system is compared with the first of the other.
    """
    case = cases(judgements)
    of = pd.DataFrame({"system": judgements["left"], "case": case, "item": judgements["item_id"].fillna("")})
    order = of.drop_duplicates().groupby(["system", "case"], sort=False).cumcount()
    number = of.merge(of.drop_duplicates().assign(order=order), how="left")["order"].to_numpy()
    return case + "\x1f" + pd.Series(number.astype(str), index=case.index)


def read_values(judgements: pd.DataFrame) -> FloatArray:
    """Returns the scores, NaN where they could not be read, shape [n]."""
    return np.asarray(judgements["value"].where(judgements["status"] == "ok"), dtype=np.float64)


def labels_of(judgements: pd.DataFrame) -> pd.Series[str]:
    """Returns the answer that each judgement gives, missing where it could not be read.

    It is the judge's choice, or yes or no by the probability of yes.
    """
    choice = judgements["choice"].where(judgements["status"] == "ok")
    of_value = pd.Series(np.where(read_values(judgements) > 0.5, "Yes", "No"), index=judgements.index)
    between = (judgements["scale_min"] == 0.0) & (judgements["scale_max"] == 1.0) & (judgements["status"] == "ok")
    return choice.where(choice.notna() | ~between, of_value)


def is_yes(label: pd.Series[str]) -> FloatArray:
    """Returns 1 for yes, 0 for another answer, NaN where there is none, shape [n]."""
    return np.where(label.isna(), np.nan, label.str.lower() == YES).astype(np.float64)


# Rates: to how many of a system's items a judge gives an answer, such as that a failure is there.


def rates(judgements: pd.DataFrame, design: Design) -> list[Row]:
    """Returns the rows of a table `rates`: a row per answer, of yes and no that of yes.

    Answers that could not be read stay in the denominator.

    Args:
        judgements: the protocol's table `judgements`, with the columns of `scores.COLUMNS`.
        design: the protocol's design.
    """
    systems = systems_of(judgements, design)
    rows = []
    for about, of in groups(judgements, design.of_answers()):
        if of.empty:  # rules, say, judge a part of the criteria
            continue
        label = labels_of(of)
        for name in answers(label):
            found = scores_of(of, systems, given(label, name))
            rows += [
                {**about, "system": system, "label": name, **_rate(found, number, design.confidence)}
                for number, system in enumerate(systems)
            ]
    return rows


def answers(label: pd.Series[str]) -> list[str]:
    """Returns the answers that have a rate: all that were given, of yes and no only yes."""
    found = sorted(label.dropna().unique())
    if {name.lower() for name in found} <= {YES, NO}:
        return ["Yes"]
    return found


def given(label: pd.Series[str], name: str) -> FloatArray:
    """Returns 1 where an answer was given, 0 for others, NaN where none could be read, shape [n]."""
    return np.where(label.isna(), np.nan, label.str.lower() == name.lower()).astype(np.float64)


def _rate(found: Scores, system: int, confidence: float) -> Row:
    asked = found.asked[system]
    value = found.value[system, asked]
    share = share_interval(np.nan_to_num(value), found.cluster[asked], confidence=confidence, reason="no item")
    return {
        "estimate": share.estimate,
        "low": share.low,
        "high": share.high,
        "n": int(asked.sum()),
        "n_unparsed": int(np.isnan(value).sum()),
        **share.behind(),
    }


# Means by criterion: what judges score systems' dialogues at.


def means(judgements: pd.DataFrame, design: Design) -> list[Row]:
    """Returns the rows of a table `means`: the mean score of each system on each criterion.

    Args:
        judgements: the protocol's table `judgements`, with the columns of `scores.COLUMNS`.
        design: the protocol's design.
    """
    systems = systems_of(judgements, design)
    rows = []
    for about, of in groups(judgements, design):
        scale = {name: _first(of[name]) for name in ("scale_min", "scale_max")}
        found = scores_of(of, systems, read_values(of))
        for number, system in enumerate(systems):
            row = mean_row(found, number, design.confidence, _ends(**scale))
            rows.append({**about, "system": system, **row, **scale})
    return rows


def mean_row(found: Scores, system: int, confidence: float, scale: tuple[float, float] | None) -> Row:
    """Returns the mean of one system's items; those without a value are counted."""
    known = ~np.isnan(found.value[system])
    mean = mean_interval(found.value[system, known], found.cluster[known], scale=scale, confidence=confidence)
    return {
        "estimate": mean.estimate,
        "low": mean.low,
        "high": mean.high,
        "n": int(known.sum()),
        "n_missing": int((found.asked[system] & ~known).sum()),
        **mean.behind(),
    }


def _ends(scale_min: float | None, scale_max: float | None) -> tuple[float, float] | None:
    return None if scale_min is None or scale_max is None else (scale_min, scale_max)


def _first(column: pd.Series[float]) -> float | None:
    known = column.dropna()
    return float(known.iloc[0]) if len(known) else None


# Checklists: several yes or no questions about an item, whose share of yes is its score.


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


# Pass rates (BotChat 4.2, Figures 4 and 7): how many of a system's dialogues pass for human.


def pass_rates(judgements: pd.DataFrame, design: Design) -> list[Row]:
    """Returns the rows of a table `pass_rates`: the share of dialogues that pass at each N.

    Intervals are clustered by case, on which a system has one dialogue, or several where it was asked for repeats. A
    dialogue counts at N only if it has N utterances or more. An unparsed verdict stays in the denominator.

    Args:
        judgements: the protocol's table `judgements`, with the columns of `passes.COLUMNS`.
        design: the protocol's design.
    """
    systems = systems_of(judgements, design)
    rows = []
    for about, of in by_criterion(judgements, design):
        for n in lengths_of(design):
            for row in _rates(*long_enough(of, n), systems, design.confidence):
                published = published_number(design.protocol, "pass_rates", row["system"], n)
                rows.append({**about, "n_utterances": n, **row, "published": published})
    return rows


def pass_rates_at_gt_length(judgements: pd.DataFrame, design: Design, human_lengths: dict[str, int]) -> list[Row]:
    """Returns the rows of a table `pass_rates_at_gt_length`: a dialogue passes if no AI utterance is seen within the
    length of the human dialogue of its case (Figure 7).

    Args:
        judgements: the protocol's table `judgements`, with the columns of `passes.COLUMNS`.
        design: the protocol's design.
        human_lengths: cases with a human dialogue that is long enough -> number of its utterances.
    """
    systems = systems_of(judgements, design)
    return [
        {**about, **row}
        for about, of in by_criterion(judgements, design)
        for row in _rates(*at_human_length(of, human_lengths), systems, design.confidence)
    ]


def _rates(judgements: pd.DataFrame, limits: pd.Series[int], systems: Sequence[str], confidence: float) -> list[Row]:
    """Returns pass rates by system; `limits` is the N of each judgement."""
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
            "low": rates.rate.low[number],
            "high": rates.rate.high[number],
            "n": int(rates.n[number]),
            "n_unparsed": int(rates.unparsed[number]),
            **rates.rate.behind(number),
        }
        for number, system in enumerate(systems)
    ]


# Who passes for human: what a judge that looks for an AI says of a dialogue, at a length.

PASS_COLUMNS = (
    "judge", "case_id", "item_id", "left", "n_utterances", "criterion", "choice", "place", "status"
)  # fmt: skip
"""Columns of the table `judgements` that pass rates are made of."""


def passed(judgements: pd.DataFrame, limits: pd.Series[int]) -> FloatArray:
    """Returns 1 where a dialogue passes, 0 where not, NaN where the verdict could not be read, shape [n].

    Args:
        judgements: table `judgements`.
        limits: the N of each judgement.
    """
    return np.array(
        [
            float(passes(choice, None if pd.isna(place) else int(place), int(limit))) if status == "ok" else np.nan
            for choice, place, status, limit in zip(
                judgements["choice"], judgements["place"], judgements["status"], limits, strict=True
            )
        ],
        dtype=np.float64,
    )


def long_enough(judgements: pd.DataFrame, n: int | None) -> tuple[pd.DataFrame, pd.Series[int]]:
    """Returns the judgements of dialogues that have N utterances or more, all for None, and the N of each."""
    if n is None:
        return judgements, judgements["n_utterances"]
    chosen = judgements[judgements["n_utterances"] >= n]
    return chosen, pd.Series(n, index=chosen.index)


def at_human_length(judgements: pd.DataFrame, human_lengths: dict[str, int]) -> tuple[pd.DataFrame, pd.Series[int]]:
    """Returns the judgements on cases that have a human dialogue, and the length of that."""
    chosen = judgements[judgements["case_id"].isin(list(human_lengths))]
    return chosen, chosen["case_id"].map(human_lengths)
