"""How many systems and cases a protocol will be about: by the seeds, or by the plan of its requests."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from dialeval.aggregation.planning.numbers import Size
from dialeval.config.protocol import EACH_OTHER
from dialeval.schemas.judgements import Form
from dialeval.schemas.shared import REQUESTS
from dialeval.tables import HUMAN, read_table


def chats_size(form: Form, against: str, seeds: pa.Table, n_chatbots: int) -> Size:
    """Returns how many chatbots there will be on how many of the table `seeds`."""
    if form != "pair":
        return Size(n_chatbots, len(seeds))
    serves = pc.sum(seeds["for_gteval" if against == HUMAN else "for_arena"]).as_py() or 0
    beside = against not in (EACH_OTHER, HUMAN)
    return Size(n_chatbots - beside, serves)


def planned_size(requests: Path) -> Size:
    """Returns how many systems a table of requests asks about, on how many cases."""
    rows = read_table(requests, REQUESTS, ["case_id", "item_id", "left", "right"])
    case = pc.coalesce(pc.if_else(pc.equal(rows["case_id"], ""), None, rows["case_id"]), rows["item_id"])
    systems = pc.unique(pa.chunked_array([*rows["left"].chunks, *rows["right"].chunks], pa.string())).drop_null()
    return Size(len(systems), len(pc.unique(case).drop_null()))
