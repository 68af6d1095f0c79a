"""Workflows and scripts around a run: the gate for continuous integration, and the release."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from workspace import ROOT

from dialeval import __version__
from dialeval.cli.main import parsed
from dialeval.cli.results import parse_bounds

GATE = ROOT / "examples" / "gate.yml"
WORKFLOWS = [GATE, *sorted((ROOT / ".github" / "workflows").glob("*.yml"))]


def jobs(path: Path) -> dict[str, Any]:
    return dict(yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"])


def commands(path: Path) -> list[str]:
    return [step["run"] for job in jobs(path).values() for step in job["steps"] if "run" in step]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_have_the_form_that_github_reads(path: Path) -> None:
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert {"name", "jobs", "permissions"} <= set(content)
    assert True in content, "`on` is a boolean in YAML 1.1, as GitHub's own files have it"
    for job in content["jobs"].values():
        assert "runs-on" in job
        assert set(job.get("needs", "").split()) <= set(content["jobs"])
        for step in job["steps"]:
            assert ("run" in step) is not ("uses" in step)
            assert set(step) <= {"run", "uses", "with", "env", "if", "name", "working-directory"}
            assert re.fullmatch(r"[\w.-]+/[\w./-]+@[\w./]+", step.get("uses", "actions/checkout@v6"))
            shell = re.sub(r"\$\{\{.*?\}\}", "x", step.get("run", ""))
            subprocess.run(["bash", "-n", "-c", shell], check=True)


def test_the_gate_compares_with_bounds_and_keeps_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (compare,) = [words for words in commands(GATE) if words.startswith("dialeval ")]
    arguments = parsed(shlex.split(compare)[1:])
    (file,) = arguments.fail_if
    monkeypatch.chdir(tmp_path)
    example = re.search(r"^#\s+(\S+\[.*)$", GATE.read_text(encoding="utf-8"), re.MULTILINE)
    assert example is not None
    Path(file.removeprefix("@")).write_text(f"{example[1]}\n", encoding="utf-8")
    (bound,) = parse_bounds([file])
    assert (bound.table, bound.system, bound.value) == ("quality/means", "my_system", -0.2)
    (job,) = jobs(GATE).values()
    uploads = [step for step in job["steps"] if "upload-artifact" in step.get("uses", "")]
    assert [step["with"]["path"] for step in uploads] == [f"evaluation/{arguments.to}"]
    assert uploads[0]["if"] == "always()", "the page is wanted most when the gate fails"
    (cache,) = [step for step in job["steps"] if "actions/cache" in step.get("uses", "")]
    assert cache["with"]["path"] == "evaluation/store"


def test_a_release_has_one_version(tmp_path: Path) -> None:
    """The script refuses a copy of the project whose files disagree; it stops before it builds anything."""
    for name in (".ci/release", ".ci/uv", "workflow/dialeval/__init__.py", "CITATION.cff", "CHANGELOG.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    git = ["git", "-c", "user.name=n", "-c", "user.email=e@example.org"]
    for arguments in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", "all"]):
        subprocess.run([*git, *arguments], cwd=tmp_path, check=True)

    def refused(*arguments: str) -> str:
        ran = subprocess.run(
            ["bash", ".ci/release", *arguments], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert ran.returncode == 1
        assert not (tmp_path / "dist").exists()
        return ran.stderr

    assert "'publsh' is no action" in refused("publsh")
    assert "write the date of the release" in refused("publish")
    changes = tmp_path / "CHANGELOG.md"
    changes.write_text(
        changes.read_text(encoding="utf-8").replace(" (unreleased)", " (2030-01-01)", 1), encoding="utf-8"
    )
    assert f"HEAD has no tag v{__version__}; run: git tag v{__version__}" in refused("publish")
    assert "files differ from HEAD; commit them" in refused()
    cited = tmp_path / "CITATION.cff"
    text = cited.read_text(encoding="utf-8")
    cited.write_text(text.replace(f"version: {__version__}\n", "version: 9.9.9\n"), encoding="utf-8")
    assert f"CITATION.cff has version 9.9.9, and __version__ is {__version__}" in refused()
    changes.write_text("# Changelog\n\n## 9.9.9\n", encoding="utf-8")
    cited.write_text(text, encoding="utf-8")
    assert "CHANGELOG.md begins with '9.9.9'" in refused()
