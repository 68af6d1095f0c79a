"""How much damage judges notice in two runs, on the damaged pairs that both have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa

from dialeval.aggregation.robustness import score_pairs
from dialeval.aggregation.robustness_differences import robustness_differences
from dialeval.aggregation.score_arrays import SCORED
from dialeval.comparison.on_same_cases import MARK, Difference, enough_in_common, marked_scores
from dialeval.comparison.published import Key
from dialeval.comparison.runs import Run
from dialeval.schemas.judgements import JUDGEMENTS
from dialeval.schemas.robustness import PAIRS

_PAIR = ["corpus", "language", "strategy", "original_id", "item_id"]


def paired_robustness(a: Run, b: Run, table: str, published: Mapping[Key, float]) -> Iterator[tuple[Key, Difference]]:
    """Yields the differences of the table `robustness/robustness`, by the keys of its rows.

    Args:
        a, b: the runs.
        table: `robustness/robustness`.
        published: how far the published numbers moved.
    """
    records = [run.made(table) for run in (a, b)]
    pairs = [run.read(run.inputs(record, "pairs"), PAIRS) for run, record in zip((a, b), records, strict=True)]
    given = [
        run.read(run.inputs(record, "judgements"), JUDGEMENTS, SCORED)
        for run, record in zip((a, b), records, strict=True)
    ]
    if any(read is None or not len(read) for read in (*pairs, *given)):
        return
    names = [set(zip(*(read[name].to_pylist() for name in _PAIR), strict=True)) for read in pairs if read is not None]
    if not enough_in_common(*names):
        return
    assert pairs[0] is not None
    common = pairs[0].filter(pa.array([pair in names[1] for pair in _pairs_of(pairs[0])]))
    hurt = records[0].get("settings", {}).get("hurt", {})
    for judge in sorted({dict(key)["judge"] for key in published}):
        marked = [marked_scores(read, number, judge) for number, read in enumerate(given) if read is not None]
        scored = score_pairs(common, pa.concat_tables(marked), hurt)
        for row in robustness_differences(scored, 0.95):
            if row["table"] != "robustness":
                continue
            ends = [name.rpartition(" (") for name in (row["first"], row["second"])]
            if ends[0][2] != ends[1][2] or ends[0][0] == ends[1][0]:
                continue  # two methods of the same judge
            for key in published:
                of = dict(key)
                scope = ", ".join(str(of[name]) for name in ("corpus", "language", "level", "strategy", "dimension"))
                if of["judge"] == judge and of["method"] == ends[0][2].removesuffix(")") and scope == row["scope"]:
                    sign = 1.0 if ends[0][0].startswith(f"1{MARK}") else -1.0
                    low, high = sorted((sign * row["low"], sign * row["high"]))
                    n = row["n"], row["n_clusters"]
                    yield key, Difference(sign * row["difference"], low, high, row["p"], *n, row["note"] or "")


def _pairs_of(read: pa.Table) -> Iterator[tuple[str, ...]]:
    return zip(*(read[name].to_pylist() for name in _PAIR), strict=True)
