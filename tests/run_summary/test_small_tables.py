"""Small tables: aligned in Markdown and in a terminal, whatever stands in their cells."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from dialeval.run_summary.small_tables import MOST_ROWS, WIDEST, SmallTable, head_of, markdown_lines, plain_lines

TABLE = SmallTable(("System", "Rate"), (("able", "66.7% (61.0–72.0%)"), ("weak", "–")))


def test_markdown_has_columns_of_equal_width_and_numbers_to_the_right() -> None:
    assert markdown_lines(TABLE) == [
        "| System |               Rate |",
        "| ------ | -----------------: |",
        "| able   | 66.7% (61.0–72.0%) |",
        "| weak   |                  – |",
    ]


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
        wide = sum(unicodedata.east_asian_width(one) in "WF" and not unicodedata.combining(one) for one in text)
        return len(text) + wide - sum(unicodedata.combining(one) > 0 for one in text)

    assert len({width(line) for line in lines}) == 1
    assert len(plain_lines("\n".join(lines))) == len(rows) + 1


def test_what_is_longer_than_a_column_may_be_is_cut_and_says_so() -> None:
    (row,) = [line for line in markdown_lines(SmallTable(("S", "R"), (("n" * 100, "1"),))) if "nn" in line]
    assert "n" * (WIDEST - 1) + "…" in row
