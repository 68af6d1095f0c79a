"""Differences of the published numbers of two runs, paired by case where both runs have the same cases, with tests.

A system in the second run is compared with itself in the first as two systems of one run are: the same values by item,
the same clusters, the same tests (`stats.differences`, `stats.clustered`).

Where both runs have the same cases the test is paired; else the two are independent estimates, and the standard error
of their difference follows from the published intervals. P-values are corrected over all numbers of the comparison, so
that even one false "yes" among them has a chance below 5%.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import ValidationError

from dialeval import layout
from dialeval.dialogbench.accuracy import accuracy_differences
from dialeval.measures.correlations import correlate_cells, pair_rows
from dialeval.measures.design import Design, comparisons, groups, systems_of
from dialeval.measures.item_values import COLUMNS, ItemValues, item_values
from dialeval.measures.robustness import robustness_differences, score_pairs
from dialeval.measures.score_cells import SCORED, gather
from dialeval.report.comparison.runs import Key, Number, Run, is_measure, published_numbers
from dialeval.stats.arrays import FloatArray
from dialeval.stats.differences import Differences, item_differences, resampled_pairwise_variance
from dialeval.stats.elo_interval import bootstrap_elo_interval
from dialeval.stats.estimates import t_interval
from dialeval.stats.significance import benjamini_hochberg, holm
from dialeval.tables.dialogbench import TEST_ANSWERS
from dialeval.tables.dialogues import JUDGEMENTS, SEEDS
from dialeval.tables.metaeval import ITEMS, RATINGS
from dialeval.tables.robustness import PAIRS
from dialeval.tables.schema import Table

FEWEST_CLUSTERS = 2
LEAST_SHARED = 0.5
"""Of the cases of the run that has fewer: with less in common, what is common says little of the published numbers."""
MARK = "\x1e"
"""Stands between the number of a run, 0 or 1, and a name that both may have."""
MEANS_OVER_CASES = (
    "pass_rates", "pass_rates_at_gt_length", "win_rates", "means", "rates", "checklist"
)  # fmt: skip
"""Measures that are means over cases, or over answers to them."""
OTHER_SYSTEMS = "ratings are relative to the other systems, and the two runs rated different ones"
RESAMPLES = 300
"""Of which only a spread is taken, which they give to 4%."""
_PAIR = ["corpus", "language", "perturbation", "original_id", "item_id"]
FULL = "full"
_COLUMNS = [
    "source", "variant", "model", "method", "item_id", "cluster", "task", "language", "rotation", "correct", "status"
]  # fmt: skip
_CELL = ("level", "corpus", "language", "dimension", "rated", "rater_kind", "imputed_by")
Row = dict[str, Any]
PAIRED, TWO_SAMPLES = "paired", "as two samples"
YES, PERHAPS, NO, UNKNOWN = "yes", "perhaps", "no", "unknown"
ALPHA = 0.05
NO_NUMBER = "one of the two runs has no number"
NO_INTERVAL = "one of the two numbers has no interval"
_NORMAL = 1.959964
"""Half the width of a normal 95% interval in standard errors; Student's are wider, and so is what follows from them."""


def compared_numbers(a: Run, b: Run) -> list[Row]:
    """Return the rows of the table `comparison/numbers`, those that moved most certainly first within each table."""
    tables: dict[str, list[Number]] = defaultdict(list)
    for number in published_numbers(a, b):
        tables[number.table].append(number)
    rows = []
    for table, numbers in tables.items():
        pairing = paired_measure if is_measure(numbers[0].kind) else _PAIRINGS.get(numbers[0].kind)
        published = {tuple(number.key.items()): _moved(number) for number in numbers}
        found = dict(pairing(a, b, table, published)) if pairing else {}
        rows += [_row(number, found.get(tuple(number.key.items()))) for number in numbers]
    return _corrected(rows)


