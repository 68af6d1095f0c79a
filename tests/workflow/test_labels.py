"""People's labels in real runs: drawn, labelled on pages and sheets, read back, and never touched."""

from __future__ import annotations

import csv
import json
import os
import shutil
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml
from workspace import ROOT, Workspace

PROTOCOLS = {
    "human_like": {"form": "locate", "data": {"source": "support"}},
    "quality": {"form": "scale", "data": {"source": "support"}, "criteria": ["overall"]},
    "better": {"form": "pair", "data": {"source": "support"}, "judges": []},
}
PAGES = {f"{name}-{who}.{suffix}" for name in PROTOCOLS for who in ("ann", "bob") for suffix in ("html", "csv")}


def configure(workspace: Workspace, transcripts: str = "support.jsonl", **labels: Any) -> None:
    """Write a configuration of transcripts that are judged and labelled."""
    told = {"path": "labels", "n": 4, "annotators": ["ann", "bob"], "protocols": list(PROTOCOLS)}
    config = {
        "data_dir": ".",
        "models": {"forest": {"engine": "embedded", "method": "forest", "folds": 3}},
        "judges": ["forest"],
        "transcripts": {"support": {"path": transcripts}},
        "protocols": PROTOCOLS,
        "labels": told | labels,
    }
    (workspace.folder / "config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")


@pytest.fixture
def labelling(workspace: Workspace) -> Workspace:
    """A workspace with transcripts of three systems and a configuration of labels, in which nothing has run."""
    shutil.copy(ROOT / "configs/transcripts/support.jsonl", workspace.folder)
    configure(workspace)
    return workspace


def drawn(workspace: Workspace, protocol: str) -> set[str]:
    """Return the keys that were drawn."""
    rows = pq.read_table(workspace.folder / f"results/labels/draw/{protocol}.parquet").to_pylist()
    return {row["key"] for row in rows if row["drawn"]}


def sheet(workspace: Workspace, name: str, annotator: str) -> list[dict[str, str]]:
    """Return the rows of a sheet."""
    path = workspace.folder / f"results/labels/pages/{annotator}/{name}-{annotator}.csv"
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def fill(workspace: Workspace, name: str, annotator: str, label: str) -> Path:
    """Fill in a sheet and put it beside the other labels."""
    rows = sheet(workspace, name, annotator)
    path = workspace.folder / f"labels/{name}-{annotator}.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=";")
        writer.writeheader()
        writer.writerows(row | {"label": label} for row in rows)
    return path


def ledgers(workspace: Workspace) -> dict[str, bytes]:
    """Return the ledgers' content by name."""
    return {path.name: path.read_bytes() for path in (workspace.folder / "labels").glob("draw-*.csv")}


@pytest.mark.slow  # tests/workflow/test_corrected_numbers.py runs from labels to the page
def test_from_the_draw_to_the_table_of_labels(labelling: Workspace) -> None:
    output = labelling.run("annotation_pages")
    assert "send each annotator the page of that name below results/labels/pages" in output
    assert "put the files that annotators return into labels\n" in output
    assert output.endswith("\n  snakemake --cores 2\n")
    pages = labelling.folder / "results/labels/pages"
    assert {path.name for path in pages.glob("*/*")} == PAGES
    assert set(ledgers(labelling)) == {f"draw-{name}.csv" for name in PROTOCOLS}
    assert len(drawn(labelling, "human_like")) == 3 * 4
    assert len(drawn(labelling, "better")) == 4
    assert not list(labelling.folder.glob("results/judgements/**/*.parquet"))  # no judge was asked
    assert not labelling.would_run("annotation_pages")

    # more later: all that was drawn stays, and the rows that were there
    before, keys = ledgers(labelling), drawn(labelling, "quality")
    configure(labelling, n=6)
    labelling.run("annotation_pages")
    assert keys < drawn(labelling, "quality")
    assert all(content.startswith(before[name]) for name, content in ledgers(labelling).items())

    # what people said comes back
    fill(labelling, "quality", "ann", "4")
    rows = sheet(labelling, "human_like", "bob")
    told = [
        {"key": row["key"], "criterion": "", "label": "No", "skipped": False, "comment": "", "round": 0} for row in rows
    ]
    export = {"format": "dialeval-labels", "version": 1, "protocol": "human_like", "annotator": "bob", "labels": told}
    path = labelling.folder / "labels/human_like-bob (1).json"
    path.write_text(json.dumps(export | {"draw": rows[0]["draw"]}), encoding="utf-8")
    labels = {file.name: file.read_bytes() for file in (labelling.folder / "labels").iterdir()}
    labelling.run("results/labels/labels.parquet")
    table = pq.read_table(labelling.folder / "results/labels/labels.parquet").to_pylist()
    assert Counter((row["protocol"], row["annotator"], row["value"], row["choice"]) for row in table) == {
        ("quality", "ann", 4.0, None): 18,
        ("human_like", "bob", None, "No"): 18,
    }
    assert {row["probability"] for row in table} == {6 / 12}
    assert {file.name: file.read_bytes() for file in (labelling.folder / "labels").iterdir()} == labels
    assert not labelling.would_run("results/labels/labels.parquet", "annotation_pages")

    # a file in the place of another is new whatever its time stamp says
    os.utime(fill(labelling, "quality", "ann", "5"), (1, 1))
    assert labelling.would_run("results/labels/labels.parquet")

    # what is wrong is told by name, row and remedy, and the labels stay as they are
    wrong = fill(labelling, "quality", "bob", "9")
    path.write_text(json.dumps(export | {"draw": "d0"}), encoding="utf-8")
    output = labelling.run("results/labels/labels.parquet", ok=False)
    assert "quality-bob.csv, row 2: 9 is outside the scale of overall, 1 to 5" in output
    assert "human_like-bob (1).json belongs to another sample, d0" in output
    wrong.unlink()

    # a ledger that is gone is missed before anything is drawn anew
    (labelling.folder / "labels/draw-better.csv").unlink()
    output = labelling.run("annotation_pages", ok=False)
    assert "draw-better.csv is not the record of the sample of these pages: it was removed" in output
    assert "Traceback" not in output
    labelling.run("annotation_pages", "--forcerun", "draw_to_label")
    assert not labelling.would_run("annotation_pages")


