"""`dialeval export`: labelling tasks out, annotations in, tables for trackers; with their libraries if installed."""

from __future__ import annotations

import json
import sys
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from labelled_dialogues import dialogues, drawn_protocol, items_table, protocol_settings, sheet_for

from dialeval.cli.main import main
from dialeval.labels.labelled_protocol import LabelledProtocol
from dialeval.labels.page import page_html
from dialeval.labels.reading import read_labels
from dialeval.labels.sheets import options_text
from dialeval.labels.units import Sheet
from dialeval.tables.files import to_table, write_table
from dialeval.tables.measures import MEANS

Protocols = Mapping[str, LabelledProtocol]
Task = dict[str, Any]
CASES: list[tuple[str, dict[str, Any]]] = [
    ("quality", {"form": "scale", "criteria": ["coherence", "overall"]}),
    ("better", {"form": "pair"}),
    ("human_like", {"form": "locate"}),
]


def protocol(folder: Path, name: str, settings: dict[str, Any]) -> tuple[Protocols, list[Sheet]]:
    """Return a protocol of which a sample is drawn, and the sheets of two annotators, whose pages are in `results`."""
    settings = dict(settings)
    asked = drawn_protocol(
        folder,
        protocol_settings(name, settings.pop("criteria", []), **settings),
        items_table(folder / "items.parquet", dialogues()),
    )
    sheets = [sheet_for(asked, annotator) for annotator in ("anna", "ben")]
    for sheet in sheets:
        page = folder / "results/labels/pages" / sheet.annotator / f"{name}-{sheet.annotator}.html"
        page.parent.mkdir(parents=True)
        page.write_text(page_html(sheet), encoding="utf-8")
    return {name: asked}, sheets


def answer(task: Task) -> str:
    """Return an answer that follows from what an annotator reads."""
    if "first" in task:
        return "A" if task["first"] < task["second"] else "B"
    return ("No" if "harbour" in task["dialogue"] else "Yes") if "Yes" in task["options"] else "4"


def in_label_studio(files: list[Path], who: int) -> list[tuple[Path, Any]]:
    """Return the tasks as Label Studio exports them, annotated by one user."""
    found = []
    for file in files:
        if file.suffix == ".json":
            tasks = json.loads(file.read_text(encoding="utf-8"))
            for number, task in enumerate(tasks, start=1):
                picked = {"value": {"choices": [answer(task["data"])]}, "from_name": "label", "type": "choices"}
                results = [picked | {"id": f"r{number}", "to_name": "dialogue", "origin": "manual"}]
                if "utterance" in task["data"]["question"] and answer(task["data"]) == "Yes":
                    results.append(
                        {"value": {"number": 2}, "from_name": "place", "to_name": "dialogue", "type": "number"}
                    )
                about = {"completed_by": who, "was_cancelled": False, "ground_truth": False, "lead_time": 4.5}
                task |= {"id": number, "annotations": [about | {"result": results}], "project": 1}
            found.append((file, tasks))
    return found


def in_argilla(files: list[Path], who: int) -> list[tuple[Path, Any]]:
    """Return the records as Argilla's `to_json` writes them, answered by one user."""
    found = []
    for file in files:
        if file.name.endswith("-records.json"):
            records = json.loads(file.read_text(encoding="utf-8"))
            for record in records:
                user = str(uuid.UUID(int=who))
                task = record["fields"] | record["metadata"]
                responses = {"label": [{"value": answer(task), "user_id": user}]}
                if "utterance" in task["question"] and answer(task) == "Yes":
                    responses["place"] = [{"value": "2", "user_id": user}]
                record |= {"responses": responses, "suggestions": {}, "vectors": {}, "status": "completed"}
            found.append((file, records))
    return found


