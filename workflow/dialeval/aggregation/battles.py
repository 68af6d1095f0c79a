"""Ratings of anyone's battles, by the methods of Arena."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pyarrow as pa

from dialeval.aggregation.differences import about, corrected
from dialeval.aggregation.head_to_head import HEAD_TO_HEAD, head_to_head
from dialeval.aggregation.pairwise import OUTCOMES, Comparisons
from dialeval.aggregation.ratings import rate, rating_differences, rating_rows
from dialeval.config.botchat import Elo
from dialeval.corpora.battles import Battle
from dialeval.schemas.battles import BATTLE_DIFFERENCES, BATTLE_RATINGS
from dialeval.tables import to_table

EVERYTHING = "all battles"


def battle_ratings(battles: Sequence[Battle], elo: Elo, random_seed: int) -> tuple[pa.Table, pa.Table]:
    """Returns the tables `battles/ratings`, best first, and `battles/differences`.

    Args:
        battles: the comparisons; those of one cluster are resampled together.
        elo: settings of Bootstrap Elo; scale and resamples serve the other ratings too.
        random_seed: seed of shuffles and resamples.
    """
    models = sorted({name for battle in battles for name in (battle.left, battle.right)})
    number = {model: index for index, model in enumerate(models)}
    games = Comparisons(
        left=np.array([number[battle.left] for battle in battles], dtype=np.int64),
        right=np.array([number[battle.right] for battle in battles], dtype=np.int64),
        outcome=np.array([OUTCOMES[battle.winner] for battle in battles], dtype=np.float64),
        cluster=pd.factorize(np.array([battle.cluster for battle in battles], dtype=object))[0].astype(np.int64),
    )
    columns = BATTLE_RATINGS.schema.names
    rated = rate(games, len(models), elo, random_seed)
    rows = [{name: row[name] for name in columns} for row in rating_rows(rated, models)]
    differences = [
        *rating_differences(rated, models, "ratings", EVERYTHING, None),
        *head_to_head(games, models, about("ratings", HEAD_TO_HEAD, EVERYTHING)),
    ]
    return to_table(BATTLE_RATINGS, rows), to_table(BATTLE_DIFFERENCES, corrected(differences))
