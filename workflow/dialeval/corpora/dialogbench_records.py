"""How a test item of DialogBench is read from the many shapes in which it is written down.

The published files and models that are asked for an item use the same fields, but not one shape: options can be an
object, an object of objects, or a list of objects with one key each; keys can be letters or digits. Whatever could mean
two things is refused with a reason, never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from dialeval.corpora.dialogbench_tasks import Task
from dialeval.corpora.multiple_choice import LETTERS, TestItem

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
    """Returns the item that a record describes.

    Args:
        record: the fields, named as the paper's prompts name them; blanks, underscores and case do not count.
        item_id: the item's id.
        task: the task; what the record says of it does not count.
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
    personalities = _of_both(fields, "personality")
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
        emotions=_of_both(fields, "emotion"),
        analysis=_text(fields.get("analysis")),
        origin=origin,
    )


def _utterances(dialogue: Any) -> tuple[str, ...]:
    """Returns a dialogue's texts; speaker 1 must begin and the speakers alternate."""
    if not isinstance(dialogue, list) or not dialogue:
        raise RecordProblem("no_dialogue", f"{dialogue!r:.60}")
    said = [utterance for turn in dialogue for utterance in _turn(turn)]
    if not said:
        raise RecordProblem("no_dialogue", "nobody says anything")
    for number, (speaker, _) in enumerate(said):
        if speaker != number % 2 + 1:
            raise RecordProblem("speakers_do_not_alternate", f"utterance {number + 1} is speaker {speaker}'s")
    return tuple(text for _, text in said)


def _turn(turn: Any) -> Iterator[tuple[int, str]]:
    """Yields speaker and text of what is said in one turn."""
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


def _options(value: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Returns the options' texts and their keys: letters, digits, or nothing where a list has none."""
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


def _in_order(pairs: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Returns options in the order of their keys, A or 1 first; without keys, as they stand."""
    keys = sorted(key for key, _ in pairs)
    if not any(keys):
        return pairs
    if keys not in (list(LETTERS[: len(keys)]), [str(number) for number in range(1, len(keys) + 1)]):
        raise RecordProblem("option_keys", ", ".join(keys))
    return sorted(pairs, key=lambda pair: pair[0])


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


def _option_text(value: Any) -> str:
    if isinstance(value, dict):
        fields = {_folded(name): text for name, text in value.items()}
        value = next((fields[name] for name in _TEXT_KEYS if name in fields), None)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return _text(value)


def _label(value: Any, keys: tuple[str, ...]) -> str:
    """Returns the letter of the right option."""
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


def _of_both(fields: Mapping[str, Any], kind: str) -> tuple[str, str]:
    return _text(fields.get(f"speaker1{kind}")), _text(fields.get(f"speaker2{kind}"))


def _first(fields: Mapping[str, Any], *names: str) -> Any:
    return next((fields[name] for name in names if name in fields), None)


def _text(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        value = "\n".join(value)
    return value.strip() if isinstance(value, str) else ""


def _folded(text: str) -> str:
    return "".join(character for character in str(text).casefold() if character.isalnum())
