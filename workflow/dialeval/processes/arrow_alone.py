"""PyArrow without pandas, in a job that has no use for it.

The first array that PyArrow makes of a list loads pandas, if it is installed, only to ask whether the list is a series:
more than a third of what a small job takes. Asked once where pandas cannot be found, PyArrow goes without. Whoever
turns a table into a frame later (`to_pandas`) loads pandas then, and PyArrow knows series from there on.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

PANDAS = "pandas"


class _NotFound(MetaPathFinder):
    """Finds no pandas."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname == PANDAS:
            raise ModuleNotFoundError("not looked for", name=fullname)
        return None


def leave_pandas_out() -> None:
    """Has PyArrow ask for pandas now, in vain, unless it is loaded: whoever loaded it hands over series."""
    if PANDAS in sys.modules or "pyarrow" not in sys.modules:
        return
    import pyarrow as pa

    sys.meta_path.insert(0, finder := _NotFound())
    try:
        pa.array([])
    finally:
        sys.meta_path.remove(finder)
