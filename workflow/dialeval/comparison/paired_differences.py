"""Numbers of two runs on the cases that both have.

A system in the second run is compared with itself in the first as two systems of one run are: the same values by item,
the same clusters, the same tests (`stats.differences`, `stats.means`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import ValidationError

from dialeval.comparison.runs import Key, Run
from dialeval.dialogbench.accuracy import accuracy_differences
from dialeval.measures.design import Design, comparisons, groups, systems_of
from dialeval.measures.differences import COLUMNS, Values, values_of
from dialeval.measures.metaeval.cells import SCORED, gather
from dialeval.measures.metaeval.correlations import correlate_cells, pair_rows
from dialeval.measures.robustness import robustness_differences, score_pairs
from dialeval.stats.arrays import FloatArray
from dialeval.stats.differences import contrast_interval, difference_variance, mean_differences
from dialeval.stats.elo_interval import bootstrap_elo_interval
from dialeval.stats.means import paired_mean_difference
from dialeval.tables.dialogbench import TEST_ANSWERS
from dialeval.tables.dialogues import JUDGEMENTS, SEEDS
from dialeval.tables.metaeval import ITEMS, RATINGS
from dialeval.tables.robustness import PAIRS

# One number in two runs on the cases that both have: the second run's values less the first's.

FEWEST_CLUSTERS = 2
LEAST_SHARED = 0.5
"""Of the cases of the run that has fewer: with less in common, what is common says little of the published numbers."""
MARK = "\x1e"
"""Stands between the number of a run, 0 or 1, and a name that both may have."""


class Difference(NamedTuple):
    """A number in the second run less the same in the first, on what both have.

    Attributes:
        difference: NaN where there is none.
        low, high, p: interval and two-sided p-value; NaN with a note.
        n, n_clusters: cases that both have, and clusters that these are of.
        note: what to know; mostly empty.
    """

    difference: float
    low: float
    high: float
    p: float
    n: int
    n_clusters: int
    note: str = ""


def enough_in_common(first: Any, second: Any) -> bool:
    """Returns whether two runs' clusters, any names, have enough in common to be compared one by one."""
    one, other = set(first), set(second)
    n = len(one & other)
    return n >= FEWEST_CLUSTERS and n >= LEAST_SHARED * min(len(one), len(other))


def twice(systems: list[str]) -> Iterator[tuple[str, int, int]]:
    """Yields the systems that both runs have, with their places among the marked ones."""
    place = {system: number for number, system in enumerate(systems)}
    for system, number in place.items():
        run, _, name = system.partition(MARK)
        other = place.get(f"1{MARK}{name}")
        if run == "0" and other is not None:
            yield name, number, other


def paired_shares(second: FloatArray, first: FloatArray, cluster: Any, stratum: Any = None) -> Difference:
    """Compares what a system got in either run, from 0 to 1, shape [n] each."""
    row = np.zeros(len(first), np.int64)
    found = mean_differences(second, first, row, [1], [0], cluster, stratum=stratum)
    ends = float(found.low[0]), float(found.high[0]), float(found.p[0])
    return Difference(float(found.difference[0]), *ends, int(found.n[0]), int(found.n_clusters[0]), found.note[0] or "")


def paired_scores(second: FloatArray, first: FloatArray, cluster: Any) -> Difference:
    """Compares what a system got in either run, on any scale, shape [n] each."""
    found = paired_mean_difference(second, first, cluster)
    return Difference(found.difference, found.low, found.high, found.p, found.n, found.n_clusters, found.note)


def marked_scores(read: pa.Table, number: int, judge: str) -> pa.Table:
    """Returns the judgements of one judge in one run, under a name that says which run it is."""
    own = read.filter(pc.equal(read["judge"], judge)).replace_schema_metadata()
    place = own.schema.get_field_index("judge")
    return own.set_column(place, own.schema.field(place), pa.array([f"{number}{MARK}{judge}"] * len(own), pa.string()))


# Measures of a protocol in two runs, on the cases that both have: what each system got in either run, case by case.

MEANS_OVER_CASES = (
    "pass_rates", "pass_rates_at_gt_length", "win_rates", "means", "rates", "checklist"
)  # fmt: skip
"""Measures that are means over cases, or over answers to them."""


