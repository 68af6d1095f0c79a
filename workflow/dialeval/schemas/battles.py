"""Tables of plain battles."""

from __future__ import annotations

from dialeval.schemas.columns import BEHIND, DIFFERENCES, FLOAT, INT, TEXT, maybe, schema
from dialeval.schemas.table import Table

# fmt: off
BATTLE_RATINGS = Table("battles/ratings", schema(
    model=TEXT, elo=maybe(FLOAT), low=maybe(FLOAT), high=maybe(FLOAT), elo_sd=maybe(FLOAT),
    bradley_terry=maybe(FLOAT), bradley_terry_low=maybe(FLOAT), bradley_terry_high=maybe(FLOAT),
    davidson=maybe(FLOAT), davidson_low=maybe(FLOAT), davidson_high=maybe(FLOAT), p_above_next=maybe(FLOAT),
    n_comparisons=INT, **BEHIND, note=maybe(TEXT)
))
BATTLE_DIFFERENCES = Table("battles/differences", DIFFERENCES)
# fmt: on
