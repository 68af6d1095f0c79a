"""Reading JSON by the library that Pydantic has for it, in a third of the time that Python's takes.

What it refuses and Python takes goes to Python's: halves of surrogate pairs, brackets hundreds deep, other encodings
than UTF-8.
"""

from __future__ import annotations

import json
from typing import Any

from pydantic_core import from_json


def read_json(content: bytes) -> Any:
    """Returns what JSON says.

    Raises:
        ValueError: it is none.
        RecursionError: it is brackets within brackets, thousands deep.
    """
    try:
        return from_json(content)
    except ValueError:
        return json.loads(content)
