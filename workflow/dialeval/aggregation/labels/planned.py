"""What a judge was not asked of a plan: comparisons in rounds end where a pair is settled."""

from __future__ import annotations

import pandas as pd

PLAN_COLUMNS = ("request_id", "corpus", "item_id", "case_id", "left", "right", "n_utterances", "part", "repeat")
"""Columns of the table `requests` that are needed."""


def with_unasked(judgements: pd.DataFrame, planned: pd.DataFrame) -> pd.DataFrame:
    """Returns the judgements under a protocol, with a row without an answer for all that a judge was not asked.

    What people say of it counts as drawn from the whole plan, of which the judge's scores are then a part that was not
    chosen at random.

    Args:
        judgements: table `judgements` of one protocol, of all judges.
        planned: the protocol's table `requests`, with the columns of `PLAN_COLUMNS`.
    """
    plan = planned.rename(columns={"part": "criterion"}).assign(status="not_asked")
    parts = [judgements]
    for (judge, protocol), rows in judgements.groupby(["judge", "protocol"], sort=False):
        unasked = plan[~plan["request_id"].isin(rows["request_id"])]
        parts.append(unasked.assign(judge=str(judge), protocol=str(protocol)).reindex(columns=judgements.columns))
    return pd.concat([part for part in parts if len(part)], ignore_index=True) if len(judgements) else judgements
