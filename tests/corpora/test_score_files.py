"""Ready scores of a user's metric: joined by key, refused with the row where they do not fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dialeval.corpora.score_files import read_scores
from dialeval.errors import UserError

KNOWN = {("fed", "en", "FED-1"), ("fed", "en", "FED, 2"), ("fed", "zh", "FED-1")}


def read(folder: Path, text: str) -> list[dict[str, Any]]:
    path = folder / "mine.csv"
    path.write_text(text, encoding="utf-8")
    return list(read_scores(path, "mine", (0.0, 1.0), {"fed"}, KNOWN))


def test_scores_are_read_with_their_keys(tmp_path: Path) -> None:
    rows = ["fed,FED-1,overall,0.5,zh", 'fed,"FED, 2",overall,,en', "fed,FED-1,overall,nan,"]
    first, second, third = read(tmp_path, "\n".join(["corpus,item_id,dimension,value,language", *rows]))
    assert (first["judge"], first["method"], first["language"], first["value"]) == ("mine", "file", "zh", 0.5)
    assert (second["item_id"], second["value"], second["status"]) == ("FED, 2", None, "missing")
    assert (third["language"], third["status"]) == ("en", "missing")


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("fad,FED-1,overall,0.5", "corpus 'fad'"),
        ("fed,FED-9,overall,0.5", "no item 'FED-9' in language 'en'"),
        ("fed,FED-1,overall,good", "'good' is no number"),
        ("fed,FED-1,overall,1.5", "outside the scale 0 to 1"),
        ("fed,FED-1,overall", "more or fewer cells"),
        ("fed,FED-1,coherence,0.1", "before, in line 2"),
    ],
)
def test_a_mistake_is_told_with_its_line(tmp_path: Path, row: str, words: str) -> None:
    with pytest.raises(UserError, match="line 3") as caught:
        read(tmp_path, f"corpus,item_id,dimension,value\nfed,FED-1,coherence,0.5\n{row}\n")
    assert words in str(caught.value)


def test_a_missing_column_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="column 'dimension' is missing; the columns are: corpus, item_id, value"):
        read(tmp_path, "corpus,item_id,value\n")


def test_an_empty_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="column 'corpus' is missing; the columns are: none"):
        read(tmp_path, "")
