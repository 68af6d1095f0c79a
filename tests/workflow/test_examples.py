"""The scripts of examples/ say what the tables of a finished run say, and the docs show what one of them prints."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import matplotlib.image
import pandas as pd
import pytest
from workspace import ROOT, Workspace

pytestmark = pytest.mark.workflow


def example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_leaderboard(undisturbed: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    results = undisturbed.folder / "results"
    example("leaderboard").main(results)
    judge, _, _, *lines = capsys.readouterr().out.splitlines()
    assert judge == "forest"
    arena = pd.read_csv(results / "tables/arena/ratings.csv").query("n_utterances == 8").set_index("system")
    passes = pd.read_csv(results / "tables/unieval/pass_rates.csv").query("n_utterances == 8").set_index("system")
    people = pd.read_csv(results / "tables/gteval/win_rates.csv").set_index("system")
    order = list(arena["bradley_terry"].sort_values(ascending=False).index)
    assert [line.split()[0] for line in lines if line] == order
    for line, system in zip(lines, order, strict=False):
        expected = [
            (arena["bradley_terry"], arena["bradley_terry_ci_low"], arena["bradley_terry_ci_high"], 0),
            (passes["estimate"], passes["ci_low"], passes["ci_high"], 2),
            (people["win_or_tie"], people["win_or_tie_ci_low"], people["win_or_tie_ci_high"], 2),
        ]
        for estimate, low, high, digits in expected:
            shown = f"{estimate[system]:.{digits}f}"
            if pd.notna(low[system]) and pd.notna(high[system]):
                shown += f" ({low[system]:.{digits}f} to {high[system]:.{digits}f})"
            assert shown in line


def test_own_figure(undisturbed: Workspace, tmp_path: Path) -> None:
    example("own_figure").main(undisturbed.folder / "results", tmp_path / "lengths.png")
    drawn = matplotlib.image.imread(tmp_path / "lengths.png")
    assert drawn.shape[:2] == (600, 750)
    assert 0.005 < (drawn[..., :3].min(axis=2) < 0.9).mean() < 0.5  # something is drawn, on a white ground


def test_own_statistic(undisturbed: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    results = undisturbed.folder / "results"
    example("own_statistic").main(results)
    lines = capsys.readouterr().out.splitlines()
    shares = {}
    for chatbot in ("generic", "random"):
        said = pd.read_parquet(results / "dialogues" / f"{chatbot}.parquet")
        own = [text for text, origin in zip(said["text"], said["origin"], strict=True) if origin == "model"]
        shares[chatbot] = sum("?" in text for text in own) / len(own)
        assert f"{chatbot}: {shares[chatbot]:.2f} (" in "\n".join(lines)
    assert f"generic less random: {shares['generic'] - shares['random']:+.2f} (" in lines[-1]


def test_the_worked_example_prints_what_the_docs_show(real_data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    example("worked_example").main(real_data / "comp-analysis" / "dialog_level_texts")
    page = (ROOT / "docs" / "statistics.md").read_text(encoding="utf-8")
    shown = re.search(r"```text\n(1\. Mean human rating.*?)```", page, re.DOTALL)
    assert shown is not None
    assert capsys.readouterr().out == shown[1]