@pytest.mark.parametrize(("name", "settings"), CASES)
@pytest.mark.parametrize(("tool", "annotated"), [("label-studio", in_label_studio), ("argilla", in_argilla)])
def test_tasks_come_back_as_labels(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    name: str,
    settings: dict[str, Any],
    tool: str,
    annotated: Callable[[list[Path], int], list[tuple[Path, Any]]],
) -> None:
    protocols, sheets = protocol(tmp_path, name, settings)
    out = tmp_path / "tasks"
    assert main(["export", tool, "--results", str(tmp_path / "results"), "--to", str(out)]) == 0
    output = capsys.readouterr().out
    assert "next:" in output
    assert "labels.path" in output
    folder = tmp_path / "returned"
    folder.mkdir()
    paths = []
    for file, content in annotated(sorted(out.iterdir()), 7):
        paths.append(folder / file.name)
        paths[-1].write_text(json.dumps(content), encoding="utf-8")
    rows = read_labels(paths, protocols).rows
    n_units, n_questions = len(sheets[0].units), len(sheets[0].questions)
    assert len(rows) == n_units * n_questions, "a pair in two orders is one task"
    assert len(paths) == n_questions
    assert len({row["annotator"] for row in rows}) == 1
    if name == "better":
        returned = paths[0].read_text(encoding="utf-8")
        assert '"A"' in returned
        assert '"B"' in returned
        # the alphabet decides, whichever system a task shows first
        assert all((row["outcome"] == "left") is (row["system"] < row["opponent"]) for row in rows)
    elif name == "quality":
        assert {row["value"] for row in rows} == {4.0}
    else:
        assert {(row["system"], row["choice"], row.get("place")) for row in rows} >= {("harbour", "No", None)}
        assert {row.get("place") for row in rows if row["choice"] == "Yes"} == {2}


def test_a_task_with_another_question_is_refused(tmp_path: Path) -> None:
    protocols, _ = protocol(tmp_path, *CASES[0])
    out = tmp_path / "tasks"
    assert main(["export", "label-studio", "--results", str(tmp_path / "results"), "--to", str(out)]) == 0
    ((file, tasks), *_) = in_label_studio(sorted(out.iterdir()), 7)
    tasks[0]["data"]["question"] = "Is it short?"
    file.write_text(json.dumps(tasks), encoding="utf-8")
    from dialeval.errors import UserError

    with pytest.raises(UserError, match=r"annotators read the question 'Is it short\?'"):
        read_labels([file], protocols)


@pytest.mark.parametrize(("name", "settings"), CASES)
def test_the_interface_offers_the_sheets_answers(tmp_path: Path, name: str, settings: dict[str, Any]) -> None:
    _, sheets = protocol(tmp_path, name, settings)
    assert main(["export", "label-studio", "--results", str(tmp_path / "results"), "--to", str(tmp_path / "ls")]) == 0
    for question in sheets[0].questions:
        file = tmp_path / "ls" / (f"{name}-{question.criterion}.xml" if question.criterion else f"{name}.xml")
        view = ElementTree.fromstring(file.read_text(encoding="utf-8"))
        assert [choice.get("value") for choice in view.iter("Choice")] == [one.label for one in question.options]
        tasks = json.loads(file.with_suffix(".json").read_text(encoding="utf-8"))
        assert {task["data"]["options"] for task in tasks} == {options_text(question)}
        named = {element.get("value", "").lstrip("$") for element in view.iter() if element.tag in ("Text", "Header")}
        assert named <= set(tasks[0]["data"])