def paired_measure(a: Run, b: Run, table: str, published: Mapping[Key, float]) -> Iterator[tuple[Key, Difference]]:
    """Yields the differences of one published measure that can be paired, by the keys of its rows.

    Args:
        a, b: the runs.
        table: `<protocol>/<measure>`.
        published: how far the published numbers moved.
    """
    measure = table.rpartition("/")[2]
    if measure not in (*MEANS_OVER_CASES, "ratings"):
        return
    joint = _joint(a, b, table)
    if joint is None:
        return
    judgements, design, lengths = joint
    if measure == "ratings":
        yield from paired_ratings(judgements, design, published)
        return
    systems = systems_of(judgements, design)
    for values in values_of(measure, judgements, design, lengths):
        for system, found in _systems(values, systems):
            key: dict[str, Any] = {"judge": values.shared["judge"]}
            if measure != "checklist":
                key["criterion"] = values.criterion
            key |= {"n_utterances": values.n_utterances, "system": system}
            if measure == "rates":
                key["label"] = values.shared["measure"].removeprefix("rate of ")
            if measure == "win_rates":
                key["opponent"] = design.reference
            yield tuple(key.items()), found


def _joint(a: Run, b: Run, table: str) -> tuple[pd.DataFrame, Design, dict[str, int]] | None:
    """Returns both runs' judgements under a protocol, systems marked by the run, with what both designs share."""
    designs, frames, lengths = [], [], []
    for number, run in enumerate((a, b)):
        record = run.made(table)
        paths = run.inputs(record, "judgements")
        read = run.read(paths, JUDGEMENTS, COLUMNS) if paths else None
        seeds = run.read(run.inputs(record, "seeds"), SEEDS, ["seed_id", "n_human", "for_arena"])
        if read is None or seeds is None or len(paths) < len(record["inputs"]["judgements"]):
            return None
        try:
            design = Design(
                **{name: value for name, value in record["settings"].items() if name in Design.model_fields}
            )
        except ValidationError:
            run.tell(f"tables/{table}: how it was measured was written down by another version")
            return None
        frame: pd.DataFrame = read.to_pandas().dropna(subset=["left"])
        for side in ("left", "right"):
            marked = frame[side].notna() & (frame[side] != design.reference)
            frame[side] = frame[side].where(~marked, f"{number}{MARK}" + frame[side].astype(str))
        designs.append(design)
        frames.append(frame)
        lengths.append({row["seed_id"]: row["n_human"] for row in seeds.to_pylist() if row["for_arena"]})
    first, second = designs
    if first.reference != second.reference:
        return None
    both = pd.concat(frames, ignore_index=True)
    shared = first.model_copy(
        update={
            "judges": [name for name in first.judges if name in second.judges],
            "criteria": [name for name in first.criteria if name in second.criteria],
            "lengths": [n for n in first.lengths if n in second.lengths],
            "without_answers": [*first.without_answers, *second.without_answers],
            "systems": [],
        }
    )
    if bool(first.lengths) != bool(second.lengths) or (first.lengths and not shared.lengths):
        return None
    same = {case: n for case, n in lengths[0].items() if lengths[1].get(case) == n}
    return both, shared, same


def _systems(values: Values, systems: list[str]) -> Iterator[tuple[str, Difference]]:
    for name, one, other in twice(systems):
        first, second = values.value[one], values.value[other]
        here, there = ~np.isnan(first), ~np.isnan(second)
        both = here & there
        if not enough_in_common(*(values.cluster[known].tolist() for known in (here, there))) or not both.any():
            continue
        compared = paired_scores if values.graded else paired_shares
        yield name, compared(second[both], first[both], values.cluster[both])


# Ratings of two runs: Bootstrap Elo of both on the same resamples of the cases, so that what they share cancels.

OTHER_SYSTEMS = "ratings are relative to the other systems, and the two runs rated different ones"
RESAMPLES = 300
"""Of which only a spread is taken, which they give to 4%."""


