"""Where the files of a run lie: every path below its results, by the configuration.

The patterns here are those that stages and the report read by name. `dialeval.layout.run` has all paths; it loads the
configuration, which these stages do not need.
"""

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
