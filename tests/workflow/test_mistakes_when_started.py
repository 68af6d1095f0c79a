"""Ordinary mistakes at the command line: what Snakemake's last lines say, ours or its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from workspace import Workspace

pytestmark = [pytest.mark.workflow]


def last_lines(output: str) -> str:
    return "\n".join([line for line in output.splitlines() if line.strip()][-5:])


def test_an_unknown_target_lists_the_targets(workspace: Workspace) -> None:
    said = last_lines(workspace.run("reprot", "--dry-run", ok=False))
    assert "nothing in this configuration makes 'reprot'; did you mean 'report'?" in said
    for target in ("all", "botchat", "metaeval", "estimate", "tidy"):
        assert f" {target}," in said


@pytest.mark.slow
def test_mistakes_of_the_configuration_end_in_words(workspace: Workspace) -> None:
    workspace.configure(judges="forest")
    assert "judges: 'forest' stands where a list must; write [forest]" in last_lines(workspace.run(ok=False))
    (workspace.folder / "config.yaml").write_text("models:\n\ta: {}\n")
    assert "config.yaml, line 2" in last_lines(workspace.run(ok=False))
    workspace.configure()
    said = last_lines(workspace.run("--configfile", "nope.yaml", ok=False))
    assert "No such file or directory: 'nope.yaml'" in said, "Snakemake's own words, before any of ours"


@pytest.mark.parametrize(
    ("target", "section", "page"),
    [
        ("translation_quality", "add quality to a corpus under translate", "translation"),
        pytest.param("training", "add a section training", "training", marks=pytest.mark.slow),
        pytest.param("label", "add a section such as labels", "labels", marks=pytest.mark.slow),
        pytest.param("battles", "add a section such as battles", "battles", marks=pytest.mark.slow),
    ],
)
def test_a_target_without_its_section_names_the_section(
    workspace: Workspace, target: str, section: str, page: str
) -> None:
    said = workspace.run(target, "--dry-run", ok=False)
    assert f"{target}: the configuration" in said
    assert section in said
    assert f"docs/{page}.md" in said
    assert "Exception" not in said
    assert "configuration.smk" not in said


@pytest.mark.slow
def test_a_folder_without_the_workflow_is_told_by_snakemake(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert "No Snakefile found" in last_lines(Workspace(tmp_path / "empty").run(ok=False, warm=False))
    assert 'Snakefile "nope/Snakefile" not found' in last_lines(workspace.run("-s", "nope/Snakefile", ok=False))


@pytest.mark.slow
def test_a_library_that_is_not_installed_is_told_with_the_command(workspace: Workspace) -> None:
    (workspace.folder / "elsewhere").mkdir()
    (workspace.folder / "elsewhere" / "dialeval.py").write_text("")
    program = "import sys; sys.path.insert(0, 'elsewhere'); from snakemake.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program, "--cores", "1", "--dry-run"],
        cwd=workspace.folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode
    assert "install the project first: pip install -e ." in last_lines(done.stdout + done.stderr)
