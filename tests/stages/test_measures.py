"""What measures are made of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dialeval.measures.design import Design
from dialeval.measures.scores import COLUMNS, mean_rows
from dialeval.stages.measures import read_judgements
from dialeval.tables.dialogues import JUDGEMENTS
from dialeval.tables.files import to_table, write_table

ABOUT: dict[str, Any] = {
    "judge": "j", "protocol": "felt", "request_id": "", "language": "en", "criterion": "warm", "repeat": 0,
    "scale_min": 1.0, "scale_max": 5.0, "reason": "", "status": "ok",
}  # fmt: skip


def test_rated_items_without_a_system_measure_no_system(tmp_path: Path) -> None:
    """A protocol may be about transcripts and rated corpora at once, or about rated corpora alone."""
    rated = [ABOUT | {"corpus": "fed", "item_id": f"{n}", "value": 5.0} for n in range(3)]
    own = [
        ABOUT | {"corpus": "support", "item_id": f"{n}", "case_id": f"{n}", "left": "bot", "value": float(n)}
        for n in (1, 2, 3)
    ]
    design = Design(protocol="felt", judges=["j"], criteria=["warm"])
    for name, rows, expected in (("both", rated + own, [("bot", 2.0)]), ("rated", rated, [])):
        path = tmp_path / f"{name}.parquet"
        write_table(path, JUDGEMENTS, to_table(JUDGEMENTS, rows))
        found = mean_rows("means", read_judgements([path], COLUMNS), design)
        assert [(row["system"], row["estimate"]) for row in found] == expected