def test_the_sdks_take_what_is_exported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    interface = pytest.importorskip("label_studio_sdk.label_interface")
    rg = pytest.importorskip("argilla")
    from unittest.mock import MagicMock

    monkeypatch.setattr(rg.Argilla, "_get_default", classmethod(lambda cls: MagicMock()))
    for name, settings in CASES:
        folder = tmp_path / name
        folder.mkdir()
        protocols, _ = protocol(folder, name, settings)
        for tool in ("label-studio", "argilla"):
            assert main(["export", tool, "--results", str(folder / "results"), "--to", str(folder / tool)]) == 0
        for file in (folder / "label-studio").glob("*.xml"):
            view = interface.LabelInterface(file.read_text(encoding="utf-8"))
            view.validate()
            tasks = json.loads(file.with_suffix(".json").read_text(encoding="utf-8"))
            for task in tasks:
                view.validate_task(task, validate_regions_only=False)
                made = view.generate_sample_annotation()
                made["result"] = [one for one in made["result"] if one["from_name"] == "label"]
                task["annotations"] = [made | {"completed_by": 3}]
            returned = folder / f"{file.stem}-ls.json"
            returned.write_text(json.dumps(tasks), encoding="utf-8")
            assert len(read_labels([returned], protocols).rows) == len(tasks)
        for file in (folder / "argilla").glob("*-records.json"):
            asked = rg.Settings.from_json(file.with_name(file.name.replace("-records", "-settings")))
            assert next(question.name for question in asked.questions) == "label"
            records = [rg.Record.from_dict(one) for one in json.loads(file.read_text(encoding="utf-8"))]
            for record in records:
                task = record.fields.to_dict() | record.metadata.to_dict()
                record.responses.add(rg.Response("label", answer(task), user_id=uuid.UUID(int=5)))
            returned = folder / f"{file.stem}-rg.json"
            returned.write_text(json.dumps([one.to_dict() for one in records], default=str), encoding="utf-8")
            assert len(read_labels([returned], protocols).rows) == len(records)


# Trackers


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Results with means of two systems, of which one is undefined."""
    about = {"judge": "clerk", "criterion": "overall", "scale_min": 1.0, "scale_max": 5.0, "note": ""}
    empty = {field.name: None for field in MEANS.schema if field.nullable}
    numbers = {field.name: 0 for field in MEANS.schema if not field.nullable} | empty | about
    rows = [
        numbers | {"system": "able: 1", "estimate": 4.5, "ci_low": 4.0, "ci_high": 5.0},
        numbers | {"system": "weak", "estimate": None},
    ]
    write_table(tmp_path / "results/tables/quality/means.parquet", MEANS, to_table(MEANS, rows))
    return tmp_path / "results"


@pytest.mark.parametrize("library", ["mlflow", "wandb"])
def test_a_library_that_is_not_installed_is_named(
    results: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], library: str
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    assert main(["export", library, "--results", str(results)]) == 1
    assert f"{library} is not installed" in (output := capsys.readouterr().err)
    assert f"pip install {library}" in output


def test_mlflow_gets_estimates_and_tables(results: Path, tmp_path: Path) -> None:
    mlflow = pytest.importorskip("mlflow")
    assert main(["export", "mlflow", "--results", str(results), "--to", str(tmp_path / "mlruns")]) == 0
    (run,) = mlflow.search_runs(experiment_names=["dialeval"], output_format="list")
    assert run.data.metrics == {"quality/means/estimate/overall/clerk/able- 1": 4.5}
    assert list((tmp_path / "mlruns").rglob("artifacts/tables/quality/means.parquet"))


def test_weights_and_biases_gets_estimates_and_tables(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("wandb")
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.chdir(tmp_path)
    assert main(["export", "wandb", "--results", str(results), "--to", "study"]) == 0
    assert "study: 1 estimate" in (output := capsys.readouterr().out)
    assert f"wandb sync {tmp_path}" in output
    assert list((tmp_path / "wandb").glob("offline-run-*/*.wandb"))


def test_a_data_set_loads_offline(results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    datasets = pytest.importorskip("datasets")
    folder = tmp_path / "set"
    assert main(["export", "hub", "--results", str(results), "--to", str(folder)]) == 0
    loaded = datasets.load_dataset(str(folder), "quality-means", split="train", cache_dir=str(tmp_path / "cache"))
    assert loaded["system"] == ["able: 1", "weak"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["hub"], "hub writes files; add --to FOLDER"),
        (
            ["mlflow", "quality/means"],
            "mlflow exports the whole run, and 'quality/means' applies to hub only; remove it",
        ),
        (["label-studio", "--to", "tasks"], "has no labelling pages; run `snakemake --cores 1 annotation_pages` first"),
        (["hub", "--to", "."], "is not empty"),
    ],
)
def test_what_cannot_be_exported_is_named(
    results: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    words: str,
) -> None:
    monkeypatch.chdir(results.parent)
    assert main(["export", *arguments]) == 1
    assert words in capsys.readouterr().err
