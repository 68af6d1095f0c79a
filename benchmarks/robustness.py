"""How often seven judges detect perturbations: the whole stage from pairs and judgements to all tables of robustness.

The pairs are those of 10,000 perturbed responses and 1,000 perturbed dialogues (`perturbations.py`). The scores are
made up: of each judge one for every item and dimension that its perturbation is aimed at. Reading the tables, joining
pairs with scores, shares with intervals, the sweep of thresholds, pairs of judges and writing all count. The yardstick
is reading the same two tables into pandas and joining them there, without any number. Takes 30 s with the public data.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa

from dialeval.config.metaeval import Robustness
from dialeval.perturbations.suite import targets_of_items
from dialeval.tables.dialogues import JUDGEMENTS
from dialeval.tables.files import TableWriter, read_table
from dialeval.tables.robustness import PAIRS
from gates import Gates, arguments
from perturbations import DATA, damageable, perturb_items
from stage_runs import run_python, run_stage

SECONDS = 15.0
JOIN = """
import sys, pandas as pd
pairs, scores = (pd.read_parquet(path) for path in sys.argv[1:])
scores = scores.set_index(["corpus", "language", "item_id"])[["judge", "protocol", "criterion", "value"]]
for side in ("original_id", "item_id"):
    pairs.join(scores, on=["corpus", "language", side])
"""


def write_judgements(path: Path, pairs: pa.Table, judges: int) -> int:
    """Write a score of every judge for everything that a pair compares; returns how many."""
    rng = np.random.default_rng(0)
    wanted = targets_of_items(pairs.to_pylist())
    asked = [(*key, dimension) for key, dimensions in wanted.items() for dimension in sorted(dimensions)]
    corpus, language, item, criterion = (pa.array(part) for part in zip(*asked, strict=True))
    n = len(asked)
    with TableWriter(path, JUDGEMENTS) as table:
        for judge in range(judges):
            columns = {
                "judge": pa.repeat(f"judge-{judge}", n), "protocol": pa.repeat("yes_no", n),
                "request_id": pa.repeat("", n), "corpus": corpus, "language": language, "item_id": item,
                "criterion": criterion, "repeat": pa.repeat(pa.scalar(0, pa.int32()), n),
                "value": pa.array(rng.random(n)), "scale_min": pa.repeat(0.0, n), "scale_max": pa.repeat(1.0, n),
                "reason": pa.repeat("", n), "status": pa.repeat("ok", n),
            }  # fmt: skip
            whole = [columns.get(field.name, pa.nulls(n, field.type)) for field in JUDGEMENTS.schema]
            table.write(pa.Table.from_arrays(whole, schema=JUDGEMENTS.schema))
        return table.rows


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the public data")
    parser.add_argument("--turns", type=int, default=10_000)
    parser.add_argument("--dialogues", type=int, default=1_000)
    parser.add_argument("--judges", type=int, default=7)
    options = parser.parse_args()
    gates = Gates(__file__, options)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        perturb_items(damageable(options.data, options.turns, options.dialogues), folder)
        pairs, judgements = folder / "pairs.parquet", folder / "judgements.parquet"
        made = read_table(pairs, PAIRS)
        scores = write_judgements(judgements, made, options.judges)
        joined = run_python("-c", JOIN, str(pairs), str(judgements))
        settings = {"thresholds": Robustness.model_fields["thresholds"].get_default(call_default_factory=True)}
        taken = run_stage(
            "robustness", settings | {"confidence": 0.95}, pairs=[pairs], judgements=[judgements], folder=folder / "out"
        )
    n_pairs = sum(status == "ok" for status in made["status"].to_pylist())
    what = f"{options.judges} judges, {n_pairs:,} pairs, {scores:,} scores"
    gates.at_most(f"{what}: the whole stage", taken.cpu, SECONDS, unit="CPU s")
    gates.told("the same", taken.cpu / joined.cpu, unit="x", against="reading and joining the two tables in pandas")
    gates.told("its memory at most", taken.megabytes, unit="MB", note=f"pandas: {joined.megabytes:.0f} MB")
    return gates.finish()


if __name__ == "__main__":
    sys.exit(main())
