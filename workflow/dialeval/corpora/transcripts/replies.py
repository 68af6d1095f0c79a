r"""Replies to a context: single replies, two compared replies, and preferred and rejected replies.

    {"instruction": "Name a bird.", "output": "The heron.", "generator": "alpha"}
    {"context": ["Hi", "Hello", "Name a bird."], "response": "The heron.", "model": "alpha"}
    {"instruction": "Name a bird.", "completions": [{"model": "alpha", "response": "The heron."}, ...]}

    {"request": {"model": "alpha", "messages": [...]}, "response": {"choices": [{"message": {...}}]}}

The last is a request to OpenAI's or Anthropic's endpoint with its response. The context may be a text, several in turn
of which the last is the user's, pairs of them, or a list of messages. A text in the field `input` or `context` beside a
question belongs to the question. A text that begins with a speaker's mark, such as `Human:`, is a dialogue.

    {"prompt": "Name a bird.", "model_a": "alpha", "response_a": "The heron.", "model_b": "beta", "response_b": "Owl."}
    {"question_id": 7, "model_a": "alpha", "conversation_a": [...], "model_b": "beta", "conversation_b": [...]}

Where prompt and replies are lists of texts, as in Chatbot Arena's table, they take turns.

    {"chosen": "\n\nHuman: Hi\n\nAssistant: Hello", "rejected": "\n\nHuman: Hi\n\nAssistant: What?"}
    {"prompt": "Hi", "chosen": "Hello", "rejected": "What?"}

Either may also be a list of messages, with or without the prompt, which may be one too. They are two dialogues on one
case, of systems called `chosen` and `rejected`: the rate at which a judge prefers the first is its agreement with the
annotators who chose.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from dialeval.corpora.json_records import name_of, value_at
from dialeval.corpora.text_files import JsonLine, number_in
from dialeval.corpora.transcripts.entries import (
    CASE_FIELDS,
    COMPARED,
    EARLIER,
    ENDS,
    ID_FIELDS,
    INPUT,
    OF_ENTRY,
    QUESTIONS,
    REPLIES,
    REQUEST,
    SAID_PARTS,
    SEVERAL,
    SPEAKER_FIELDS,
    SYSTEM_FIELDS,
    VOTED,
    named,
)
from dialeval.corpora.transcripts.json_formats import is_prompt, transcript
from dialeval.corpora.transcripts.transcript import (
    JUDGED,
    OTHERS,
    SYSTEM_ROLES,
    Transcript,
    begins_marked,
    marked_messages,
    speaker_and_text,
    transcribed,
)
from dialeval.corpora.transcripts.turn_tables import COMMON, has_texts, words
from dialeval.errors import UserError

_SIDES = ("chosen", "rejected")
_OPENAIS_SIDES = ("preferred_output", "non_preferred_output")
_ID_FIELDS = (*ID_FIELDS, "prompt_id", "question_id", "pair_id")
_KEPT = ("language", "system", "system_prompt")
_CASE_FIELDS = tuple(name for name in CASE_FIELDS if name not in _ID_FIELDS)
_SYSTEM_FIELDS = (*SYSTEM_FIELDS, "generator")
_TURNS = ("user", "assistant")
_ROLE_OF = {**dict.fromkeys(JUDGED, "assistant"), **dict.fromkeys(OTHERS, "user")}
"""The roles of speakers in a context of lines such as `User: Hi`."""
_CONVERSATION = frozenset(COMMON["dialogue_id"]) - {"id"}


def preference_dialogues(line: JsonLine, notes: Counter[str]) -> Iterator[Transcript]:
    """Yield the two dialogues of a pair."""
    if not {*_SIDES} <= line.record.keys():  # as OpenAI's fine-tuning takes them
        sides = {side: line.record.get(name) for side, name in zip(_SIDES, _OPENAIS_SIDES, strict=True)}
        line = line._replace(record={**sides, "prompt": value_at(line.record, "input.messages")})
    record, where = line.record, line.where
    before = record.get("conversations")
    context = before if isinstance(before, list) else _context(record, where)
    for side in _SIDES:
        answered = _answers(record.get(side), f"{where}, '{side}'", marked=True)
        is_whole = answered[: len(context)] == context or not _is_answer(answered)
        yield _of_pair(line, side, answered if is_whole else [*context, *answered], notes)


def comparison_dialogues(line: JsonLine, notes: Counter[str]) -> Iterator[Transcript]:
    """Yield the dialogues of two replies to one context."""
    record, where = line.record, line.where
    reply, ends = next(
        ((reply, ends) for reply in COMPARED for ends in ENDS if all(f"{reply}{end}" in record for end in ends)),
        (COMPARED[0], ENDS[0]),
    )
    ids = ("question_id", *_ID_FIELDS) if reply == VOTED else _ID_FIELDS
    systems: Counter[str] = Counter()
    for end in _all_ends(record, reply, ends):
        field = f"{reply}{end}"
        system = named(record, [f"model{end}", f"generator{end}", f"{field}_source"], where) or field
        value, prompt = record.get(field) or "", record.get("prompt")
        if isinstance(value, list) and isinstance(prompt, list) and all(isinstance(text, str) for text in prompt):
            if len(value) != len(prompt):
                raise UserError(
                    f"{where}: 'prompt' has {len(prompt)} texts and '{field}' has {len(value)}; give equal numbers"
                )
            turns = [text for both in zip(prompt, value, strict=True) for text in both]
            messages = [{"role": _TURNS[number % 2], "content": text} for number, text in enumerate(turns)]
        else:
            answered = _answers(value, f"{where}, '{field}'")
            messages = [*_context(record, where), *answered] if _is_answer(answered) else answered
        systems[system] += 1
        yield _of_pair(line, system, messages, notes, ids, systems[system])


def _all_ends(record: dict[str, Any], reply: str, ends: Sequence[str]) -> list[str]:
    """Return the ends of all replies of a record, which may have more than two, such as `_a`, `_b` and `_c`."""
    of_kind = next(kind for kind in (str.isdigit, str.islower, str.isupper) if kind(ends[0][-1]))
    names = [name for name in record if name.startswith(reply + ends[0][:-1]) and of_kind(name[-1])]
    return [name.removeprefix(reply) for name in names if len(name) == len(reply + ends[0])] or list(ends)


def _of_pair(
    line: JsonLine, system: str, messages: list[Any], notes: Counter[str], ids: Sequence[str] = _ID_FIELDS, nth: int = 0
) -> Transcript:
    """Return a dialogue of a pair, the nth of its system; all are on one case."""
    record = {name: line.record[name] for name in _KEPT if line.record.get(name) is not None}
    dialogue_id = named(line.record, ids, line.where) or f"pair-{line.number}"
    if case := named(line.record, _CASE_FIELDS, line.where) or (dialogue_id if nth else ""):
        record["case_id"] = case
    record |= {"dialogue_id": f"{dialogue_id}-{nth}" if nth > 1 else dialogue_id, "model": system, "messages": messages}
    return transcript(line._replace(record=record), "messages", notes)


def _is_answer(messages: list[Any]) -> bool:
    """Return whether messages begin with one of the system, as one without a speaker is."""
    names = (messages[0].get(name) for name in SPEAKER_FIELDS) if messages else ()
    speaker = next((name for name in names if name is not None), _TURNS[1])
    return f"{speaker}".casefold() in {*JUDGED} - SYSTEM_ROLES


# A reply, and what came before it, in two fields.


def joined(lines: Iterable[JsonLine], notes: Counter[str]) -> Iterator[JsonLine]:
    """Yield replies, several of one system in one conversation as the last with the others before it.

    Those are of one conversation that share a field such as `session_id` and answer different questions. A field such
    as `turn` orders them, if it has a number in each, and none twice.
    """
    groups: dict[tuple[str, str], list[JsonLine]] = {}
    for line in lines:
        given = {field: value for field, value in line.record.items() if not _is_missing(value)}
        names = [field for field in ("dialogue_id", *given) if field in given and words(field) in _CONVERSATION]
        name = name_of(given[names[0]], names[0], line.where) if names else ""
        system = next((f"{given[field]}" for field in _SYSTEM_FIELDS if field in given), "")
        if not system and not is_prompt(f"{given.get('system', '')}"):
            system = f"{given.get('system', '')}"
        groups.setdefault((name, system if name else line.where), []).append(line)
    for (name, _), found in groups.items():
        question, reply = (
            next((field for field in some if field in found[0].record), "") for some in ((*QUESTIONS, INPUT), REPLIES)
        )
        is_told = any(line.record.get(field) for line in found for field in EARLIER)
        if is_told or not (question and reply) or len({f"{line.record.get(question)}" for line in found}) == 1:
            yield from found
            continue
        turns = _turns(found)
        order = "by turn" if turns else "in the file's order"
        notes[f"conversations of several replies, joined {order}"] += 1
        found = [found[place] for place in sorted(range(len(found)), key=turns.__getitem__)] if turns else found
        history = [[line.record.get(field) for field in (question, reply)] for line in found[:-1]]
        yield found[-1]._replace(record={**found[-1].record, "dialogue_id": name, "history": history})


def _is_missing(value: Any) -> bool:
    """Return whether a value is none: null, empty, or NaN, as tables of numbers have it for a missing id."""
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))


def _turns(lines: Sequence[JsonLine]) -> list[float]:
    """Return the number of each reply's turn; none if one has no number, or two have the same."""
    field = next((name for name in ("turn", *lines[0].record) if words(name) in COMMON["turn"]), "")
    found = [number_in(f"{line.record.get(field)}") for line in lines]
    turns = [number for number in found if number is not None and math.isfinite(number)]
    return turns if len({*turns}) == len(lines) else []


