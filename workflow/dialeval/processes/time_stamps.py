"""Files whose time stamps lie in the future, as after a clock that was wrong, or an archive from another time zone.

Whatever is made of such a file is older than it, which Snakemake takes for a fault of the job that made it. Contents
decide what runs, so such a file is given the present time. Only the stamp that Snakemake compares is looked at and
changed: a link's own and never that of what it leads to, which may be somebody else's, and a folder's note of it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from pathlib import Path

from dialeval.errors import UserError

_OF_A_FOLDER = ".snakemake_timestamp"


def bring_to_the_present(paths: Iterable[Path], clock: Path) -> str:
    """Gives files whose time stamps lie in the future the present time; those that are missing are passed over.

    Args:
        paths: what jobs are to read.
        clock: a file that was written just now where jobs write: that file system's clock may differ from this
            machine's.

    Returns:
        What is to be told of it; empty where all are of the past.

    Raises:
        UserError: a file is in the future and cannot be changed.
    """
    present = clock.stat()
    now = max(time.time(), present.st_mtime)
    ahead = sorted({one for path in paths if path.exists() and (one := _bearer(path)).lstat().st_mtime > now})
    for path in ahead:
        stamp = path.lstat()
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(stamp.st_mtime))
        try:
            # of another's file this is refused, whatever the rights to write it
            os.utime(path, ns=(stamp.st_atime_ns, present.st_mtime_ns), follow_symlinks=False)
        except OSError as error:
            raise UserError(
                f"{path} has a time stamp in the future, {when}, so that what is made of it would be older than it is, "
                f"and cannot be given the present time: {error.strerror}; set this machine's clock, or copy the file"
            ) from None
    if not ahead:
        return ""
    others = f" and {len(ahead) - 1} more" if len(ahead) > 1 else ""
    return f"note: {ahead[0]}{others} had time stamps in the future, and have the present time now"


def _bearer(path: Path) -> Path:
    """Returns the file whose time stamp Snakemake takes for that of a path."""
    noted = path / _OF_A_FOLDER
    return noted if path.is_dir() and not path.is_symlink() and noted.exists() else path
