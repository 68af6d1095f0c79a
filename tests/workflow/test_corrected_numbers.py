"""People's labels beside judgements, from files to the page; the labels are of simulated annotators."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import pytest
import yaml
from workspace import ROOT, Workspace

from dialeval.labels.simulated import fill_in

SYSTEMS = {"harbour", "kiosk", "mosaic"}


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def example(workspace: Workspace) -> tuple[Workspace, Path]:
    """The shipped example, with a judge that learns faster, in a workspace; and its folder of results."""
    config = yaml.safe_load((ROOT / "configs/labels.yaml").read_text(encoding="utf-8"))
    for name in ("transcripts", "labels"):
        shutil.copytree(ROOT / "configs" / name, workspace.folder / "configs" / name, dirs_exist_ok=True)
    config["models"]["forest"]["folds"] = 3
    (workspace.folder / "config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    return workspace, workspace.folder / config["results_dir"]


def test_the_shipped_example_runs_from_labels_to_the_page_and_again(example: tuple[Workspace, Path]) -> None:
    workspace, results = example
    workspace.run()
    tables = results / "tables/labels"
    corrected = rows(tables / "estimates.csv")
    means = [row for row in corrected if row["measure"] == "mean"]
    assert {(row["system"], row["criterion"], row["judge"]) for row in means} == {
        (system, criterion, judge)
        for system in SYSTEMS
        for criterion in ("coherence", "overall")
        for judge in ("forest", "length", "panel")
    }
    assert {row["annotators"] for row in corrected} == {"simulated"}
    assert {(row["n_labelled"], row["n_total"]) for row in means} == {("9", "12")}
    said = [row for row in rows(results / "labels/labels.csv") if row["criterion"] == "overall"]
    for row in means:
        if row["criterion"] == "overall":
            values = [float(one["value"]) for one in said if one["system"] == row["system"]]
            assert len(values) == 18
            assert float(row["human_only"]) == pytest.approx(sum(values) / 18)
    passed = [row for row in corrected if row["measure"] == "pass_rate"]
    assert {row["system"] for row in passed} == SYSTEMS
    assert {row["simulated"] for row in rows(tables / "annotators.csv")} == {"true"}
    assert {row["statistic"] for row in rows(tables / "agreement.csv")} >= {"alpha (interval)", "kappa"}
    assert rows(tables / "differences.csv")
    assert {row["system"] for row in rows(tables / "ranks.csv")} == SYSTEMS
    page = (results / "report/index.html").read_text(encoding="utf-8")
    assert 'id="labels-leaderboard"' in page
    assert "corrected by simulated labels" in page
    assert "Nothing to be done" in workspace.run()

    # a third annotator's sheet concerns what labels say, and no judge
    own = workspace.folder / "configs/labels/quality-simulated-1.csv"
    config = yaml.safe_load((workspace.folder / "config.yaml").read_text(encoding="utf-8"))
    for field in ("annotators", "simulated"):
        config["labels"][field].append("simulated-3")
    (workspace.folder / "config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    third = own.with_name("quality-simulated-3.csv")
    third.write_text(own.read_text(encoding="utf-8-sig").replace("simulated-1", "simulated-3"), encoding="utf-8")
    fill_in(third, third)
    again = {"all", "read_labels", "correct", "tabulate_agreement", "draw_labels", "summarise"}
    assert set(workspace.would_run()) == again | {"build_report"}
    workspace.run()
    assert {row["annotator"] for row in rows(tables / "annotators.csv") if row["protocol"] == "quality"} == {
        "simulated-1", "simulated-2", "simulated-3",
    }  # fmt: skip


def test_the_shipped_labels_are_what_the_simulated_annotators_say(example: tuple[Workspace, Path]) -> None:
    """The sheets that the target `annotation_pages` writes, filled in by rule, are the files that are shipped."""
    workspace, results = example
    workspace.run("annotation_pages")
    sheets = sorted((results / "labels/pages").glob("*/*.csv"))
    assert len(sheets) == 4
    for sheet in sheets:
        filled = workspace.folder / sheet.name
        fill_in(sheet, filled)
        assert filled.read_bytes() == (ROOT / "configs/labels" / sheet.name).read_bytes()


def test_without_labels_there_are_no_tables_of_labels(example: tuple[Workspace, Path]) -> None:
    workspace, _ = example
    for path in (workspace.folder / "configs/labels").glob("*simulated*"):
        path.unlink()
    planned = workspace.would_run()
    assert planned["measure_quality"]
    assert not {"read_labels", "correct", "tabulate_agreement", "draw_labels"} & {*planned}
    assert workspace.would_run("annotation_pages")["labelling_page"] == 4
