"""All kinds of single items that a page shows: rated, test and damaged items."""

from __future__ import annotations

from dialeval.report.damaged_items import damaged_items
from dialeval.report.examined_items import examined_items
from dialeval.report.inputs import ReportInputs
from dialeval.report.kinds import CaseKind
from dialeval.report.rated_items import rated_items

MAX_BYTES = 8_000_000
"""What the items of one kind may take, what was sent about them included; beyond it, fewer are shown."""
_SHARE = 5
"""No kind takes more than one part in so many of the page."""


def case_kinds(inputs: ReportInputs) -> tuple[CaseKind, ...]:
    """Returns the kinds of items that a run has, in the order of the page's parts."""
    budget = min(MAX_BYTES, inputs.max_bytes // _SHARE)
    made = (make(inputs, budget) for make in (rated_items, damaged_items, examined_items))
    return tuple(kind for kind in made if kind is not None)
