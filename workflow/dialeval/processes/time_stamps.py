"""Files whose time stamps lie in the future, as after a clock that was wrong, or an archive from another time zone.

Whatever is made of such a file is older than it, which Snakemake takes for a fault of the job that made it. Contents
decide what runs, so such a file is given the present time.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from pathlib import Path

from dialeval.errors import UserError


def bring_to_the_present(paths: Iterable[Path], clock: Path) -> str:
    """Gives files whose time stamps lie in the future the present time; those that are missing are passed over.

    Args:
        paths: what jobs are to read.
        clock: a file that was written just now: the file system's clock may be ahead of this machine's.

    Returns:
        What is to be told of it; empty where all are of the past.

    Raises:
        UserError: a file is in the future and cannot be changed.
    """
    now = max(time.time(), clock.stat().st_mtime)
    ahead = sorted({path for path in paths if path.exists() and path.stat().st_mtime > now})
    for path in ahead:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(path.stat().st_mtime))
        try:
            os.utime(path)
        except OSError as error:
            raise UserError(
                f"{path} has a time stamp in the future, {when}, so that what is made of it would be older than it is, "
                f"and cannot be given the present time: {error.strerror}; set this machine's clock, or copy the file"
            ) from None
    if not ahead:
        return ""
    others = f" and {len(ahead) - 1} more" if len(ahead) > 1 else ""
    return f"note: {ahead[0]}{others} had time stamps in the future, and have the present time now"
