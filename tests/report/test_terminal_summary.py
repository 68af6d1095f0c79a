"""The last words of a run that succeeded."""

from __future__ import annotations

import io
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialeval.jobs.process_setup import escape_control_characters
from dialeval.jobs.progress import RunProgress
from dialeval.report.terminal_summary import (
    MOST_ROWS,
    WIDEST_CELL,
    SmallTable,
    head_of,
    markdown_lines,
    plain_lines,
    print_in_columns,
    usage_of_this_run,
)

# The last words of a run that succeeded.

PROGRAM = """
from pathlib import Path
from dialeval.report.terminal_summary import print_at_exit
from dialeval.jobs.progress import RunProgress
print_at_exit(Path({results!r}), {whole}, {spent}, finished={finished})
print("Elapsed time: 0:00:01")
"""


def last_words(results: Path, whole: str = "None", spent: str = "None", *, finished: bool = True) -> str:
    program = PROGRAM.format(results=str(results), whole=whole, spent=spent, finished=finished)
    done = subprocess.run(
        [sys.executable, "-u", "-c", program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True
    )
    return done.stdout


def test_the_summary_comes_after_all_other_output(tmp_path: Path) -> None:
    (tmp_path / "summary.md").write_text("# DialEval\n\n| System | Rate |\n| ------ | ---: |\n| able   |  66% |\n")
    words = last_words(tmp_path, "RunProgress(9, 9, 5, 4, 0, 0)", "0.25")
    assert words.index("Elapsed time") < words.index("able") < words.index("In this run: 5 requests sent")
    assert "0.25 spent" in words


def test_a_target_without_a_summary_prints_only_its_requests(tmp_path: Path) -> None:
    assert "summary" not in last_words(tmp_path, "RunProgress(9, 9, 5, 4, 0, 0)", finished=False)
    assert last_words(tmp_path, finished=False).strip() == "Elapsed time: 0:00:01"


def test_a_summary_that_is_gone_is_reported(tmp_path: Path) -> None:
    assert "note: " in last_words(tmp_path)


@pytest.mark.parametrize(
    ("whole", "spent", "words"),
    [
        (RunProgress(0, 0, 0, 0, 0, 0), None, "This run made no model calls."),
        (RunProgress(9, 9, 5, 4, 0, 0), None, "In this run: 5 requests sent, 4 cached."),
        (
            RunProgress(1200, 1200, 1200, 0, 2),
            1.5,
            "In this run: 1,200 requests sent, 0 cached, 2 failed; 1.5 spent, in the currency of the prices.",
        ),
    ],
)
def test_the_usage_of_a_run_in_words(whole: RunProgress, spent: float | None, words: str) -> None:
    assert usage_of_this_run(whole, spent) == words


# Small tables: aligned in Markdown and in a terminal, whatever stands in their cells.

TABLE = SmallTable(("System", "Rate"), (("able", "66.7% (61.0–72.0%)"), ("weak", "–")))


def test_markdown_has_columns_of_equal_width_and_numbers_to_the_right() -> None:
    assert markdown_lines(TABLE) == [
        "| System |               Rate |",
        "| ------ | -----------------: |",
        "| able   | 66.7% (61.0–72.0%) |",
        "| weak   |                  – |",
    ]


def test_a_table_wider_than_a_terminal_continues_below_itself_and_drops_no_column() -> None:
    columns = ("System", *(f"Measure number {n} of many at N = 16" for n in range(9)))
    rows = tuple((name, *(f"{name} {n}" for n in range(9))) for name in ("able", "weak"))
    lines = markdown_lines(SmallTable(columns, rows, more=3))
    assert max(map(len, lines)) <= 110
    cells = {cell.strip() for line in lines for cell in line.split("|")}
    assert cells >= {*columns, *(cell for row in rows for cell in row)}
    heads = [line for line in lines if "System" in line]
    assert len(heads) > 1
    assert all(line.startswith("| System ") for line in heads)
    assert lines[-1] == "and 3 more"
    wide = markdown_lines(SmallTable(("System", "x" * 40, "y" * 40), (("s" * 48, "1", "2"),)))
    assert len([line for line in wide if line.startswith("| System")]) == 2  # one column at least stands in each part


def test_a_terminal_sees_the_same_columns_without_bars() -> None:
    assert plain_lines("\n".join(markdown_lines(TABLE))) == [
        "  System                Rate",
        "  able    66.7% (61.0–72.0%)",
        "  weak                     –",
    ]


def test_a_long_table_shows_its_head_and_counts_the_rest() -> None:
    rows = [[f"system {n}", str(n)] for n in range(30)]
    table = head_of(["System", "Rate"], rows)
    assert len(table.rows) == MOST_ROWS
    assert markdown_lines(table)[-1] == "and 22 more"
    assert head_of(["System", "Rate"], rows[: MOST_ROWS + 1]).more == 0, (
        "one row more takes no more room than its count"
    )


def test_wide_characters_take_two_columns() -> None:
    lines = markdown_lines(SmallTable(("System", "Rate"), (("你好", "1"), ("able", "2"))))
    assert lines[2] == "| 你好   |    1 |"


def test_vowel_signs_take_no_column() -> None:
    hindi = "\u0928\u0941\u0928\u0947"  # two letters, each with a sign below or above it
    lines = markdown_lines(SmallTable(("System", "Rate"), ((hindi, "1"),)))
    assert lines[2] == f"| {hindi}     |    1 |"


def test_names_cannot_break_out_of_their_cell() -> None:
    odd = "a|b\\c`d`\x1b[31m\nnext <script>&amp;\u202e\x07"
    (row,) = [line for line in markdown_lines(SmallTable(("System", "Rate"), ((odd, "1"),))) if "script" in line]
    assert not any(unicodedata.category(one) in ("Cc", "Cf") for one in row)
    assert "<" not in row
    (plain,) = [
        line for line in plain_lines("\n".join(markdown_lines(SmallTable(("S", "R"), ((odd, "1"),))))) if "a|b" in line
    ]
    assert "a|b\\c`d` [31m next <script>&amp;" in plain, "a terminal shows what the name is"


@given(st.lists(st.tuples(st.text(max_size=80), st.text(max_size=20)), min_size=1, max_size=5))
def test_any_names_give_rows_of_one_width(rows: list[tuple[str, str]]) -> None:
    table = SmallTable(("System", "Rate"), tuple(rows))
    lines = markdown_lines(table)
    assert len(lines) == len(rows) + 2

    def width(text: str) -> int:
        seen = [one for one in text if unicodedata.category(one) not in ("Mn", "Me")]
        return len(seen) + sum(unicodedata.east_asian_width(one) in "WF" for one in seen)

    assert len({width(line) for line in lines}) == 1
    assert len(plain_lines("\n".join(lines))) == len(rows) + 1


def test_what_is_longer_than_a_column_may_be_is_cut_and_says_so() -> None:
    (row,) = [line for line in markdown_lines(SmallTable(("S", "R"), (("n" * 100, "1"),))) if "nn" in line]
    assert "n" * (WIDEST_CELL - 1) + "…" in row


class Terminal(io.TextIOWrapper):
    """A stream of bytes that says it is a terminal."""

    def __init__(self, encoding: str = "utf-8") -> None:
        super().__init__(io.BytesIO(), encoding=encoding, errors="backslashreplace", newline="")

    def isatty(self) -> bool:
        return True

    def written(self) -> str:
        self.flush()
        return self.buffer.getvalue().decode(self.encoding)  # type: ignore[attr-defined]


ROW = "  \u0646\u0645\u0648 2  1.833 (1.642)  \u05e9\u05dc  0.5"


def test_arabic_and_hebrew_names_leave_the_columns_of_a_terminal_in_place() -> None:
    terminal = Terminal()
    escape_control_characters(terminal)
    print_in_columns(f"able  0.5\n{ROW}\n\u05e9\u05dc\u202e: 1", terminal)
    mark = "\u200e"
    assert terminal.written().splitlines() == [
        "able  0.5",
        f"{mark}  \u0646\u0645\u0648 2{mark}  1.833 (1.642)  \u05e9\u05dc{mark}  0.5",
        f"{mark}\u05e9\u05dc{mark}\\u202e: 1",
    ]
    print("a\u200eb", file=terminal)
    assert terminal.written().endswith("a\\u200eb\n"), "marks of others are shown"


def test_files_and_terminals_of_another_encoding_get_no_marks() -> None:
    file = io.StringIO()
    print_in_columns(ROW, file)
    assert file.getvalue() == f"{ROW}\n"
    terminal = Terminal("iso8859-6")
    print_in_columns(ROW, terminal)
    assert "200e" not in terminal.written()
