"""Commands of Slurm's that say what a test wants."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

Says = Callable[..., None]


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Says:
    """Make commands by their names from the bash that each runs; no other of Slurm's is found."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("bash", "cat", "sleep", "env"):
        (folder / name).symlink_to(f"/bin/{name}" if Path(f"/bin/{name}").exists() else f"/usr/bin/{name}")
    monkeypatch.setenv("PATH", str(folder))

    def says(**scripts: str) -> None:
        for name, script in scripts.items():
            path = folder / name
            path.write_text(f"#!{folder}/bash\n{script}\n")
            path.chmod(0o755)

    assert os.environ["PATH"] == str(folder)
    return says
