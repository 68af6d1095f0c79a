"""A stage by hand: help, arguments, and failures in words."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from dialeval.errors import UserError
from dialeval.stages import STAGES


def stage(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "dialeval.stages", name, *arguments], capture_output=True, text=True, check=False
    )


def test_a_stage_works_without_snakemake(tmp_path: Path) -> None:
    settings = json.dumps({"name": "bundled", "reader": "bundled", "path": None, "language": "zh"})
    done = stage("read_corpus", "--settings", settings, "--utterances", str(tmp_path / "u.parquet"))
    assert done.returncode == 0, done.stderr
    assert "bundled (zh): 40 dialogues" in done.stdout
    done = stage(
        "extract_seeds", "--settings", '{"corpus": "bundled"}',
        "--utterances", str(tmp_path / "u.parquet"), "--seeds", str(tmp_path / "s.parquet"),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "40 seeds" in done.stdout


def test_a_users_mistake_is_one_message_without_a_traceback(tmp_path: Path) -> None:
    settings = json.dumps({"name": "x", "reader": "jsonl", "path": str(tmp_path / "no.jsonl"), "language": "en"})
    done = stage("read_corpus", "--settings", settings, "--utterances", str(tmp_path / "u.parquet"))
    assert done.returncode == 1
    assert "error in read_corpus:" in done.stderr
    assert "no.jsonl cannot be read" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "u.parquet").exists()


def test_a_set_of_prompts_that_there_is_not_is_reported(tmp_path: Path) -> None:
    files = ("--drawn", str(tmp_path / "d"), "--requests", str(tmp_path / "r"))
    done = stage("plan_adequacy", *files, "--prompts", "mine")
    assert done.returncode == 2
    assert "'mine' is not a set of prompts; write ours:FOLDER or papers:FOLDER" in done.stderr


def test_help_describes_every_stage() -> None:
    for module, names in STAGES.items():
        functions = import_module(f"dialeval.stages.{module}")
        assert functions.__doc__
        assert all(getattr(functions, name).__doc__ for name in names)
    done = stage("plan_pair", "--help")
    assert "--items" in done.stdout
    assert "Write the table `requests`" in done.stdout


def test_help_of_a_measure_names_its_table_and_options() -> None:
    functions = import_module("dialeval.stages.measures")
    for name in (name for name in STAGES["measures"] if name.startswith("measure_")):
        assert f"Write the table `{name.removeprefix('measure_')}` of a protocol" in getattr(functions, name).__doc__
    done = stage("measure_pass_rates", "--help")
    assert "A dialogue passes at N" in done.stdout
    assert all(option in done.stdout for option in ("--settings JSON", "--judgements", "--folder FILE"))


def test_several_stages_run_in_one_process_each_with_its_own_options(tmp_path: Path) -> None:
    """The second reads what the first writes, which has settings that the second does not know."""
    utterances, seeds = tmp_path / "u.parquet", tmp_path / "s.parquet"
    settings = json.dumps({"name": "bundled", "reader": "bundled", "path": None, "language": "zh", "corpus": "bundled"})
    done = stage(
        "read_corpus+extract_seeds+seed_lengths", "--settings", settings, "--utterances", str(utterances),
        "--seeds", str(seeds), "--table", str(tmp_path / "seeds"), "--csv", str(tmp_path / "seeds.csv"),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.index("40 dialogues") < done.stdout.index("40 seeds")
    lengths = (tmp_path / "seeds.csv").read_text(encoding="utf-8").splitlines()
    own = tmp_path / "own.csv"
    alone = stage("seed_lengths", "--seeds", str(seeds), "--table", str(tmp_path / "own"), "--csv", str(own))
    assert alone.returncode == 0, alone.stderr
    assert own.read_text(encoding="utf-8").splitlines() == lengths
    done = stage("read_corpus+seed_length", "--utterances", str(utterances))
    assert "did you mean 'seed_lengths'" in done.stderr


@pytest.mark.parametrize("named", ["answers", "anser", "--help", "../answer", ""])
def test_an_unknown_stage_is_reported_with_the_known_ones(named: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from dialeval.stages import __main__ as program

    monkeypatch.setattr("sys.argv", ["stages", *filter(None, [named])])
    with pytest.raises(UserError, match="did you mean 'answer'|answering: answer, answer_items"):
        program.main()
