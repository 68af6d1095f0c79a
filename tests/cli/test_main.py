"""The command: what it prints, what it ends with, and how it says what is wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dialeval import __version__
from dialeval.cli import init
from dialeval.cli.main import COMMANDS, main
from dialeval.paths import PROJECT


def test_help_names_every_command_and_where_the_docs_lie(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    words = capsys.readouterr().out
    assert all(f"  {name} " in words for name in COMMANDS)
    assert str(PROJECT / "docs") in words.replace("\n", "")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_of_its_own(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main([name, "--help"])
    assert f"usage: dialeval {name}" in capsys.readouterr().out


def test_init_says_what_to_type_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MY_KEY", raising=False)
    models = ["--chatbot", "a=m1", "--chatbot", "b=m2", "--judge", "j=m3", "--api-key-env", "MY_KEY"]
    assert main(["init", "my study", *models]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("#")[0].strip() for line in lines[lines.index("next:") + 1 :]] == [
        "cd 'my study'", "export MY_KEY=...", "dialeval check --ask", "snakemake estimate", "snakemake",
    ]  # fmt: skip
    assert (tmp_path / "my study" / "config.yaml").is_file()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--system", "north"], "add --dialogues FILE"),
        (["--evaluated-role", "bot"], "add --dialogues FILE"),
        (["--column", "text=Body"], "add --dialogues FILE"),
        (["--dialogues", "x.csv", "--column", "words=Body"], "FIELD is one of dialogue_id, system"),
        (["--api-key-env", "KEY"], "add --chatbot NAME=MODEL or --judge NAME=MODEL"),
        (["--chatbot", "gpt-4o"], "'gpt-4o' is not a model; write NAME=MODEL"),
        (["--chatbot", "a=b"], "add --judge NAME=MODEL"),
    ],
)
def test_mistakes_are_reported(
    tmp_path: Path, options: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", str(tmp_path / "new"), *options]) == 1
    errors = capsys.readouterr().err
    assert errors.startswith("error in init: ")
    assert words in errors
    assert not (tmp_path / "new").exists()


def test_an_interrupt_ends_it_in_a_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(init, "init", interrupted)
    assert main(["init", "x"]) == 130
    assert capsys.readouterr().err == "init: stopped\n"


def test_it_runs_as_a_module_and_does_not_mind_a_closed_pipe() -> None:
    command = [sys.executable, "-m", "dialeval"]
    finished = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True)
    assert finished.stdout == f"dialeval {__version__}\n"
    wrong = subprocess.run([*command, "inti"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2
    assert "'inti'" in wrong.stderr
    assert "Traceback" not in wrong.stderr
    assert "init" in wrong.stderr
    read, write = os.pipe()
    os.close(read)
    closed = subprocess.run([*command, "--help"], stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert closed.stderr == ""


def test_letters_that_the_terminal_lacks_end_nothing(tmp_path: Path) -> None:
    (tmp_path / "summary.md").write_text("# DialEval\n\n你好 66.7% (61.0–72.0%)\n", encoding="utf-8")
    poor = {**os.environ, "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "dialeval", "summary", str(tmp_path)]
    done = subprocess.run(command, env=poor, capture_output=True, text=True, check=True)
    assert "66.7% (61.0" in done.stdout
