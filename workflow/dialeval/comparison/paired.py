"""Measures of a protocol in two runs, on the cases that both have: what each system got in either run, case by case.

A system in the second run is compared with itself in the first as two systems of one run are: the same values by item,
the same clusters, the same tests (`stats.differences`, `stats.means`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from pydantic import ValidationError

from dialeval.aggregation.measures.design import Design
from dialeval.aggregation.measures.differences import COLUMNS
from dialeval.aggregation.measures.grouping import systems_of
from dialeval.aggregation.measures.values import Values, values_of
from dialeval.comparison.on_same_cases import (
    MARK,
    Difference,
    enough_in_common,
    paired_scores,
    paired_shares,
    twice,
)
from dialeval.comparison.paired_ratings import paired_ratings
from dialeval.comparison.published import Key
from dialeval.comparison.runs import Run
from dialeval.schemas.botchat import SEEDS
from dialeval.schemas.judgements import JUDGEMENTS

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
