"""Token counts with and without the vocabulary."""

from __future__ import annotations

import os
import shutil
import socket
from pathlib import Path

import pytest

from dialeval.engines import cl100k
from dialeval.engines.cl100k_vocabulary import CACHE_NAME, at_hand
from dialeval.errors import UserError


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
    assert "cl100k_base is not at hand" in tokenizer.name
    assert tokenizer.count_all(["Well, hello there!", "", "你好"]) == [5, 0, 1]
    assert not at_hand()


def test_a_named_file_is_used(nowhere: Path, real_data: Path) -> None:
    named = nowhere / "my.tiktoken"
    shutil.copyfile(real_data / "tiktoken" / CACHE_NAME, named)
    tokenizer = cl100k.cl100k_tokenizer(named)
    assert tokenizer.name == "cl100k_base"
    assert tokenizer.count_all(["hello world"]) == [2]
    assert at_hand()


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


def test_where_it_cannot_be_fetched_the_reason_is_said(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cl100k, "fetch", unreachable)
    assert cl100k.fetched_tokenizer(None, may_fetch=True) == (cl100k.WORDS, "no index in 45 s")


def test_where_it_may_not_be_fetched_nothing_is_asked(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
