"""Workspaces: one in which nothing has run, one in which everything has."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from workspace import WARM_START, Workspace, copy_project, new_workspace


@pytest.fixture(scope="session", autouse=True)
def warm_start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A process that becomes the runs of most workspaces and their jobs, and what all workspaces are made of."""
    folder = tmp_path_factory.mktemp("warm")
    address, project = str(folder / "start"), folder / "project"
    copy_project(project)
    command = [sys.executable, str(WARM_START.with_suffix(".py")), address, str(project.resolve() / "workflow")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        os.environ["WARM_START"] = address
        yield
        del os.environ["WARM_START"]
        process.kill()


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """A workspace in which nothing has run."""
    return new_workspace(tmp_path / "work")


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A workspace in which the small configuration ran to its end; not to be changed."""
    done = new_workspace(tmp_path_factory.mktemp("undisturbed") / "work")
    done.run()
    return done


@pytest.fixture
def finished(undisturbed: Workspace, tmp_path: Path) -> Workspace:
    """A copy of the finished workspace that a test may change."""
    return undisturbed.copy(tmp_path / "work")
