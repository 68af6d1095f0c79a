"""Plain tables of battles, rated by the real snakemake, alone and from the public data."""

from __future__ import annotations

from pathlib import Path

import evalica
import pandas as pd
import pytest
import yaml
from workspace import Workspace

pytestmark = pytest.mark.workflow
QUICK = {"shuffles": 50, "repeats": 2, "resamples": 50}
METHODS = ("elo", "bradley_terry", "davidson")
ROWS = [("a", "b", "left"), ("b", "c", "left"), ("c", "a", "left"), ("a", "c", "left"), ("b, tuned", "a", "tie")]


def only_battles(workspace: Workspace, **battles: dict[str, str]) -> None:
    text = yaml.safe_dump({"battles": battles, "elo": QUICK})
    (workspace.folder / "config.yaml").write_text(text, encoding="utf-8")


def write_battles(workspace: Workspace, *more: tuple[str, str, str]) -> str:
    path = workspace.folder / "mine.csv"
    pd.DataFrame([*ROWS * 4, *more], columns=["model_a", "model_b", "label"]).to_csv(path, index_label="prompt")
    return str(path)


def ratings(workspace: Workspace, name: str) -> pd.DataFrame:
    return pd.read_csv(workspace.folder / "results" / "tables" / "battles" / f"{name}.csv")


def test_battles_alone_are_rated_and_drawn(workspace: Workspace) -> None:
    mine = {"path": write_battles(workspace), "left": "model_a", "right": "model_b", "cluster": "prompt"}
    only_battles(workspace, mine=mine)
    assert "20 battles in 20 clusters between 4 models" in workspace.run()
    assert set(workspace.tables()) == {
        *(f"tables/battles/mine.{suffix}" for suffix in ("parquet", "csv")),
        *(f"tables/battles/differences/mine.{suffix}" for suffix in ("parquet", "csv")),
        *(f"figures/battles/mine.{suffix}" for suffix in ("svg", "pdf")),
    }
    table = ratings(workspace, "mine").set_index("system")
    assert table.index[0] == "a"
    assert table.loc["a", "n_comparisons"] == 16
    assert "Nothing to be done" in workspace.run("battles")
    write_battles(workspace, ("c", "b", "both"))
    output = workspace.run("battles", ok=False)
    assert "mine.csv, line 22: column 'label' is 'both', which is not a winner; write left, right, tie" in output
    assert "Traceback" not in output


def test_without_battles_the_target_says_what_to_do(workspace: Workspace) -> None:
    assert "add a section such as battles: {mine: {path: mine.csv}}" in workspace.run("battles", ok=False)


@pytest.mark.slow
def test_the_public_votes_are_rated_as_by_evalica(workspace: Workspace, real_data: Path) -> None:
    path = real_data / "battles" / "crowd-comparisons.csv"
    only_battles(workspace, crowd={"path": str(path), "cluster": "prompt"})
    workspace.run("battles")
    table = ratings(workspace, "crowd")
    assert len(table) == 59
    assert not table[[*METHODS, "ci_low", "ci_high"]].isna().any(axis=None)
    assert table["note"].isna().all(), "all methods converge, and nobody wins or loses everything"
    votes = pd.read_csv(path, dtype=str, keep_default_na=False)
    winners = {"left": evalica.Winner.X, "right": evalica.Winner.Y, "tie": evalica.Winner.Draw}
    theirs = evalica.bradley_terry(
        votes["left"].tolist(), votes["right"].tolist(), [winners[winner] for winner in votes["winner"]]
    )
    ours = table.sort_values("bradley_terry", ascending=False)["system"]
    assert list(ours) == list(theirs.scores.sort_values(ascending=False).index)
    assert table[list(METHODS)].corr("spearman").min(axis=None) > 0.99
