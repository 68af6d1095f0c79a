"""The ledger only ever grows, whole or not at all, and what was changed by hand is told with its line."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from dialeval.errors import UserError
from dialeval.labels.ledger import COLUMNS, Entry, Ledger, read_ledger

FIRST = Entry("d1", "random", "t1", ("support", '1/"a"', "1", "a", "", 4, "dialogue"), "a", 1, drawn=True)
SECOND = Entry("d1", "random", "t2", ("support", "2,a\nb", "", "a", "", 4, "dialogue"), "a", 2, drawn=False)
FORMULA = Entry("d1", "random", "t4", ("=support", "+1", "-1", "@a", "", 4, "dialogue"), "@a", 1, drawn=True)
ESCAPED = Entry("d1", "random", "t5", ("support", "'+1", "''=1", "'a", "", 4, "dialogue"), "'a", 1, drawn=True)
PAIR = Entry("d2", "random", "t3", ("", "", "1", "a", "b", None, "turn"), "pairs", 1, drawn=True)


def written(folder: Path) -> Ledger:
    ledger = read_ledger(folder / "labels" / "draw-mine.csv")
    ledger.add([FIRST, SECOND, PAIR])
    return ledger


def test_it_is_read_as_it_was_written(tmp_path: Path) -> None:
    ledger = written(tmp_path)
    assert read_ledger(ledger.path) == ledger
    assert list(ledger.entries.values()) == [FIRST, SECOND, PAIR]
    assert ledger.draws() == {"dialogue": "d1", "turn": "d2"}


def test_names_that_look_like_formulas_are_escaped_in_the_file_alone(tmp_path: Path) -> None:
    ledger = read_ledger(tmp_path / "draw-mine.csv")
    ledger.add([FORMULA, ESCAPED])
    assert "d1,random,t4,dialogue,'=support,'+1,'-1,'@a,,4,'@a,1,yes" in ledger.path.read_text()
    assert list(read_ledger(ledger.path).entries.values()) == [FORMULA, ESCAPED]


ACTIVE = [
    Entry("d1", "active", f"t{n}", ("support", str(n), "", "a", "", 4, "dialogue"), "a", place, place == 1, relative)
    for place, (n, relative) in enumerate(((1, 0.5), (2, 1.25)), start=1)
]


def test_a_ledger_of_active_has_relative_probabilities_whose_change_is_found(tmp_path: Path) -> None:
    ledger = read_ledger(tmp_path / "draw-mine.csv")
    ordered = sorted(ACTIVE, key=lambda entry: entry.priority)
    ledger.add([replace(entry, place=place) for place, entry in enumerate(ordered, start=1)])
    assert read_ledger(ledger.path).entries == ledger.entries
    text = ledger.path.read_text()
    last = repr(ordered[1].relative_probability)
    for changed, words in (
        (f"{last}e9", "are not in the order of their relative_probability; a column was changed"),
        ("0", "line 3: relative_probability is '0'"),
        ("many", "line 3: relative_probability is 'many'"),
    ):
        ledger.path.write_text(text.removesuffix(f"{last}\n") + f"{changed}\n")
        with pytest.raises(UserError, match=words):
            read_ledger(ledger.path)
    ledger.path.write_text(text.replace("active", "random"))
    with pytest.raises(UserError, match="under the design 'random'"):
        read_ledger(ledger.path)


def test_it_grows_and_keeps_every_byte(tmp_path: Path) -> None:
    ledger = written(tmp_path)
    before = ledger.path.read_bytes()
    later = Entry(**{name: getattr(SECOND, name) for name in Entry.__slots__} | {"drawn": True})
    assert ledger.add([later]) == 1
    assert ledger.path.read_bytes().startswith(before)
    assert read_ledger(ledger.path).entries["t2"].drawn
    assert ledger.add([]) == 0


def test_windows_line_ends_and_a_lost_last_one_do_no_harm(tmp_path: Path) -> None:
    ledger = written(tmp_path)
    ledger.path.write_bytes(ledger.path.read_bytes().replace(b"\n", b"\r\n").rstrip())
    again = read_ledger(ledger.path)
    assert again.entries["t1"] == FIRST
    more = Entry("d1", "random", "t9", ("support", "9", "", "a", "", 4, "dialogue"), "a", 3, drawn=True)
    again.add([more])
    assert read_ledger(ledger.path).entries["t9"] == more


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("draw,by", "by,draw", "is not the record of a sample: its columns are not draw, by"),
        (",yes", ",maybe", "line 2: drawn is 'maybe'"),
        (",4,a,1,", ",four,a,1,", "line 2: n_utterances is 'four', not an integer"),
        (
            ",4,a,1,",
            ",4,,1,",
            "line 2: stratum of key 't1' is empty; only the target `annotation_pages` writes this record",
        ),
        (
            "d1,random,t1",
            ",random,t1",
            "line 2: draw of key 't1' is empty; only the target `annotation_pages` writes this record",
        ),
        (
            ",4,a,2,",
            ",4,a,1,",
            "keys 't1' and 't2' both have position 1 of stratum 'a'; one column was changed or sorted",
        ),
        ("dialogue", "whole", "line 2: level is 'whole'"),
        ("t2", "t1", "line 4: key 't1' is repeated"),
        ("d1,random,t2", "d7,random,t2", "has two samples, 'd1' and 'd7'"),
        ("a,1,yes", "a,1,yes,", "line 2: 14 cells, but 13 columns"),
        ("d1,random,t1", "<<<<<<< HEAD\nd1,random,t1", "line 2: 1 cells, but 13 columns"),
    ],
)
def test_manual_changes_are_reported(old: str, new: str, words: str, tmp_path: Path) -> None:
    path = written(tmp_path).path
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(UserError, match=words) as refused:
        read_ledger(path)
    assert "restore the file" in str(refused.value)


def test_two_runs_at_once_do_not_lose_each_others_rows(tmp_path: Path) -> None:
    one = read_ledger(tmp_path / "draw-mine.csv")
    other = read_ledger(tmp_path / "draw-mine.csv")
    one.add([FIRST])
    before = one.path.read_bytes()
    with pytest.raises(UserError, match="was changed while this run drew"):
        other.add([PAIR])
    assert one.path.read_bytes() == before


def test_a_folder_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    blocked = tmp_path / "labels"
    blocked.write_text("a file where the folder would be")
    with pytest.raises(UserError, match="draw-mine.csv cannot be written"):
        Ledger(blocked / "draw-mine.csv").add([FIRST])


def test_a_kill_in_the_middle_leaves_it_as_it_was(tmp_path: Path) -> None:
    path = written(tmp_path).path
    before = path.read_bytes()
    script = f"""
import os, signal
from pathlib import Path
from dialeval.labels.ledger import Entry, read_ledger
Path.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
more = Entry("d1", "random", "t9", ("support", "9", "", "a", "", 4, "dialogue"), "a", 3, drawn=True)
read_ledger(Path({str(path)!r})).add([more])
"""
    done = subprocess.run([sys.executable, "-c", script], env=os.environ, check=False)
    assert done.returncode == -signal.SIGKILL
    assert path.read_bytes() == before
    ledger = read_ledger(path)
    assert len(ledger.entries) == 3
    assert COLUMNS[0] == "draw"
