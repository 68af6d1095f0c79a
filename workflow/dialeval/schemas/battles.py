"""Tables of plain battles."""

from __future__ import annotations

from dialeval.schemas.columns import BEHIND, FLOAT, INT, TEXT, maybe, schema
from dialeval.schemas.differences import differences
from dialeval.schemas.table import Table

# fmt: off
BATTLE_RATINGS = Table(
    "battles/ratings", schema(
        model=TEXT, elo=maybe(FLOAT), low=maybe(FLOAT), high=maybe(FLOAT), elo_sd=maybe(FLOAT),
        bradley_terry=maybe(FLOAT), bradley_terry_low=maybe(FLOAT), bradley_terry_high=maybe(FLOAT),
        davidson=maybe(FLOAT), davidson_low=maybe(FLOAT), davidson_high=maybe(FLOAT), p_above_next=maybe(FLOAT),
        n_comparisons=INT, **BEHIND, note=maybe(TEXT)
    ),
    row="player (`battles/<name>`)",
    columns={
        "elo": "Bootstrap Elo, mean of the repeats",
        "elo_sd": "standard deviation of Elo from repeat to repeat: what the orders add to chance, and nothing of the "
        "battles; that of their mean is less by the root of their number; empty with fewer than five repeats",
        "p_above_next": "share of resamples in which the player is above the next one",
    },
    numbers="rating",
    kinds={"p_above_next": "share"},
)
BATTLE_DIFFERENCES = differences(
    "battles/differences",
    row="pair of players (`battles/differences/<name>`)",
    title="Which players can be told apart",
    caption="Elo, Bradley-Terry, Davidson, and head to head.",
)
# fmt: on
