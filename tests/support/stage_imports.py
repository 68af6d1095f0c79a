"""Imports stages group by group, lightest first, in one fresh process, and says what each group brought in.

    python stage_imports.py < groups.json > imported.json

Groups are [[stage, ...], ...]; what comes back is the names of all libraries that are there after each.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module

if __name__ == "__main__":
    after = []
    for group in json.load(sys.stdin):
        for stage in group:
            import_module(f"dialeval.stages.{stage}")
        after.append(
            sorted({name for name in sys.modules if name.count(".") < 2 or name.startswith("dialeval.config.")})
        )
    json.dump(after, sys.stdout)
