"""Benchmarks keep their figures in files, and the tables of benchmarks/*.md are made of these."""

from __future__ import annotations

import json
import os
import runpy
import sys
from argparse import Namespace
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "benchmarks"))  # at the end: a benchmark must not stand before a module of the tests

import compose  # noqa: E402
import gates  # noqa: E402
import run_all  # noqa: E402
from gates import Gates, arguments  # noqa: E402


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Figures are kept here and not in the project."""
    monkeypatch.setattr(gates, "FIGURES", tmp_path)
    monkeypatch.setattr(compose, "FIGURES", tmp_path)
    monkeypatch.setattr(sys, "argv", ["benchmarks/speed.py", "--size", "2", "--record"])
    return tmp_path


def measure(*, record: bool, rate: float = 12.0) -> int:
    figures = Gates("benchmarks/speed.py", Namespace(record=record))
    figures.at_least("rate", rate, 10.0, unit="x", against="a bare loop")
    figures.at_most("CPU a request", 0.25, 0.5, unit="ms")
    figures.told("requests", 123_456.0, note="of two | sizes")
    return figures.finish()


def test_documents_are_what_the_kept_figures_make_them() -> None:
    stand = compose.documents()
    assert compose.composed(stand) == stand, "run python benchmarks/compose.py"


def test_every_benchmark_says_what_it_measures_and_how_long_it_takes() -> None:
    untold = [script.name for script in compose.scripts() if not (script.measures and script.takes)]
    assert untold == [], "the docstring's first line is what it measures; it says `Takes N s.`, `min` or `h`"


def test_kept_figures_belong_to_a_benchmark() -> None:
    scripts = {script.name.removesuffix(".py") for script in compose.scripts()}
    assert {path.name.partition(".")[0] for path in compose.FIGURES.glob("*.json")} <= scripts


def test_figures_are_kept_on_request_alone(folder: Path) -> None:
    assert measure(record=False) == 0
    assert list(folder.iterdir()) == []
    assert measure(record=True) == 0
    kept = json.loads((folder / "speed.json").read_text(encoding="utf-8"))
    assert kept["command"] == "speed.py --size 2"
    assert [figure["value"] for figure in kept["figures"]] == [12.0, 0.25, 123_500.0]
    assert kept["conditions"]["cores"] >= 1
    assert 0.0 <= kept["conditions"]["others"] <= 1.0


def test_a_missed_figure_is_the_status_and_stands_out(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert measure(record=True, rate=9.0) == 1
    assert "MISS rate: 9 x (to reach: >= 10; against a bare loop)" in capsys.readouterr().out
    assert "| rate, against a bare loop | >= 10 | **9 x**, missed |" in compose.figures_table(["speed"])


def test_tables_are_made_between_their_marks(folder: Path) -> None:
    measure(record=True)
    before = "Words.\n\n<!-- figures speed -->\nold\n<!-- end -->\n\nMore words.\n"
    rest = "<!-- figures -->\n<!-- end -->\n"
    made = compose.composed({"ONE.md": before, "REST.md": rest})
    assert "old" not in made["ONE.md"]
    assert made["ONE.md"].startswith("Words.\n")
    assert made["ONE.md"].endswith("More words.\n")
    assert "| requests |  | 123,500 (of two / sizes) |" in made["ONE.md"]
    assert "rate" not in made["REST.md"], "what one document names is not told again where the rest is told"
    assert compose.composed(made) == made


def test_a_note_stands_for_conditions_that_were_not_measured() -> None:
    assert gates.said({"note": "two cores, other work on the machine"}) == "two cores, other work on the machine"


def test_options_are_those_of_the_script_and_record() -> None:
    parser = arguments("What it measures.\n\n    python it.py\n")
    parser.add_argument("--size", type=int, default=1)
    assert parser.parse_args(["--record"]) == Namespace(record=True, size=1)
    assert "What it measures." in parser.format_help()


def run(script: str, *words: str) -> int:
    """Run a benchmark in this process, where what benchmarks import is imported once, and return its status."""
    sys.argv = [str(ROOT / "benchmarks" / script), *words]
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(sys.argv[0], run_name="__main__")
    return int(ended.value.code or 0)


@pytest.fixture
def own_process(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put back what benchmarks change of a process that is usually their own."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in ("OPENBLAS_NUM_THREADS", "HF_HUB_OFFLINE", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, os.environ.get(name, "1"))


@pytest.mark.usefixtures("own_process")
def test_every_benchmark_starts_and_lists_its_options(capsys: pytest.CaptureFixture[str]) -> None:
    for script in compose.scripts():
        if {"torch", "GPU"} & set(script.takes.split()) and not find_spec("torch"):
            continue  # it imports torch before it reads its options
        assert run(script.name, "--help") == 0, script.name
        options = capsys.readouterr().out
        assert "--record" in options or script.name in compose.TOOLS, f"{script.name} keeps no figures"
        assert "--data" in options or "public data" not in script.takes, f"{script.name} is not told where the data is"


@pytest.mark.usefixtures("own_process")
@pytest.mark.parametrize(
    ("script", "words", "figure"),
    [
        ("labelling_page.py", ("--pairs", "2"), "page of 2 pairs"),
        ("dialogbench.py", ("--items", "60", "--models", "1"), "60 items"),
    ],
)
def test_small_runs_keep_their_figures(folder: Path, script: str, words: tuple[str, ...], figure: str) -> None:
    assert run(script, *words, "--record") in (0, 1), "whether figures of so small a run are reached says nothing"
    kept = json.loads((folder / script.replace(".py", ".json")).read_text(encoding="utf-8"))
    assert kept["command"] == " ".join([script, *words])
    assert any(figure in one["what"] for one in kept["figures"])


def script(name: str, takes: str) -> compose.Script:
    return compose.Script(name, "something", takes)


@pytest.mark.parametrize(("takes", "minutes"), [("30 s", 0.5), ("3 min with vLLM", 3.0), ("1 h", 60.0)])
def test_minutes_that_a_benchmark_takes(takes: str, minutes: float) -> None:
    assert script("a.py", takes).minutes == minutes


def test_short_benchmarks_are_run_or_those_that_are_named() -> None:
    every = {one.name.removesuffix(".py") for one in compose.scripts()}
    short = [one.name for one in run_all.chosen([], 0.25)]
    assert "store.py" in short
    assert not {"stats_coverage.py", "run_all.py", "compose.py"} & set(short)
    assert len(short) < len(every)
    assert [one.name for one in run_all.chosen(["stats_elo", "stats_coverage"], 0.25)] == [
        "stats_coverage.py",
        "stats_elo.py",
    ]
    with pytest.raises(SystemExit, match="no benchmark speed"):
        list(run_all.chosen(["speed"], 0.25))


def test_what_a_benchmark_lacks_is_named(tmp_path: Path) -> None:
    assert run_all.lacking(script("a.py", "30 s"), tmp_path) == ""
    assert run_all.lacking(script("a.py", "10 min on a GPU"), tmp_path) == "a GPU"
    assert run_all.lacking(script("a.py", "30 s with the public data"), tmp_path) == ""
    there = "30 s with the public data"
    assert run_all.lacking(script("a.py", there), tmp_path / "none").startswith("the public data, which is not in")
    assert (run_all.lacking(script("a.py", "3 min with vLLM"), tmp_path) == "") is bool(find_spec("vllm"))
