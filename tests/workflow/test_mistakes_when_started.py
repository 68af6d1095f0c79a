"""Ordinary mistakes at the command line: what Snakemake's last lines say, ours or its own."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from configuration_mistakes import mistaken
from empty_data import with_data
from loopback_endpoint import Call, LoopbackEndpoint, Reply, completion
from transcripts_to_judge import N_CASES, configure
from workspace import ROOT, Workspace

pytestmark = [pytest.mark.workflow]


def last_lines(output: str) -> str:
    return "\n".join([line for line in output.splitlines() if line.strip()][-5:])


def test_an_unknown_target_lists_the_targets(workspace: Workspace) -> None:
    said = last_lines(workspace.run("reprot", "--dry-run", ok=False))
    assert "no rule of this configuration makes 'reprot'; did you mean 'report'?" in said
    for target in ("all", "botchat", "metaeval", "estimate", "clean"):
        assert f" {target}," in said


@pytest.mark.slow
def test_mistakes_of_the_configuration_end_in_words(workspace: Workspace) -> None:
    workspace.configure(judges="forest")
    assert "judges: 'forest' is not a list; write [forest]" in last_lines(workspace.run(ok=False))
    (workspace.folder / "config.yaml").write_text("models:\n\ta: {}\n")
    assert "config.yaml, line 2" in last_lines(workspace.run(ok=False))
    workspace.configure()
    said = last_lines(workspace.run("--configfile", "nope.yaml", ok=False))
    assert "No such file or directory: 'nope.yaml'" in said, "Snakemake's own words, before any of ours"


def test_a_criterion_that_is_none_ends_in_words_with_labels_too(workspace: Workspace) -> None:
    quality = {"form": "scale", "data": {"source": "selfchat"}, "criteria": ["coherense"], "judges": ["forest"]}
    workspace.configure(protocols={"quality": quality}, labels={"path": "labels"})
    said = workspace.run("--dry-run", ok=False)
    assert "protocols.quality.criteria: 'coherense' is not a criterion; did you mean 'coherence'?" in last_lines(said)
    assert "Traceback" not in said


@pytest.mark.slow
def test_no_mistake_of_a_configuration_ends_in_a_traceback(workspace: Workspace) -> None:
    with_data(workspace.folder / "data")
    shutil.copytree(ROOT / "configs", workspace.folder / "configs")
    ended = []
    for number in range(60):
        raw = mistaken(random.Random(number)) | {"data_dir": str(workspace.folder / "data")}
        name = f"mistaken-{number}.yaml"
        text = yaml.safe_dump(raw, sort_keys=False, allow_unicode=True)
        (workspace.folder / name).write_text(text, encoding="utf-8", errors="surrogatepass")
        ended.append(
            workspace.outcome("snakemake", "-n", "--cores", "1", "--configfile", name, "--", "estimate", "all")
        )
    assert any(status == 0 for status, _ in ended)
    for number, (status, output) in enumerate(ended):
        if status:
            assert "Traceback" not in output, (number, output)
            assert "Error in file" not in output, (number, output)
            assert "mistaken-" in output, (number, output)  # the file, the field, the value


@pytest.mark.parametrize(
    ("target", "section", "page"),
    [
        ("translation_quality", "add it to a corpus", "translation"),
        pytest.param("training", "has no section training", "training", marks=pytest.mark.slow),
        pytest.param("annotation_pages", "has no section labels", "labels", marks=pytest.mark.slow),
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
def test_a_folder_without_the_workflow_is_reported_by_snakemake(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert "No Snakefile found" in last_lines(Workspace(tmp_path / "empty").run(ok=False, warm=False))
    assert 'Snakefile "nope/Snakefile" not found' in last_lines(workspace.run("-s", "nope/Snakefile", ok=False))


@pytest.mark.slow
def test_a_library_that_is_not_installed_is_reported_with_the_command(workspace: Workspace) -> None:
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


def rates(_: Call) -> Reply:
    return Reply(completion("overall: 4"))


@pytest.mark.slow  # planning/test_preflight.py, engines/spending/test_budgets.py and test_secrets.py show the parts
def test_a_key_is_demanded_by_the_first_request_alone(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JUDGE_KEY", raising=False)
    results = workspace.folder / "results"
    with LoopbackEndpoint(rates) as endpoint:
        configure(workspace, endpoint.url, "m", key="JUDGE_KEY")
        workspace.run("--dry-run")
        workspace.run("estimate")
        output = workspace.run(ok=False)
        assert not endpoint.log
        assert (
            output.count("note: models.gpt: the environment variable JUDGE_KEY, which api_key_env names, is not set")
            == 1
        )
        end = output[output.index("A job failed:") :]
        assert end.count("JUDGE_KEY, named by api_key_env, is not set") == 1
        assert "export JUDGE_KEY" in end
        assert "Traceback" not in output
        monkeypatch.setenv("JUDGE_KEY", "sk-0123456789abcdef")
        workspace.run()
        assert len(endpoint.log) == N_CASES
        monkeypatch.delenv("JUDGE_KEY")
        assert "JUDGE_KEY" not in workspace.run()
        workspace.run("--forcerun", "build_report", "report")
        workspace.run("--report", "page.html")
        for target in ("versions", "estimate"):
            workspace.run(target)
        workspace.run("compare", "--config", "run_a=results", "run_b=results")
        shutil.rmtree(results)
        workspace.run()
        assert (results / "report/index.html").is_file()
        assert len(endpoint.log) == N_CASES, "what is stored needs no key"
        assert not [path for path in workspace.folder.rglob("*.json") if b"sk-0123" in path.read_bytes()]
