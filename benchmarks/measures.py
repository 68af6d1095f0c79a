"""Time and memory of Arena's measures at scale: 4.4 million judgements, 100 chatbots, 222 seeds, 2 orders, 2 lengths.

The tables of judgements and of items are made up in a temporary folder, and each measure's stage runs in a process of
its own, as in the workflow.
Takes 5 min.
"""

from __future__ import annotations

import sys
import tempfile
from itertools import permutations
from pathlib import Path

import numpy as np
import pyarrow as pa

from dialeval.measures.design import Design
from dialeval.tables.dialogues import JUDGEMENTS
from dialeval.tables.files import TableWriter
from dialeval.tables.metaeval import ITEMS
from gates import Gates, arguments
from stage_runs import run_stage

LENGTHS = [8, 16]


def write_judgements(path: Path, names: list[str], seeds: list[str]) -> int:
    """Write verdicts by strength, a fifth of them ties and one in fifty unread; returns how many."""
    rng = np.random.default_rng(0)
    strength = rng.normal(size=len(names))
    pairs = np.array(list(permutations(range(len(names)), 2)))
    left, right = pairs.T
    chances = 1 / (1 + np.exp(strength[right] - strength[left]))
    with TableWriter(path, JUDGEMENTS) as table:
        for n in LENGTHS:
            for seed in seeds:
                draw, other = rng.random((2, len(pairs)))
                outcome = np.where(draw < chances, "left", "right")
                outcome = np.where(other < 0.2, "tie", outcome)
                unread = other > 0.98
                columns = {
                    "judge": pa.repeat("judge", len(pairs)), "protocol": pa.repeat("arena", len(pairs)),
                    "request_id": pa.repeat("", len(pairs)), "case_id": pa.repeat(seed, len(pairs)),
                    "left": pa.array(names).take(left), "right": pa.array(names).take(right),
                    "n_utterances": pa.repeat(pa.scalar(n, pa.int32()), len(pairs)),
                    "repeat": pa.repeat(pa.scalar(0, pa.int32()), len(pairs)),
                    "outcome": pa.array(outcome, mask=unread), "reason": pa.repeat("The other repeats.", len(pairs)),
                    "status": pa.array(np.where(unread, "unparsed", "ok")),
                }  # fmt: skip
                whole = [columns.get(field.name, pa.nulls(len(pairs), field.type)) for field in JUDGEMENTS.schema]
                table.write(pa.Table.from_arrays(whole, schema=JUDGEMENTS.schema))
        return table.rows


def write_items(path: Path, names: list[str], seeds: list[str]) -> None:
    """Write a dialogue of every chatbot on every seed, of sixteen short utterances."""
    rng = np.random.default_rng(1)
    with TableWriter(path, ITEMS) as table:
        table.write_all(
            {
                "corpus": "selfchat", "item_id": f"{seed}/{name}", "language": "en", "level": "dialogue",
                "cluster": seed, "speakers": ["A", "B"] * 8, "system": name, "case_id": seed, "judged": "",
                "utterances": ["word " * int(n) for n in rng.integers(3, 30, 16)],
            }
            for name in names
            for seed in seeds
        )  # fmt: skip


def main() -> int:
    """Measures everything that is asked for."""
    parser = arguments(__doc__)
    parser.add_argument("--chatbots", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=222)
    parser.add_argument("--measures", nargs="*", default=["ratings", "win_rates", "differences", "bias"])
    options = parser.parse_args()
    gates = Gates(__file__, options)
    names = [f"chatbot {number:03}" for number in range(options.chatbots)]
    seeds = [f"seed-{number:03}" for number in range(options.seeds)]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        judgements, items = folder / "judgements.parquet", folder / "items.parquet"
        rows = write_judgements(judgements, names, seeds)
        write_items(items, names, seeds)
        design = Design(
            protocol="arena", judges=["judge"], systems=names, lengths=LENGTHS, measures=["ratings", "win_rates"]
        ).model_dump(mode="json")
        for measure in options.measures:
            out = {"table": folder / "out.parquet", "csv": folder / "out.csv"}
            taken = run_stage(f"measure_{measure}", design, judgements=[judgements], items=items, **out)
            what = f"{rows:,} judgements of {len(names)} chatbots: {measure}"
            gates.told(what, taken.cpu, unit="CPU s", note=f"{taken.megabytes:,.0f} MB")
    return gates.finish()


if __name__ == "__main__":
    sys.exit(main())
