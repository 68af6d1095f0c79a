"""Workspaces: one in which nothing has run, one in which everything has."""

from __future__ import annotations

from pathlib import Path

import pytest
from workspace import Workspace, new_workspace


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
