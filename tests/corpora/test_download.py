"""Fetching public corpora: from a server on this machine, or from a mirror."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path, PurePosixPath
from typing import BinaryIO, ClassVar

import pytest

from dialeval.corpora import download as module
from dialeval.corpora.download import PublicFile, download, files_of, public_corpora
from dialeval.corpora.robustness_sets import SETS
from dialeval.errors import UserError

# Fetching public corpora: from a server on this machine, or from a mirror.

CONTENT = {"a b.txt": b"first\n", "deep/b.json": b"[1, 2]"}


def public_file(origin: str, *, known: bool = True) -> PublicFile:
    sha256 = hashlib.sha256(CONTENT[origin]).hexdigest() if known else ""
    return PublicFile("set", "owner/repo", "c" * 40, "none stated", origin, f"set/{origin}", sha256)


@pytest.fixture
def two_files(monkeypatch: pytest.MonkeyPatch) -> None:
    files = [public_file("a b.txt"), public_file("deep/b.json", known=False)]
    monkeypatch.setattr(module, "files_of", lambda names: files)


class Server(ThreadingHTTPServer):
    """Serves `content` by path, and tells what was asked for."""

    content: ClassVar[dict[str, bytes]] = {}
    cut_to: int | None = None
    status = 200

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.asked: list[str] = []
        self.content = {f"/owner/repo/{'c' * 40}/{name.replace(' ', '%20')}": body for name, body in CONTENT.items()}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Answer(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        body = self.server.content.get(self.path)
        status = 404 if body is None else self.server.status
        body = body or b""
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: self.server.cut_to])

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with Server() as started:
        thread = threading.Thread(target=started.serve_forever, args=(0.02,))
        thread.start()
        yield started
        started.shutdown()
        thread.join()


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    for name, body in CONTENT.items():
        path = tmp_path / "mirror" / "set" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body)
    return tmp_path / "mirror"


def files_under(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


WHOLE = {f"set/{name}": body for name, body in CONTENT.items()}


@pytest.mark.usefixtures("two_files")
def test_files_come_from_the_server_after_the_licence_is_printed(tmp_path: Path, server: Server) -> None:
    notices: list[str] = []

    def notify(line: str) -> None:
        notices.append(f"{len(server.asked)} asked: {line}")

    paths = download(["set"], tmp_path / "data", base_url=server.url, notify=notify)
    assert files_under(tmp_path / "data") == WHOLE
    assert paths == [tmp_path / "data" / name for name in WHOLE]
    assert notices[0] == "0 asked: set: 2 files of owner/repo at ccccccc; licence: none stated"
    assert "2 files fetched" in notices[-1]
    assert "1 have the recorded checksum, 1 have no recorded checksum" in notices[-1]


@pytest.mark.usefixtures("two_files")
def test_what_is_there_is_not_fetched_again(tmp_path: Path, server: Server) -> None:
    target = tmp_path / "data" / "set" / "a b.txt"
    target.parent.mkdir(parents=True)
    target.write_bytes(CONTENT["a b.txt"])
    notices: list[str] = []
    download(["set"], tmp_path / "data", base_url=server.url, notify=notices.append)
    assert [path.rpartition("/")[2] for path in server.asked] == ["b.json"]
    assert "1 files already there, 1 files fetched" in notices[-1]
    download(["set"], tmp_path / "data", base_url=server.url, notify=notices.append)
    assert len(server.asked) == 1


@pytest.mark.usefixtures("two_files")
def test_a_mirror_is_copied_without_a_network(tmp_path: Path, mirror: Path) -> None:
    download(["set"], tmp_path / "data", mirror, base_url="http://127.0.0.1:9", notify=lambda line: None)
    assert files_under(tmp_path / "data") == WHOLE
    copy = tmp_path / "data" / "set" / "a b.txt"
    assert not copy.is_symlink()
    assert copy.stat().st_ino != (mirror / "set" / "a b.txt").stat().st_ino


def refused(tmp_path: Path, **how: object) -> str:
    """Return what a download that must fail says, and checks that nothing half written is left."""
    with pytest.raises(UserError) as caught:
        download(["set"], tmp_path / "data", notify=lambda line: None, **how)  # type: ignore[arg-type]
    left = files_under(tmp_path / "data")
    assert left.items() <= WHOLE.items()
    return str(caught.value)


@pytest.mark.usefixtures("two_files")
def test_a_file_of_another_version_is_refused(tmp_path: Path, server: Server, mirror: Path) -> None:
    server.content = dict.fromkeys(server.content, b"changed")
    message = refused(tmp_path, base_url=server.url)
    assert "/a%20b.txt has the checksum" in message
    assert "another version, or was corrupted in transfer" in message
    (mirror / "set" / "a b.txt").write_bytes(b"changed")
    assert "from the mirror, has the checksum" in refused(tmp_path, mirror=mirror)


@pytest.mark.usefixtures("two_files")
def test_a_file_of_the_users_is_not_overwritten(tmp_path: Path, server: Server) -> None:
    target = tmp_path / "data" / "set" / "a b.txt"
    target.parent.mkdir(parents=True)
    target.write_bytes(b"mine")
    with pytest.raises(
        UserError,
        match=r"a b.txt exists, but its checksum is not the recorded one of owner/repo at ccccccc; move it away",
    ):
        download(["set"], tmp_path / "data", base_url=server.url, notify=lambda line: None)
    assert target.read_bytes() == b"mine"
    assert server.asked == []


@pytest.mark.usefixtures("two_files")
def test_a_file_that_is_gone_is_reported(tmp_path: Path, server: Server) -> None:
    server.content = {path: body for path, body in server.content.items() if path.endswith("txt")}
    message = refused(tmp_path, base_url=server.url)
    assert "b.json does not exist (404)" in message
    assert "put it at set/deep/b.json" in message
    assert "set/a b.txt" in files_under(tmp_path / "data")


@pytest.mark.usefixtures("two_files")
def test_a_server_that_refuses_is_reported(tmp_path: Path, server: Server) -> None:
    server.status = 503
    assert "the server returns 503" in refused(tmp_path, base_url=server.url)


@pytest.mark.usefixtures("two_files")
def test_a_file_cut_off_on_its_way_is_reported_even_without_a_checksum(tmp_path: Path, server: Server) -> None:
    target = tmp_path / "data" / "set" / "a b.txt"
    target.parent.mkdir(parents=True)
    target.write_bytes(CONTENT["a b.txt"])
    server.cut_to = 3
    message = refused(tmp_path, base_url=server.url)
    assert "b.json cannot be fetched: the connection ended after 3 of 6 bytes" in message


@pytest.mark.usefixtures("two_files")
def test_a_network_that_is_not_there_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # taken, and nobody listens
        message = refused(tmp_path, base_url=f"http://127.0.0.1:{unused.getsockname()[1]}")
    assert "cannot be fetched" in message
    assert "set `mirror` to a folder with the files" in message


@pytest.mark.usefixtures("two_files")
def test_a_mirror_that_lacks_a_file_is_reported(tmp_path: Path, mirror: Path) -> None:
    (mirror / "set" / "deep" / "b.json").unlink()
    message = refused(tmp_path, mirror=mirror)
    assert (
        "b.json cannot be read: No such file or directory; the mirror must have the structure of the data folder"
        in message
    )


@pytest.mark.usefixtures("two_files")
def test_a_mirror_of_before_lacks_what_was_added_later(
    tmp_path: Path, mirror: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = PublicFile("set", "owner/repo", "c" * 40, "a licence", "new.txt", "set/new.txt", "", later=True)
    before = module.files_of
    monkeypatch.setattr(module, "files_of", lambda names: [*before(names), later])
    notices: list[str] = []
    download(["set"], tmp_path / "data", mirror, notify=notices.append)
    assert "2 files copied" in notices[-2]
    assert f"NOT COPIED: 1 files that are not in {mirror}, such as set/new.txt" in notices[-1]
    (mirror / "set" / "new.txt").write_text("new")
    download(["set"], tmp_path / "data", mirror, notify=notices.append)
    assert (tmp_path / "data" / "set" / "new.txt").read_text() == "new"
    assert "recorded checksum, 2 have no recorded checksum" in notices[-1]


@pytest.mark.usefixtures("two_files")
def test_a_full_disk_is_reported(tmp_path: Path) -> None:
    def fetch(url: str, file: BinaryIO) -> None:
        file.write(b"half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    message = refused(tmp_path, fetch=fetch)
    assert "cannot be written: No space left on device; make room there" in message
    assert files_under(tmp_path / "data") == {}


@pytest.mark.usefixtures("two_files")
def test_a_data_folder_that_is_no_folder_is_reported(tmp_path: Path, mirror: Path) -> None:
    (tmp_path / "data").write_text("a file")
    with pytest.raises(UserError, match="cannot be written: .*check the permissions of the data folder"):
        download(["set"], tmp_path / "data", mirror, notify=lambda line: None)


@pytest.mark.usefixtures("two_files")
def test_the_public_files_can_be_had_from_a_mirror(
    tmp_path: Path, real_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "files_of", files_of)
    notices: list[str] = []
    (workbook, _) = download(["botchat", "dialogbench"], tmp_path / "data", real_data, notify=notices.append)
    assert workbook == tmp_path / "data" / "botchat" / "MuTual_test.xlsx"
    assert "botchat: 1 file of open-compass/BotChat at 70e1e63; licence: Apache-2.0" in notices
    assert "2 files copied" in notices[-1]


@pytest.mark.usefixtures("two_files")
def test_an_interruption_leaves_nothing_half_written(tmp_path: Path) -> None:
    def fetch(url: str, file: BinaryIO) -> None:
        file.write(b"half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        download(["set"], tmp_path / "data", fetch=fetch, notify=lambda line: None)
    assert files_under(tmp_path / "data") == {}


# The registry of public corpora.

CUT = {
    f"turn_{name}ratings.json"
    for name in ("", "relevance_", "specificity_", "interesting_", "understandability_", "overall_")
}
"""Of these only parts were at hand when the registry was made, so that their checksums are not known."""


def test_every_file_is_pinned_and_stays_in_its_folder() -> None:
    corpora = public_corpora()
    assert set(corpora) == {"botchat", "comp-analysis", "xdial-eval", "dialogbench", "mutual"}
    every = [file for files in corpora.values() for file in files]
    assert len({file.local_path for file in every}) == len(every)
    for file in every:
        assert re.fullmatch(r"[0-9a-f]{40}", file.commit)
        assert file.licence
        path = PurePosixPath(file.local_path)
        assert path.parts[0] == file.name
        assert not path.is_absolute()
        assert ".." not in path.parts
        assert (file.sha256 == "") == (path.name in CUT or file.later)
        assert not file.sha256 or re.fullmatch(r"[0-9a-f]{64}", file.sha256)


def test_the_address_is_repository_commit_and_path() -> None:
    (file,) = files_of(["botchat"])
    url = file.url("https://host.example/")
    assert url == f"https://host.example/open-compass/BotChat/{file.commit}/data/MuTual_test.xlsx"


@pytest.mark.parametrize(
    ("names", "words"),
    [(["comp-analysys"], "did you mean 'comp-analysis'"), ([], "no public corpus is named; choose from: botchat")],
)
def test_an_unknown_name_is_reported(names: list[str], words: str) -> None:
    with pytest.raises(UserError, match=words):
        files_of(names)


def test_the_public_files_have_the_checksums_on_record(real_data: Path) -> None:
    for files in public_corpora().values():
        for file in files:
            path = real_data / file.local_path
            assert path.is_file() or file.later
            if file.sha256:
                assert hashlib.sha256(path.read_bytes()).hexdigest() == file.sha256


def test_the_sets_that_the_readers_take_are_all_offered() -> None:
    paths = {file.local_path: file for files in public_corpora().values() for file in files}
    folder = "comp-analysis/robustness_data"
    assert not [path for published in SETS.values() for path in published.files if f"{folder}/{path}" not in paths]
    turns = {
        f"comp-analysis/turn_level_texts{'_268be7c' if old else ''}/{name}_text.txt"
        for name, old in (("topical-usr", 0), ("persona-zhao", 0), ("dailydialog-gupta", 1), ("empathetic-grade", 1))
    }
    dialogues = {
        f"comp-analysis/dialog_level_texts/{name}{kind}"
        for name in ("heval", "reliable")
        for kind in ("-dial_text.txt", "_gpt4_annotations.json")
    }
    xdial = {f"xdial-eval/data/turn/{name}.csv" for name in ("persona-zhao", "dailydialog-gupta", "empathetic-grade")}
    others = {
        "comp-analysis/turn_level_texts_268be7c/dstc10-topical_clean_text.txt",
        "xdial-eval/data/dial/conture-dial.csv",
    }
    assert turns | dialogues | xdial | others <= set(paths)
    old = paths["comp-analysis/turn_level_texts_268be7c/empathetic-grade_text.txt"]
    assert (old.commit[:7], old.origin_path) == ("268be7c", "turn_level_texts/empathetic-grade_text.txt")


def test_numbered_files_are_written_as_one_row() -> None:
    files = files_of(["mutual"])
    assert len(files) == 2 * 886
    assert files[9].origin_path == "data/mutual/dev/dev_10.txt"
    assert files[-1].local_path == "mutual/test/test_886.txt"
    assert {(file.licence, file.sha256, file.later) for file in files} == {("none stated", "", True)}
