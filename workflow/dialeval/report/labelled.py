"""People's labels beside judges' verdicts in the dialogue viewer: who said what of the very dialogue, with comments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa

from dialeval.report.inputs import ReportInputs
from dialeval.schemas.judgements import JUDGEMENTS
from dialeval.tables import to_table

_SAME = ("protocol", "corpus", "item_id", "case_id", "n_utterances", "criterion", "choice", "outcome", "place", "value",
         "scale_min", "scale_max")  # fmt: skip
"""Columns that labels and judgements have in common."""


def with_labels(inputs: ReportInputs) -> ReportInputs:
    """Returns the run with every annotator as one more judge, before the others, for the dialogue viewer alone."""
    if not inputs.labels.num_rows:
        return inputs
    rows = to_table(JUDGEMENTS, [_judgement(row) for row in inputs.labels.to_pylist()])
    return replace(
        inputs,
        judges=(*people_of(inputs), *inputs.judges),
        verdicts=pa.concat_tables([rows.replace_schema_metadata(), inputs.verdicts.replace_schema_metadata()]),
    )


def people_of(inputs: ReportInputs) -> list[str]:
    """Returns what the viewer calls the annotators."""
    names = zip(inputs.labels["annotator"].to_pylist(), inputs.labels["simulated"].to_pylist(), strict=True)
    return sorted({_called(annotator, simulated) for annotator, simulated in names})


def _called(annotator: str, simulated: bool) -> str:
    return f"{'simulated annotator' if simulated else 'annotator'} {annotator}"


def _judgement(label: Mapping[str, Any]) -> dict[str, Any]:
    again = "Labelled a second time." if label["round"] else ""
    return {
        **{name: label[name] for name in _SAME},
        "judge": _called(label["annotator"], label["simulated"]),
        "request_id": f"{label['file']}/{label['row']}",
        "left": label["system"],
        "right": label["versus"],
        "repeat": label["round"],
        "reason": " ".join(words for words in (again, label["comment"]) if words),
        "status": "skipped" if label["skipped"] else "ok",
    }
