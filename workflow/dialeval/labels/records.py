"""The table `labels/draw`: what a ledger says of the units that are there now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from dialeval.labels.frame import Unit, keyed
from dialeval.labels.ledger import Ledger


def draw_rows(protocol: str, units: Iterable[Unit], ledger: Ledger) -> list[dict[str, Any]]:
    """Returns the rows of the table, in the order of the ledger.

    The probability is the share of a stratum's units that were drawn, of those that are still there.

    Args:
        protocol: its name.
        units: everything that people can be asked about now.
        ledger: what was drawn.
    """
    there = keyed(units, ledger.draws())
    entries = [entry for key, entry in ledger.entries.items() if key in there]
    sizes = Counter((entry.level, entry.stratum) for entry in entries)
    drawn = Counter((entry.level, entry.stratum) for entry in entries if entry.drawn)
    rows = []
    for entry in entries:
        corpus, item_id, case_id, system, versus, n_utterances, level = entry.identity
        stratum = (level, entry.stratum)
        rows.append(
            {
                "protocol": protocol,
                "corpus": corpus or None,
                "item_id": item_id or None,
                "case_id": case_id or None,
                "system": system,
                "versus": versus or None,
                "n_utterances": n_utterances,
                "level": level,
                "draw": entry.draw,
                "key": entry.key,
                "stratum": entry.stratum,
                "place": entry.place,
                "probability": drawn[stratum] / sizes[stratum],
                "drawn": entry.drawn,
            }
        )
    return rows
