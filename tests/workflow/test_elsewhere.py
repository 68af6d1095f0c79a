"""The workflow from another folder, and as a part of another workflow."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from workspace import SMALL, Workspace

pytestmark = pytest.mark.workflow
BATTLES = "left,right,winner\n" + "north,south,left\nsouth,west,tie\nnorth,west,right\n" * 5
HOST = """
module judging:
    snakefile: "{project}/Snakefile"
    config: {config}
{more}

use rule * from judging as judging_*


onstart:
    judging.onstart()


rule collect:
    default_target: True
    input: "rated/tables/battles/mine.csv"
    output: "collected.csv"
    shell: "cp {{input}} {{output}}"
"""


def test_a_run_from_another_folder_has_its_configuration_or_says_that_it_has_the_projects(
    workspace: Workspace, tmp_path: Path
) -> None:
    (tmp_path / "away").mkdir()
    from_away = ("--snakefile", str(workspace.folder / "workflow" / "Snakefile"), "--directory", str(tmp_path / "away"))
    output = workspace.run("--dry-run", *from_away)
    assert f"away has no config.yaml, so that this run follows the project's own, {workspace.folder}" in output
    assert "profiles/default for setting default command line arguments" in output
    assert "generate_dialogues" in output
    battles = {"data_dir": ".", "battles": {"mine": {"path": "mine.csv"}}}
    (tmp_path / "away" / "config.yaml").write_text(yaml.safe_dump(battles), encoding="utf-8")
    (tmp_path / "away" / "mine.csv").write_text(BATTLES, encoding="utf-8")
    output = workspace.run("--dry-run", *from_away)
    assert "follows the project's own" not in output
    assert "rate_battles" in output
    assert "generate_dialogues" not in output


def host(workspace: Workspace, folder: Path, config: object, more: str = "") -> Workspace:
    """Writes another workflow that uses this one, and returns it."""
    folder.mkdir(exist_ok=True)
    text = HOST.format(project=workspace.folder, config=config, more=more)
    (folder / "Snakefile").write_text(text, encoding="utf-8")
    (folder / "mine.csv").write_text(BATTLES, encoding="utf-8")
    (folder / "workflow").unlink(missing_ok=True)
    (folder / "workflow").symlink_to(workspace.folder / "workflow")  # where a workspace looks for the library
    return Workspace(folder)


def test_another_workflow_runs_rules_of_this_one_and_reads_what_they_make(workspace: Workspace, tmp_path: Path) -> None:
    config = {"results_dir": "rated", "store_dir": "kept", "data_dir": ".", "battles": {"mine": {"path": "mine.csv"}}}
    other = host(workspace, tmp_path / "other", config)
    output = other.run()
    assert "not present in the Snakefile" not in output
    assert "judging_rate_battles" in output
    made = other.folder / "collected.csv"
    assert made.read_bytes() == (other.folder / "rated/tables/battles/mine.csv").read_bytes()
    assert "north" in made.read_text(encoding="utf-8")
    assert (other.folder / "rated/.run.lock").exists()
    assert not (other.folder / "results").exists()
    assert "Nothing to be done" in other.run()
    assert "rated holds nothing that the configuration does not make" in other.run("judging_tidy")


def test_all_rules_of_a_module_are_planned_with_its_own_configuration(workspace: Workspace, tmp_path: Path) -> None:
    other = host(workspace, tmp_path / "other", {**SMALL, "results_dir": "rated"})
    output = other.run("--dry-run", "judging_all", "judging_estimate")
    for rule in ("generate_dialogues", "answer", "build_report", "estimate"):
        assert f"judging_{rule}" in output
    other = host(workspace, tmp_path / "other", SMALL, '    prefix: "rated"')
    assert "`results_dir: rated/results`" in other.run("--dry-run", ok=False)
