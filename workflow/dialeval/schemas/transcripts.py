"""Tables of transcripts."""

from __future__ import annotations

from dialeval.schemas.columns import INT, TEXT, schema
from dialeval.schemas.table import Table

ASIDES = Table(
    "asides",
    schema(corpus=TEXT, item_id=TEXT, language=TEXT, before=INT, kind=TEXT, text=TEXT),
    row="what stood in a transcript and was not said (`asides/<source>`)",
    columns={
        "before": "the utterance that came next, counted from 0 among what was said",
        "kind": "system (a system prompt), tool_call, tool_result, or reasoning",
    },
)
