"""Where this library keeps what is worth keeping between runs, whichever folder they are in."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def cache_folder() -> Path:
    """Returns this library's cache folder; below the temporary files where there is no home, as in some containers."""
    if base := os.environ.get("XDG_CACHE_HOME"):
        return Path(base) / "dialeval"
    try:
        return Path.home() / ".cache" / "dialeval"
    except RuntimeError:
        return Path(tempfile.gettempdir()) / "dialeval"
