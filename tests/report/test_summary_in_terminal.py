"""A summary read back for a terminal, and what is said where there is none."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from dialeval.errors import UserError
from dialeval.report.terminal_summary import stale_files_note, words_of_results

MARKDOWN = """# DialEval

## BotChat: who chats best?

**Judge clerk.** able chats best, according to judge clerk: first by UniEval pass rate (66.7%) and by all else.

| System |               Rate |
| ------ | -----------------: |
| able   | 66.7% (61.0–72.0%) |

- the report: results/report/index.html
"""


def test_headings_rows_and_words_are_printed_without_marks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "70")
    (tmp_path / "summary.md").write_text(MARKDOWN, encoding="utf-8")
    told = words_of_results(tmp_path).splitlines()
    assert told[:3] == ["DialEval", "", "BotChat: who chats best?"]
    assert "  able    66.7% (61.0–72.0%)" in told
    assert all(len(line) <= 70 for line in told)
    assert told[-1] == "- the report: results/report/index.html"


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ((), "there is no folder"),
        (("results",), "has no summary.md, which a finished run writes. Run"),
        (("results", "results/tables"), "The folder has tables of an unfinished run"),
        (("results", "results/summary.md"), "cannot be read"),
    ],
)
def test_a_missing_summary_is_reported_with_what_to_do(made: tuple[str, ...], said: str, tmp_path: Path) -> None:
    for folder in made:
        (tmp_path / folder).mkdir()
    with pytest.raises(UserError, match=said):
        words_of_results(tmp_path / "results")


def test_results_read_from_elsewhere_lie_where_they_are_read(tmp_path: Path) -> None:
    folder = tmp_path / "moved"
    folder.mkdir()
    places = "- all numbers as CSV and Parquet: results/tables\n"
    (folder / "summary.md").write_text(MARKDOWN + places, encoding="utf-8")
    told = " ".join(words_of_results(folder).split())
    assert f"- the report: {folder}/report/index.html" in told
    assert f"- all numbers as CSV and Parquet: {folder}/tables" in told


def test_a_summary_says_when_a_later_run_left_other_tables(tmp_path: Path) -> None:
    names = ["tables/arena/ratings.parquet", "usage/a.parquet", "usage/b.parquet"]
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name, encoding="utf-8")
    digests = {name: hashlib.sha256(name.encode()).hexdigest() for name in names}
    record = {"inputs": {"tables": {names[0]: digests[names[0]]}, "usage": {name: digests[name] for name in names[1:]}}}
    (tmp_path / "provenance").mkdir()
    assert stale_files_note(tmp_path) == ""  # made by hand, without a record: nothing is known
    (tmp_path / "provenance" / "summary.md.json").write_text(json.dumps(record), encoding="utf-8")
    assert stale_files_note(tmp_path) == ""
    (tmp_path / names[2]).unlink()
    (tmp_path / names[0]).write_text("another run", encoding="utf-8")
    assert "older than 2 of its 3 files (first: tables/arena/ratings.parquet)" in stale_files_note(tmp_path)
