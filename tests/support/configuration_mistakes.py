"""Configurations with mistakes as people make them: deleted, misspelt, doubled, empty, and what belongs elsewhere."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

from dialeval.config import read_config_file

ROOT = Path(__file__).parents[2]
SHIPPED = {
    path.name: read_config_file(path) for path in [ROOT / "config.yaml", *sorted((ROOT / "configs").glob("*.yaml"))]
}
EVERY_SECTION = read_config_file(ROOT / "tests" / "support" / "every_section.yaml")
Place = tuple[str | int, ...]


def places(part: Any, here: Place = ()) -> Iterator[Place]:
    """Yield the place of everything that a configuration holds."""
    entries = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
    for key, value in entries:
        yield (*here, key)
        yield from places(value, (*here, key))


def part_at(raw: Any, place: Place) -> Any:
    for key in place:
        raw = raw[key]
    return raw


ODD_TEXTS = (
    "", "a\nb", "{x}", "../..", "x" * 5000, "~x/y", "-x", "名", "a b", "\u202e", "=x", "a/b", ".", "con", "all", "*",
    "zh", "selfchat", "rated", "perturbed", "human", "each_other", "null", "ensemble", "rule", "bundled", "GT",
    "rating",
)  # fmt: skip
ODD_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2, 0.5, -0.5, 1e30, 10**30, 2**63, float("nan"), float("inf"), [], {}, [None], [[]],
    {"a": 1}, {1: 2}, "x", [1, 1], ["x", "x"], [{}], b"x", date(2020, 1, 1),
)  # fmt: skip


def mistaken(rng: random.Random) -> dict[str, Any]:
    """Return a configuration with one to three mistakes as people make them, or odd things in odd places."""
    raw = copy.deepcopy(EVERY_SECTION if rng.random() < 0.6 else rng.choice([*SHIPPED.values()]))
    for _ in range(rng.choice([1, 1, 2, 3])):
        there = list(places(raw))
        if not there:
            break
        *parents, key = rng.choice(there)
        part = part_at(raw, tuple(parents))
        rng.choice(MUTATIONS)(rng, raw, part, key, there)
    return raw


def deleted(_: random.Random, __: Any, part: Any, key: Any, ___: Any) -> None:
    del part[key]


def misspelt(rng: random.Random, _: Any, part: Any, key: Any, __: Any) -> None:
    if isinstance(part, dict):
        part[str(key)[:-1] if rng.random() < 0.5 else f"{key}q"] = part.pop(key)
    elif isinstance(part[key], str):
        part[key] = f"{part[key]}z"


def odd(rng: random.Random, _: Any, part: Any, key: Any, __: Any) -> None:
    part[key] = copy.deepcopy(rng.choice([*ODD_TEXTS, *ODD_VALUES]))


def emptied(rng: random.Random, _: Any, part: Any, key: Any, __: Any) -> None:
    kind = type(part[key])
    part[key] = kind() if kind in (list, dict) and rng.random() < 0.5 else None


def doubled(_: random.Random, __: Any, part: Any, key: Any, ___: Any) -> None:
    if isinstance(part[key], list) and part[key]:
        part[key].append(copy.deepcopy(part[key][0]))


def another_number(rng: random.Random, _: Any, part: Any, key: Any, __: Any) -> None:
    if isinstance(part[key], (int, float)):
        part[key] = rng.choice([-part[key], part[key] * 1000, part[key] + 1, 0, part[key] / 3])


def elsewhere(rng: random.Random, raw: Any, part: Any, key: Any, there: list[Place]) -> None:
    """Put another part of the configuration there."""
    part[key] = copy.deepcopy(part_at(raw, rng.choice(there)))


def named_otherwise(rng: random.Random, raw: Any, part: Any, key: Any, there: list[Place]) -> None:
    """Put a name that stands elsewhere in the place of a name, or beside others."""
    name = rng.choice(
        [str(place[-1]) for place in there] + [x for x in (part_at(raw, p) for p in there) if type(x) is str]
    )
    if isinstance(part[key], list):
        part[key].append(name)
    elif isinstance(part[key], dict):
        part[key][name] = copy.deepcopy(rng.choice([{}, *ODD_VALUES]))
    else:
        part[key] = name


MUTATIONS: tuple[Callable[[random.Random, Any, Any, Any, list[Place]], None], ...] = (
    deleted, misspelt, odd, emptied, doubled, another_number, elsewhere, named_otherwise
)  # fmt: skip
