"""Which dialogues are shown side by side: a reference only where systems are compared with it."""

from __future__ import annotations

from collections import Counter

from dialeval.config import Of
from dialeval.corpora.items import REFERENCE, Item
from dialeval.forms.cases import by_case, meetings


def dialogue(system: str, case_id: str) -> Item:
    return Item(
        "s", f"{case_id}/{system}", "en", "dialogue", case_id, ("user", "bot"), ("a", system), system, case_id, "bot"
    )


def test_a_reference_competes_with_none() -> None:
    cases = by_case(dialogue(system, case_id) for system in ("a", "b", REFERENCE) for case_id in ("1", "2"))

    def met(of: Of) -> list[tuple[str, str]]:
        return [(one.left.system, one.right.system) for one in meetings(cases, of, Counter())]

    assert met(Of(source=["s"])) == [("a", "b")] * 2
    assert sorted(met(Of(source=["s"], against=REFERENCE))) == [("a", REFERENCE)] * 2 + [("b", REFERENCE)] * 2
