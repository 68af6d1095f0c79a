"""Test items: multiple-choice questions on dialogues, read from files and from the table.

The task is the record's own, or the file's name where the record has none that is known. Records that are no items
(no options, more than four, an empty one, no readable label, ...) are left out and counted by reason.

Published files and writers use the same fields in several shapes: options can be an object, an object of objects, or a
list of objects with one key each; keys can be letters or digits. Ambiguous records are left out with a reason.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any, ClassVar

from dialeval.corpora.clusters import beginning_clusters
from dialeval.corpora.json_records import RecordFields, name_of, optional_text, records_of
from dialeval.corpora.text_files import JsonLine
from dialeval.dialogbench.tasks import TASKS, Task, find_task
from dialeval.errors import UserError, nearest
from dialeval.tables.dialogbench import TEST_ITEMS
from dialeval.tables.files import iterate_rows
from dialeval.text import noted

LETTERS = "ABCD"
BUNDLED = {"en": "bundled/english.jsonl", "zh": "bundled/chinese.jsonl"}
"""Files of our own items by language; code fingerprints find their content by these paths."""


@dataclass(frozen=True, slots=True)
class TestItem:
    """A multiple-choice question on a dialogue.

    Attributes:
        item_id: readable, unique within its table.
        task: abbreviation of the task.
        domain: what the dialogue is about.
        language: language code.
        utterances: the dialogue; speaker 1 begins, and the speakers alternate.
        options: two to four, in the order in which they are shown.
        label: letter of the right option.
        question: the item's own question; empty where the task asks the same of every dialogue.
        extra: further fields of the task by name (`Task.shown` and `Task.hidden`), such as `knowledge`.
        personalities: of speaker 1 and 2.
        emotions: of speaker 1 and 2, where the task has them.
        analysis: why the option is the right one.
        origin: where it comes from: the name of the model that wrote it, `embedded`, `bundled` or `published`.
    """

    __test__: ClassVar[bool] = False  # for pytest, which takes the name for a test's

    item_id: str
    task: str
    domain: str
    language: str
    utterances: tuple[str, ...]
    options: tuple[str, ...]
    label: str
    question: str = ""
    extra: Mapping[str, str] = field(default_factory=dict)
    personalities: tuple[str, str] = ("", "")
    emotions: tuple[str, str] = ("", "")
    analysis: str = ""
    origin: str = ""

    @property
    def letters(self) -> tuple[str, ...]:
        """Return the letters of the options."""
        return tuple(LETTERS[: len(self.options)])

    @property
    def right(self) -> int:
        """Return the place of the right option, 0 for the first."""
        return LETTERS.index(self.label)

    @property
    def n_turns(self) -> float:
        """Return the number of turns, two utterances each; one of speaker 1 alone is half a turn."""
        return len(self.utterances) / 2

    @property
    def n_begun(self) -> int:
        """Return the number of turns, a lone last utterance of speaker 1 counted as one."""
        return (len(self.utterances) + 1) // 2

    def to_row(self) -> dict[str, Any]:
        """Return the item as a row of a table."""
        return {
            "item_id": self.item_id,
            "task": self.task,
            "domain": self.domain,
            "language": self.language,
            "speaker1_personality": self.personalities[0],
            "speaker2_personality": self.personalities[1],
            "speaker1_emotion": self.emotions[0],
            "speaker2_emotion": self.emotions[1],
            "utterances": list(self.utterances),
            "question": self.question,
            "extra": dict(self.extra),
            "options": list(self.options),
            "label": self.label,
            "analysis": self.analysis,
            "origin": self.origin,
        }

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> TestItem:
        """Return the item that `to_row` wrote; `extra` may be a mapping or a list of pairs, as Arrow gives it."""
        return cls(
            item_id=row["item_id"],
            task=row["task"],
            domain=row["domain"],
            language=row["language"],
            utterances=tuple(row["utterances"]),
            options=tuple(row["options"]),
            label=row["label"],
            question=row["question"],
            extra=dict(row["extra"] or {}),
            personalities=(row["speaker1_personality"], row["speaker2_personality"]),
            emotions=(row["speaker1_emotion"], row["speaker2_emotion"]),
            analysis=row["analysis"],
            origin=row["origin"],
        )


def read_items(path: Path) -> tuple[dict[str, TestItem], dict[str, Mapping[str, str]]]:
    """Return the items by id, and each one's source, variant and cluster: items that share a dialogue are one.

    Args:
        path: the table `test_items`.
    """
    item_of: dict[str, TestItem] = {}
    origin_of: dict[str, dict[str, str]] = {}
    for row in iterate_rows(path, TEST_ITEMS):
        item_of[row["item_id"]] = TestItem.from_row(row)
        origin_of[row["item_id"]] = {"source": row["source"], "variant": row["variant"]}
    names = list(item_of)
    for name, first in zip(names, beginning_clusters([item_of[name].utterances for name in names]), strict=True):
        origin_of[name]["cluster"] = names[first]
    return item_of, dict(origin_of)


# DialogBench's published question files: one JSON object per line, whatever the file is called, or a list of them.

SUFFIXES = (".json", ".jsonl")
_QUESTIONS = RecordFields(["dialogue"])
_WORDS = re.compile(r"domain|analysis|speaker[12][ _]?(?:personality|emotion)", re.IGNORECASE)
"""Fields that may be left out; models and experts never see them."""


@dataclass
class ItemReading:
    """The result of a reader: items, left-out records by task and reason, and notes on the rest."""

    source: str
    items: list[TestItem] = field(default_factory=list)
    skipped: Counter[tuple[str, str]] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)

    def summary(self) -> str:
        """Return one line with the numbers of items read and left out, with reasons."""
        line = f"{self.source}: {len(self.items)} test items read"
        if self.skipped:
            reasons = "; ".join(f"{count} {task} {reason}" for (task, reason), count in self.skipped.most_common())
            line += f", {sum(self.skipped.values())} records left out ({reasons})"
        for note, count in self.notes.items():
            line += f"; {noted(count, note)}"
        return line


def read(path: Path, language: str, *, origin: str = "published", task: str | None = None) -> ItemReading:
    """Read one file, or all `.json` and `.jsonl` files of a folder.

    Args:
        origin: what is noted as the items' origin.
        task: name of the task of records that name none that is known; the file's name if None.

    Raises:
        UserError: an empty file, a line that is no JSON object, or an unknown task, with file and line.
    """
    reading = ItemReading(str(path))
    seen: Counter[str] = Counter()
    for file in item_files(path):
        for line in records_of(file, _QUESTIONS):
            _read_line(line, task or file.stem, language, origin, reading, seen)
    if not reading.items:
        raise UserError(f"{reading.summary()}; give a file with one question per line")
    return reading


def read_bundled(language: str) -> ItemReading:
    """Read our own items of one language, in DialogBench's published format; bundled/LICENSE.md has their licence.

    Raises:
        UserError: there is none in that language.
    """
    if language not in BUNDLED:
        raise UserError(f"no bundled test items are in language '{language}'; {nearest(language, BUNDLED)}")
    with resources.as_file(resources.files("dialeval.dialogbench") / BUNDLED[language]) as path:
        reading = read(path, language, origin="bundled")
    reading.source = f"bundled ({language})"
    return reading


def item_files(path: Path) -> list[Path]:
    """Return a file, or the `.json` and `.jsonl` files of a folder.

    Raises:
        UserError: a folder has none.
    """
    if not path.is_dir():
        return [path]
    files = sorted(file for file in path.iterdir() if file.suffix in SUFFIXES)
    if not files:
        raise UserError(f"{path}: no file ends in {' or '.join(SUFFIXES)}; set `path` to the folder of the items")
    return files


def _read_line(
    line: JsonLine, fallback: str, language: str, origin: str, reading: ItemReading, seen: Counter[str]
) -> None:
    record, where = line.record, line.where
    task = _task(optional_text(record, "task", where), fallback, where)
    item_id = "" if record.get("id") is None else name_of(record["id"], "id", where)
    item_id = item_id or "item"
    if not item_id.startswith(f"{task.abbreviation}-"):
        item_id = f"{task.abbreviation}-{item_id}"
    seen[item_id] += 1
    if seen[item_id] > 1:  # writers make up ids, which repeat
        item_id = f"{item_id}~{seen[item_id]}"
    try:
        reading.items.append(read_record(record, item_id=item_id, task=task, language=language, origin=origin))
    except RecordProblem as problem:
        reading.skipped[task.abbreviation, problem.reason] += 1
        return
    for name, value in record.items():
        if _WORDS.fullmatch(name) and value is not None and not isinstance(value, str | list):
            reading.notes[f"times '{name:.40}' is not a text and counts as empty"] += 1


def _task(name: str, fallback: str, where: str) -> Task:
    task = find_task(name) or find_task(fallback)
    if task is None:
        known = ", ".join(task.abbreviation for task in TASKS)
        raise UserError(f"{where}: neither '{name:.60}' nor '{fallback}' is a task of DialogBench; name one of {known}")
    return task


# How a test item of DialogBench is read from the many shapes in which it is written down.

_TEXT_KEYS = ("answer", "text", "content", "person", "person1", "person2", "option", "value")
_OPTION_KEYS = ("option", "options", "choices", "candidates")
_SPEAKER = re.compile(r"(?:speaker|person|user|role)?([12])")
_KEY = re.compile(r"(?:option|选项)?([a-z]|\d{1,2})")


class RecordProblem(Exception):
    """A record that is no item.

    Attributes:
        reason: a short word for counting, such as `no_label`.
    """

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason
        self.detail = detail


def read_record(
    record: Mapping[str, Any], *, item_id: str, task: Task, language: str, origin: str, domain: str | None = None
) -> TestItem:
    """Return the item that a record describes.

    Args:
        record: the fields, named as the paper's prompts name them; blanks, underscores and case do not count.
        item_id: the item's id.
        task: the task; the record's own field is ignored.
        language: language code.
        origin: where the record comes from.
        domain: the domain; the record's own if None.

    Raises:
        RecordProblem: the record is no item of this task.
    """
    fields = {_folded(name): value for name, value in record.items() if value is not None}
    utterances = _utterances(_first(fields, "dialogue", "dialog", "dialoguecontent"))
    options, keys = _options(_first(fields, *_OPTION_KEYS))
    label = _label(_first(fields, "label", "answer", "correctanswer"), keys)
    question = _text(_first(fields, "testquestion", "question"))
    if task.asks and not question:
        raise RecordProblem("no_question")
    extra = {name: _text(fields.get(_folded(name))) for name in (*task.shown, *task.hidden)}
    personalities = _both_speakers(fields, "personality")
    if "persona" in extra:
        extra["persona"] = extra["persona"] or personalities[1]
    for name in task.shown:
        if not extra[name]:
            raise RecordProblem(f"no_{name}")
    return TestItem(
        item_id=item_id,
        task=task.abbreviation,
        domain=_text(fields.get("domain")) if domain is None else domain,
        language=language,
        utterances=utterances,
        options=options,
        label=label,
        question=question if task.asks else "",
        extra={name: text for name, text in extra.items() if text},
        personalities=personalities,
        emotions=_both_speakers(fields, "emotion"),
        analysis=_text(fields.get("analysis")),
        origin=origin,
    )


def _folded(text: str) -> str:
    return "".join(character for character in str(text).casefold() if character.isalnum())


def _utterances(dialogue: Any) -> tuple[str, ...]:
    """Return a dialogue's texts; speaker 1 must begin and the speakers alternate."""
    if not isinstance(dialogue, list) or not dialogue:
        raise RecordProblem("no_dialogue", f"{dialogue!r:.60}")
    utterances = [utterance for turn in dialogue for utterance in _turn(turn)]
    if not utterances:
        raise RecordProblem("no_dialogue", "the dialogue has no utterance")
    for number, (speaker, _) in enumerate(utterances):
        if speaker != number % 2 + 1:
            raise RecordProblem("speakers_do_not_alternate", f"utterance {number + 1} is by speaker {speaker}")
    return tuple(text for _, text in utterances)


