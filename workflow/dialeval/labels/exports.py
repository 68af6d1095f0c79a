"""Exports of our labelling page, tasks for labelling tools, and what these tools export.

Label Studio's tasks are taken as they are exported (JSON), and as it flattens them (JSON-MIN, CSV). Argilla's records
are taken as its `to_json` writes them. Batches of Mechanical Turk put `Input.` and `Answer.` before the names of
columns, and have answers that were rejected.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclasses_field
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from dialeval.corpora.text_files import parse_json, read_text
from dialeval.errors import UserError
from dialeval.html_pages import unpack
from dialeval.labels.sheets import options_text, other_order, shown_columns, shown_texts
from dialeval.labels.units import Option, SheetQuestion, ShownTurn

# What a labelling page exports: a JSON file with an annotator's answers.

FORMAT, VERSION = "dialeval-labels", 1
_NAMES = ("protocol", "annotator", "draw")


def read_json(path: Path) -> Any:
    """Return the content of a JSON file of labels.

    Raises:
        UserError: it is empty or no JSON.
    """
    text = read_text(path)
    if not text.strip():
        raise UserError(f"{path.name} is empty; export it again from the page, or remove it")
    return parse_json(text, path.name)


def read_export(path: Path, document: Any) -> Iterator[RawLabel]:
    """Yield the answers of a page's export, without open questions.

    Args:
        path: the file.
        document: its parsed JSON.

    Raises:
        UserError: the file is no export, has another version, or a field is missing or has another type.
    """
    if (
        not isinstance(document, dict)
        or document.get("format") != FORMAT
        or not isinstance(document.get("labels"), list)
    ):
        raise UserError(
            f"{path.name} is neither an export of a labelling page (its format is not {FORMAT}) nor a tool's list "
            f"of answers; remove it"
        )
    if document.get("version") != VERSION:
        raise UserError(
            f"{path.name} has version {document.get('version')!s:.20}, and this version of DialEval reads "
            f"{VERSION}; export it again from a page of this version"
        )
    for name in _NAMES:
        if not isinstance(document.get(name), str) or not document[name].strip():
            raise UserError(f"{path.name}: the field '{name}' is missing; export it again from the page")
    for row, entry in enumerate(document["labels"], start=1):
        where = f"{path.name}, row {row}"
        if not isinstance(entry, dict):
            raise UserError(f"{where}: {entry!r:.40} is not an answer; export it again from the page")
        label = RawLabel(
            file=path.name,
            row=row,
            annotator=document["annotator"].strip(),
            protocol=document["protocol"],
            draw=document["draw"],
            key=_text(entry, "key", where),
            criterion=_text(entry, "criterion", where),
            label=_text(entry, "label", where),
            place=_text(entry, "place", where),
            skipped=entry.get("skipped") is True,
            comment=_text(entry, "comment", where),
            round=_round(entry, where),
            options=_text(entry, "options", where),
            exported=True,
            question=_text(entry, "question", where),
            rubric=_text(entry, "rubric", where),
        )
        if label.label or label.skipped:
            yield label


def _text(entry: dict[str, Any], name: str, where: str) -> str:
    value = entry.get(name)
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise UserError(f"{where}: '{name}' is {value!r:.40}, neither text nor number; export it again from the page")
    return str(value).strip()


def _round(entry: dict[str, Any], where: str) -> int:
    value = entry.get("round", 0)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1000:
        raise UserError(f"{where}: 'round' is {value!r:.40}; rounds count from 0")
    return value


# What labelling tools export: their names for our columns, and Label Studio's JSON as rows of a table.

ANNOTATORS = (
    "annotator_id", "annotator_name", "worker_id", "workerid", "worker", "rater", "rater_id", "participant_id",
    "completed_by", "user_id", "username", "user",
)  # fmt: skip
"""Columns with the annotator's name if there is no column annotator; the first one found counts."""
OTHER_NAMES = (*ANNOTATORS, "dialogue_id", "assignmentstatus")
_BLANKS = re.compile(r"[\s_\-]+")
_PREFIX = re.compile(r"(?:input|answer)\.")
_ANSWER_FIELDS = ("choices", "rating", "number", "text", "selected")
Cells = dict[str, str]


def column_name(written: str) -> str:
    """Return the name of a column in lower case, with underscores, without Mechanical Turk's prefix."""
    return _PREFIX.sub("", _BLANKS.sub("_", written.strip()).lower(), count=1)


def renamed(columns: list[str], cells: Cells) -> Cells:
    """Return the cells of a row under DialEval's column names."""
    who = next((name for name in ANNOTATORS if name in columns), None)
    if who is not None and "annotator" not in columns:
        cells = {**cells, "annotator": cells.get(who, "")}
    by_case = cells.get("case_id") and (cells.get("system") or cells.get("left"))
    if cells.get("dialogue_id") and not cells.get("item_id") and not by_case:
        system = cells.get("system", "")
        cells = {**cells, "item_id": f"{cells['dialogue_id']}/{system}" if system else cells["dialogue_id"]}
    return cells