def columns_of(header: Collection[str], columns: Mapping[str, str]) -> dict[str, str]:
    """Return the columns of a table with a reply in each row: `prompt`, `response` and `system`, where they are.

    Args:
        columns: uncommon names, by content.

    Returns:
        Nothing if the table has other rows.
    """
    common = {"prompt": (*QUESTIONS, INPUT), "response": REPLIES, "system": ("system", *_SYSTEM_FIELDS)}
    found = {
        what: columns.get(what) or next((name for name in names if name in header), "")
        for what, names in common.items()
    }
    is_told = {*columns} & {*OF_ENTRY} - {"turn"} or has_texts(header)
    is_of_replies = "response" in columns or (found["prompt"] and found["response"] and not is_told)
    return {what: name for what, name in found.items() if name in header} if is_of_replies else {}


def reply_dialogues(line: JsonLine, notes: Counter[str]) -> Iterator[Transcript]:
    """Yield the dialogue of one object, or one for each of its completions."""
    line = _logged(line, notes)
    several = next((name for name in SEVERAL if isinstance(line.record.get(name), list)), "")
    replies = line.record[several] if several else [line.record]
    if not all(isinstance(reply, dict) for reply in replies):
        raise UserError(
            f"{line.where}: '{several}' must be a list of objects with 'model' and 'response', not {replies!r:.60}"
        )
    for reply in replies:
        fields = (*REPLIES, "text") if several else REPLIES
        yield transcript(line._replace(record=_record(line, reply, fields)), "messages", notes)