def _turn(turn: Any) -> Iterator[tuple[int, str]]:
    """Yield speaker and text of the utterances of a turn."""
    if not isinstance(turn, dict):
        raise RecordProblem("broken_dialogue", f"a turn must be an object, not {turn!r:.60}")
    fields = {_folded(name): value for name, value in turn.items()}
    if "speaker" in fields or "role" in fields:
        who = _speaker(_folded(str(_first(fields, "speaker", "role"))))
        text = _text(_first(fields, "text", "utterance", "content"))
        if who is None or not text:
            raise RecordProblem("broken_dialogue", f"{turn!r:.60}")
        yield who, text
        return
    for name, value in sorted(fields.items(), key=lambda pair: pair[0][-1:]):
        who = _speaker(name)
        if who is None:
            raise RecordProblem("broken_dialogue", f"'{name}' is neither speaker 1 nor speaker 2")
        if value is not None and not isinstance(value, str):
            raise RecordProblem("broken_dialogue", f"an utterance must be text, not {value!r:.60}")
        if _text(value):
            yield who, _text(value)


def _speaker(name: str) -> int | None:
    found = _SPEAKER.fullmatch(name)
    return int(found[1]) if found else None


def _first(fields: Mapping[str, Any], *names: str) -> Any:
    return next((fields[name] for name in names if name in fields), None)