def is_rejected(cells: Cells) -> bool:
    """Return whether an answer was rejected in the labelling tool."""
    return cells.get("assignmentstatus", "").lower() == "rejected"


def json_rows(document: list[Any], name: str, fault: Callable[[str], None]) -> Iterator[tuple[int, Cells]]:
    """Yield the rows of a list of objects: flat ones, or tasks of Label Studio or Argilla, a row for each annotation.

    Args:
        document: the list.
        name: of the file, for messages.
        fault: receives the faults of entries.
    """
    for number, entry in enumerate(document, start=1):
        where = f"{name}, row {number}"
        if not isinstance(entry, dict):
            fault(f"{where}: {entry!r:.40} is not an object with an answer; remove it")
            continue
        if isinstance(entry.get("fields"), dict) and isinstance(entry.get("responses"), dict):
            yield from ((number, cells) for cells in _argilla_rows(entry, where, fault))
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


def _argilla_rows(record: dict[str, Any], where: str, fault: Callable[[str], None]) -> Iterator[Cells]:
    """Yield the answers about a record, a row for each annotator, whom Argilla names by an id."""
    about = {column_name(name): _cell(value) for name, value in record["fields"].items()}
    metadata = record.get("metadata")
    about |= {column_name(name): _cell(value) for name, value in (metadata or {}).items()}
    rows: dict[str, Cells] = {}
    for question, responses in record["responses"].items():
        for response in responses if isinstance(responses, list) else [None]:
            if not isinstance(response, dict) or "value" not in response:
                fault(f"{where}: a response to '{question:.40}' has no value; write the records again")
                continue
            cells = rows.setdefault(_cell(response.get("user_id")), {})
            cells[column_name(question)] = _cell(response["value"])
    yield from (about | {"annotator": annotator} | cells for annotator, cells in rows.items())


def _who(annotation: dict[str, Any]) -> str:
    who = annotation.get("completed_by")
    return _cell((who.get("email") or who.get("id")) if isinstance(who, dict) else who)


def _answers(results: list[Any]) -> Cells:
    """Return the answers of one annotation by the names of the controls; pairwise answers are outcomes.

    Raises:
        UserError: a control has two answers.
    """
    cells: Cells = {}
    for result in results:
        if not isinstance(result, dict) or not isinstance(result.get("value"), dict):
            continue
        value = result["value"]
        control = "outcome" if "selected" in value else column_name(str(result.get("from_name", "")))
        answer = next((value[field] for field in _ANSWER_FIELDS if field in value), None)
        if control in cells:
            raise UserError(f"'{control:.40}' has two answers in one annotation; remove one")
        cells[control] = _cell(answer)
    return cells


