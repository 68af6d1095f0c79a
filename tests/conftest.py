"""What many tests share: where real data lies, and small dialogues."""

from __future__ import annotations

import gc
import os
import shutil
import signal
from importlib.util import find_spec
from pathlib import Path

import pytest

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # on small arrays threads mostly wait for one another
    os.environ.setdefault(name, "1")
gc.set_threshold(50_000)  # searches for garbage among thousands of tests took a sixth of the processor's time
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as a shell starts what runs behind `&`, and runs inherit it
    signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).parents[1]
REAL_DATA = ROOT.parent / "shared" / "data"

MEMORY = Path("/dev/shm")
NEEDED = 4 << 30
"""Bytes of free memory from which temporary folders lie there; all tests together use less than a quarter of it."""


def holds_temporary_folders(folder: Path) -> bool:
    """Return whether tests can write to a folder, run scripts in it, and have room there."""
    if not os.access(folder, os.W_OK | os.X_OK):
        return False
    return not os.statvfs(folder).f_flag & os.ST_NOEXEC and shutil.disk_usage(folder).free >= NEEDED


if holds_temporary_folders(MEMORY):  # a disk may take longer to create and delete files than the tests to run
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))

if find_spec("hypothesis"):  # the environment of the tests of vLLM has none
    from hypothesis import settings

    settings.register_profile("few", max_examples=30, deadline=None)  # no test is about the clock
    settings.register_profile("many", max_examples=300, deadline=None)  # .ci/slow
    settings.load_profile("few")


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of public data beside the repository; tests that need it are skipped without it."""
    if not REAL_DATA.is_dir():
        pytest.skip(f"the public data sets are not at {REAL_DATA}")
    return REAL_DATA


def pytest_collection_finish() -> None:
    """Take what was imported and collected out of every later search for garbage."""
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put real runs of the workflow first, so that no worker is left with them, and skips what cannot train here."""
    items.sort(key=lambda item: item.get_closest_marker("workflow") is None)
    for item in items:  # `-m slow` chooses those that train, too
        if item.get_closest_marker("train") and not find_spec("torch"):
            item.add_marker(pytest.mark.skip(reason="needs an environment with torch and peft, see .ci/models"))
