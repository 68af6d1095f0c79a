"""The workflow from another folder, as a part of another workflow, and with results of another version."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml
from loopback_endpoint import LoopbackEndpoint, Reply, completion
from transcripts_to_judge import N_CASES, configure
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
    assert f"away has no config.yaml, so this run uses the project's own, {workspace.folder}" in output
    assert "profiles/default for setting default command line arguments" in output
    assert "generate_dialogues" in output
    battles = {"data_dir": ".", "battles": {"mine": {"path": "mine.csv"}}}
    (tmp_path / "away" / "config.yaml").write_text(yaml.safe_dump(battles), encoding="utf-8")
    (tmp_path / "away" / "mine.csv").write_text(BATTLES, encoding="utf-8")
    output = workspace.run("--dry-run", *from_away)
    assert "uses the project's own" not in output
    assert "rate_battles" in output
    assert "generate_dialogues" not in output


def host(workspace: Workspace, folder: Path, config: object, more: str = "") -> Workspace:
    """Write another workflow that uses this one, and return it."""
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
    assert "rated has no unused files" in other.run("judging_clean")


def test_all_rules_of_a_module_are_planned_with_its_own_configuration(workspace: Workspace, tmp_path: Path) -> None:
    other = host(workspace, tmp_path / "other", {**SMALL, "results_dir": "rated"})
    output = other.run("--dry-run", "judging_all", "judging_estimate")
    for rule in ("generate_dialogues", "answer", "build_report", "estimate"):
        assert f"judging_{rule}" in output
    other = host(workspace, tmp_path / "other", SMALL, '    prefix: "rated"')
    assert "`results_dir: rated/results`" in other.run("--dry-run", ok=False)


def test_results_and_answers_of_an_earlier_version_go_on_in_a_new_checkout(workspace: Workspace) -> None:
    """Snakemake knows nothing of the files; tables have other columns, and the store has the folders of that time."""
    results, target = workspace.folder / "results", "results/tables/quality/means.csv"
    with LoopbackEndpoint(lambda _: Reply(completion("overall: 4"))) as endpoint:
        configure(workspace, endpoint.url, "m")
        workspace.run(target)
        made = workspace.tables()
        assert len(endpoint.log) == N_CASES
        for name in ("items/talks", "judgements/gpt/quality"):
            table = pq.read_table(results / f"{name}.parquet")
            pq.write_table(table.drop_columns([table.column_names[-1]]), results / f"{name}.parquet")
        shutil.rmtree(workspace.folder / ".snakemake")
        (of_model,) = (workspace.folder / "store").iterdir()
        of_model.rename(of_model.with_name(f"gpt-{of_model.name}"))
        for left in ("runs.lock", "0123456789ab.run"):
            (of_model.with_name(f"gpt-{of_model.name}") / "scale" / left).write_text("left", encoding="utf-8")
        planned = workspace.would_run(target)
        assert planned["read_transcripts"] == planned["parse"] == 1
        output = workspace.run(target)
        assert (
            "note: another version of DialEval made 2 files in results (such as results/items/talks.parquet" in output
        )
        assert workspace.tables() == made
        assert len(endpoint.log) == N_CASES, "what is stored is not asked again"
        assert not workspace.would_run(target)
        shutil.rmtree(results / "provenance")
        assert not workspace.would_run(target), "Snakemake still knows what made the files"
        shutil.rmtree(workspace.folder / ".snakemake")  # as of a version before there were records
        assert workspace.would_run(target)["read_transcripts"] == 1


def test_links_that_somebody_left_in_the_results_are_not_followed(workspace: Workspace, tmp_path: Path) -> None:
    home, target = tmp_path / "home", "results/tables/quality/means.csv"
    home.mkdir()
    (home / "precious").write_text("somebody's")
    (tmp_path / "scratch").mkdir()
    results = workspace.folder / "results"
    results.symlink_to(tmp_path / "scratch")  # the folder of the results itself may be anywhere
    with LoopbackEndpoint(lambda _: Reply(completion("overall: 4"))) as endpoint:
        configure(workspace, endpoint.url, "m")
        logs = ["responses/gpt/quality-1-of-1.log", "judgements/gpt/quality.log"]
        files = [*(f"logs/{log}" for log in logs), "configuration.yaml", ".run.stop", "tables/quality/means.csv"]
        for name in files:
            (results / name).parent.mkdir(parents=True, exist_ok=True)
            (results / name).symlink_to(home / "precious")
        workspace.run("--forceall", target)
        assert (workspace.folder / target).is_file()
        assert not [name for name in files if (results / name).is_symlink()]
        shutil.rmtree(results / "judgements")
        (results / "judgements").symlink_to(home)
        output = workspace.run("--forceall", target, ok=False)
        assert f"results/judgements is a link to {home}" in output
        assert "Traceback" not in output
    assert [(path.name, path.read_text()) for path in home.iterdir()] == [("precious", "somebody's")]
