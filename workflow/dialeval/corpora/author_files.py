"""Rated data sets in their authors' own files: FED, USR, ConTurE, GRADE, Zhao's sets, and DSTC10's copies of them.

A format is a record, which defines the fields of its objects, and a function that maps the records to rated entries.
Ids count the replies, or the dialogues, of a data set from 0, as xDial-Eval's do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeVar

from pydantic import ConfigDict, Field, PlainValidator
from pydantic_core import PydanticCustomError

from dialeval.corpora.comp_analysis import SPEAKERS, RatedDialogue
from dialeval.corpora.json_records import Record, RecordFields, Text, parsed, records_of, refuse_table
from dialeval.corpora.rated_sources import (
    Gathering,
    RatedReading,
    advice,
    before_response,
    only,
    rating_value,
)
from dialeval.corpora.rating_scales import (
    CONTURE_DIALOGUE,
    CONTURE_TURN,
    DSTC10_SETS,
    FED_DIALOGUE,
    FED_TURN,
    GRADE,
    ONE_TO_FIVE,
    USR,
    ZHAO,
    Dimensions,
    is_missing,
    ratings_of,
)
from dialeval.corpora.text_files import listed, parse_json, read_json, read_lines
from dialeval.criteria import Level
from dialeval.errors import UserError, nearest

Turns = list[tuple[str, str]]
"""Speaker and text of each utterance."""


def read_author_file(reader: str, corpus: str, path: Path, languages: Iterable[str] | None = None) -> RatedReading:
    """Read a data set.

    Args:
        path: the file; of `grade_texts` that of the contexts.
        languages: the wanted languages, which must include `en`; None for all.
    """
    only("en", languages, str(path))
    layout = FORMATS[reader] or _dstc10_format(path)
    gathering = Gathering(corpus, path)
    notes = gathering.reading.notes
    for entry in layout.entries(path, reader, gathering.reading):
        ratings = ratings_of((corpus, entry.item_id), entry.annotations or {}, layout.dimensions, entry.where, notes)
        gathering.take(entry.item_id, layout.level, entry.where, entry.turns, ratings, cluster=entry.cluster)
    return gathering.checked()


class _Entry(NamedTuple):
    """A rated item; `where` is its file and record, for messages, and an empty cluster is found from the texts."""

    item_id: str
    where: str
    turns: Turns
    annotations: Mapping[str, Any] | None
    cluster: str = ""


@dataclass(frozen=True)
class _Format:
    """How a data set is read.

    Attributes:
        level: of its items.
        dimensions: what people rated.
        entries: maps the file to rated entries, given its path, the reader's name and the reading so far.
    """

    level: Level
    dimensions: Dimensions
    entries: Callable[[Path, str, RatedReading], Iterator[_Entry]]


# FED, `fed_data.json`: replies, and whole dialogues, of two chatbots and people in one list.

_FED_TAG = re.compile(r"(User|System)\s*:(.*)", re.IGNORECASE | re.DOTALL)
_FED_SPEAKERS = {"user": "human", "system": "chatbot"}


class _Fed(Record):
    """A rated response, or a rated dialogue if there is no response; context lines begin with `User:` or `System:`."""

    context: Text
    response: Text | None = None
    annotations: dict[str, list[Any]] | None


def _fed(path: Path, reader: str, reading: RatedReading) -> Iterator[_Entry]:
    is_dialogue = reader == "fed_dialogue"
    others = "replies, which reader fed_turn takes" if is_dialogue else "dialogues, which reader fed_dialogue takes"
    number = 0
    for where, record in _records(path, reader, _Fed):
        if (record.response is None) != is_dialogue:
            reading.skipped[others] += 1
            continue
        item_id = f"{'fed-dial' if is_dialogue else 'fed-turn'}-{number:06d}"
        number += 1
        yield _Entry(item_id, where, _fed_turns(record.context, record.response, where), record.annotations)


def _fed_turns(context: str, response: str | None, where: str) -> Turns:
    """Return speaker and text of each utterance; a line without a speaker continues the previous one."""
    turns: Turns = []
    for number, line in enumerate(context.split("\n"), start=1):
        match = _FED_TAG.fullmatch(line.strip())
        if match:
            turns.append((_FED_SPEAKERS[match[1].lower()], match[2].strip()))
        elif turns:
            speaker, before = turns[-1]
            turns[-1] = (speaker, f"{before}\n{line.strip()}".strip())
        elif line.strip():
            raise UserError(
                f"{where}: line {number} of 'context' begins with neither 'User:' nor 'System:' ({line!r:.60}); add "
                f"the speaker"
            )
    if response is not None:
        match = _FED_TAG.fullmatch(response)
        turns.append(("chatbot", match[2].strip() if match else response))
    return turns


# DSTC10's human evaluation data, `<set>_eval.json`, which DSTC11 gives out again under `metadata/dev/en`.

_DIALOGUES = "fed-dial"
_DSTC10_NAME = re.compile(r"(.+?)_eval.*", re.IGNORECASE)


class _Dstc10Reply(Record):
    """A response; the context has an utterance a line."""

    context: Text | None = None
    response: Text
    annotations: dict[str, list[Any]] | None = None


class _Dstc10Dialogue(RatedDialogue):
    """A whole dialogue."""

    annotations: dict[str, list[Any]] | None = None


def _dstc10_format(path: Path) -> _Format:
    """Return how the set that a file is named after is read."""
    match = _DSTC10_NAME.fullmatch(path.stem)
    name = (match[1] if match else path.stem).casefold()
    if name not in DSTC10_SETS:
        raise UserError(
            f"{path}: '{name:.60}' is not a set of DSTC10 with a known scale ({nearest(name, DSTC10_SETS)}); the "
            f"file's name must be <set>_eval.json. For another set use JSON Lines (reader rated_jsonl), where every "
            f"rating names its scale"
        )
    if name == _DIALOGUES:
        return _Format("dialogue", FED_DIALOGUE, _dstc10_dialogues)
    return _Format("turn", DSTC10_SETS[name], partial(_dstc10_replies, name=name))


def _dstc10_dialogues(path: Path, reader: str, reading: RatedReading) -> Iterator[_Entry]:
    for number, (where, record) in enumerate(_records(path, reader, _Dstc10Dialogue)):
        turns = [(SPEAKERS.get(one.speaker.lower(), one.speaker), one.text) for one in record.dialog]
        yield _Entry(f"{_DIALOGUES}-{number:06d}", where, turns, record.annotations)


def _dstc10_replies(path: Path, reader: str, reading: RatedReading, *, name: str) -> Iterator[_Entry]:
    for number, (where, record) in enumerate(_records(path, reader, _Dstc10Reply)):
        context = record.context or ""
        if _FED_TAG.match(context):
            turns = _fed_turns(context, record.response, where)
        else:
            turns = before_response([*_nonempty(context.split("\n")), record.response])
        yield _Entry(f"{name}-{number:06d}", where, turns, record.annotations)


# ConTurE, `data.json`: dialogues of people with chatbots, rated reply by reply and whole.

EMPTY_UTTERANCE = "<EMPTY>"
"""An utterance without a text, as in comp-analysis' copy; such replies have ratings, too."""
_IMPRESSION = "overall impression"
_CONTURE_TAG = re.compile(r"(?:User|Chatbot)\s*:", re.IGNORECASE)