@pytest.mark.slow
def test_a_new_system_is_drawn_beside_what_was_drawn(labelling: Workspace) -> None:
    lines = (labelling.folder / "support.jsonl").read_text(encoding="utf-8").splitlines()
    old = [line for line in lines if json.loads(line)["system"] != "mosaic"]
    (labelling.folder / "support.jsonl").write_text("\n".join(old), encoding="utf-8")
    labelling.run("annotation_pages")
    before = {name: drawn(labelling, name) for name in PROTOCOLS}
    (labelling.folder / "support.jsonl").write_text("\n".join(lines), encoding="utf-8")
    labelling.run("annotation_pages")
    for name in PROTOCOLS:
        assert before[name] < drawn(labelling, name)
    rows = pq.read_table(labelling.folder / "results/labels/draw/human_like.parquet").to_pylist()
    assert Counter(row["stratum"] for row in rows if row["drawn"]) == {"harbour": 4, "kiosk": 4, "mosaic": 4}
    rows = pq.read_table(labelling.folder / "results/labels/draw/better.parquet").to_pylist()
    assert {row["stratum"] for row in rows} == {"pairs", "pairs (2)"}


@pytest.mark.slow
def test_a_draw_by_the_judges_scores(labelling: Workspace) -> None:
    configure(labelling, sampling_design="score", protocols=["quality"], n=3)
    labelling.run("annotation_pages")
    rows = pq.read_table(labelling.folder / "results/labels/draw/quality.parquet").to_pylist()
    counts = Counter(row["stratum"] for row in rows if row["drawn"])
    assert counts == {f"{name}, {third} scores": 1 for name in ("harbour", "kiosk", "mosaic")
                      for third in ("low", "middle", "high")}  # fmt: skip
    configure(labelling, sampling_design="cases", protocols=["quality"], n=3)
    output = labelling.run("annotation_pages", ok=False)
    assert "draw-quality.csv was drawn with sampling_design score, and labels.sampling_design is now cases" in output


@pytest.mark.slow
def test_a_kill_while_it_draws_loses_and_draws_nothing_twice(labelling: Workspace) -> None:
    labelling.run("annotation_pages")
    before = ledgers(labelling)
    configure(labelling, n=6)
    hidden = labelling.folder / "labels"
    labelling.interrupt_when(
        lambda: ledgers(labelling) != before or any(hidden.glob(".draw-*")), signal.SIGKILL, "annotation_pages"
    )
    assert all(content.startswith(before[name]) for name, content in ledgers(labelling).items())
    labelling.run("--unlock")
    labelling.run("annotation_pages", "--rerun-incomplete")
    assert len(drawn(labelling, "human_like")) == 3 * 6
    lines = (labelling.folder / "labels/draw-human_like.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == len(set(lines)) == 1 + 36 + 3 * 2


def test_a_draw_at_random_needs_no_key_of_a_judge(labelling: Workspace) -> None:
    path = labelling.folder / "config.yaml"
    config = yaml.safe_load(path.read_text(encoding="utf-8"))
    config["models"]["forest"] = {"engine": "openai", "model": "gpt", "api_key_env": "NO_SUCH_KEY"}
    path.write_text(yaml.safe_dump(config), encoding="utf-8")
    assert "NO_SUCH_KEY" in labelling.run(ok=False)
    labelling.run("annotation_pages")
    config["labels"] |= {"sampling_design": "score", "protocols": ["quality"]}
    path.write_text(yaml.safe_dump(config), encoding="utf-8")
    assert "NO_SUCH_KEY" in labelling.run("annotation_pages", ok=False)


def test_labels_that_cannot_be_written_or_are_not_configured(labelling: Workspace) -> None:
    (labelling.folder / "blocked").write_text("a file")
    configure(labelling, path="blocked/labels")
    output = labelling.run("annotation_pages", ok=False)
    assert "cannot be written" in output or "labels.path: blocked/labels is a file, or cannot be opened" in output
    configure(labelling, path="blocked")
    assert "labels.path: blocked is a file, or cannot be opened" in labelling.run("annotation_pages", ok=False)
    config = yaml.safe_load((labelling.folder / "config.yaml").read_text(encoding="utf-8"))
    del config["labels"]
    (labelling.folder / "config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    assert "the configuration has no section labels; add one, such as labels" in labelling.run(
        "annotation_pages", ok=False
    )
