"""Who labels what, in which order, and which of two dialogues stands first."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from dialeval.criteria import Level
from dialeval.labels.frame import Unit
from dialeval.labels.sheet import Kind, Sheet, SheetQuestion, Thing
from dialeval.schemas.judgements import Form


class Drawn(NamedTuple):
    """A unit that was drawn: its key, and where it stands in its stratum's order."""

    key: str
    stratum: str
    place: int


KINDS: Mapping[Form, Kind] = {"scale": "scale", "probability": "scale", "pair": "pair", "detect": "detect"}


def assigned(drawn: Iterable[Drawn], annotators: Sequence[str], each: int | None) -> dict[str, list[Drawn]]:
    """Returns what every annotator labels: in turn along each stratum's order, so that all get as much of each system.

    Args:
        drawn: the units that were drawn.
        annotators: their names.
        each: how many label each unit; None for all.
    """
    found: dict[str, list[Drawn]] = {name: [] for name in annotators}
    n, shared = len(annotators), min(each or len(annotators), len(annotators))
    for entry in drawn:
        first = entry.place + _number("turn", entry.stratum)
        for annotator in range(shared):
            found[annotators[(first + annotator) % n]].append(entry)
    return found


def sheet_of(
    protocol: str,
    annotator: str,
    draw: str,
    form: Form,
    level: Level,
    units: Mapping[str, Unit],
    drawn: Sequence[Drawn],
    questions: tuple[SheetQuestion, ...],
) -> Sheet:
    """Returns an annotator's sheet.

    Args:
        protocol, annotator: their names.
        draw: id of the draw.
        form: the protocol's.
        level: of the units.
        units: by key; what is not there any more is left out.
        drawn: what the annotator labels.
        questions: asked about each.
    """
    ordered = sorted(drawn, key=lambda entry: place_on_sheet(annotator, entry.key))
    there = [entry for entry in ordered if entry.key in units]
    return Sheet(
        protocol=protocol,
        annotator=annotator,
        draw=draw,
        kind=KINDS[form],
        level=level,
        questions=questions,
        things=tuple(_thing(entry.key, units[entry.key], annotator) for entry in there),
        language=main_language(units[entry.key] for entry in there),
    )


def place_on_sheet(annotator: str, key: str) -> int:
    """Returns a number by which an annotator's sheet is ordered: a hash, so that the order is random."""
    return _number("order", annotator, key)


def main_language(units: Iterable[Unit]) -> str:
    """Returns the language of most dialogues."""
    return next((language for language, _ in Counter(unit.language for unit in units).most_common(1)), "en")


def other_order(key: str) -> str:
    """Returns the key of a pair that is shown the other way round, its second system first."""
    return f"t{hashlib.sha256(key.encode()).hexdigest()[:16]}"


def _thing(key: str, unit: Unit, annotator: str) -> Thing:
    if unit.versus and _number("side", annotator, key) % 2:
        return Thing(other_order(key), unit.dialogues[::-1])
    return Thing(key, unit.dialogues)


def _number(*parts: str) -> int:
    return int.from_bytes(hashlib.sha256("\x1f".join(parts).encode()).digest()[:8])
