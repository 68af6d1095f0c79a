"""Patterns of paths below the results that stages read by name: their modules load no configuration."""

from __future__ import annotations

DIALOGUES = "dialogues/{chatbot}.parquet"
ITEMS = "items/{corpus}.parquet"
REWRITTEN_ITEMS = "perturbed/by_{model}.items.parquet"
REQUESTS = "requests/{protocol}.parquet"
RETRIES = "requests/again/{judge}/{protocol}.parquet"
RESPONSES = "responses/{judge}/{protocol}/{shard}-of-{shards}.parquet"
RETRIED = "responses/again/{judge}/{protocol}.parquet"
JUDGEMENTS = "judgements/{judge}/{protocol}.parquet"
USAGE = "usage/{judge}/{protocol}-{shard}-of-{shards}.json"
TEST_ITEMS = "dialogbench/items.parquet"
TABLE = "tables/{name}.{suffix}"
COMPARISON = "comparison"


def folder_of(pattern: str) -> str:
    """Return the folder below the results in which all files of a pattern lie, such as `requests`."""
    return pattern.partition("/")[0]
