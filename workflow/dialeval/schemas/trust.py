"""How far a judge can be trusted on a criterion, as it stands beside what it says under a protocol."""

from __future__ import annotations

from dialeval.schemas.columns import FLOAT, INT, TEXT, maybe, schema
from dialeval.schemas.table import Interval, Table

# fmt: off
TRUST = Table(
    "measures/trust", schema(
        judge=TEXT, criterion=TEXT, method=maybe(TEXT), level=maybe(TEXT), rater_kind=maybe(TEXT),
        pearson=maybe(FLOAT), low=maybe(FLOAT), high=maybe(FLOAT), n=INT, corpora=maybe(TEXT), reason=maybe(TEXT)
    ),
    row="judge and criterion",
    title="How far the judge can be trusted",
    caption=(
        "How well this judge's scores on the criterion, asked for in this form, go with ratings in the rated corpora "
        "of the same run: Pearson's correlation, its mean over several corpora. A reference by construction is no "
        "person's opinion: it says that the judge notices damage."
    ),
    columns={
        "method": "the protocol under which the rated items were scored, of the same form",
        "level": "of the rated items: turn or dialogue",
        "rater_kind": "human, or else construction (known by how the item was made) or model",
        "n": "rated items",
        "corpora": "the rated corpora",
        "reason": "why there is no number",
    },
    cells={"pearson": Interval("low", "high")},
    numbers="correlation",
)
# fmt: on
