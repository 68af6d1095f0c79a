"""What many tests share: where real data lies, and small dialogues."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
REAL_DATA = ROOT.parent / "shared" / "data"


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of public data beside the repository; tests that need it are skipped without it."""
    if not REAL_DATA.is_dir():
        pytest.skip(f"the public data sets are not at {REAL_DATA}")
    return REAL_DATA
