"""The columns of every table that passes between stages, by the table's name."""

from __future__ import annotations

import pyarrow as pa

from dialeval.schemas import botchat, dialogbench, metaeval, robustness, shared

SCHEMAS: dict[str, pa.Schema] = {
    **shared.SCHEMAS,
    **botchat.SCHEMAS,
    **metaeval.SCHEMAS,
    **robustness.SCHEMAS,
    **dialogbench.SCHEMAS,
}