def _cell(value: Any) -> str:
    """Return a value as a cell; of a list with one entry, that one."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, dict) and set(value) <= {"rating"} and value:
        value = value["rating"]
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return "" if value is None or value != value else str(value).strip()  # programs write NaN for an empty cell


# Tasks for labelling tools: one project a question of a protocol, with the units of all annotators' pages.

_PACKED = re.compile(r'id="sheet">([A-Za-z0-9+/=]+)<')


@dataclass
class Project:
    """The tasks of one question in a labelling tool.

    Attributes:
        name: the protocol's sheet, and the criterion if it has several.
        form: form of the sheet.
        question: the question about every task.
        columns: the columns of a task that annotators read.
        tasks: the cells of each task, as of a row of a sheet.
    """

    name: str
    form: str
    question: SheetQuestion
    columns: Sequence[str]
    tasks: dict[str, Cells] = dataclasses_field(default_factory=dict)


def projects_of(pages: Sequence[Path]) -> list[Project]:
    """Return the projects that labelling pages make; a pair that annotators see in two orders is one task.

    Args:
        pages: `<sheet>-<annotator>.html` in a folder of each annotator.

    Raises:
        UserError: a page has no sheet.
    """
    projects: dict[str, Project] = {}
    reversed_keys: set[str] = set()
    for page in pages:
        packed = _PACKED.search(read_text(page))
        if packed is None:
            raise UserError(f"{page} is not a labelling page; run `snakemake --cores 1 annotation_pages` again")
        sheet = unpack(packed[1])
        name = page.stem.removesuffix(f"-{page.parent.name}")
        several = len(sheet["questions"]) > 1
        for about in sheet["questions"]:
            options = tuple(Option(*option) for option in about["options"])
            question = SheetQuestion(about["criterion"], about["text"], options, about["low"], about["high"])
            key = f"{name}-{question.criterion}" if several else name
            columns = shown_columns(sheet["form"], sheet["level"])
            project = projects.setdefault(key, Project(key, sheet["form"], question, columns))
            about_all = {"protocol": sheet["protocol"], "draw": sheet["draw"], "criterion": question.criterion}
            about_all |= {"question": question.text, "options": options_text(question)}
            for unit, numbers in sheet["units"]:
                if other_order(unit) not in project.tasks and unit not in reversed_keys:
                    reversed_keys.add(other_order(unit))
                    dialogues = [_turns(numbers_of, sheet["strings"]) for numbers_of in numbers]
                    texts = dict(zip(columns, shown_texts(sheet["form"], dialogues), strict=True))
                    project.tasks[unit] = about_all | {"key": unit} | texts
    return list(projects.values())


def _turns(numbers: Sequence[int], strings: Sequence[str]) -> tuple[ShownTurn, ...]:
    threes = zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True)
    return tuple(ShownTurn(strings[speaker], strings[text], bool(judged)) for speaker, text, judged in threes)


def label_studio_files(project: Project) -> dict[str, str]:
    """Return the labelling interface and the tasks of a Label Studio project, by file name."""
    question, shown = project.question, project.columns[0]
    lines = [f'  <Text name="{name}" value="${name}"/>' for name in project.columns]
    if question.options:
        choices = [
            f"    <Choice value={quoteattr(one.label)}{f' hint={quoteattr(one.meaning)}' if one.meaning else ''}/>"
            for one in question.options
        ]
        choice = f'  <Choices name="label" toName="{shown}" choice="single-radio" required="true">'
        lines += [choice, *choices, "  </Choices>"]
    else:
        ends = f'min="{question.low:g}" max="{question.high:g}"'
        lines.append(f'  <Number name="label" toName="{shown}" {ends} required="true"/>')
    if project.form == "locate":
        lines.append(f'  <Number name="place" toName="{shown}" min="1"/>')
    lines.append(f'  <TextArea name="comment" toName="{shown}" placeholder="comment"/>')
    view = "\n".join(['<View>\n  <Header value="$question"/>', *lines, "</View>\n"])
    tasks = [{"data": cells} for cells in project.tasks.values()]
    return {f"{project.name}.xml": view, f"{project.name}.json": _json(tasks)}


def argilla_files(project: Project) -> dict[str, str]:
    """Return the settings and the records of an Argilla data set, by file name."""
    question = project.question
    options = [
        {"value": one.label, "text": f"{one.label} ({one.meaning})" if one.meaning else one.label}
        for one in question.options
    ]
    answer: dict[str, Any] = {"type": "label_selection", "options": options}
    title = question.text
    if not options:  # Argilla has no question for numbers of a range
        answer, title = _TEXT, f"{title} ({options_text(question)})"
    questions = [{"name": "label", "title": title, "required": True, "settings": answer}]
    if project.form == "locate":
        questions.append({"name": "place", "title": "utterance (its number)", "required": False, "settings": _TEXT})
    questions.append({"name": "comment", "title": "comment", "required": False, "settings": _TEXT})
    settings = {
        "guidelines": question.text,
        "fields": [{"name": name, "title": name, "required": True, "settings": _TEXT} for name in project.columns],
        "questions": questions,
        "metadata": [],
        "vectors": [],
        "allow_extra_metadata": True,
    }
    records = [
        {
            "id": key,
            "fields": {name: cells[name] for name in project.columns},
            "metadata": {name: cell for name, cell in cells.items() if name not in project.columns},
        }
        for key, cells in project.tasks.items()
    ]
    return {f"{project.name}-settings.json": _json(settings), f"{project.name}-records.json": _json(records)}


_TEXT = {"type": "text", "use_markdown": False}


def _json(content: object) -> str:
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


# A label as its file has it, before its unit is known.


@dataclass(frozen=True, slots=True)
class RawLabel:
    """One answer in a file.

    Attributes:
        file: its name.
        row: its row in the file, from 1.
        annotator: name of the annotator.
        protocol: name of the protocol; empty if the file has none.
        draw: id of the draw that a page or sheet was of.
        key: key of the unit.
        criterion: name of the criterion.
        label: the answer as it is written.
        column: name of the answer's column: label, value, outcome or winner.
        place: first utterance of an AI, as it is written.
        skipped: whether the annotator skipped it.
        comment: comment of the annotator.
        round: number of the annotator's answer about the unit, from 0.
        probability: inclusion probability, as it is written.
        about: further columns that identify the unit, by name.
        sampled: whether its table has a column for the probability.
        shown: texts in its row of a sheet, by column.
        options: possible answers as the page or sheet has them; empty without them.
        exported: whether the file is a page's export.
        question: wording of the question on the page or sheet; empty without one.
        rubric: the answers with their meanings, of a page's export.
    """

    file: str
    row: int
    annotator: str
    protocol: str = ""
    draw: str = ""
    key: str = ""
    criterion: str = ""
    label: str = ""
    column: str = "label"
    place: str = ""
    skipped: bool = False
    comment: str = ""
    round: int = 0
    probability: str = ""
    about: Mapping[str, str] = dataclasses_field(default_factory=dict)
    sampled: bool = False
    shown: Mapping[str, str] = dataclasses_field(default_factory=dict)
    options: str = ""
    exported: bool = False
    question: str = ""
    rubric: str = ""

    @property
    def is_open(self) -> bool:
        """Return whether it is a row of a sheet that has no answer yet."""
        return not self.label and not self.skipped

    @property
    def where(self) -> str:
        """Return file and row, for messages."""
        return f"{self.file}, row {self.row}"
