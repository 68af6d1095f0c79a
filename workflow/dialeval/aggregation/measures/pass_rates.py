"""Pass rates (BotChat 4.2, Figures 4 and 7): how many of a system's dialogues pass for human."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from dialeval.aggregation.measures.design import Design
from dialeval.aggregation.measures.grouping import Row, by_criterion, lengths_of, systems_of
from dialeval.aggregation.measures.passes import at_human_length, long_enough, passed
from dialeval.aggregation.pairwise import cases
from dialeval.published.botchat import published_number
from dialeval.stats.rates import pass_rates as rates_by_group


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
