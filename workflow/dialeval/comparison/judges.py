"""How well judges agree with people in two runs, on the items that both scored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa

from dialeval.aggregation.metaeval.cells import gather
from dialeval.aggregation.metaeval.correlations import correlate_cells
from dialeval.aggregation.metaeval.judge_pairs import pair_rows
from dialeval.aggregation.score_arrays import SCORED
from dialeval.comparison.on_same_cases import MARK, Difference, marked_scores
from dialeval.comparison.published import Key
from dialeval.comparison.runs import Run
from dialeval.schemas.judgements import JUDGEMENTS
from dialeval.schemas.metaeval import ITEMS, RATINGS

_CELL = ("level", "corpus", "language", "dimension", "rated", "rater_kind", "filled_by")


def paired_correlations(a: Run, b: Run, table: str, published: Mapping[Key, float]) -> Iterator[tuple[Key, Difference]]:
    """Yields the differences of the table `metaeval/correlations`, by the keys of its rows.

    Both runs' scores are set against the first run's ratings, which must be the second's, too.

    Args:
        a, b: the runs.
        table: `metaeval/correlations`.
        published: how far the published numbers moved.
    """
    records = [run.made(table) for run in (a, b)]
    if not all(records) or _rated(records[0]) != _rated(records[1]):
        return
    items, ratings = (
        a.read(a.inputs(records[0], option), kind) for option, kind in (("items", ITEMS), ("ratings", RATINGS))
    )
    given = [
        run.read(run.inputs(record, "judgements"), JUDGEMENTS, SCORED)
        for run, record in zip((a, b), records, strict=True)
    ]
    settings = records[0]["settings"]
    if items is None or ratings is None or any(read is None for read in given):
        return
    for judge in sorted({dict(key)["judge"] for key in published}):
        marked = [marked_scores(read, number, judge) for number, read in enumerate(given) if read is not None]
        if not all(len(read) for read in marked):
            continue
        cells = gather(
            items, ratings, pa.concat_tables(marked), settings["benchmarks"], joined=settings.get("joined", {})
        )
        how = {name: settings[name] for name in ("resamples", "confidence", "random_seed")}
        for row in pair_rows(correlate_cells(cells, **how, methods=("pearson",))):
            names = {row["first"], row["second"]}
            if names != {f"0{MARK}{judge}", f"1{MARK}{judge}"} or row["first_method"] != row["second_method"]:
                continue
            of = {"judge": judge, "method": row["first_method"], **{name: row[name] for name in _CELL}}
            for key in published:
                if dict(key) == of:
                    sign = 1.0 if row["first"].startswith("1") else -1.0
                    low, high = sorted((sign * row["difference_low"], sign * row["difference_high"]))
                    n = row["n"], row["n_clusters"]
                    note = row["reason"] or ""
                    yield key, Difference(sign * row["difference"], low, high, row["p"], *n, note)


def _rated(record: dict[str, object]) -> dict[str, object]:
    """Returns the digests of what was rated, and of the ratings."""
    inputs = record.get("inputs", {})
    return {option: inputs.get(option) for option in ("items", "ratings")} if isinstance(inputs, dict) else {}