def paired_measure(a: Run, b: Run, table: str, published: Mapping[Key, float]) -> Iterator[tuple[Key, Difference]]:
    """Yield the differences of one published measure that can be paired, by the keys of its rows.

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
    for values in item_values(measure, judgements, design, lengths):
        for system, found in _systems(values, systems):
            key: dict[str, Any] = {"judge": values.group["judge"]}
            if measure != "checklist":
                key["criterion"] = values.group["criterion"]
            key |= {"n_utterances": values.group.get("n_utterances"), "system": system}
            if measure == "rates":
                key["label"] = values.columns["label"]
            if measure == "win_rates":
                key["opponent"] = design.reference
            yield tuple(key.items()), found


def _joint(a: Run, b: Run, table: str) -> tuple[pd.DataFrame, Design, dict[str, int]] | None:
    """Return both runs' judgements under a protocol, systems marked by run, with their common design."""
    designs, frames, lengths = [], [], []
    for number, run in enumerate((a, b)):
        record = run.job_record(table)
        paths = run.inputs(record, "judgements")
        read = run.read(paths, JUDGEMENTS, COLUMNS) if paths else None
        seeds = run.read(run.inputs(record, "seeds"), SEEDS, ["seed_id", "n_human", "for_arena"])
        if read is None or seeds is None or len(paths) < len(record["inputs"]["judgements"]):
            return None
        try:
            design = Design(**record["settings"]).of_measure(table.rpartition("/")[2])
        except ValidationError:
            run.add_note(f"{layout.folder_of(layout.TABLE)}/{table}: another version of DialEval recorded the measure")
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


def _systems(values: ItemValues, systems: list[str]) -> Iterator[tuple[str, Difference]]:
    for name, one, other in twice(systems):
        complete = values.complete()
        first, second = complete[one], complete[other]
        here, there = ~np.isnan(first), ~np.isnan(second)
        both = here & there
        if not enough_in_common(*(values.cluster[known].tolist() for known in (here, there))) or not both.any():
            continue
        compared = paired_scores if values.is_score else paired_shares
        yield name, compared(second[both], first[both], values.cluster[both])


def paired_scores(second: FloatArray, first: FloatArray, cluster: Any) -> Difference:
    """Compare the scores of a system in two runs, on any scale, shape [n] each."""
    return _difference(item_differences(second, first, cluster, scores=True))


def _row(number: Number, found: Difference | None) -> Row:
    about = {
        "table": number.table,
        "measure": number.measure,
        "judge": number.judge,
        "scope": number.scope,
        "system": number.system,
        "value_a": number.a[0],
        "value_b": number.b[0],
    }
    if found is None:
        return {**about, **independent(number)}
    is_unchanged = found.difference == 0.0 and math.isnan(found.p)  # no test is defined where no value differs
    row = {**about, **found._asdict(), "note": found.note or None, "how": PAIRED}
    return row | {"difference": found.difference + 0.0, "p": 1.0 if is_unchanged else found.p}


def _corrected(rows: list[Row]) -> list[Row]:
    p = np.array([row["p"] for row in rows], dtype=np.float64)
    for row, p_holm, q_bh in zip(rows, holm(p), benjamini_hochberg(p), strict=True):
        row |= {"p_holm": float(p_holm), "q_bh": float(q_bh)}
        row["changed"] = _verdict(row)
    place = {table: number for number, table in enumerate(dict.fromkeys(row["table"] for row in rows))}
    return sorted(rows, key=lambda row: (place[row["table"]], math.inf if math.isnan(row["p"]) else row["p"]))


def _verdict(row: Row) -> str:
    if math.isnan(row["p"]):
        return NO if row["difference"] == 0.0 else UNKNOWN
    return YES if row["p_holm"] < ALPHA else PERHAPS if row["p"] < ALPHA else NO


def paired_shares(second: FloatArray, first: FloatArray, cluster: Any, stratum: Any = None) -> Difference:
    """Compare the scores of a system in two runs, from 0 to 1, shape [n] each."""
    return _difference(item_differences(second, first, cluster, stratum=stratum))


