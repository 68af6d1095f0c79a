"""UniEval's pass rates (BotChat 4.2, Figures 4 and 7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from dialeval.forms.detect import passes
from dialeval.published.botchat import published_value
from dialeval.schemas.botchat import UNIEVAL_AT_GT_LENGTH, UNIEVAL_PASS_RATES
from dialeval.stats.rates import pass_rates
from dialeval.tables import HUMAN, to_table


def unieval_pass_rates(
    verdicts: pd.DataFrame, judges: Sequence[str], models: Sequence[str], lengths: Sequence[int]
) -> pa.Table:
    """Returns the table `botchat/unieval_pass_rates`: the share of dialogues that pass at each N.

    Intervals are clustered by seed, on which a model has one dialogue, or several where it was asked for repeats.

    A dialogue counts at N only if it has N utterances or more, which for people thins out with N. An unparsed verdict
    stays in the denominator.

    Args:
        verdicts: table `judgements` of UniEval.
        judges: the judges, in the order of the table.
        models: the chatbots, in the order of the table; people are put first.
        lengths: the N.
    """
    rows: list[dict[str, Any]] = []
    for judge in judges:
        of_judge = verdicts[verdicts["judge"] == judge]
        for n in lengths:
            long_enough = of_judge[of_judge["n_utterances"] >= n]
            limits = pd.Series(n, index=long_enough.index)
            for row in _rates(long_enough, limits, models):
                column = f"unieval_n{n}"
                published = published_value(row["model"], column) if n in (8, 16) else None
                rows.append({"judge": judge, "n": n, **row, "published_pass_rate": published})
    return to_table(UNIEVAL_PASS_RATES, rows)


def unieval_at_gt_length(
    verdicts: pd.DataFrame, judges: Sequence[str], models: Sequence[str], human_lengths: Mapping[str, int]
) -> pa.Table:
    """Returns the table `botchat/unieval_at_gt_length`: a dialogue passes if no AI utterance is seen within the length
    of the human dialogue on its seed (Figure 7).

    Args:
        verdicts: table `judgements` of UniEval.
        judges: the judges.
        models: the chatbots.
        human_lengths: seeds that serve GTEval -> number of human utterances.
    """
    rows: list[dict[str, Any]] = []
    for judge in judges:
        of_judge = verdicts[verdicts["judge"] == judge]
        with_length = of_judge[of_judge["case_id"].isin(list(human_lengths))]
        limits = with_length["case_id"].map(human_lengths)
        rows += [{"judge": judge, **row} for row in _rates(with_length, limits, models)]
    return to_table(UNIEVAL_AT_GT_LENGTH, rows)


def passed(verdicts: pd.DataFrame, limits: pd.Series[int]) -> NDArray[np.float64]:
    """Returns 1 where a dialogue passes, 0 where not, NaN where the verdict could not be read, shape [n].

    Args:
        verdicts: table `judgements` of UniEval.
        limits: the N of each verdict.
    """
    return np.array(
        [
            float(passes(choice, None if pd.isna(index) else int(index), int(limit))) if status == "ok" else np.nan
            for choice, index, status, limit in zip(
                verdicts["choice"], verdicts["place"], verdicts["status"], limits, strict=True
            )
        ],
        dtype=np.float64,
    )


def _rates(verdicts: pd.DataFrame, limits: pd.Series[int], models: Sequence[str]) -> list[dict[str, Any]]:
    """Returns pass rates by model; `limits` is the N of each verdict."""
    groups = [HUMAN, *models]
    code = {model: number for number, model in enumerate(groups)}
    rates = pass_rates(
        passed(verdicts, limits),
        [code[model] for model in verdicts["left"]],
        len(groups),
        cluster=pd.factorize(verdicts["case_id"])[0],
    )
    return [
        {
            "model": model,
            "pass_rate": rates.rate.estimate[number],
            "low": rates.rate.low[number],
            "high": rates.rate.high[number],
            "n_dialogues": int(rates.n[number]),
            "n_unparsed": int(rates.unparsed[number]),
            **rates.rate.behind(number),
        }
        for number, model in enumerate(groups)
    ]
