"""Files that BotChat's authors published: human dialogues, chatbots' dialogues, and their judge's answers.

- `MuTualTest-convs` (tsv or xlsx): `index` (the seed), and a column per model whose cells are JSON lists of utterances.
- `UniEval.tsv`: `index` = `<seed>;<model>`, and the judge's text, in column `gpt4`.
- `GTEval.tsv`: `cmp_index` = `<seed>;<A>;<B>` with the model shown first and second, and the judge's text.

In the answers' files `GT` names the human dialogue. Columns that repeat parts of the index (`qidx`, `model`, `A`, `B`)
must agree with it where they are there.

Columns: `index` (the id, MT-<n>), `conv-GT` (JSON list of utterances, speakers A and B in turn), `nround` (how many).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from dialeval.corpora.dialogues import HumanDialogue, Reading, Utterance, check
from dialeval.corpora.spreadsheets import Row, read_rows
from dialeval.corpora.text_files import parse_json
from dialeval.errors import UserError
from dialeval.tables.files import HUMAN

GROUND_TRUTH = "GT"
IDENTICAL = "EM"
"""In place of the judge's text where the two texts were identical and no request was sent."""
_LONGEST_CELL = 32_767
"""Characters that a cell of a workbook can hold; writers cut off the rest."""


@dataclass(frozen=True)
class PublishedDialogue:
    """One dialogue of one model; `place` is its file and row, for messages."""

    utterances: tuple[str, ...]
    place: str


class Shown(NamedTuple):
    """The subject of a response: the seed and the models shown; `right` is None for a single dialogue."""

    seed_id: str
    left: str
    right: str | None


@dataclass(frozen=True)
class PublishedAnswer:
    """One answer of the judge.

    Attributes:
        text: its answer; `EM` where no request was sent.
        conversations: the two dialogues, left first, as full JSON lists; empty if the file has none.
        place: its place, for messages.
    """

    text: str
    conversations: tuple[str, ...]
    place: str


def read_dialogues(path: Path, column: str) -> dict[str, PublishedDialogue]:
    """Read the dialogues of one model, by seed; an empty cell is no dialogue.

    Raises:
        UserError: a column is missing, a seed repeated or missing, or a cell no JSON list of strings.
    """
    dialogues: dict[str, PublishedDialogue] = {}
    for row in read_rows(path, ("index", column)):
        seed_id, cell = row.cells["index"].strip(), row.cells[column]
        place = f"{path}, row {row.number}"
        if not seed_id:
            raise UserError(f"{place}: the cell 'index' is empty; write the seed, or remove the row")
        if seed_id in dialogues:
            raise UserError(f"{place}: index '{seed_id:.60}' already occurs at {dialogues[seed_id].place}; remove one")
        if cell.strip():
            dialogues[seed_id] = PublishedDialogue(conversation(cell, f"{place}, column {column}"), place)
    return dialogues


def read_answers(
    path: Path, judge_column: str, names: Mapping[str, str], *, pairs: bool
) -> dict[Shown, PublishedAnswer]:
    """Read a judge's answers.

    Args:
        names: names of models in the file -> names here; a name that is not in it stays as it is.
        pairs: whether the answers are about pairs (`GTEval.tsv`) or single dialogues (`UniEval.tsv`).

    Raises:
        UserError: a column is missing, an index repeated, not of its form, or not what the other columns say.
    """
    layout = _PAIR if pairs else _SINGLE
    names = {**names, GROUND_TRUTH: HUMAN}
    answers: dict[Shown, PublishedAnswer] = {}
    for row in read_rows(path, (layout.index, judge_column)):
        place = f"{path}, row {row.number}"
        seed_id, *models = _index_parts(row, layout, place)
        left, *rest = (names.get(model, model) for model in models)
        shown = Shown(seed_id, left, rest[0] if rest else None)
        if shown in answers:
            index = row.cells[layout.index]
            raise UserError(
                f"{place}: {layout.index} '{index:.60}' already occurs at {answers[shown].place}; remove one"
            )
        conversations = tuple(row.cells.get(name, "") for name in layout.conversations)
        answers[shown] = PublishedAnswer(row.cells[judge_column], conversations if all(conversations) else (), place)
    return answers


def conversation(cell: str, place: str) -> tuple[str, ...]:
    """Return the utterances of a cell, blanks around them removed.

    Raises:
        UserError: the cell is no JSON list of strings.
    """
    if len(cell) >= _LONGEST_CELL and not cell.rstrip().endswith("]"):
        place += " (a workbook's cell has at most 32767 characters, and this one is cut there; use the .tsv file)"
    texts = parse_json(cell, place)
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise UserError(f"{place}: a JSON list of strings is needed, not {cell!r:.80}")
    return tuple(text.strip() for text in texts)


@dataclass(frozen=True)
class _Layout:
    index: str
    seed: str
    models: tuple[str, ...]
    conversations: tuple[str, ...]


_PAIR = _Layout("cmp_index", "qidx", ("A", "B"), ("conversation1", "conversation2"))

_SINGLE = _Layout("index", "qidx", ("model",), ("conversation",))


def _index_parts(row: Row, layout: _Layout, place: str) -> list[str]:
    """Return the seed and the models of an index."""
    columns = (layout.seed, *layout.models)
    parts = [part.strip() for part in row.cells[layout.index].split(";")]
    if len(parts) != len(columns) or not all(parts):
        form = ";".join(f"<{column}>" for column in columns)
        raise UserError(f"{place}: {layout.index} is '{row.cells[layout.index]:.60}'; it must be of the form {form}")
    for column, part in zip(columns, parts, strict=True):
        value = row.cells.get(column, part).strip()
        if value != part:
            raise UserError(
                f"{place}: {layout.index} has '{part:.60}', but the column {column} has '{value:.60}'; correct one "
                f"of them"
            )
    return parts


# BotChat's workbook of human dialogues (`MuTual_test.xlsx`): one row per dialogue.

WORKBOOK_COLUMNS = ("index", "conv-GT", "nround")


def read_botchat_workbook(path: Path, language: str) -> Reading:
    """Read the first sheet of the workbook.

    Raises:
        UserError: the file or a column is missing, or a row is wrong; the message gives the row as the sheet counts it.
    """
    reading = Reading(str(path))
    last = 1
    for row in read_rows(path, WORKBOOK_COLUMNS):
        where = f"{path}, row {row.number}"
        index, cell, n_rounds = (row.cells[column].strip() for column in WORKBOOK_COLUMNS)
        is_blank = not index and not cell
        if n_blank := row.number - last - 1 + is_blank:
            reading.skipped["blank rows"] += n_blank
        last = row.number
        if is_blank:
            continue
        texts = conversation(cell, f"{where}, column conv-GT")
        if n_rounds != str(len(texts)):
            raise UserError(f"{where}: nround is {n_rounds:.40}, but conv-GT has {len(texts)} utterances; correct one")
        utterances = tuple(Utterance("AB"[turn % 2], text) for turn, text in enumerate(texts))
        reading.dialogues.append(HumanDialogue(index, utterances, language, f"row {row.number}"))
    return check(reading)
