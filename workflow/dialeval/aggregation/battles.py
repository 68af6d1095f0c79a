"""Ratings of anyone's battles, by the methods of Arena."""

from __future__ import annotations

import pyarrow as pa

from dialeval.aggregation.differences import about, corrected
from dialeval.aggregation.head_to_head import HEAD_TO_HEAD, head_to_head
from dialeval.aggregation.pairwise import Comparisons
from dialeval.aggregation.ratings import rate, rating_differences, rating_rows
from dialeval.config.botchat import Elo
from dialeval.corpora.battles import Battles
from dialeval.schemas.battles import BATTLE_DIFFERENCES, BATTLE_RATINGS
from dialeval.tables import to_table

EVERYTHING = "all battles"


def battle_ratings(battles: Battles, elo: Elo, random_seed: int) -> tuple[pa.Table, pa.Table]:
    """Returns the tables `battles/ratings`, best first, and `battles/differences`.

    Args:
        battles: the comparisons; those of one cluster are resampled together.
        elo: settings of Bootstrap Elo; scale and resamples serve the other ratings too.
        random_seed: seed of shuffles and resamples.
    """
    models = battles.models
    games = Comparisons(battles.left, battles.right, battles.outcome, battles.cluster)
    columns = BATTLE_RATINGS.schema.names
    rated = rate(games, len(models), elo, random_seed)
    rows = [{name: row[name] for name in columns} for row in rating_rows(rated, models)]
    differences = [
        *rating_differences(rated, models, "ratings", EVERYTHING, None),
        *head_to_head(games, models, about("ratings", HEAD_TO_HEAD, EVERYTHING)),
    ]
    return to_table(BATTLE_RATINGS, rows), to_table(BATTLE_DIFFERENCES, corrected(differences))
