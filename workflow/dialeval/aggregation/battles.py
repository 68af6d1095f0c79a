"""Ratings of anyone's battles, by the methods of Arena."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pyarrow as pa

from dialeval.aggregation.pairwise import OUTCOMES, Comparisons
from dialeval.aggregation.ratings import rating_rows
from dialeval.config import Elo
from dialeval.corpora.battles import Battle
from dialeval.schemas import SCHEMAS
from dialeval.tables import to_table


def battle_ratings(battles: Sequence[Battle], elo: Elo, random_seed: int) -> pa.Table:
    """Returns the table `battles/ratings`, best first.

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
    columns = SCHEMAS["battles/ratings"].names
    rows = rating_rows(games, models, elo, random_seed)
    return to_table("battles/ratings", [{name: row[name] for name in columns} for row in rows])
