"""Our recipes of containers: what they copy is all that a run needs, and what they install is there to be installed."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from workspace import ROOT

DOCKERFILE, APPTAINER = ROOT / "envs" / "Dockerfile", ROOT / "envs" / "apptainer.def"
IN_VLLM = ROOT / "envs" / "Dockerfile.vllm"
INSTRUCTIONS = {"ARG", "FROM", "ENV", "WORKDIR", "COPY", "RUN", "ENTRYPOINT", "CMD"}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def instructions(recipe: Path = DOCKERFILE) -> list[tuple[str, str]]:
    """Return the instructions of a Dockerfile and what is behind them."""
    text = recipe.read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [(line.split()[0], line.split(maxsplit=1)[1]) for line in lines]


def copied_by_docker(recipe: Path = DOCKERFILE) -> list[str]:
    return [name for kind, rest in instructions(recipe) if kind == "COPY" for name in rest.split()[:-1]]


def section(name: str) -> list[str]:
    """Return the lines of a section of the definition for Apptainer."""
    parts = re.split(r"^%(\w+)\n", APPTAINER.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return [line.strip() for line in parts[parts.index(name) + 1].splitlines() if line.strip()]


def test_the_dockerfile_has_instructions_that_docker_knows() -> None:
    kinds = [kind for kind, _ in instructions()]
    assert set(kinds) <= INSTRUCTIONS
    assert kinds[:2] == ["ARG", "FROM"]
    assert (kinds.count("ENTRYPOINT"), kinds.count("CMD")) == (1, 1)


def test_python_is_one_that_the_project_runs_on() -> None:
    lowest = tuple(map(int, PROJECT["requires-python"].removeprefix(">=").split(".")))
    (version,) = [rest.removeprefix("PYTHON=") for kind, rest in instructions() if rest.startswith("PYTHON=")]
    assert lowest <= tuple(map(int, version.split("."))) < (3, 14)
    assert f"From: python:{version}-slim" in APPTAINER.read_text(encoding="utf-8")


def test_both_recipes_copy_the_same_and_all_of_it_is_there() -> None:
    files = [line.split() for line in section("files")]
    assert sorted(source for source, _ in files) == sorted(copied_by_docker())
    assert all(target == f"/opt/dialeval/{source}" for source, target in files)
    assert all((ROOT / source).exists() for source, _ in files)


def test_the_image_of_vllm_is_that_of_our_version_and_gets_the_same_files() -> None:
    (extra,) = PROJECT["optional-dependencies"]["vllm"]
    steps = instructions(IN_VLLM)
    assert steps[:2] == [("ARG", f"VLLM=v{extra.removeprefix('vllm==')}"), ("FROM", "vllm/vllm-openai:${VLLM}")]
    assert {kind for kind, _ in steps} <= INSTRUCTIONS
    # the image's own versions of libraries stay, so that there is no lock
    assert set(copied_by_docker()) - set(copied_by_docker(IN_VLLM)) == {"requirements.lock"}
    assert set(copied_by_docker(IN_VLLM)) < set(copied_by_docker())
    assert steps[-4:] == instructions()[-4:]


def test_the_check_of_the_repository_is_the_projects_own() -> None:
    check = yaml.safe_load((ROOT / ".github" / "workflows" / "check.yml").read_text(encoding="utf-8"))
    (job,) = check["jobs"].values()
    commands = [step["run"] for step in job["steps"] if "run" in step]
    assert commands == [".ci/run"]
    assert os.access(ROOT / commands[0], os.X_OK)


def test_the_extras_that_they_name_are_the_projects() -> None:
    (words,) = re.findall(r"^# .*EXTRAS are those of pyproject.toml.*: (.*)\.$", DOCKERFILE.read_text(), re.MULTILINE)
    assert set(words.split(", ")) <= set(PROJECT["optional-dependencies"])


def test_the_lock_has_a_version_of_every_library_that_the_project_needs() -> None:
    locked = set(re.findall(r"^([a-z0-9-]+)==", (ROOT / "requirements.lock").read_text(encoding="utf-8"), re.MULTILINE))
    needed = {re.split(r"[><=\[]", one)[0].lower() for one in PROJECT["dependencies"]}
    assert needed <= locked


@pytest.mark.parametrize("extras", ["", "vllm", "train,wordnet"])
def test_the_lines_that_install_are_shell_and_name_the_extras(extras: str) -> None:
    by_docker = [rest for kind, rest in instructions() if kind == "RUN"][-1]
    by_apptainer = "\n".join(section("post")[1:]).replace("{{ EXTRAS }}", extras or "none")
    named = f".[{extras}]" if extras else "."
    for script in (by_docker, by_apptainer):
        stand_ins = 'pip() { printf "%s\\n" "${@: -1}"; }; python() { :; };'
        environment = {"PATH": os.environ["PATH"], "EXTRAS": extras}
        finished = subprocess.run(
            ["bash", "-euc", f"{stand_ins} {script}"], capture_output=True, text=True, check=True, env=environment
        )
        assert finished.stdout.splitlines()[-1] == named


def test_both_start_the_workflow_from_where_it_was_copied() -> None:
    (entry,) = [rest for kind, rest in instructions() if kind == "ENTRYPOINT"]
    assert shlex.split(entry.strip("[]").replace(",", " ")) == ["snakemake", "--snakefile", "/opt/dialeval/Snakefile"]
    assert section("runscript") == ['exec snakemake --snakefile /opt/dialeval/Snakefile "$@"']


@pytest.mark.skipif(os.getuid() != 0, reason="another user needs root")
@pytest.mark.parametrize("recipe", [DOCKERFILE, IN_VLLM], ids=lambda recipe: recipe.name)
def test_a_user_without_an_account_has_a_name(recipe: Path) -> None:
    """The documented command starts the image as a user whom the image does not know; Snakemake asks for the name."""
    named = [word.split("=", 1) for kind, rest in instructions(recipe) if kind == "ENV" for word in rest.split()]
    finished = subprocess.run(
        ["/usr/bin/env", "python3", "-c", "import getpass; print(getpass.getuser())"],
        env={"PATH": "/usr/bin:/bin", **dict(named)},
        user=54321,
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.stdout.strip() == "dialeval", finished.stderr


@pytest.mark.workflow
@pytest.mark.slow
def test_what_is_copied_is_all_that_a_run_needs(tmp_path: Path) -> None:
    project, folder = tmp_path / "opt", tmp_path / "work"
    folder.mkdir()
    for name in copied_by_docker():
        source, target = ROOT / name, project / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, target)
    snakemake = [str(Path(sys.executable).parent / "snakemake"), "--snakefile", str(project / "Snakefile")]
    environment = os.environ | {"PYTHONPATH": str(project / "workflow"), "HOME": str(tmp_path)}
    seeds = str(Path("results", "seeds.parquet"))
    ran = subprocess.run(
        [*snakemake, seeds, "--cores", "1", "--configfile", str(project / "config.yaml")],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert (folder / seeds).is_file()
