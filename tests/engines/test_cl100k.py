"""Token counts with and without the vocabulary."""

from __future__ import annotations

import shutil
import socket
from pathlib import Path

import pytest

from dialeval.engines import cl100k
from dialeval.errors import UserError


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No vocabulary in any of the usual places, and no network."""
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "tiktoken"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(cl100k.tempfile, "gettempdir", lambda: str(tmp_path))

    def refused(*_: object, **__: object) -> None:
        raise OSError("no network in tests")

    monkeypatch.setattr(socket, "create_connection", refused)
    monkeypatch.setattr(socket.socket, "connect", refused)
    import tiktoken

    monkeypatch.setattr(tiktoken.registry, "ENCODINGS", {})
    return tmp_path


def test_without_the_vocabulary_the_count_says_what_it_is(nowhere: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tokenizer = cl100k.cl100k_tokenizer(network_seconds=5)
    assert "cl100k_base is not at hand" in tokenizer.name
    assert tokenizer.count_all(["Well, hello there!", "", "你好"]) == [5, 0, 1]
    assert "python -m dialeval.engines.cl100k fetch" in capsys.readouterr().out
    assert not cl100k.at_hand()


def test_a_named_file_is_used(nowhere: Path, real_data: Path) -> None:
    named = nowhere / "my.tiktoken"
    shutil.copyfile(real_data / "tiktoken" / cl100k.CACHE_NAME, named)
    tokenizer = cl100k.cl100k_tokenizer(named)
    assert tokenizer.name == "cl100k_base"
    assert tokenizer.count_all(["hello world"]) == [2]
    assert cl100k.at_hand()


def test_another_file_is_refused(nowhere: Path) -> None:
    (nowhere / "bad").write_text("no vocabulary")
    with pytest.raises(UserError, match="is not tiktoken's cl100k_base"):
        cl100k.cl100k_tokenizer(nowhere / "bad")