def _text(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        value = "\n".join(value)
    return value.strip() if isinstance(value, str) else ""


def _options(value: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the options' texts and their keys: letters, digits, or nothing where a list has none."""
    pairs = list(_option_pairs(value))
    if not pairs:
        raise RecordProblem("no_options", f"{value!r:.60}")
    if len(pairs) > len(LETTERS):
        raise RecordProblem("too_many_options", str(len(pairs)))
    if len(pairs) < 2:
        raise RecordProblem("too_few_options", str(len(pairs)))
    pairs = _in_order(pairs)
    texts = [_option_text(text) for _, text in pairs]
    prefixed = [re.match(rf"\(?{LETTERS[place]}[.):：、]\s*(?=\S)", text) for place, text in enumerate(texts)]
    if all(prefixed):
        texts = [text[found.end() :] for text, found in zip(texts, prefixed, strict=True) if found]
    for text in texts:
        if not text or text.casefold() == "none":
            raise RecordProblem("empty_option", repr(text))
    return tuple(texts), tuple(key for key, _ in pairs)


def _option_pairs(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        inner = [value[name] for name in value if _folded(name) in _OPTION_KEYS]
        if len(value) == 1 and inner and isinstance(inner[0], dict | list):
            yield from _option_pairs(inner[0])
            return
        for key, text in value.items():
            yield _option_key(str(key)), text
    elif isinstance(value, list):
        for entry in value:
            if isinstance(entry, dict):
                if len(entry) != 1:
                    raise RecordProblem("option_keys", f"an option of a list must have one key, not {len(entry)}")
                yield from _option_pairs(entry)
            else:
                yield "", entry


def _option_key(key: str) -> str:
    found = _KEY.fullmatch(_folded(key))
    return found[1].upper() if found else key


def _in_order(pairs: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Return options in the order of their keys, A or 1 first; without keys, in their own order."""
    keys = sorted(key for key, _ in pairs)
    if not any(keys):
        return pairs
    if keys not in (list(LETTERS[: len(keys)]), [str(number) for number in range(1, len(keys) + 1)]):
        raise RecordProblem("option_keys", ", ".join(keys))
    return sorted(pairs, key=lambda pair: pair[0])


def _option_text(value: Any) -> str:
    if isinstance(value, dict):
        fields = {_folded(name): text for name, text in value.items()}
        value = next((fields[name] for name in _TEXT_KEYS if name in fields), None)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return _text(value)


def _label(value: Any, keys: tuple[str, ...]) -> str:
    """Return the letter of the right option."""
    if isinstance(value, list):
        value = ",".join(str(entry) for entry in value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = "" if value is None or isinstance(value, bool) else str(value).strip()
    if not text:
        raise RecordProblem("no_label")
    letters = LETTERS[: len(keys)]
    known = dict(zip(keys if any(keys) else letters, letters, strict=True))
    marks = {_option_key(part.strip(" .()[]\"'*`")) for part in re.split(r"[,，、;/]", text) if part.strip()}
    if len(marks) > 1:
        raise RecordProblem("several_labels", text)
    mark = marks.pop() if marks else ""
    if mark not in known:
        raise RecordProblem("label_outside_options", f"{text!r:.60}; options: {', '.join(known)}")
    return known[mark]


def _both_speakers(fields: Mapping[str, Any], kind: str) -> tuple[str, str]:
    return _text(fields.get(f"speaker1{kind}")), _text(fields.get(f"speaker2{kind}"))