def paired_ratings(
    judgements: pd.DataFrame, design: Design, published: Mapping[Key, float]
) -> Iterator[tuple[Key, Difference]]:
    """Yield the differences of the published ratings, with intervals for shared cases.

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
        variance = resampled_pairwise_variance(spread.replicates, n_clusters)
        met = np.unique(np.concatenate([left, right]))
        pools = [{systems[k].partition(MARK)[2] for k in met if run_of[k] == number} for number in (0, 1)]
        for name, one, other in twice(systems):
            key = tuple({**group, "system": name}.items())
            if key not in published:
                continue
            low, high, p = t_interval(published[key], np.sqrt(variance[one, other]), n_clusters - 1.0)
            same = published[key] == 0.0 and variance[one, other] == 0.0
            n = int(np.count_nonzero(np.isin(left, (one, other)) | np.isin(right, (one, other))))
            note = "" if pools[0] == pools[1] else OTHER_SYSTEMS
            yield (
                key,
                Difference(published[key], float(low), float(high), 1.0 if same else float(p), n, n_clusters, note),
            )


def independent(number: Number) -> Row:
    """Return the difference of two published numbers as of two independent estimates."""
    difference = _moved(number)
    row: Row = {"difference": difference, "ci_low": math.nan, "ci_high": math.nan, "p": math.nan, "how": TWO_SAMPLES}
    row |= {"n": None, "n_clusters": None, "note": None}
    if math.isnan(difference):
        return row | {"note": NO_NUMBER}
    ends = (*number.a[1:], *number.b[1:])
    if any(end is None for end in ends):
        return row | {"note": NO_INTERVAL}
    if number.a == number.b:
        return row | {"p": 1.0}
    low_a, high_a, low_b, high_b = (float(end) for end in ends if end is not None)
    error = math.hypot(high_a - low_a, high_b - low_b) / 2.0 / _NORMAL
    low, high, p = (float(end) for end in t_interval(difference, error, math.inf))
    return row | {"ci_low": low, "ci_high": high, "p": p}


class Difference(NamedTuple):
    """A number of the second run minus the same number of the first, on shared items.

    Attributes:
        difference: NaN where there is none.
        ci_low, ci_high, p: interval and two-sided p-value; NaN with a note.
        n, n_clusters: cases that both have, and clusters that these are of.
        note: what to know; mostly empty.
    """

    difference: float
    ci_low: float
    ci_high: float
    p: float
    n: int
    n_clusters: int
    note: str = ""


_Pairing = Callable[[Run, Run, str, Mapping[Key, float]], Iterator[tuple[Key, Difference]]]


def twice(systems: list[str]) -> Iterator[tuple[str, int, int]]:
    """Yield the systems that both runs have, with their places among the marked ones."""
    place = {system: number for number, system in enumerate(systems)}
    for system, number in place.items():
        run, _, name = system.partition(MARK)
        other = place.get(f"1{MARK}{name}")
        if run == "0" and other is not None:
            yield name, number, other


def enough_in_common(first: Any, second: Any) -> bool:
    """Return whether two runs' clusters, any names, have enough in common to be compared one by one."""
    one, other = set(first), set(second)
    n = len(one & other)
    return n >= FEWEST_CLUSTERS and n >= LEAST_SHARED * min(len(one), len(other))


def _difference(found: Differences) -> Difference:
    row = found.columns(0)
    return Difference(
        row["difference"], row["ci_low"], row["ci_high"], row["p"], row["n"], row["n_clusters"], row["note"] or ""
    )


def _moved(number: Number) -> float:
    first, second = number.a[0], number.b[0]
    return math.nan if first is None or second is None else second - first


def _read_both(
    runs: Sequence[Run], records: Sequence[Row], option: str, kind: Table, columns: Sequence[str] | None = None
) -> list[pa.Table]:
    """Return what a job of both runs read under an option; empty if one of them has no rows of it."""
    read = [run.read(run.inputs(record, option), kind, columns) for run, record in zip(runs, records, strict=True)]
    found = [one for one in read if one is not None and len(one)]
    return found if len(found) == len(read) else []


def _marked(given: Sequence[pa.Table], judge: str) -> pa.Table:
    """Return the judgements of one judge in both runs, under names that say which run it is."""
    marked = []
    for number, read in enumerate(given):
        own = read.filter(pc.equal(read["judge"], judge)).replace_schema_metadata()
        place = own.schema.get_field_index("judge")
        names = pa.array([f"{number}{MARK}{judge}"] * len(own), pa.string())
        marked.append(own.set_column(place, own.schema.field(place), names))
    return pa.concat_tables(marked)


def _turned(row: Row, first: str, note: str | None, ends: tuple[str, str] = ("ci_low", "ci_high")) -> Difference:
    """Return a difference of marked names as that of the second run minus the first.

    Args:
        row: the difference of `first` minus another, with its test.
        first: a marked name.
        note: what to know.
        ends: columns of the interval.
    """
    sign = 1.0 if first.startswith(f"1{MARK}") else -1.0
    low, high = sorted(sign * row[end] for end in ends)
    return Difference(sign * row["difference"], low, high, row["p"], row["n"], row["n_clusters"], note or "")


