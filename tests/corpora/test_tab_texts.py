"""The TAB-separated texts of comp-analysis."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialeval.corpora.tab_texts import TabRecord, read_records, split_speaker
from dialeval.errors import UserError


def write(tmp_path: Path, content: str) -> Path:
    path = tmp_path / "some_text.txt"
    path.write_bytes(content.encode())
    return path


def test_only_line_feeds_and_tabs_part_anything(tmp_path: Path) -> None:
    odd = 'a\x0bb\x0cc\x1cd\x85e\u2028f "g, h'
    path = write(tmp_path, f'X-0\t{odd}\t"quoted" \nX-1\tNone\tnan\t 7\n')
    assert read_records(path) == [
        TabRecord(1, "X-0", (odd, '"quoted"')),
        TabRecord(2, "X-1", ("None", "nan", "7")),
    ]


def test_windows_line_ends_and_a_missing_last_one_are_taken(tmp_path: Path) -> None:
    path = write(tmp_path, "X-0\tHi.\r\nX-1\tHo.")
    assert [record.fields for record in read_records(path)] == [("Hi.",), ("Ho.",)]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "the file is empty"),
        ("X-0\tHi.\n\nX-2\tHo.\n", "row 2 is blank"),
        ("X-0\tHi.\nX-1 Ho.\n", "row 2 has no TAB: 'X-1 Ho.'"),
    ],
)
def test_a_row_is_never_passed_over(tmp_path: Path, content: str, words: str) -> None:
    with pytest.raises(UserError, match=words) as caught:
        read_records(write(tmp_path, content))
    assert "some_text.txt" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("human: Hello: you?", ("human", "Hello: you?")),
        ("chatbot:  two blanks", ("chatbot", "two blanks")),
        ("A:", ("A", "")),
    ],
)
def test_a_speaker_ends_at_the_first_colon(text: str, parts: tuple[str, str]) -> None:
    assert split_speaker(text, "here") == parts


@pytest.mark.parametrize("text", ["no speaker", ": nobody", "a sentence much too long to be any speaker's name: this"])
def test_a_field_without_speaker_is_told(text: str) -> None:
    with pytest.raises(UserError, match=r"here: .* does not begin with a speaker.* TAB inside an utterance"):
        split_speaker(text, "here")
