"""`dialeval init` with a data set of a hub: a local server that speaks the hub's protocol."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from dialeval.corpora.download import fetch_data_set, is_on_hub
from dialeval.errors import UserError

COMMIT = "0123456789abcdef0123456789abcdef01234567"
TURNS = [{"role": "user", "content": "Are you open?"}, {"role": "assistant", "content": "From 9."}]


def parquet() -> bytes:
    sink = pa.BufferOutputStream()
    rows = [{"id": f"d{n}", "model": model, "messages": TURNS} for n in range(3) for model in ("heron", "reed")]
    pq.write_table(pa.Table.from_pylist(rows), sink)
    return sink.getvalue().to_pybytes()


@contextmanager
def hub(files: dict[str, bytes]) -> Iterator[str]:
    """Serve one data set, lab/desk, whose revisions `main`, `v1` and COMMIT are one commit."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            if path in (f"/api/datasets/lab/desk/revision/{name}" for name in ("main", "v1", COMMIT)) or (
                path == "/api/datasets/lab/desk"
            ):
                about = {"id": "lab/desk", "sha": COMMIT, "siblings": [{"rfilename": name} for name in files]}
                self.answer(200, json.dumps(about).encode(), {"Content-Type": "application/json"})
            elif (name := path.removeprefix(f"/datasets/lab/desk/resolve/{COMMIT}/")) in files:
                etag = hashlib.sha256(files[name]).hexdigest()
                self.answer(200, files[name], {"ETag": f'"{etag}"', "X-Repo-Commit": COMMIT})
            else:
                code = "RepoNotFound" if "lab/desk" not in path else "RevisionNotFound"
                self.answer(404, b"{}", {"X-Error-Code": code, "X-Error-Message": f"{code} here"})

        do_HEAD = do_GET  # noqa: N815 (http.server looks it up)

        def answer(self, status: int, content: bytes, headers: dict[str, str]) -> None:
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def init(endpoint: str, folder: Path, dialogues: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    environment |= {"HF_ENDPOINT": endpoint, "HF_HOME": str(folder.parent / "hf"), "NO_PROXY": "127.0.0.1"}
    command = [sys.executable, "-m", "dialeval", "init", str(folder), "--judge", "forest", "--dialogues", dialogues]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("revision", ["", "@v1", f"@{COMMIT}"])
def test_a_data_set_is_fetched_at_a_commit_that_the_configuration_names(tmp_path: Path, revision: str) -> None:
    pytest.importorskip("huggingface_hub")
    files = {"data/train-00000-of-00001.parquet": parquet(), "README.md": b"# Desk"}
    with hub(files) as endpoint:
        made = init(endpoint, tmp_path / "own", f"hf://datasets/lab/desk{revision}")
    assert made.returncode == 0, made.stderr
    config = yaml.safe_load((tmp_path / "own" / "config.yaml").read_text(encoding="utf-8"))
    (source,) = config["transcripts"].values()
    assert source["path"] == f"data/lab--desk@{COMMIT}"
    kept = tmp_path / "own" / source["path"]
    assert [str(path.relative_to(kept)) for path in kept.rglob("*") if path.is_file()] == [next(iter(files))]
    assert "6 dialogues" in made.stdout


def test_one_of_several_files_is_named(tmp_path: Path) -> None:
    pytest.importorskip("huggingface_hub")
    line = json.dumps({"id": "d1", "model": "heron", "messages": TURNS}).encode() + b"\n"
    with hub({"a.jsonl": line, "b.jsonl": line}) as endpoint:
        several = init(endpoint, tmp_path / "own", "hf://datasets/lab/desk")
        assert f"name one of its files, hf://datasets/lab/desk@{COMMIT}/FILE" in several.stderr
        assert "a.jsonl, b.jsonl" in several.stderr
        one = init(endpoint, tmp_path / "own", "hf://datasets/lab/desk/b.jsonl")
        assert one.returncode == 0, one.stderr
        for other, words in (("lab/other", "RepoNotFound"), ("lab/desk@v9", "RevisionNotFound")):
            refused = init(endpoint, tmp_path / "other", f"hf://datasets/{other}")
            assert refused.returncode == 1
            assert f"hf://datasets/{other} cannot be fetched" in refused.stderr
            assert "Traceback" not in refused.stderr, words
    assert (tmp_path / "own" / "data" / f"lab--desk@{COMMIT}" / "b.jsonl").read_bytes() == line
    assert not (tmp_path / "other").exists()


def test_an_error_of_the_hub_without_words_is_named_by_its_type(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise TimeoutError

    client = SimpleNamespace(HfApi=lambda: SimpleNamespace(dataset_info=refuse))
    monkeypatch.setitem(sys.modules, "huggingface_hub", client)
    with pytest.raises(UserError, match=r"hf://datasets/lab/desk cannot be fetched: TimeoutError; check the id"):
        fetch_data_set("hf://datasets/lab/desk", tmp_path)


def test_without_the_package_the_message_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(UserError, match=r"pip install 'dialeval\[hub\]'"):
        fetch_data_set("hf://datasets/lab/desk", tmp_path)


@pytest.mark.parametrize(
    ("address", "is_one"),
    [
        ("hf://datasets/lab/desk@v1/data/a.jsonl", True), ("hf://lab/desk", True), ("lab/desk", False),
        ("hf://datasets/desk/../../x", False), ("hf:/lab", False), ("C:/lab/desk", False),
    ],
)  # fmt: skip
def test_addresses_of_the_hub(address: str, is_one: bool) -> None:
    assert is_on_hub(address) is is_one
