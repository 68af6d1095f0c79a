"""Made-up trainings: pairs of which one judge learns to tell a kind from the true ones, and another kind not."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from dialeval.tables.files import empty_table, to_table, write_table
from dialeval.tables.training import TRAINING_CURVE, TRAINING_EXAMPLES, TRAINING_RECORD, TRAINING_RUNS, TRAINING_SCORES
from dialeval.training.results import record_rows

KINDS = ("shuffled", "random")
"""The first is learned, the second is not."""
PARTS = ("train", "development", "held_out")


def examples(
    name: str = "turns",
    n_dialogues: int = 60,
    kinds: Iterable[str] = KINDS,
    languages: Iterable[str] = ("en",),
    criteria: Iterable[str] = ("relevance",),
) -> pa.Table:
    """A set of a pair of each kind, criterion and language in every dialogue; every third dialogue is held out."""
    rows: list[dict[str, Any]] = []
    for language in languages:
        for number in range(n_dialogues):
            dialogue = f"{language}-{number}"
            for criterion in criteria:
                for kind in kinds:
                    pair = f"{name}/{dialogue}/{criterion}/{kind}"
                    for good, last in ((1, f"It is {number}."), (0, f"{number} is it.")):
                        rows.append(
                            {"training": name, "example_id": f"{pair}/{good}", "pair_id": pair,
                             "part": PARTS[number % 3], "level": "turn", "criterion": criterion, "domain": "daily",
                             "language": language, "good": good, "kind": kind, "corpus": "mine",
                             "dialogue_id": dialogue, "cluster": dialogue, "speakers": ["A", "B"],
                             "utterances": ["Which number?", last], "made_from": None}
                        )  # fmt: skip
    return to_table(TRAINING_EXAMPLES, rows)


def scores(table: pa.Table, learned: str = KINDS[0], random_seed: int = 0) -> pa.Table:
    """Scores of held-out examples that are noise, but for those of the learned kind after the training."""
    rng = np.random.default_rng(random_seed)
    rows = []
    for moment in ("before", "after"):
        for row in table.to_pylist():
            if row["part"] == "held_out":
                told = 0.3 if moment == "after" and row["kind"] == learned else 0.0
                score = 0.5 * rng.random() + told * row["good"]
                rows.append({"example_id": row["example_id"], "moment": moment, "score": score})
    return to_table(TRAINING_SCORES, rows)


def curve(judge: str) -> pa.Table:
    """Ten looks at a falling loss, the development part's rising again at the end."""
    rows = []
    for step in range(10, 101, 10):
        shared = {"judge": judge, "step": step, "epoch": step / 40}
        rows.append({**shared, "measured": "training", "loss": 0.7 - 0.004 * step, "auc": None})
        loss = 0.69 - 0.003 * min(step, 70) + 0.002 * max(step - 70, 0)
        rows.append({**shared, "measured": "development", "loss": loss, "auc": 0.5 + 0.002 * min(step, 70)})
    return to_table(TRAINING_CURVE, rows)


def run(judge: str, training: str = "turns") -> pa.Table:
    """What is said of a training."""
    row = {
        "judge": judge, "model": "tiny", "training": training, "n_examples": 80, "steps": 100, "best_step": 70,
        "epochs": 2.5, "parameters": 1_000_000, "trained_parameters": 4096, "seconds": 12.5,
        "examples_per_second": 16.0, "tokens_per_second": 800.0, "device": "cpu", "precision": "float32",
    }  # fmt: skip
    return to_table(TRAINING_RUNS, [row])


def trained_folder(folder: Path, judge: str, sets: list[pa.Table]) -> Path:
    """Write the folder that the training of a judge leaves, without weights."""
    path = folder / judge
    path.mkdir(parents=True)
    together = pa.concat_tables(sets)
    names = ", ".join(dict.fromkeys(together["training"].to_pylist()))
    for kind, table in (
        (TRAINING_SCORES, scores(together)),
        (TRAINING_CURVE, curve(judge)),
        (TRAINING_RUNS, run(judge, names)),
    ):
        file = {"training_scores": "scores", "training/curve": "curve", "training/runs": "run"}[kind.name]
        write_table(path / f"{file}.parquet", kind, table)
    return path


def tables(judges: Iterable[str] = ("poe", "fined")) -> dict[str, pa.Table]:
    """The tables of some judges' trainings by their names; every second one learned from dialogues."""
    sets = [
        examples("turns", languages=("en", "zh")),
        examples("dialogues", criteria=("coherence", "informativeness"), kinds=("order", "generic_utterance")),
    ]
    record: list[dict[str, Any]] = []
    curves, runs = [], []
    for place, judge in enumerate(judges):
        mine = sets[place % 2]
        learned = mine["kind"][0].as_py()
        record += record_rows(judge, mine, scores(mine, learned, place), 0.95)
        curves.append(curve(judge))
        runs.append(run(judge, mine["training"][0].as_py()))
    return {
        TRAINING_RECORD.name: to_table(TRAINING_RECORD, record),
        TRAINING_CURVE.name: pa.concat_tables([empty_table(TRAINING_CURVE), *curves]),
        TRAINING_RUNS.name: pa.concat_tables([empty_table(TRAINING_RUNS), *runs]),
    }
