"""Data sets whose dialogue is not one list of messages, as messages, and how such conversions are written.

    {"story": "...", "questions": [{"input_text": "Who?"}], "answers": [{"input_text": "Ann."}]}     CoQA
    {"chat": {"turn_1": {"Human": "<|Human|>: Hi<eoh>", "MOSS": "<|MOSS|>: Hello<eom>"}}}           MOSS
    {"convo_id": 7, "original": [["agent", "Hi"], ["customer", "Hello"], ["action", "..."]]}        ABCD
    {"personality": ["..."], "utterances": [{"history": ["Hi"], "candidates": ["No.", "Hello"]}]}   Persona-Chat

A story, personas and instructions are system prompts. Of candidates, the last one is the reply.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dialeval.corpora.json_records import name_of, value_at
from dialeval.corpora.text_files import JsonLine, listed, number_in
from dialeval.corpora.transcripts.entries import OF_DIALOGUE, SILENCE, by_entry, shown
from dialeval.corpora.transcripts.json_formats import oasst, transcript
from dialeval.corpora.transcripts.transcript import Transcript, begins_marked, marked_messages
from dialeval.errors import UserError

Raw = dict[str, Any]
Found = Iterator[tuple[JsonLine, Raw]]


@dataclass(frozen=True)
class Conversion:
    """A format and how its objects become messages.

    Attributes:
        about: the content of a file, for the documentation.
        fields: sets of fields of which an object has one.
        records: yields objects with `messages`, each with its place.
        is_one: whether an object with such fields is of the format.
        is_uniform: whether every object of a file has the fields; else the first one only.
    """

    about: str
    fields: tuple[frozenset[str], ...]
    records: Callable[[Iterable[JsonLine], Counter[str]], Found]
    is_one: Callable[[Raw], bool] = lambda record: True
    is_uniform: bool = True

    def fits(self, record: Raw) -> bool:
        """Return whether an object is of the format."""
        return any(fields <= record.keys() for fields in self.fields) and self.is_one(record)

    def read(self, lines: Iterable[JsonLine], columns: Mapping[str, str], notes: Counter[str]) -> Iterator[Transcript]:
        """Yield the dialogues of objects; `columns` has paths within an object, by content."""
        for line, record in self.records(map(self._checked, lines) if self.is_uniform else lines, notes):
            named = {name: line.record.get(name) for name in OF_DIALOGUE if name in columns and name != "system"}
            if "system" in columns:
                named["model"] = line.record.get("model")
            yield transcript(line._replace(record={**record, **named}), "messages", notes)

    def _checked(self, line: JsonLine) -> JsonLine:
        if not any(fields <= line.record.keys() for fields in self.fields):
            missing = min((sorted(fields - line.record.keys()) for fields in self.fields), key=len)
            absent = " and ".join(f"'{name}'" for name in missing)
            raise UserError(f"{line.where}: no field {absent}, unlike the first object; present: {listed(line.record)}")
        return line


def each(convert: Callable[[Raw, str, Counter[str]], Raw]) -> Callable[..., Found]:
    """Return a conversion of one object after the other."""

    def records(lines: Iterable[JsonLine], notes: Counter[str]) -> Found:
        for line in lines:
            yield line, convert(line.record, line.where, notes)

    return records


def field_sets(*sets: str) -> tuple[frozenset[str], ...]:
    """Return sets of fields, each written with blanks between them."""
    return tuple(frozenset(fields.split()) for fields in sets)


def at_paths(entries: str, speaker: str, text: str, dialogue_id: str) -> Callable[..., Found]:
    """Return a conversion of objects whose list, speakers, texts and id are at paths."""

    def convert(record: Raw, where: str, notes: Counter[str]) -> Raw:
        found = [(value_at(one, speaker), value_at(one, text)) for one in objects_at(record, entries, where)]
        messages = [message(who.lower() if isinstance(who, str) else who, said) for who, said in found]
        return {"id": value_at(record, dialogue_id), "messages": messages}

    return each(convert)


def in_turn(entries: str, *texts: str) -> Callable[..., Found]:
    """Return a conversion of objects with `dialogue_id`, whose entries have texts of user and assistant at paths."""

    def convert(record: Raw, where: str, notes: Counter[str]) -> Raw:
        found = [value_at(entry, path) for entry in objects_at(record, entries, where) for path in texts]
        return {"id": record.get("dialogue_id"), "messages": turns_of(found)}

    return each(convert)


def objects_at(outer: Any, path: str, where: str) -> list[Raw]:
    """Return the list of objects at a path."""
    value = value_at(outer, path)
    value = by_entry(value) if isinstance(value, dict) else value
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise UserError(f"{where}: '{path}' is {shown(value)}; it must be a list of objects")
    return value


def texts_of(value: Any, path: str, where: str) -> list[str]:
    """Return a list of texts."""
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise UserError(f"{where}: '{path}' is {shown(value)}; it must be a list of texts")
    return value


def message(role: Any, text: Any) -> Raw:
    """Return a message of a speaker or role."""
    return {"role": role, "content": text}


def instructions_of(*parts: Any) -> list[Raw]:
    """Return texts as one system prompt; none where all are empty."""
    text = "\n".join(part.strip() for part in parts if isinstance(part, str) and part.strip())
    return [message("system", text)] if text else []


_ROLES = ("user", "assistant")


def turns_of(texts: Sequence[Any], roles: Sequence[str] = _ROLES) -> list[Raw]:
    """Return texts as messages of roles in turn."""
    return [message(roles[number % len(roles)], text) for number, text in enumerate(texts)]


def first_of(record: Mapping[str, Any], *names: str) -> Any:
    """Return the first value of some fields that is neither null nor empty; None if there is none."""
    return next((record[name] for name in names if record.get(name) not in (None, "")), None)


def hidden(kind: str, name: Any, content: Any) -> Raw:
    """Return a message that is a tool call or its result."""
    part = {"type": kind, "name": name, "input": content, "content": content}
    return {"role": "assistant", "content": [part]}


def all_texts(value: Any, at_least: int = 1) -> bool:
    """Return whether a value is a list of texts, with so many at least."""
    return isinstance(value, list) and len(value) >= at_least and all(isinstance(one, str) for one in value)


# Questions about a passage: CoQA and QuAC.


def _coqa(record: Raw, where: str, notes: Counter[str]) -> Raw:
    asked: list[Any]
    answered: list[Any]
    if isinstance(record["questions"], list) and all(isinstance(one, str) for one in record["questions"]):
        asked = record["questions"]
        answered = texts_of(value_at(record, "answers.input_text"), "answers.input_text", where)
    else:
        questions, answers = objects_at(record, "questions", where), objects_at(record, "answers", where)
        ids = [[one.get("turn_id") for one in some] for some in (questions, answers)]
        if ids[0] != ids[1]:
            raise UserError(f"{where}: the 'turn_id' of questions and answers differ; correct the file")
        asked = [one.get("input_text") for one in questions]
        answered = [one.get("input_text") for one in answers]
    messages = turns_of(_alternating(asked, answered, where))
    return {"id": record.get("id"), "messages": [*instructions_of(record.get("story")), *messages]}


def _alternating(first: Sequence[Any], second: Sequence[Any], where: str) -> list[Any]:
    if not 0 <= len(first) - len(second) <= 1:
        raise UserError(f"{where}: {len(first)} texts have {len(second)} responses; both numbers must be equal")
    return [text for n in range(len(first)) for text in (*first[n : n + 1], *second[n : n + 1])]


def _quac(lines: Iterable[JsonLine], notes: Counter[str]) -> Found:
    for line in lines:
        about = [line.record.get(name) for name in ("title", "section_title", "background")]
        if "questions" in line.record:
            questions = texts_of(line.record["questions"], "questions", line.where)
            answers = texts_of(value_at(line.record, "orig_answers.texts"), "orig_answers.texts", line.where)
            instructions = instructions_of(line.record.get("wikipedia_page_title"), *about, line.record.get("context"))
            messages = [*instructions, *turns_of(_alternating(questions, answers, line.where))]
            yield line, {"id": line.record.get("dialogue_id"), "messages": messages}
            continue
        for paragraph in objects_at(line.record, "paragraphs", line.where):
            asked = objects_at(paragraph, "qas", line.where)
            # training files have the text as `orig_answer` or the only entry of `answers`, some test files neither
            answers = [value_at(one, "orig_answer.text") or value_at(one, "answers.0.text") for one in asked]
            texts = [text for one, answer in zip(asked, answers, strict=True) for text in (one.get("question"), answer)]
            messages = [*instructions_of(*about, paragraph.get("context")), *turns_of(texts)]
            yield line, {"id": paragraph.get("id"), "messages": messages}


def _qrecc(lines: Iterable[JsonLine], notes: Counter[str]) -> Found:
    found: dict[str, list[tuple[float, JsonLine]]] = {}
    for line in lines:
        turn = number_in(f"{line.record['Turn_no']}")
        if turn is None:
            raise UserError(f"{line.where}: 'Turn_no' is {shown(line.record['Turn_no'])}; it must be a number")
        found.setdefault(name_of(line.record["Conversation_no"], "Conversation_no", line.where), []).append(
            (turn, line)
        )
    for name, parts in found.items():
        parts.sort(key=lambda part: part[0])
        texts = [line.record[field] for _, line in parts for field in ("Question", "Answer")]
        yield parts[0][1], {"id": name, "messages": turns_of(texts)}


# MOSS: marks of speakers within texts.

_MOSS_MARKS = re.compile(r"\A\s*<\|[\w ]+\|>:?\s*|\s*<eo\w>\s*\Z")
_MOSS_TURN = re.compile(r"turn_(\d+)")
_MOSS_SAID = re.compile(r"\[(Human|MOSS)\]:|<eo[ahm]>")
_MOSS_HIDDEN = (("Inner Thoughts", "thinking"), ("Commands", "tool_use"), ("Tool Responses", "tool_result"))


def _moss(record: Raw, where: str, notes: Counter[str]) -> Raw:
    about = {"id": record.get("conversation_id"), "model": "MOSS"}
    instructions = instructions_of(record.get("meta_instruction"), record.get("prefix"))
    if isinstance(record.get("plain_text"), str):
        _, *parts = _MOSS_SAID.split(record["plain_text"])  # a speaker's name or None, and the text after it
        names = {"Human": "user", "MOSS": "assistant"}
        said = [message(names[who], text) for who, text in zip(parts[::2], parts[1::2], strict=True) if who]
        return {**about, "messages": [*instructions, *said]}
    turns: Any = record.get("chat")
    numbers = {name: _MOSS_TURN.fullmatch(name) for name in turns} if isinstance(turns, dict) else {}
    if not numbers or not all(numbers.values()) or not all(isinstance(turn, dict) for turn in turns.values()):
        raise UserError(f"{where}: 'chat' is {shown(turns)}; it must be an object with turn_1, turn_2, ...")
    messages = instructions
    for name in sorted(numbers, key=lambda name: int(name.removeprefix("turn_"))):
        plain = {
            field: _MOSS_MARKS.sub("", text) if isinstance(text, str) else "" for field, text in turns[name].items()
        }
        messages.append(message("user", plain.get("Human", "")))
        for field, kind in _MOSS_HIDDEN:
            if plain.get(field, "None") not in ("", "None"):
                part = {"type": kind, "name": "command", kind: plain[field], "input": plain[field]}
                messages.append({"role": "assistant", "content": [{**part, "content": plain[field]}]})
        messages.append(message("assistant", plain.get("MOSS", "")))
    return {**about, "messages": messages}


# Other data sets of dialogue research.


def _abcd(record: Raw, where: str, notes: Counter[str]) -> Raw:
    messages = []
    for number, entry in enumerate(record["original"] if isinstance(record["original"], list) else [None], start=1):
        if not isinstance(entry, list) or len(entry) != 2 or not all(isinstance(part, str) for part in entry):
            raise UserError(f"{where}, 'original', entry {number}: {shown(entry)} must be a speaker and a text")
        messages.append(hidden("tool_use", "action", entry[1]) if entry[0] == "action" else message(*entry))
    return {"id": record.get("convo_id"), "messages": messages}


def _persona_chat(lines: Iterable[JsonLine], notes: Counter[str]) -> Found:
    """Yield the dialogues of objects with all replies, or of a row for each, of which the last repeats all others."""
    found: dict[Any, tuple[int, JsonLine, Raw]] = {}
    for line in lines:
        record, persona = line.record, line.record.get("personality")
        reply = objects_at(record, "utterances", line.where)[-1:] if "utterances" in record else [record]
        said = [
            text for one in reply for text in (*texts_of(one.get("history"), "history", line.where),
            *texts_of(one.get("candidates"), "candidates", line.where)[-1:])
        ]  # fmt: skip
        messages = [message(_ROLES[(len(said) - number) % 2], text) for number, text in enumerate(said)]
        messages = [one for one in messages if one["content"] != SILENCE]
        instructions = instructions_of(*(persona if isinstance(persona, list) else []))
        name = record.get("conv_id")
        key = line.where if name is None else f"{name}"
        if key not in found or found[key][0] <= len(said):
            found[key] = (len(said), line, {"id": name, "messages": [*instructions, *messages]})
    for _, line, record in found.values():
        yield line, record


def _tau_bench(record: Raw, where: str, notes: Counter[str]) -> Raw:
    trial = record.get("trial")
    name = f"{record['task_id']}" if trial is None else f"{record['task_id']}-{trial}"
    return {"id": name, "case_id": f"{record['task_id']}", "messages": record["traj"]}


def _ultrachat(record: Raw, where: str, notes: Counter[str]) -> Raw:
    return {"id": record.get("id"), "messages": turns_of(texts_of(record["data"], "data", where))}


def _blended(record: Raw, where: str, notes: Counter[str]) -> Raw:
    free, guided = (texts_of(record[name], name, where) for name in ("free_messages", "guided_messages"))
    messages = turns_of(_alternating(free, guided, where), ("free", "guided"))
    return {"id": None, "messages": messages}


_MARKED = ("transcript", "text", "chat", "input")
_INSTRUCTION = re.compile(r"(?:<s>)?\s*\[INST\]")
_LLAMAS_MARKS = re.compile(r"\[(/?INST)\]")
_LLAMAS_PROMPT = ("<<SYS>>", "<</SYS>>")


def _marked_field(record: Raw) -> str:
    """Return the field with a text of several speakers; empty if none is."""
    texts = [(name, record[name]) for name in _MARKED if isinstance(record.get(name), str)]
    return next((name for name, text in texts if begins_marked(text) or _INSTRUCTION.match(text.lstrip())), "")


def _marked(record: Raw, where: str, notes: Counter[str]) -> Raw:
    text = record[_marked_field(record)] if _marked_field(record) else ""
    messages = marked_messages(text, "system") if text else []
    if _INSTRUCTION.match(text.lstrip()):
        begin, end = (text.find(mark) for mark in _LLAMAS_PROMPT)
        instructions = text[begin + len(_LLAMAS_PROMPT[0]) : end] if 0 <= begin < end else ""
        rest = text[end + len(_LLAMAS_PROMPT[1]) :] if instructions else text
        _, *parts = _LLAMAS_MARKS.split(f"[INST]{rest}" if instructions else rest)
        said = zip(parts[::2], parts[1::2], strict=True)
        names = {"INST": "user", "/INST": "assistant"}
        turns = [message(names[mark], one.replace("<s>", "").replace("</s>", "")) for mark, one in said]
        messages = [*instructions_of(instructions), *turns]
    elif not text:
        raise UserError(f"{where}: none of {', '.join(_MARKED)} begins with a speaker; add one, such as `Human:`")
    system = record.get("system")
    before = instructions_of(system.removeprefix("SYSTEM:")) if isinstance(system, str) else []
    return {"id": first_of(record, "id"), "model": record.get("model"), "messages": [*before, *messages]}


DATA_SETS: dict[str, Conversion] = {
    "oasst": Conversion(
        "Open Assistant's trees or messages. Each path from prompt to leaf is a dialogue; the tree is the case.",
        field_sets("message_tree_id prompt", "message_id parent_id role text"), oasst, is_uniform=False,
    ),
    "coqa": Conversion(
        "CoQA, and its rows on the Hugging Face Hub. The story is a system prompt.",
        field_sets("story questions answers"), each(_coqa),
    ),
    "quac": Conversion(
        "QuAC and DoQA, and QuAC's rows on the Hugging Face Hub. Title, background and section are a system prompt.",
        field_sets("paragraphs background", "context questions orig_answers"), _quac,
    ),
    "qrecc": Conversion(
        "QReCC and TopiOCQA: `Question` and `Answer` with `Conversation_no` and `Turn_no`.",
        field_sets("Question Answer Conversation_no Turn_no"), _qrecc,
    ),
    "doc2dial": Conversion(
        "Doc2Dial and MultiDoc2Dial: `dial_data`. Speakers are `user` and `agent`.",
        field_sets("dial_id turns"), at_paths("turns", "role", "utterance", "dial_id"),
    ),
    "moss": Conversion(
        'MOSS: `{"chat": {"turn_1": {"Human": ..., "MOSS": ...}}}`, or `plain_text` with `[Human]:` and `[MOSS]:`.',
        field_sets("chat meta_instruction", "chat num_turns", "plain_text num_turns"), each(_moss),
        lambda record: isinstance(record.get("chat", record.get("plain_text")), dict | str),
    ),
    "abcd": Conversion(
        "ABCD, the Action-Based Conversations Dataset: `original`. Actions are tool calls. Speakers are `agent` and "
        "`customer`.",
        field_sets("convo_id original", "original delexed"), each(_abcd),
    ),
    "persona_chat": Conversion(
        "Persona-Chat and ConvAI2 as JSON: `personality` and `utterances` with `history` and `candidates`; the last "
        "candidate is the reply. A file can also have a row for each reply. The reader `text` reads the text format.",
        field_sets("personality utterances", "personality candidates history"), _persona_chat,
    ),
    "multiwoz": Conversion(
        "MultiWOZ 2.0, 2.1, 2.3 and 2.4, `data.json`: an object of dialogues by name, each with a `log`. The reader "
        "`jsonl` reads MultiWOZ 2.2.",
        field_sets("goal log"), in_turn("log", "text"),
    ),
    "topical_chat": Conversion(
        "Topical-Chat: an object of dialogues by id, each with `content`. Speakers are `agent_1` and `agent_2`.",
        field_sets("article_url content", "config content conversation_rating"),
        at_paths("content", "agent", "message", "dialogue_id"),
    ),
    "kvret": Conversion(
        "KVRET, Stanford's multi-domain dialogues of `driver` and `assistant`.",
        field_sets("dialogue scenario"), at_paths("dialogue", "turn", "data.utterance", "scenario.uuid"),
        lambda record: isinstance(value_at(record, "dialogue.0.data"), dict),
    ),
    "camrest": Conversion(
        "CamRest676: `dial` with `usr` and `sys`.",
        field_sets("dialogue_id dial"), in_turn("dial", "usr.transcript", "sys.sent"),
    ),
    "cmu_dog": Conversion(
        "CMU DoG: `history` with `uid` and `text`.",
        field_sets("history documentID", "history whoSawDoc"), at_paths("history", "uid", "text", "conversation_id"),
    ),
    "redial": Conversion(
        "ReDial: `messages` with `senderWorkerId`. Set `evaluated_role` to the respondent, who recommends films.",
        field_sets("messages respondentWorkerId initiatorWorkerId"),
        at_paths("messages", "senderWorkerId", "text", "conversationId"),
    ),
    "tau_bench": Conversion(
        "tau-bench's results: `traj`. Each task is a case, and each trial is a dialogue.",
        field_sets("traj task_id"), each(_tau_bench),
    ),
    "sharegpt_items": Conversion(
        "ShareGPT's first dump: `items` with `from` and `value`.",
        field_sets("id items"),
        at_paths("items", "from", "value", "id"),
        lambda record: isinstance(value_at(record, "items.0"), dict) and {"from", "value"} <= record["items"][0].keys(),
    ),
    "ultrachat": Conversion(
        'UltraChat: `{"id": ..., "data": ["...", "..."]}`, alternating texts of user and assistant.',
        field_sets("id data"), each(_ultrachat), lambda record: all_texts(record["data"], 2) and len(record) < 4,
    ),
    "blended_skill_talk": Conversion(
        "BlendedSkillTalk's rows on the Hugging Face Hub: `free_messages` and `guided_messages`. The reader `jsonl` "
        "reads BlendedSkillTalk's original files.",
        field_sets("free_messages guided_messages"), each(_blended),
    ),
    "marked": Conversion(
        "One text with marks of speakers in `transcript` (Anthropic's red-team attempts), `text` (Guanaco), `chat` "
        "(Glaive) or `input` (Baize): `Human:`, `### Human:`, `USER:`, `[INST]`, and the marks of ChatML and Baize.",
        field_sets("transcript", "text", "chat", "input"), each(_marked), lambda record: bool(_marked_field(record)),
    ),
}  # fmt: skip
"""Data sets by the reader's name in the configuration."""