class _Exchange(Record):
    """A user's utterance and the reply, with the rating of most of three people."""

    user: Text
    chatbot: Text
    impression: Any = Field(None, alias=_IMPRESSION)


class _Conture(Record):
    """A dialogue."""

    turns: list[_Exchange]


class _RatedConture(_Conture):
    """A dialogue with an object of dimension -> rating for each rater."""

    dialog_ratings: list[dict[str, Any]] | None


def _conture_replies(path: Path, reader: str, reading: RatedReading) -> Iterator[_Entry]:
    """Yield the replies, each with all before it, as raters saw it."""
    _, scale = CONTURE_TURN[_IMPRESSION]
    number = 0
    for dialogue_where, record in _records(path, reader, _Conture):
        turns: Turns = []
        cluster = f"conture-turn-{number:06d}"
        for place, exchange in enumerate(record.turns, start=1):
            turns = [*turns, *_exchanged(exchange, reading)]
            where, rated = f"{dialogue_where}, turn {place}", {}
            if not is_missing(exchange.impression):
                rated[_IMPRESSION] = rating_value(exchange.impression, scale, f"{where}, '{_IMPRESSION}'")
            yield _Entry(f"conture-turn-{number:06d}", where, turns, rated, cluster)
            number += 1


def _conture_dialogues(path: Path, reader: str, reading: RatedReading) -> Iterator[_Entry]:
    for number, (where, record) in enumerate(_records(path, reader, _RatedConture)):
        turns = [part for exchange in record.turns for part in _exchanged(exchange, reading)]
        yield _Entry(f"conture-dial-{number:06d}", where, turns, _by_dimension(record.dialog_ratings or []))


