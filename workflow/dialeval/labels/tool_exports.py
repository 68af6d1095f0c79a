"""What labelling tools export: their names for our columns, and Label Studio's JSON as rows of a table.

Label Studio's tasks are taken as they are exported (JSON), and as it flattens them (JSON-MIN, CSV). Batches of
Mechanical Turk put `Input.` and `Answer.` before the names of columns, and have answers that were rejected.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from dialeval.errors import UserError

ANNOTATORS = (
    "annotator_id", "annotator_name", "worker_id", "workerid", "worker", "rater", "rater_id", "participant_id",
    "completed_by", "user_id", "username", "user",
)  # fmt: skip
"""Columns that name who labelled, where none is called annotator; the first that is there is taken."""
OTHER_NAMES = (*ANNOTATORS, "dialogue_id", "assignmentstatus")
_BLANKS = re.compile(r"[\s_\-]+")
_PREFIX = re.compile(r"(?:input|answer)\.")
_KINDS = ("choices", "rating", "number", "text", "selected")
Cells = dict[str, str]


def column_name(written: str) -> str:
    """Returns the name of a column in lower case, with underscores, without what Mechanical Turk puts before it."""
    return _PREFIX.sub("", _BLANKS.sub("_", written.strip()).lower(), count=1)


def renamed(columns: list[str], cells: Cells) -> Cells:
    """Returns the cells of a row under our names for them: who labelled, and which dialogue of which system."""
    who = next((name for name in ANNOTATORS if name in columns), None)
    if who is not None and "annotator" not in columns:
        cells = {**cells, "annotator": cells.get(who, "")}
    by_case = cells.get("case_id") and (cells.get("system") or cells.get("left"))
    if cells.get("dialogue_id") and not cells.get("item_id") and not by_case:
        system = cells.get("system", "")
        cells = {**cells, "item_id": f"{cells['dialogue_id']}/{system}" if system else cells["dialogue_id"]}
    return cells


def is_rejected(cells: Cells) -> bool:
    """Returns whether an answer was rejected where it was given."""
    return cells.get("assignmentstatus", "").lower() == "rejected"


def json_rows(told: list[Any], name: str, fault: Callable[[str], None]) -> Iterator[tuple[int, Cells]]:
    """Yields the rows of a list of objects: flat ones, or Label Studio's tasks, with a row for each annotation.

    Args:
        told: the list.
        name: of the file, for messages.
        fault: takes what is wrong with an entry.
    """
    for number, entry in enumerate(told, start=1):
        where = f"{name}, row {number}"
        if not isinstance(entry, dict):
            fault(f"{where}: {entry!r:.40} is no object with an answer; take it out")
            continue
        annotations = entry.get("annotations")
        if not isinstance(annotations, list) or not isinstance(entry.get("data"), dict):
            yield number, {column_name(field): _cell(value) for field, value in entry.items()}
            continue
        about = {column_name(field): _cell(value) for field, value in entry["data"].items()}
        for annotation in annotations:
            if not isinstance(annotation, dict) or not isinstance(annotation.get("result"), list):
                fault(f"{where}: an annotation has no list 'result'; export the tasks again")
                continue
            skipped = {"skipped": "1"} if annotation.get("was_cancelled") is True else {}
            try:
                yield number, about | {"annotator": _who(annotation)} | skipped | _answers(annotation["result"])
            except UserError as error:
                fault(f"{where}: {error}")


def _who(annotation: dict[str, Any]) -> str:
    who = annotation.get("completed_by")
    return _cell((who.get("email") or who.get("id")) if isinstance(who, dict) else who)


def _answers(results: list[Any]) -> Cells:
    """Returns the answers of one annotation by the names of the controls; those side by side are outcomes.

    Raises:
        UserError: a control has two answers.
    """
    cells: Cells = {}
    for result in results:
        if not isinstance(result, dict) or not isinstance(result.get("value"), dict):
            continue
        value = result["value"]
        control = "outcome" if "selected" in value else column_name(str(result.get("from_name", "")))
        said = next(
            (value[kind] for kind in ("choices", "rating", "number", "text", "selected") if kind in value), None
        )
        if control in cells:
            raise UserError(f"'{control:.40}' is answered twice in one annotation; take one out")
        cells[control] = _cell(said)
    return cells


def _cell(value: Any) -> str:
    """Returns a value as a cell; of a list with one entry, that one."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, dict) and set(value) <= {"rating"} and value:
        value = value["rating"]
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return "" if value is None or value != value else str(value).strip()  # programs write NaN where nothing is