def _logged(line: JsonLine, notes: Counter[str]) -> JsonLine:
    """Return a logged request and its response as context and reply; other objects unchanged."""
    sent, received = line.record.get(REQUEST), line.record.get(REPLIES[0])
    if not isinstance(sent, dict) or not isinstance(received, dict):
        return line
    chosen = value_at(received, "choices.0.message")
    notes["responses with several choices, of which the first is read"] += value_at(received, "choices.1") is not None
    reply = received.get("output", received.get("content")) if chosen is None else chosen
    model = received.get("model", sent.get("model"))
    context = sent.get("messages", sent.get("input"))
    prompt = sent.get("system", sent.get("instructions"))
    about = {"id": received.get("id"), **line.record, "model": model, "prompt": context, REPLIES[0]: reply}
    return line._replace(record={**about, "system_prompt": prompt} if isinstance(prompt, str) else about)


def _record(line: JsonLine, reply: dict[str, Any], fields: Sequence[str]) -> dict[str, Any]:
    """Return an object whose `messages` are the context and a reply."""
    field = next((name for name in fields if name in reply), REPLIES[0])
    earlier = _earlier(line.record, line.where)
    full = {name: value for name, value in line.record.items() if name != "model"}
    full["prompt"] = "\n".join(entry if isinstance(entry, str) else json.dumps(entry) for entry in earlier)
    full["model"] = named(reply, _SYSTEM_FIELDS, line.where) or None
    answer = reply.get(field)
    if isinstance(answer, str) and len(earlier) == 1 and isinstance(earlier[0], str) and _lines_of_roles(earlier[0]):
        spoken = speaker_and_text(answer)
        answer = spoken["text"] if isinstance(spoken, dict) and spoken["speaker"].casefold() in _ROLE_OF else answer
    return {**full, "messages": [*_messages(earlier), *_answers(answer, f"{line.where}: '{field}'")]}


