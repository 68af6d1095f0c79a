"""A user's own prompt templates: what is wrong with one is told with its name."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from dialeval.errors import UserError
from dialeval.prompts.rendering import Templates


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"{{ question }} \xff", r"'mine\.j2': not UTF-8 \(byte 0xff at character 16\); save the file as UTF-8"),
        ("{{ question }}".encode("utf-16"), r"'mine\.j2': not UTF-8"),
        (b"\n{% if %}", r"mine\.j2, line 2"),
        (b"{{ answer }}", r"'mine.j2': 'answer' is undefined; its variables are question"),
        (b"{{ 1 / 0 }}", r"'mine\.j2' cannot be filled in: ZeroDivisionError"),
        (b"{{ question + 1 }}", r"'mine\.j2' cannot be filled in: TypeError"),
        (b"{{ question[9] + {}['a'] }}", r"'mine\.j2'"),
        (b"{% include 'mine.j2' %}", r"'mine\.j2' cannot be filled in: RecursionError"),
        (b"{% include 'none.j2' %}", r"prompt template 'none\.j2' does not exist"),
    ],
)
def test_a_template_that_cannot_be_used_is_reported(tmp_path: Path, content: bytes, words: str) -> None:
    (tmp_path / "mine.j2").write_bytes(content)
    gc.disable()  # what other tests left cannot be finalized at the bottom of a recursion
    try:
        with pytest.raises(UserError, match=words):
            Templates(tmp_path).render("mine.j2", question="why")
    finally:
        gc.enable()


def test_a_template_of_ones_own_takes_the_place_of_ours(tmp_path: Path) -> None:
    (tmp_path / "unieval.j2").write_text("Ours? {{ question }}", encoding="utf-8")
    assert Templates(tmp_path).render("unieval.j2", question="Ünd?") == "Ours? Ünd?"
