"""Dialogues of systems as tables of items, with protocols about them, for tests of labels."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from dialeval.config import Protocol
from dialeval.config.protocols import TEMPLATES
from dialeval.corpora.items import Item, item_rows
from dialeval.criteria import Criterion, Level, with_own
from dialeval.labels.draw import Design, draw
from dialeval.labels.labelled_protocol import LabelledProtocol
from dialeval.labels.ledger import ledger_path, read_ledger
from dialeval.labels.sheets import Drawn, questions_of, sheet_of
from dialeval.labels.units import Sheet, SheetQuestion, Unit, frame_of
from dialeval.protocols.item_prompts import PlanSettings
from dialeval.tables.files import to_table, write_table
from dialeval.tables.metaeval import ITEMS

SYSTEMS = ("kiosk", "harbour", "mosaic")


def dialogue(system: str, case: int, more: str = "", corpus: str = "support") -> Item:
    """Return a system's dialogue on a case; the user speaks first."""
    said = (f"Where is parcel {case}?", f"{system} looks {case} up.{more}", "Thanks.", f"{system} says bye {case}.")
    who = ("user", "assistant") * 2
    item_id = f"{case}/{system}"
    return Item(corpus, item_id, "en", "dialogue", str(case), who, said, system, str(case), "assistant")


def dialogues(systems: Sequence[str] = SYSTEMS, cases: int = 12) -> list[Item]:
    """Return every system's dialogue on every case."""
    return [dialogue(system, case) for system in systems for case in range(1, cases + 1)]


def items_table(path: Path, items: Sequence[Item]) -> Path:
    """Write a table of items and return its path."""
    write_table(path, ITEMS, to_table(ITEMS, item_rows(items)))
    return path


def protocol_settings(
    name: str, criteria: Sequence[str] = (), own: Sequence[Criterion] = (), **protocol: Any
) -> PlanSettings:
    """Return the settings of a protocol of the user's own."""
    data = {"source": ["support"]} | protocol.pop("data", {})
    found = Protocol.model_validate({"data": data, "template": TEMPLATES.get(protocol["form"])} | protocol)
    named = [with_own(own)[one] for one in criteria]
    return PlanSettings(
        name=name, protocol=found.model_copy(update={"criteria": list(criteria)}), criteria=named, own=list(own)
    )


def drawn_protocol(
    folder: Path,
    settings: PlanSettings,
    items: Path,
    n: int = 4,
    seed: int = 0,
    errors: Callable[[Unit], float] | None = None,
) -> LabelledProtocol:
    """Draws under a protocol into a folder of labels, by predicted errors if given, and returns the protocol."""
    frame, ledger = frame_of(settings, [items]), read_ledger(ledger_path(folder, settings.name))
    scores = {unit.identity[:-1]: errors(unit) for unit in frame.units} if errors else {}
    ledger.add(draw(frame.units, ledger, Design(settings.name, seed, n, "active" if errors else "random", scores)))
    return LabelledProtocol(settings.question(), frame, ledger)


def sheet_for(asked: LabelledProtocol, annotator: str, level: Level = "dialogue") -> Sheet:
    """Return the sheet of an annotator who labels everything that was drawn."""
    entries = [one for one in asked.ledger.entries.values() if one.drawn and one.level == level]
    criteria = asked.frame.criteria[level]
    return sheet_of(
        asked.question.name,
        annotator,
        entries[0].draw,
        asked.question.protocol.form,
        level,
        asked.units,
        [Drawn(one.key, one.stratum, one.place) for one in entries],
        questions_of(asked.question, criteria, level, "en"),
    )


def export_of(sheet: Sheet, label: Callable[[int, SheetQuestion], str], **more: Any) -> dict[str, Any]:
    """Return what a page exports whose annotator gives the label of each unit's place on the sheet."""
    answers = [
        {"key": unit.key, "criterion": one.criterion, "label": label(number, one), "skipped": False, "comment": ""}
        | {"round": 0, **more}
        for number, unit in enumerate(sheet.units)
        for one in sheet.questions
    ]
    told = {"format": "dialeval-labels", "version": 1, "protocol": sheet.protocol, "annotator": sheet.annotator}
    return {**told, "draw": sheet.draw, "labels": answers}


def save(path: Path, told: Any) -> Path:
    """Write an export and return its path."""
    path.write_text(json.dumps(told), encoding="utf-8")
    return path
