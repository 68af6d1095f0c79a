"""Workspaces: one in which nothing has run, one in which everything has."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import warm_start
from once import once
from planned import pretend_to_finish
from wide_configuration import make_wide
from workspace import Workspace, copy_project, new_workspace

from dialeval.stages import job_server

CONDA = """#!/usr/bin/env bash
case "$1" in
    --version) echo "conda 24.9.0" ;;
    info) echo '{info}' ;;
    config) echo '{{"get": {{"channel_priority": "strict"}}}}' ;;
    *) echo "this is no conda: $*" >&2; exit 1 ;;
esac
"""


def begin_warm_start(folder: Path) -> None:
    """Copy what all workspaces are made of, and start the process that becomes most runs and their jobs."""
    copy_project(folder / "project")
    warm_start.begin(folder / "process", (folder / "project" / "workflow").resolve())


@pytest.fixture(scope="session", autouse=True)
def _warm_start(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = once(tmp_path_factory, "warm", begin_warm_start)
    warm_start.hold(folder / "process")
    os.environ["WORKSPACE_PROJECT"] = str((folder / "project").resolve())
    os.environ["WARM_START"] = str(folder / "process" / "socket" / "programs")
    os.environ["WARM_CLIENT"] = str(job_server.CLIENT)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """A workspace in which nothing has run."""
    return new_workspace(tmp_path / "work")


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A workspace in which the small configuration ran to its end; not to be changed, as other workers have it too."""
    return Workspace(once(tmp_path_factory, "undisturbed", lambda folder: new_workspace(folder).run()))


@pytest.fixture
def finished(undisturbed: Workspace, tmp_path: Path) -> Workspace:
    """A copy of the finished workspace that a test may change."""
    return undisturbed.copy(tmp_path / "work")


def finish_wide(folder: Path) -> None:
    """Make a workspace of the wide configuration that looks finished."""
    workspace = new_workspace(folder)
    make_wide(workspace)
    pretend_to_finish(workspace)


@pytest.fixture(scope="session")
def looks_finished(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A workspace of the wide configuration in which everything looks made; not to be changed."""
    return Workspace(once(tmp_path_factory, "looks_finished", finish_wide))


@pytest.fixture
def conda(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stands in for conda, so that jobs are planned for environments that this machine does not have."""
    info = {"conda_version": "24.9.0", "platform": "linux-64", "conda_prefix": str(tmp_path), "channels": []}
    script = tmp_path / "bin" / "conda"
    script.parent.mkdir()
    script.write_text(CONDA.format(info=json.dumps(info)))
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}{os.pathsep}{os.environ['PATH']}")
