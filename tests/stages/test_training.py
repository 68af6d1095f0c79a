"""The stage that tabulates trainings, on folders as trainings leave them."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
import training_example as example

from dialeval.errors import UserError
from dialeval.stages.training import TabulateTrainingSettings, tabulate_training
from dialeval.tables.files import write_table
from dialeval.tables.training import TRAINING_EXAMPLES


def test_every_judge_is_tabulated_on_its_own_sets(tmp_path: Path) -> None:
    sets = {name: example.examples(name) for name in ("turns", "others")}
    paths = []
    for name, table in sets.items():
        paths.append(tmp_path / "training" / name / "examples.parquet")
        write_table(paths[-1], TRAINING_EXAMPLES, table)
    trained = [
        example.trained_folder(tmp_path / "trained", "poe", [sets["turns"]]),
        example.trained_folder(tmp_path / "trained", "llama", [*sets.values()]),
    ]
    judges = {"poe": ["turns"], "llama": ["turns", "others"]}
    tabulate_training(TabulateTrainingSettings(judges=judges), paths, trained, tmp_path / "tables")
    record = pd.read_csv(tmp_path / "tables" / "record.csv")
    assert list(record.columns[:7]) == ["judge", "part", "kind", "n", "auc", "ci_low", "ci_high"]
    whole = record[(record["kind"] == "all") & (record["moment"] == "after")].set_index("judge")
    assert (whole.loc["poe", "n"], whole.loc["llama", "n"]) == (80, 160)
    assert pd.read_csv(tmp_path / "tables" / "curve.csv")["judge"].unique().tolist() == ["poe", "llama"]
    runs = pd.read_csv(tmp_path / "tables" / "runs.csv").set_index("judge")
    assert runs.loc["llama", "training"] == "turns, others"
    samples = pd.read_csv(tmp_path / "tables" / "samples.csv")
    assert samples.groupby(["training", "kind"]).size().tolist() == [3] * 4


def test_a_folder_without_scores_says_which(tmp_path: Path) -> None:
    path = tmp_path / "examples.parquet"
    write_table(path, TRAINING_EXAMPLES, example.examples())
    folder = example.trained_folder(tmp_path, "poe", [example.examples()])
    (folder / "scores.parquet").unlink()
    with pytest.raises(UserError, match=r"poe/scores\.parquet does not exist"):
        tabulate_training(TabulateTrainingSettings(judges={"poe": ["turns"]}), [path], [folder], tmp_path / "tables")
