"""Files are written whole or not at all, and through no link that somebody left in a shared folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest
from store_writers import key, opened

from dialeval.engines.requests import Response
from dialeval.engines.spending.entries import Entry, Ledger, close_file
from dialeval.engines.store.response_store import NAMES
from dialeval.errors import UserError
from dialeval.jobs import lifecycle
from dialeval.jobs import progress as progress_files
from dialeval.paths import RESULTS, STORE, linked_folder, replacing, write_new
from dialeval.provenance import records
from dialeval.provenance.records import Job, write_record
from dialeval.tables.dialogues import SEEDS
from dialeval.tables.files import empty_table, write_table
from dialeval.training.weights import remove_checkpoints

PRECIOUS = "what belongs to somebody else\n"


@pytest.fixture
def precious(tmp_path: Path) -> Iterator[Path]:
    """A file outside, in a folder of its own; whatever a test does, it stays as it is and alone there."""
    path = tmp_path / "home" / "precious"
    path.parent.mkdir()
    path.write_text(PRECIOUS)
    yield path
    assert path.read_text() == PRECIOUS
    assert [*path.parent.iterdir()] == [path]


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The results of a run, which are themselves a link, as is the store in them."""
    (tmp_path / "scratch").mkdir()
    (tmp_path / "answers").mkdir()
    folder = tmp_path / "results"
    folder.symlink_to(tmp_path / "scratch")
    (folder / "store").symlink_to(tmp_path / "answers")
    monkeypatch.setenv(RESULTS, str(folder))
    monkeypatch.setenv(STORE, str(folder / "store"))
    return folder


def test_a_link_in_the_place_of_a_file_is_replaced(results: Path, precious: Path) -> None:
    (results / "tables").mkdir()
    table, text = results / "tables/seeds.parquet", results / "tables/words.txt"
    for path in (table, text):
        path.symlink_to(precious)
    write_table(table, SEEDS, empty_table(SEEDS))
    write_new(text, "new")
    assert not table.is_symlink()
    assert (text.is_symlink(), text.read_text()) == (False, "new")
    assert sorted(path.name for path in table.parent.iterdir()) == ["seeds.parquet", "words.txt"]


@pytest.mark.parametrize("link", ["tables", "tables/arena"])
def test_a_folder_that_is_a_link_is_refused(results: Path, precious: Path, link: str) -> None:
    (results / link).parent.mkdir(exist_ok=True)
    (results / link).symlink_to(precious.parent)
    path = results / "tables/arena/ratings.parquet"
    assert linked_folder(path) == results / link
    with pytest.raises(UserError, match=f"{results / link} is a link to {precious.parent}.*remove it and run the same"):
        write_table(path, SEEDS, empty_table(SEEDS))


def test_the_results_and_the_store_may_be_links_themselves(results: Path, tmp_path: Path) -> None:
    write_table(results / "seeds.parquet", SEEDS, empty_table(SEEDS))
    with opened(results / "store") as store:
        store.append(key(1), Response("first"))
    assert (tmp_path / "scratch/seeds.parquet").is_file()
    assert len(list((tmp_path / "answers").rglob("*.jsonl"))) == 1
    assert linked_folder(results / "store/x/y") is None
    with replacing(tmp_path / "elsewhere/x") as temporary:  # of no run
        temporary.write_text("x")


def test_no_name_of_a_temporary_file_can_be_taken_before(results: Path, precious: Path) -> None:
    for name in (f".x.csv.{os.getpid()}.partial", f".writable.{os.getpid()}", f".job.{os.getpid()}.anew"):
        (results / name).symlink_to(precious)
    with replacing(results / "x.csv") as temporary:
        temporary.write_text("a,b")
    lifecycle.check_writable(results)


PLANTED: dict[str, Callable[[Path, Path], None]] = {
    "names.txt": lambda folder, to: (folder.parent / NAMES).symlink_to(to),
    "claims": lambda folder, to: (folder.parent / "claims").symlink_to(to),
    "lock": lambda folder, to: (folder / "job.lock").symlink_to(to),
    "answers": lambda folder, to: (folder / "job-00001.jsonl").symlink_to(to),
}


@pytest.mark.parametrize("planted", PLANTED)
def test_no_file_of_a_store_is_written_through_a_link(tmp_path: Path, precious: Path, planted: str) -> None:
    with opened(tmp_path / "store") as store:
        store.append(key(1), Response("first"))
    for path in (store.folder / "job.lock", store.folder.parent / NAMES, store.folder.parent / "claims"):
        path.unlink()
    PLANTED[planted](store.folder, precious)
    is_refused = planted in ("names.txt", "claims", "lock")
    ends = pytest.raises(UserError, match=f"is a link to {precious}") if is_refused else nullcontext()
    with ends, opened(tmp_path / "store") as store:
        store.append(key(2), Response("second"))
        assert store.claim_all([key(3)]) == [True]


@pytest.mark.parametrize("level", ["model", "protocol"])
def test_no_folder_of_a_store_is_a_link(tmp_path: Path, precious: Path, level: str) -> None:
    store = opened(tmp_path / "store")
    folder = store.folder if level == "protocol" else store.folder.parent
    folder.parent.mkdir(parents=True)
    folder.symlink_to(precious.parent)
    with pytest.raises(UserError, match=f"{folder} is a link"), store:
        pass


@pytest.mark.parametrize("planted", ["spending", "spending/lock", "spending/digest"])
def test_no_ledger_is_written_through_a_link(tmp_path: Path, precious: Path, planted: str) -> None:
    path = tmp_path / "store" / planted
    path.parent.mkdir(parents=True)
    path.symlink_to(precious if path.name == "lock" else precious.parent)
    ledger = Ledger(tmp_path / "store/spending")
    with pytest.raises(UserError, match=f"{path} is a link"), ledger.locked():
        close_file(ledger.folder / "digest" / "x.spending", Entry("digest"))


def test_the_lock_of_the_results_is_no_link(results: Path, precious: Path) -> None:
    (results / ".run.lock").symlink_to(precious)
    lifecycle.refuse_second_run(results)
    with pytest.raises(UserError, match=r"\.run\.lock is a link"):
        lifecycle.lock_results(results)


def test_progress_records_and_kept_files_go_through_no_link(results: Path, precious: Path) -> None:
    for name in (progress_files.FOLDER, "provenance", records.KEPT):
        (results / name).symlink_to(precious.parent)
    progress_files.report_for(results, results / "logs/responses/gpt.log")
    progress_files.write(progress_files.SoFar("arena by gpt", "answers", 1, 2, 0, 0, 0, 1.0, "running"))
    progress_files.report_for(results, None)
    progress_files.forget(results)
    made = results / "precious"
    made.write_text("made")
    job = Job("parse", results, (made,))
    with pytest.raises(UserError, match="provenance is a link"):
        write_record(job, "key")
    records.keep_outputs(job)
    records.forget_outputs(results, [made])
    assert not records.restore_outputs(job)


def test_checkpoints_behind_a_link_are_left_alone(results: Path, precious: Path) -> None:
    folder = results / "checkpoints/judge/ours"
    folder.mkdir(parents=True)
    (folder / "checkpoint-1").mkdir()
    (folder / "checkpoint-2").symlink_to(precious.parent)
    (folder.parent / "theirs").symlink_to(precious.parent.parent)  # in which `finished` could be
    remove_checkpoints(folder)
    assert not folder.exists()
    folder.symlink_to(precious.parent)
    with pytest.raises(UserError, match="ours is a link"):
        remove_checkpoints(folder)