def _context(record: dict[str, Any], where: str) -> list[Any]:
    """Return the context of a reply as messages."""
    return _messages(_earlier(record, where))


def _messages(earlier: list[Any]) -> list[Any]:
    if len(earlier) == 1 and isinstance(earlier[0], str):
        if begins_marked(earlier[0]):
            return marked_messages(earlier[0], _TURNS[0])
        if lines := _lines_of_roles(earlier[0]):
            return lines
    return [
        {"role": _TURNS[(len(earlier) - 1 - place) % 2], "content": entry} if isinstance(entry, str) else entry
        for place, entry in enumerate(earlier)
    ]


def _lines_of_roles(text: str) -> list[Any]:
    """Return the messages of a text of lines such as `User: Hi` and `System: Hello`, as FED has it; else none."""
    spoken = transcribed(text)
    roles = [_ROLE_OF.get(f"{one.get('speaker')}".casefold()) for one in spoken]
    messages = [{"role": role, "content": one.get("text")} for role, one in zip(roles, spoken, strict=True)]
    return [] if None in roles else messages


def _earlier(record: dict[str, Any], where: str) -> list[Any]:
    """Return the context of a reply: alternating texts, of which the last is the user's, and messages."""
    content: list[Any] = []
    about: list[str] = []
    question = next((name for name in (*QUESTIONS, INPUT) if record.get(name) is not None), "")
    for name in EARLIER if question in ("", INPUT) else (*EARLIER, INPUT):
        value = record.get(name)
        if isinstance(value, list):
            content += [text for entry in value for text in (entry if isinstance(entry, list) else [entry])]
        elif isinstance(value, str):
            about += [value] * bool(value.strip())
        elif value is not None:
            raise UserError(f"{where}: '{name}' is {value!r:.60}; it must be a text or a list of them")
    prompt = record.get(question) if question else None
    if isinstance(prompt, list):
        return [*content, *prompt]
    if question and not isinstance(prompt, str):
        inner = (
            f"; name a text within it under `columns: {{prompt: {question}.FIELD}}`" if isinstance(prompt, dict) else ""
        )
        raise UserError(f"{where}: '{question}' is {prompt!r:.60}; it must be a text or a list of them{inner}")
    texts = [text for text in (prompt, *about) if text]
    return [*content, "\n\n".join(texts)] if texts else content


def _answers(value: Any, where: str, *, marked: bool = False) -> list[Any]:
    """Return a reply as messages, with the context that it repeats; `marked` splits it at marks within it, too."""
    if isinstance(value, str):
        is_marked = marked or begins_marked(value)
        return marked_messages(value, _TURNS[1]) if is_marked else [{"role": _TURNS[1], "content": value}]
    messages = [value] if isinstance(value, dict) else value
    if (
        value
        and isinstance(value, list)
        and all(isinstance(part, dict) and part.get("type") in SAID_PARTS for part in value)
    ):
        return [{"role": _TURNS[1], "content": value}]
    if not isinstance(messages, list) or not all(isinstance(one, dict) for one in messages):
        raise UserError(f"{where} must be a text or a list of messages, not {value!r:.60}")
    return messages
