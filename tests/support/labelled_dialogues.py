"""Dialogues of systems as tables of items, with protocols about them, for tests of labels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dialeval.config import Protocol
from dialeval.config.resolved import TEMPLATES
from dialeval.corpora.items import Item, item_rows
from dialeval.criteria import Criterion, with_own
from dialeval.protocols.item_settings import ItemPlanSettings
from dialeval.schemas.metaeval import ITEMS
from dialeval.tables import Provenance, to_table, write_table

SYSTEMS = ("kiosk", "harbour", "mosaic")


def dialogue(system: str, case: int, more: str = "", corpus: str = "support") -> Item:
    """Returns a system's dialogue on a case; the user speaks first."""
    said = (f"Where is parcel {case}?", f"{system} looks {case} up.{more}", "Thanks.", f"{system} says bye {case}.")
    who = ("user", "assistant") * 2
    item_id = f"{case}/{system}"
    return Item(corpus, item_id, "en", "dialogue", str(case), who, said, system, str(case), "assistant")


def dialogues(systems: Sequence[str] = SYSTEMS, cases: int = 12) -> list[Item]:
    """Returns every system's dialogue on every case."""
    return [dialogue(system, case) for system in systems for case in range(1, cases + 1)]


def items_table(path: Path, items: Sequence[Item]) -> Path:
    """Writes a table of items and returns its path."""
    write_table(path, ITEMS, to_table(ITEMS, item_rows(items)), Provenance())
    return path


def asked_about(name: str, criteria: Sequence[str] = (), own: Sequence[Criterion] = (), **protocol: Any) -> Any:
    """Returns what stages are told of a protocol of the user's own."""
    of = {"source": ["support"]} | protocol.pop("of", {})
    found = Protocol.model_validate({"of": of, "template": TEMPLATES.get(protocol["form"])} | protocol)
    named = [with_own(own)[one] for one in criteria]
    return ItemPlanSettings(
        name=name, protocol=found.model_copy(update={"criteria": list(criteria)}), criteria=named, own=list(own)
    )
