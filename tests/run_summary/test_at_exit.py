"""The last words of a run that succeeded."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from dialeval.progress.whole_run import Whole
from dialeval.run_summary.at_exit import words_of_this_run

PROGRAM = """
from pathlib import Path
from dialeval.run_summary.at_exit import say_at_exit
from dialeval.progress.whole_run import Whole
say_at_exit(Path({results!r}), {whole}, {spent}, finished={finished})
print("Elapsed time: 0:00:01")
"""


def last_words(results: Path, whole: str = "None", spent: str = "None", *, finished: bool = True) -> str:
    program = PROGRAM.format(results=str(results), whole=whole, spent=spent, finished=finished)
    done = subprocess.run(
        [sys.executable, "-u", "-c", program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True
    )
    return done.stdout


def test_the_summary_comes_behind_everything_else_that_is_said(tmp_path: Path) -> None:
    (tmp_path / "summary.md").write_text("# DialEval\n\n| System | Rate |\n| ------ | ---: |\n| able   |  66% |\n")
    words = last_words(tmp_path, "Whole(9, 9, 5, 4, 0, 0, 0)", "0.25")
    assert words.index("Elapsed time") < words.index("able") < words.index("In this run: 5 requests asked")
    assert "0.25 spent" in words


def test_a_target_without_a_summary_says_only_what_it_asked(tmp_path: Path) -> None:
    assert "summary" not in last_words(tmp_path, "Whole(9, 9, 5, 4, 0, 0, 0)", finished=False)
    assert last_words(tmp_path, finished=False).strip() == "Elapsed time: 0:00:01"


def test_a_summary_that_is_gone_is_said(tmp_path: Path) -> None:
    assert "note: " in last_words(tmp_path)


@pytest.mark.parametrize(
    ("whole", "spent", "words"),
    [
        (Whole(0, 0, 0, 0, 0, 0, 0), None, "This run asked no model anything."),
        (Whole(9, 9, 5, 4, 0, 0, 0), None, "In this run: 5 requests asked, 4 answers from the store."),
        (
            Whole(1200, 1200, 1200, 0, 2, 0, 0),
            1.5,
            "In this run: 1,200 requests asked, 0 answers from the store, 2 without an answer; 1.5 spent, in the "
            "currency of the prices.",
        ),
    ],
)
def test_what_a_run_asked_in_words(whole: Whole, spent: float | None, words: str) -> None:
    assert words_of_this_run(whole, spent) == words