def paired_ratings(
    judgements: pd.DataFrame, design: Design, published: Mapping[Key, float]
) -> Iterator[tuple[Key, Difference]]:
    """Yields the differences of the published ratings, with intervals that know that the cases are the same.

    Args:
        judgements: of both runs, on pairs of marked systems.
        design: what both runs' designs share; nothing is yielded where all systems are shown beside one.
        published: how far each published rating moved.
    """
    if design.reference is not None:
        return
    systems = systems_of(judgements, design)
    run_of = np.array([int(system.partition(MARK)[0]) for system in systems], dtype=np.int64)
    for group, of in groups(judgements, design):
        games = comparisons(of, systems).readable()
        run = run_of[games.left]
        ours, theirs = (np.unique(games.cluster[run == number]) for number in (0, 1))
        if not enough_in_common(ours.tolist(), theirs.tolist()):
            continue
        kept = np.isin(games.cluster, np.intersect1d(ours, theirs))
        left, right, cluster = games.left[kept], games.right[kept], games.cluster[kept]
        n_clusters = len(np.unique(cluster))
        spread = bootstrap_elo_interval(
            left,
            right,
            games.outcome[kept],
            cluster,
            len(systems),
            resamples=min(design.elo.resamples, RESAMPLES),
            k=design.elo.k,
            scale=design.elo.scale,
            initial=design.elo.initial,
            random_seed=design.random_seed,
            equal_pairs=design.equal_pairs,
        )
        variance = difference_variance(spread.replicates, n_clusters)
        met = np.unique(np.concatenate([left, right]))
        pools = [{systems[k].partition(MARK)[2] for k in met if run_of[k] == number} for number in (0, 1)]
        for name, one, other in twice(systems):
            key = tuple({**group, "system": name}.items())
            if key not in published:
                continue
            low, high, p = contrast_interval(published[key], np.sqrt(variance[one, other]), n_clusters - 1.0)
            same = published[key] == 0.0 and variance[one, other] == 0.0
            n = int(np.count_nonzero(np.isin(left, (one, other)) | np.isin(right, (one, other))))
            note = "" if pools[0] == pools[1] else OTHER_SYSTEMS
            yield (
                key,
                Difference(published[key], float(low), float(high), 1.0 if same else float(p), n, n_clusters, note),
            )


# How much damage judges notice in two runs, on the damaged pairs that both have.

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


# DialogBench's accuracies in two runs, on the items that both have.

FULL = "full"
_COLUMNS = [
    "source", "variant", "model", "method", "item_id", "cluster", "task", "language", "rotation", "correct", "status"
]  # fmt: skip


def paired_accuracy(a: Run, b: Run, table: str, published: Mapping[Key, float]) -> Iterator[tuple[Key, Difference]]:
    """Yields the differences of the table `dialogbench/accuracy`, by the keys of its rows.

    Args:
        a, b: the runs.
        table: `dialogbench/accuracy`.
        published: how far the published numbers moved.
    """
    places: dict[tuple[Any, ...], Key] = {}
    for key in published:
        of = dict(key)
        places[tuple(of[name] for name in ("source", "model", "method", "language", "name"))] = key
    answers: dict[tuple[str, ...], list[list[dict[str, Any]]]] = defaultdict(lambda: [[], []])
    for number, run in enumerate((a, b)):
        read = run.read(run.inputs(run.made(table), "answers"), TEST_ANSWERS, _COLUMNS)
        for answer in read.to_pylist() if read is not None else ():
            if answer["variant"] == FULL and answer["rotation"] == 0:
                who = tuple(answer[name] for name in ("source", "model", "method", "language"))
                answers[who][number].append({**answer, "model": f"{number}{MARK}{answer['model']}"})
    for (source, model, method, language), (first, second) in answers.items():
        if not enough_in_common(*({answer["cluster"] for answer in side} for side in (first, second))):
            continue
        common = {answer["item_id"] for answer in first} & {answer["item_id"] for answer in second}
        # the second run's answers come first: its accuracy less the first run's
        both = [answer for answer in (*second, *first) if answer["item_id"] in common]
        for row in accuracy_differences(both, 0.95):
            name = row["scope"].removeprefix(f"{source}, {language}, ")
            key_of_row = places.get((source, model, method, language, name))
            if key_of_row is not None:
                ends = row["difference"], row["low"], row["high"], row["p"]
                yield key_of_row, Difference(*ends, row["n"], row["n_clusters"], row["note"] or "")


# How well judges agree with people in two runs, on the items that both scored.

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
