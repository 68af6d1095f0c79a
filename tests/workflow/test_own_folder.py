"""Folders that `dialeval init` makes: Snakemake runs there, whether the library is a project's or a wheel's."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest
import yaml
from workspace import ROOT, SMALL, Workspace

from dialeval.own_folder.configuration import Model, Wish
from dialeval.own_folder.files import make_folder

pytestmark = pytest.mark.workflow


@pytest.fixture
def own(tmp_path: Path) -> Workspace:
    """A folder of one's own beside the project that the tests run."""
    folder = tmp_path / "own"
    make_folder(folder, Wish())
    (folder / "workflow").symlink_to(Path(os.environ["WORKSPACE_PROJECT"]) / "workflow")  # where the library is found
    return Workspace(folder)


def test_snakemake_alone_plans_the_default_run_and_the_profile_names_the_cores(own: Workspace) -> None:
    planned = own.start("--dry-run", cores=None, warm=True).communicate(timeout=300)[0]
    assert "Using workflow specific profile profiles/default" in planned
    assert re.search(r"^build_report +1$", planned, re.MULTILINE), planned


def test_a_library_that_is_not_there_is_told(tmp_path: Path) -> None:
    make_folder(tmp_path, Wish(chatbots=[Model("random")], judges=[Model("forest")]))
    hidden = tmp_path / "hidden" / "dialeval"
    hidden.mkdir(parents=True)
    (hidden / "__init__.py").write_text("raise ImportError('not here')")
    snakemake = str(Path(sys.executable).parent / "snakemake")
    environment = os.environ | {"PYTHONPATH": str(hidden.parent)}
    ran = subprocess.run(
        [snakemake, "--dry-run"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 1
    assert "dialeval is not installed for the Python that runs this snakemake" in ran.stdout


def build_wheel(folder: Path) -> Path:
    """Returns a wheel of the project's files, built as pip builds it."""
    project = folder / "project"
    shutil.copytree(
        ROOT,
        project,
        ignore=shutil.ignore_patterns(".git", "tests", "benchmarks", "__pycache__", "*.egg-info", "build"),
    )
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(project)]
    subprocess.run(command, check=True)
    shutil.rmtree(project)
    (wheel,) = folder.glob("dialeval-*.whl")
    return wheel


@pytest.mark.slow
def test_a_wheel_runs_in_an_environment_without_the_project(tmp_path: Path) -> None:
    wheel = build_wheel(tmp_path / "wheels")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    for path in (*ROOT.glob("rules/**/*"), *ROOT.glob("envs/*"), *ROOT.glob("configs/**/*"), ROOT / "Snakefile"):
        assert path.is_dir() or f"dialeval/shipped/{path.relative_to(ROOT)}" in names, path
    environment = tmp_path / "environment"
    venv.create(environment, with_pip=True)
    python = environment / "bin" / "python"
    site = Path(
        subprocess.check_output([python, "-c", "import site; print(site.getsitepackages()[0])"], text=True).strip()
    )
    (site / "needs.pth").write_text(f"{Path(pytest.__file__).parents[1]}\n")  # what it needs, and not the project
    pip = [python, "-m", "pip", "install", "--quiet", "--no-deps", "--force-reinstall"]
    subprocess.run([*pip, wheel], check=True)
    snakemake = [python, "-m", "snakemake"]
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    said = subprocess.check_output([python, "-m", "dialeval", "init", "own"], cwd=tmp_path, env=clean, text=True)
    assert "made own/Snakefile" in said
    own = tmp_path / "own"
    (own / "config.yaml").write_text(yaml.safe_dump(SMALL))
    ran = subprocess.run(snakemake, cwd=own, env=clean, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert (own / "results" / "report" / "index.html").is_file()
    again = subprocess.run(  # by the project, which lies elsewhere
        [sys.executable, "-m", "snakemake"],
        cwd=own,
        env=clean | {"PYTHONPATH": str(ROOT / "workflow")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Nothing to be done" in again.stderr
