"""What the configuration makes, as a run writes it down at its start for the jobs that compare it with the results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dialeval.errors import UserError


def read_graph(path: Path) -> dict[str, Any]:
    """Returns what was written down, and removes the file.

    Returns:
        `made`, names of files below the results -> the rule that makes each; `configuration`, its files; `left_out`,
        words on what is named in it and is not there.

    Raises:
        UserError: there is no such file.
    """
    try:
        about: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(
            "nothing is known of what the configuration makes, which a run writes down at its start: take --no-hooks "
            "out, and in a workflow of your own call this module's onstart()"
        ) from None
    path.unlink()
    return about