def _exchanged(exchange: _Exchange, reading: RatedReading) -> Turns:
    turns = []
    for speaker, text in (("human", exchange.user), ("chatbot", exchange.chatbot)):
        tag = _CONTURE_TAG.match(text)
        text = text[tag.end() :].strip() if tag else text
        if not text:
            reading.notes[f"utterances without a text, shown as {EMPTY_UTTERANCE}"] += 1
        turns.append((speaker, text or EMPTY_UTTERANCE))
    return turns


def _by_dimension(raters: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """Return the ratings by dimension; None where a rater left one out."""
    return {name: [one.get(name) for one in raters] for name in dict.fromkeys(name for one in raters for name in one)}


# GRADE, `human_judgement.json`: responses of chatbots on three data sets in one list, each a corpus as in the paper.

_GRADE_SETS = {"convai2": "convai2", "dailydialog": "dailydialog", "empathetic": "empatheticdialogues"}
"""How the name that the file has for a data set begins."""


class _Grade(Record):
    """A rated response; `|||` separates the utterances of the context, and the scores are a list or its text."""

    Dataset: Text
    Context: Text
    Response: Text
    HumanScores: Any


def _grade(path: Path, reader: str, reading: RatedReading) -> Iterator[_Entry]:
    dataset = reader.removeprefix("grade_")
    number = 0
    others: dict[str, None] = {}
    for where, record in _records(path, reader, _Grade):
        if not record.Dataset.casefold().startswith(_GRADE_SETS[dataset]):
            reading.skipped["responses on other data sets"] += 1
            others.setdefault(record.Dataset)
            continue
        place = f"{where}, 'HumanScores'"
        scores = parse_json(record.HumanScores, place) if isinstance(record.HumanScores, str) else record.HumanScores
        if not isinstance(scores, list):
            raise UserError(f"{place}: a list with a number per rater is needed, not {record.HumanScores!r:.60}")
        turns = before_response([*_nonempty(record.Context.split("|||")), record.Response])
        yield _Entry(f"{dataset}-grade-{number:06d}", where, turns, {"HumanScores": scores})
        number += 1
    if others and not number:
        raise UserError(
            f"{path} has no responses of {_GRADE_SETS[dataset]}; its data sets are {listed(others)}; set another "
            f"reader or path"
        )


# GRADE's texts of one chatbot on one data set, line by line: `human_ctx.txt`, `human_hyp.txt` and `human_score.txt`.


def grade_text_files(path: Path) -> list[Path]:
    """Return the files that are read with a file of contexts, as far as they are there."""
    return [path, *(file for file in _beside_contexts(path) if file.is_file())]


def _beside_contexts(path: Path) -> tuple[Path, Path]:
    """Return the files of the responses and of the scores.

    The scores lie beside the texts, or where the authors have them: in `human_score/<data set>/<chatbot>` for
    `eval_data/<data set>/<chatbot>`.
    """
    scores, parts = path.with_name("human_score.txt"), path.parent.parts
    if not scores.is_file() and "eval_data" in parts:
        place = len(parts) - 1 - parts[::-1].index("eval_data")
        scores = Path(*parts[:place], "human_score", *parts[place + 1 :], "human_score.txt")
    return path.with_name("human_hyp.txt"), scores


def _grade_texts(path: Path, reader: str, reading: RatedReading) -> Iterator[_Entry]:
    contexts = _stripped_lines(path)
    columns = []
    for file in _beside_contexts(path):
        columns.append(_stripped_lines(file))
        if len(columns[-1]) != len(contexts):
            raise UserError(
                f"{file}: {len(columns[-1])} lines, but {path} has {len(contexts)}; both files must be of one "
                f"chatbot, with a line for each response"
            )
    for number, (context, response, score) in enumerate(zip(contexts, *columns, strict=True)):
        turns = before_response([*_nonempty(context.split("|||")), response])
        place = f"{_beside_contexts(path)[1]}, line {number + 1}"
        mean = rating_value(score, ONE_TO_FIVE, place)
        yield _Entry(f"grade-{number:06d}", f"{path}, line {number + 1}", turns, {"HumanScores": mean})


def _stripped_lines(path: Path) -> list[str]:
    """Return the lines of a file, without blank ones at its end."""
    lines = [line.strip() for line in read_lines(path)]
    while lines and not lines[-1]:
        lines.pop()
    return lines


# USR, `tc_usr_data.json` and `pc_usr_data.json`: several responses to each context. The `fact` is not shown to judges.


class _UsrResponse(Record):
    """A response; all other fields are its ratings."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, list[Any]] = Field(init=False)

    response: Text
    model: Any = None


class _Usr(Record):
    """A context, an utterance a line, and the responses to it."""

    context: Text
    responses: list[_UsrResponse]


def _usr(path: Path, reader: str, reading: RatedReading) -> Iterator[_Entry]:
    for number, (where, record) in enumerate(_records(path, reader, _Usr)):
        context = _nonempty(record.context.split("\n"))
        for place, one in enumerate(record.responses):
            turns = before_response([*context, one.response])
            yield _Entry(f"usr-{number:06d}-{place}", f"{where}, response {place + 1}", turns, one.__pydantic_extra__)


# Zhao's data sets, such as `dd_annotations.json`: contexts with several rated responses, in one object.

_TRUTHS = {"true": 1, "false": 0}


def _speaker_and_text(value: object) -> tuple[str, str]:
    if not isinstance(value, list) or len(value) != 2 or not all(isinstance(part, str) for part in value):
        raise PydanticCustomError("speaker_and_text", "a list of speaker and text")
    return value[0].strip(), value[1].strip()


def _zhao(path: Path, reader: str, reading: RatedReading) -> Iterator[_Entry]:
    content = read_json(path)
    if not isinstance(content, dict):
        first = content[0] if isinstance(content, list) and content else None
        raise UserError(
            f"{path}: a JSON object that maps ids to dialogues is needed, not {type(content).__name__}"
            f"{advice(first, reader)}"
        )
    for number, (name, dialogue) in enumerate(content.items()):
        where = f"{path}, dialogue '{name:.60}'"
        record = parsed(_Zhao, dialogue, where, lambda one: advice(one, reader) or advice(content, reader))
        chatbot = record.reference[0]
        context = [("chatbot" if speaker == chatbot else "human", text) for speaker, text in record.context if text]
        for place, (model, response) in enumerate(record.responses.items()):
            workers = (response.scores or {}).values()
            rated = {
                dimension: [_truth(worker.get(dimension)) for worker in workers]
                for dimension in ZHAO
                if any(dimension in worker for worker in workers)
            }
            turns = [*context, ("chatbot", response.uttr)]
            yield _Entry(f"zhao-{number:06d}-{place}", f"{where}, response of '{model:.60}'", turns, rated)


FORMATS: Mapping[str, _Format | None] = {
    "fed_turn": _Format("turn", FED_TURN, _fed),
    "fed_dialogue": _Format("dialogue", FED_DIALOGUE, _fed),
    "usr": _Format("turn", USR, _usr),
    "conture_turn": _Format("turn", CONTURE_TURN, _conture_replies),
    "conture_dialogue": _Format("dialogue", CONTURE_DIALOGUE, _conture_dialogues),
    **dict.fromkeys((f"grade_{name}" for name in _GRADE_SETS), _Format("turn", GRADE, _grade)),
    "grade_texts": _Format("turn", GRADE, _grade_texts),
    "zhao": _Format("turn", ZHAO, _zhao),
    "dstc10_json": None,
}
"""By the reader's name; what DSTC10's reader takes depends on the file's name."""

_SpeakerAndText = Annotated[tuple[str, str], PlainValidator(_speaker_and_text)]


class _ZhaoResponse(Record):
    """A response with the ratings of each worker; those that the authors mark as outliers are kept."""

    uttr: Text
    scores: dict[str, dict[str, Any]] | None = None


class _Zhao(Record):
    """A context and its responses by chatbot."""

    context: list[_SpeakerAndText]
    reference: _SpeakerAndText
    responses: dict[str, _ZhaoResponse]


def _truth(value: Any) -> Any:
    """Return 1 and 0 for the texts true and false; other values as they are."""
    return _TRUTHS.get(value.strip().lower(), value) if isinstance(value, str) else value


# The objects of a file.


_Form = TypeVar("_Form", bound=Record)


def _records(path: Path, reader: str, form: type[_Form]) -> Iterator[tuple[str, _Form]]:
    """Yield the objects of a file, each with its place."""
    refuse_table(path, reader, "download it again, or set the reader of this format")

    def remedy(record: object) -> str:
        return advice(record, reader) or f"; reader {reader} needs it"

    needed = [name for name, field in form.model_fields.items() if field.is_required()]
    for line in records_of(path, RecordFields(needed)):
        yield line.where, parsed(form, line.record, line.where, remedy)


def _nonempty(texts: Iterable[str]) -> list[str]:
    return [text.strip() for text in texts if text.strip()]
