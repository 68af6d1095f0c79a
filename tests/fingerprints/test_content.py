"""A digest of the user's files changes with their content, whatever their time stamps say, and costs little."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from dialeval.errors import UserError
from dialeval.fingerprints import content
from dialeval.fingerprints.content import SMALL, content_digest, kept

LARGE = SMALL + 1


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "dialeval" / "contents"


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets every file count as left alone for long enough."""
    monkeypatch.setattr(content, "SETTLED", -1.0)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that are read, as they are."""
    names: list[str] = []
    whole = content._read

    def noted(path: Path) -> str:
        names.append(path.name)
        return whole(path)

    monkeypatch.setattr(content, "_read", noted)
    return names


def made(path: Path, text: str, size: int, *, age: float = 0.0) -> Path:
    """Returns a file of a size that is filled with a text and whose time stamp is so many seconds old."""
    path.write_bytes((text.encode() * (size // len(text) + 1))[:size])
    at = time.time() - age
    os.utime(path, (at, at))
    return path


REPLACED: dict[str, Callable[[Path, Path], object]] = {
    "cp -p": lambda new, old: shutil.copy2(new, old),
    "mv": lambda new, old: new.replace(old),
    "rsync -a": lambda new, old: (shutil.copy2(new, new.with_suffix(".part")), new.with_suffix(".part").replace(old)),
    "written in place, with its time stamp set back": lambda new, old: (
        (stamp := old.stat()),
        old.write_bytes(new.read_bytes()),
        os.utime(old, ns=(stamp.st_atime_ns, stamp.st_mtime_ns)),
    ),
}


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("size", [10, LARGE])
@pytest.mark.parametrize("way", REPLACED)
def test_other_content_is_noticed_however_it_comes(way: str, size: int, tmp_path: Path) -> None:
    old, new = made(tmp_path / "old", "first", size), made(tmp_path / "new", "other", size, age=1e6)
    before, other = content_digest([old]), content_digest([new])
    assert content_digest([old]) == before
    REPLACED[way](new, old)
    assert content_digest([old]) == other != before


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("size", [10, LARGE])
def test_neither_time_stamps_nor_names_count(size: int, tmp_path: Path) -> None:
    old = made(tmp_path / "old", "text", size)
    before = content_digest([old])
    os.utime(old)
    assert content_digest([old]) == before
    assert content_digest([old.rename(tmp_path / "new")]) == before


def test_order_and_bounds_of_files_count(tmp_path: Path) -> None:
    one, two, both = (made(tmp_path / name, name, len(name)) for name in ("a", "b", "ab"))
    digests = {content_digest(files) for files in ([one, two], [two, one], [both], [one], [one, one])}
    assert len(digests) == 5
    assert content_digest([]) == ""


@pytest.mark.usefixtures("settled")
def test_a_large_file_is_read_once(tmp_path: Path, read: list[str]) -> None:
    files = [made(tmp_path / "large", "x", LARGE), made(tmp_path / "small", "x", SMALL)]
    assert content_digest(files) == content_digest(files)
    assert sorted(read) == ["large", "small", "small"]
    os.utime(files[0])
    content_digest(files)
    assert sorted(read).count("large") == 2


def test_a_file_that_may_still_change_within_one_tick_is_read_again(tmp_path: Path, read: list[str]) -> None:
    file = made(tmp_path / "large", "x", LARGE)  # a moment ago
    content_digest([file])
    content_digest([file])
    assert read == ["large", "large"]


@pytest.mark.usefixtures("settled")
def test_a_file_that_changes_while_it_is_read_is_not_kept(tmp_path: Path) -> None:
    file = made(tmp_path / "large", "x", LARGE)

    def changing() -> str:
        made(file, "y", LARGE)
        return "of neither"

    assert kept("file", [file], changing) == "of neither"
    assert kept("file", [file], lambda: "of the second") == "of the second"
    assert kept("file", [file], lambda: "asked in vain") == "of the second"
    assert kept("another kind", [file], lambda: "of another kind") == "of another kind"


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("damage", ["", "{}", "[1]", '{"seen": null, "digest": 1}', "half a l"])
def test_what_is_kept_may_be_damaged_or_gone(damage: str, tmp_path: Path, cache: Path, read: list[str]) -> None:
    file = made(tmp_path / "large", "x", LARGE)
    before = content_digest([file])
    (place,) = cache.iterdir()
    place.write_text(damage)
    assert content_digest([file]) == before
    shutil.rmtree(cache)
    assert content_digest([file]) == before
    assert len(read) == 3


@pytest.mark.usefixtures("settled")
def test_where_nothing_can_be_kept_it_is_read_again(
    tmp_path: Path, read: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = made(tmp_path / "large", "x", LARGE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(file))
    assert content_digest([file]) == content_digest([file])
    assert len(read) == 2


@pytest.mark.parametrize("size", [10, LARGE])
def test_another_process_finds_the_same(size: int, tmp_path: Path) -> None:
    file = made(tmp_path / "file", "x", size)
    script = "import sys; from pathlib import Path; from dialeval.fingerprints.content import content_digest as of; "
    script += "print(of([Path(sys.argv[1])]), 'numpy' in sys.modules)"
    output = subprocess.run(
        [sys.executable, "-c", script, str(file)], capture_output=True, text=True, check=True
    ).stdout
    assert output.split() == [content_digest([file]), "False"]


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"absent\.csv cannot be read: No such file"):
        content_digest([tmp_path / "absent.csv"])


def test_a_folder_in_the_place_of_a_file_is_left_to_who_reads_it(tmp_path: Path) -> None:
    file = made(tmp_path / "a.csv", "x", 10)
    assert content_digest([tmp_path]) not in ("", content_digest([file]))
