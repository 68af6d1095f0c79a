"""Imports modules of stages group by group, lightest first, in one fresh process, and says what each group brought in.

    python stage_imports.py < groups.json > imported.json

Groups are [[module, ...], ...]; what comes back of each is the names of all libraries that are there after it, which
models of ours pydantic has built by then, and how many it has not.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from importlib import import_module

from pydantic import BaseModel


def below(kind: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """Yield all classes of ours that are made from one."""
    for one in kind.__subclasses__():
        if one.__module__.startswith("dialeval."):
            yield one
        yield from below(one)


if __name__ == "__main__":
    after = []
    for group in json.load(sys.stdin):
        for module in group:
            import_module(f"dialeval.stages.{module}")
        models = set(below(BaseModel))
        built = [model for model in models if model.__pydantic_complete__]
        after.append(
            {
                "modules": sorted(name for name in sys.modules if name.count(".") < 2 or name.startswith("dialeval.")),
                "built": sorted(f"{model.__module__}.{model.__name__}" for model in built),
                "deferred": len(models) - len(built),
            }
        )
    json.dump(after, sys.stdout)
