"""What the configuration no longer makes: what is found, and what is never removed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from dialeval.config.files import from_results
from dialeval.errors import UserError
from dialeval.provenance.records import Job, digest_of, write_record
from dialeval.provenance.stale_files import check_folder, list_unused, outdated, remove
from dialeval.stages.report import CleanSettings, clean

STORE = Path("elsewhere")


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DIALEVAL_CONFIGURATION", raising=False)
    (tmp_path / "results").mkdir()
    return Path("results")


def put(results: Path, name: str, text: str = "text") -> Path:
    path = results / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def made(results: Path, *names: str, log: str = "", stage: str = "answer") -> None:
    """Write files that are not there yet, as a job that records them."""
    paths = [path if (path := results / name).exists() else put(results, name) for name in names]
    if log:
        put(results, log)
    job = Job(stage, results, tuple(paths), log=results / log if log else None)
    write_record(job, job.key)


def files(results: Path) -> list[str]:
    return sorted(str(path.relative_to(results)) for path in results.rglob("*") if path.is_file())


def listed(results: Path, *wanted: str, store: Path = STORE, configuration: str = "") -> dict[str, str]:
    """Return unused and why each stays, and what is unknown."""
    listing = list_unused(results, set(wanted), store, configuration)
    return {one.name: one.reason for one in listing.unused} | dict.fromkeys(listing.unknown, "unknown")


def test_what_a_job_made_and_the_configuration_does_not_make_is_found_and_removed(results: Path) -> None:
    made(results, "dialogues/a.parquet", "usage/a/selfchat.json", log="logs/a.log")
    made(results, "dialogues/b.parquet", "usage/b/selfchat.json", log="logs/b.log")
    put(results, ".kept/dialogues/b.parquet")
    wanted = {"dialogues/a.parquet", "usage/a/selfchat.json", "logs/a.log"}
    listing = list_unused(results, wanted, STORE, "")
    assert [(one.name, one.size, one.stage) for one in listing.unused] == [
        ("dialogues/b.parquet", 4, "answer"),
        ("logs/b.log", 4, "answer"),
        ("usage/b/selfchat.json", 4, "answer"),
    ]
    assert listing.unknown == []
    assert [one.name for one in remove(results, listing.unused)] == [one.name for one in listing.unused]
    assert files(results) == sorted([*wanted, "provenance/dialogues/a.parquet.json"])
    assert not (results / "usage/b").exists()
    assert not (results / "provenance/usage").exists()
    assert not (results / ".kept/dialogues/b.parquet").exists()


def test_what_no_job_made_stays(results: Path) -> None:
    put(results, "tables/mine.csv")
    put(results, "README.md")
    made(results, "tables/changed.csv")
    put(results, "tables/changed.csv", "by hand")
    made(results, "tables/same.csv")
    put(results, "tables/same.csv", "text")
    assert listed(results) == {
        "README.md": "unknown",
        "tables/mine.csv": "unknown",
        "tables/changed.csv": "changed since a run made it",
        "tables/same.csv": "",
    }
    assert [one.name for one in remove(results, list_unused(results, set(), STORE, "").unused)] == ["tables/same.csv"]
    assert {"README.md", "tables/mine.csv", "tables/changed.csv"} <= set(files(results))


def test_links_and_what_lies_behind_them_stay(results: Path, tmp_path: Path) -> None:
    away = tmp_path / "away"
    away.mkdir()
    made(results, "tables/moved.csv", "dialogues/a.parquet", "trained/judge/weights")
    (results / "tables/moved.csv").rename(away / "moved.csv")
    (results / "tables/moved.csv").symlink_to(away / "moved.csv")
    (results / "dialogues").rename(away / "dialogues")
    (results / "dialogues").symlink_to(away / "dialogues")
    assert listed(results) == {
        "dialogues": "unknown",
        "tables/moved.csv": "a link, or with links in it",
        "trained/judge/weights": "",
    }
    list(remove(results, list_unused(results, set(), STORE, "").unused))
    assert (away / "moved.csv").exists()
    assert (away / "dialogues/a.parquet").exists()
    assert (results / "tables/moved.csv").is_symlink()
    assert (results / "provenance/tables/moved.csv.json").exists()


def test_a_record_that_names_files_outside_removes_none(results: Path, tmp_path: Path) -> None:
    outside = put(tmp_path, "mine.csv")
    record = {"stage": "answer", "outputs": {str(outside): digest_of(outside), "../mine.csv": digest_of(outside)}}
    put(results, "provenance/mine.csv.json", json.dumps(record))
    assert listed(results) == {}
    list(remove(results, list_unused(results, set(), STORE, "").unused))
    assert outside.exists()


def test_the_store_and_hidden_files_are_not_looked_at(results: Path) -> None:
    made(results, "store/key/answers.jsonl", "tables/a.csv")
    put(results, ".run.lock")
    put(results, ".kept/tables/a.csv")
    assert listed(results, store=results / "store") == {"tables/a.csv": ""}


def test_a_folder_that_a_job_made_is_one_thing_and_goes_with_its_checkpoints(results: Path) -> None:
    for name in ("adapter.bin", "sub/config.json"):
        put(results, f"trained/judge/{name}")
        put(results, f"checkpoints/judge/{name}")
        put(results, f"checkpoints/other/{name}")
    made(results, "trained/judge", stage="train_lora")
    put(results, "trained/judge/.snakemake_timestamp", "")  # as Snakemake does afterwards
    sizes = {one.name: (one.size, one.reason) for one in list_unused(results, set(), STORE, "").unused}
    assert sizes == {"checkpoints/judge": (8, ""), "trained/judge": (8, "")}
    assert listed(results, "trained/judge", "checkpoints/judge").keys() == {
        "checkpoints/other/adapter.bin",
        "checkpoints/other/sub/config.json",
    }
    list(remove(results, list_unused(results, set(), STORE, "").unused))
    assert files(results) == ["checkpoints/other/adapter.bin", "checkpoints/other/sub/config.json"]


def test_what_another_configuration_makes_stays_while_there_is_that_configuration(
    results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(Path(), "a.yaml")
    put(Path(), "b.yaml")
    for name in ("a.yaml", "b.yaml", "gone.yaml"):
        monkeypatch.setenv("DIALEVAL_CONFIGURATION", from_results([name], results))
        made(results, f"tables/{name}.csv")
    assert listed(results, configuration=from_results(["a.yaml"], results)) == {
        "tables/a.yaml.csv": "",
        "tables/b.yaml.csv": "made for b.yaml",
        "tables/gone.yaml.csv": "",
    }


def test_a_configuration_of_the_same_name_in_another_folder_is_another(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "other", "a.yaml")
    put(Path(), "a.yaml")
    shared = results.resolve()
    monkeypatch.setenv("DIALEVAL_CONFIGURATION", from_results(["a.yaml"], results))
    made(results, "tables/a.csv")
    monkeypatch.chdir(tmp_path / "other")
    theirs = from_results(["a.yaml"], shared)
    assert listed(shared, configuration=theirs) == {"tables/a.csv": "made for ../a.yaml"}
    monkeypatch.chdir(tmp_path)
    assert listed(results, configuration=from_results([tmp_path / "a.yaml"], shared)) == {"tables/a.csv": ""}


def test_a_record_that_is_none_is_named(results: Path) -> None:
    put(results, "provenance/a.json", "{")
    with pytest.raises(UserError, match=r"results/provenance/a.json is not the record of a job; remove it"):
        list_unused(results, set(), STORE, "")


@pytest.mark.parametrize(
    ("folder", "store"), [(".", "store"), ("..", "store"), ("~", "store"), ("/", "store"), ("store/a", "store")]
)
def test_a_folder_that_holds_more_than_results_is_refused(results: Path, folder: str, store: str) -> None:
    with pytest.raises(UserError, match="also contains other files"):
        check_folder(Path(folder), Path(store), Path())
    check_folder(results, Path("store"), Path())
    check_folder(results, results / "store", Path())


def graph(results: Path, *wanted: str, left_out: tuple[str, ...] = ()) -> Path:
    about = {"made": wanted, "configuration": "", "left_out": left_out}
    return put(results, ".graph.json", json.dumps(about))


def test_the_stage_lists_and_removes_only_where_it_is_set(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made(results, "tables/a.csv", "tables/b.csv")
    put(results, "tables/b.csv", "x" * 2345)
    put(results, "mine.txt")
    clean(CleanSettings(remove=False), results, STORE, graph(results))
    output = capsys.readouterr().out
    assert "4 B  results/tables/a.csv  (answer)\n" in output
    assert "2.3 kB  results/tables/b.csv  (answer; stays: changed since a run made it)\n" in output
    assert "has files without a record of a run, which are kept: mine.txt\n" in output
    assert "1 file or folder of 4 B can be removed: snakemake --cores 1 clean_remove" in output
    assert (results / "tables/a.csv").exists()
    assert not (results / ".graph.json").exists()
    with pytest.raises(UserError, match="the outputs of the configuration are unknown"):
        clean(CleanSettings(remove=True), results, STORE, results / ".graph.json")
    with pytest.raises(UserError, match="names missing files"):
        clean(CleanSettings(remove=True), results, STORE, graph(results, left_out=("note: x is left out",)))
    assert (results / "tables/a.csv").exists()
    clean(CleanSettings(remove=True), results, STORE, graph(results))
    assert "removed 1 file or folder of 4 B\n" in capsys.readouterr().out
    assert not (results / "tables/a.csv").exists()
    assert (results / "tables/b.csv").exists()
    clean(CleanSettings(remove=False), results, STORE, graph(results, "tables/b.csv"))
    assert "results has no unused files\n" in capsys.readouterr().out


# Results that were made with other versions are named, with what makes them anew.

NOW = {"python": "3.12.1", "scipy": "1.15.0", "numpy": "2.1.0"}


def record(*outputs: str, **libraries: str) -> dict[str, object]:
    return {"outputs": dict.fromkeys(outputs, "digest"), "libraries": {**NOW, **libraries}}


def test_files_are_counted_by_library_and_version_and_rules_named_once() -> None:
    records = [
        record("a.csv", "a.parquet", scipy="1.14.0"),
        record("b.csv", "b.parquet", scipy="1.14.0"),
        record("c.svg", scipy="1.13.0", torch="2.6.0"),
        record("d.parquet"),
        record("e.parquet", numpy="1.26.0"),
    ]
    made = {"a.csv": "measure", "b.csv": "measure", "c.svg": "draw", "d.parquet": "plan"}
    assert outdated(records, made, NOW.get) == [
        "1 file was made with numpy 1.26.0; 2.1.0 is installed",
        "1 file was made with scipy 1.13.0; 1.15.0 is installed",
        "4 files were made with scipy 1.14.0; 1.15.0 is installed",
        "1 file was made with torch 2.6.0; it is not installed here",
        "these files are not remade automatically. To remake them, add this to your command:",
        "  --forcerun draw measure",
        "Outputs that depend on them are remade if they change. Stored responses are reused.",
        "this configuration does not make 1 of these files; snakemake clean lists them",
    ]


def test_results_of_the_versions_at_hand_need_nothing() -> None:
    output = outdated([record("d.parquet")] * 2, {"d.parquet": "plan"}, NOW.get)
    assert output == ["all results were made with the versions that are installed (2 records)"]


def test_files_that_are_gone_are_not_reported_of(tmp_path: Path) -> None:
    made = tmp_path / "made"
    made.write_text("x")
    write_record(Job("stage", tmp_path, (made,)), "key")
    graph = tmp_path / "graph.json"
    path = tmp_path / "provenance/made.json"
    path.write_text(path.read_text(encoding="utf-8").replace('"python": "', '"python": "0.'), encoding="utf-8")
    command = [sys.executable, "-m", "dialeval.provenance.stale_files", str(tmp_path), str(graph)]
    graph.write_text(json.dumps({"made": {"made": "measure"}}), encoding="utf-8")
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "1 file was made with python 0." in output
    assert "  --forcerun measure\n" in output
    made.unlink()
    graph.write_text(json.dumps({"made": {"made": "measure"}}), encoding="utf-8")
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert output == "all results were made with the versions that are installed (0 records)\n"