def paired_robustness(a: Run, b: Run, table: str, published: Mapping[Key, float]) -> Iterator[tuple[Key, Difference]]:
    """Yield the differences of the table `robustness/robustness`, by the keys of its rows.

    Args:
        a, b: the runs.
        table: `robustness/robustness`.
        published: how far the published numbers moved.
    """
    records = [run.job_record(table) for run in (a, b)]
    pairs = _read_both((a, b), records, "pairs", PAIRS)
    given = _read_both((a, b), records, "judgements", JUDGEMENTS, SCORED)
    if not pairs or not given:
        return
    names = [list(zip(*(read[name].to_pylist() for name in _PAIR), strict=True)) for read in pairs]
    if not enough_in_common(*names):
        return
    theirs = set(names[1])
    common = pairs[0].filter(pa.array([pair in theirs for pair in names[0]]))
    sensitivities = records[0].get("settings", {}).get("sensitivities", {})
    places: dict[tuple[str, str, str], Key] = {}
    for key in published:
        of = dict(key)
        scope = ", ".join(str(of[name]) for name in ("corpus", "language", "level", "perturbation", "dimension"))
        places[of["judge"], of["method"], scope] = key
    for judge in sorted({judge for judge, _, _ in places}):
        scored = score_pairs(common, _marked(given, judge), sensitivities)
        for row in robustness_differences(scored, 0.95):
            if row["table"] != "robustness":
                continue
            ends = [name.rpartition(" (") for name in (row["system"], row["opponent"])]
            if ends[0][2] != ends[1][2] or ends[0][0] == ends[1][0]:
                continue  # two methods of the same judge
            if place := places.get((judge, ends[0][2].removesuffix(")"), row["scope"])):
                yield place, _turned(row, row["system"], row["note"])


def paired_accuracy(a: Run, b: Run, table: str, published: Mapping[Key, float]) -> Iterator[tuple[Key, Difference]]:
    """Yield the differences of the table `dialogbench/accuracy`, by the keys of its rows.

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
        read = run.read(run.outputs(run.job_record(table), "dialogbench/answers"), TEST_ANSWERS, _COLUMNS)
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
                yield key_of_row, _turned(row, f"1{MARK}", row["note"])


def paired_correlations(a: Run, b: Run, table: str, published: Mapping[Key, float]) -> Iterator[tuple[Key, Difference]]:
    """Yield the differences of the table `metaeval/correlations`, by the keys of its rows.

    Both runs' scores are set against the first run's ratings, which must be the second's, too.

    Args:
        a, b: the runs.
        table: `metaeval/correlations`.
        published: how far the published numbers moved.
    """
    records = [run.job_record(table) for run in (a, b)]
    if not all(records) or _rated(records[0]) != _rated(records[1]):
        return
    items, ratings = (
        a.read(a.inputs(records[0], option), kind) for option, kind in (("items", ITEMS), ("ratings", RATINGS))
    )
    given = _read_both((a, b), records, "judgements", JUDGEMENTS, SCORED)
    settings = records[0]["settings"]
    if items is None or ratings is None or not given:
        return
    places = {frozenset(key): key for key in published}
    for judge in sorted({dict(key)["judge"] for key in published}):
        marked = _marked(given, judge)
        if len(pc.unique(marked["judge"])) < 2:
            continue
        cells = gather(items, ratings, marked, settings["benchmarks"], joined=settings.get("joined", {}))
        how = {name: settings[name] for name in ("resamples", "confidence", "random_seed")}
        for row in pair_rows(correlate_cells(cells, **how, methods=("pearson",))):
            names = {row["judge"], row["other_judge"]}
            if names != {f"0{MARK}{judge}", f"1{MARK}{judge}"} or row["method"] != row["other_method"]:
                continue
            of = {"judge": judge, "method": row["method"], **{name: row[name] for name in _CELL}}
            if key := places.get(frozenset(of.items())):
                yield key, _turned(row, row["judge"], row["reason"], ("difference_ci_low", "difference_ci_high"))


_PAIRINGS: Mapping[str, _Pairing] = {
    "dialogbench/accuracy": paired_accuracy,
    "metaeval/correlations": paired_correlations,
    "robustness/robustness": paired_robustness,
}


def _rated(record: dict[str, object]) -> dict[str, object]:
    """Return the digests of the rated items and of the ratings."""
    inputs = record.get("inputs", {})
    return {option: inputs.get(option) for option in ("items", "ratings")} if isinstance(inputs, dict) else {}
