"""Data sets and exports of tools whose dialogue is not one list of messages, as messages.

    {"story": "...", "questions": [{"input_text": "Who?"}], "answers": [{"input_text": "Ann."}]}     CoQA
    {"chat": {"turn_1": {"Human": "<|Human|>: Hi<eoh>", "MOSS": "<|MOSS|>: Hello<eom>"}}}           MOSS
    {"convo_id": 7, "original": [["agent", "Hi"], ["customer", "Hello"], ["action", "..."]]}        ABCD
    {"personality": ["..."], "utterances": [{"history": ["Hi"], "candidates": ["No.", "Hello"]}]}   Persona-Chat
    {"chat": {"history": {"currentId": "m2", "messages": {"m2": {"parentId": "m1", ...}}}}}         Open WebUI

A story, personas and instructions are system prompts. Of candidates, the last one is the reply. Of a tree of messages,
the branch that ends with the message shown last is the dialogue.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import unescape
from typing import Any

from dialeval.corpora.json_records import value_at
from dialeval.corpora.text_files import JsonLine
from dialeval.corpora.transcripts.entries import OF_DIALOGUE, SILENCE, begins_marked, branch_of_last, marked_messages
from dialeval.corpora.transcripts.json_formats import html_text, transcript
from dialeval.corpora.transcripts.transcript import Transcript
from dialeval.errors import UserError

_Record = dict[str, Any]
_Found = Iterator[tuple[JsonLine, _Record]]


@dataclass(frozen=True)
class Conversion:
    """A format and how its objects become messages.

    Attributes:
        about: the content of a file, for the documentation.
        fields: sets of fields of which an object has one.
        records: yields objects with `messages`, each with its place.
        is_one: whether an object with such fields is of the format.
    """

    about: str
    fields: tuple[frozenset[str], ...]
    records: Callable[[Iterable[JsonLine], Counter[str]], _Found]
    is_one: Callable[[_Record], bool] = lambda record: True

    def fits(self, record: _Record) -> bool:
        """Returns whether an object is of the format."""
        return any(fields <= record.keys() for fields in self.fields) and self.is_one(record)

    def read(self, lines: Iterable[JsonLine], columns: Mapping[str, str], notes: Counter[str]) -> Iterator[Transcript]:
        """Yields the dialogues of objects; `columns` has paths within an object, by content.

        Raises:
            UserError: invalid data; the message has the place and the remedy.
        """
        for line, record in self.records(lines, notes):
            named = {name: line.record.get(name) for name in OF_DIALOGUE if name in columns and name != "system"}
            if "system" in columns:
                named["model"] = line.record.get("model")
            yield transcript(line._replace(record={**record, **named}), "messages", notes)


def _each(convert: Callable[[_Record, str, Counter[str]], _Record]) -> Callable[..., _Found]:
    """Returns a conversion of one object after the other."""

    def records(lines: Iterable[JsonLine], notes: Counter[str]) -> _Found:
        for line in lines:
            yield line, convert(line.record, line.where, notes)

    return records


def _objects(outer: Any, path: str, where: str) -> list[_Record]:
    """Returns the list of objects at a path.

    Raises:
        UserError: there is none.
    """
    value = value_at(outer, path)
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise UserError(f"{where}: '{path}' is {_shown(value)}; it must be a list of objects")
    return value


def _texts(value: Any, path: str, where: str) -> list[str]:
    """Returns a list of texts.

    Raises:
        UserError: it is none.
    """
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise UserError(f"{where}: '{path}' is {_shown(value)}; it must be a list of texts")
    return value


def _shown(value: Any) -> str:
    return f"{json.dumps(value, ensure_ascii=False, default=str):.60}"


def _message(role: Any, text: Any) -> _Record:
    return {"role": role, "content": text}


def _prompt(*parts: Any) -> list[_Record]:
    text = "\n".join(part.strip() for part in parts if isinstance(part, str) and part.strip())
    return [_message("system", text)] if text else []


_ROLES = ("user", "assistant")


def _turns(texts: Sequence[Any], roles: Sequence[str] = _ROLES) -> list[_Record]:
    return [_message(roles[number % len(roles)], text) for number, text in enumerate(texts)]


def _first(record: Mapping[str, Any], *names: str) -> Any:
    return next((record[name] for name in names if record.get(name) not in (None, "")), None)


def _hidden(kind: str, name: Any, content: Any) -> _Record:
    """Returns a message that is a tool call or its result."""
    part = {"type": kind, "name": name, "input": content, "content": content}
    return {"role": "assistant", "content": [part]}


# Questions about a passage: CoQA and QuAC.


def _coqa(record: _Record, where: str, notes: Counter[str]) -> _Record:
    if isinstance(record["questions"], list) and all(isinstance(one, str) for one in record["questions"]):
        asked = record["questions"]
        answered = _texts(value_at(record, "answers.input_text"), "answers.input_text", where)
    else:
        questions, answers = _objects(record, "questions", where), _objects(record, "answers", where)
        ids = [[one.get("turn_id") for one in some] for some in (questions, answers)]
        if ids[0] != ids[1]:
            raise UserError(f"{where}: the 'turn_id' of questions and answers differ; correct the file")
        asked, answered = ([one.get("input_text") for one in some] for some in (questions, answers))
    messages = _turns(_alternating(asked, answered, where))
    return {"id": record.get("id"), "messages": [*_prompt(record.get("story")), *messages]}


def _alternating(first: Sequence[Any], second: Sequence[Any], where: str) -> list[Any]:
    if not 0 <= len(first) - len(second) <= 1:
        raise UserError(f"{where}: {len(first)} texts and {len(second)} that answer them; there must be as many")
    return [text for n in range(len(first)) for text in (*first[n : n + 1], *second[n : n + 1])]


def _quac(lines: Iterable[JsonLine], notes: Counter[str]) -> _Found:
    for line in lines:
        about = [line.record.get(name) for name in ("title", "section_title", "background")]
        if "questions" in line.record:
            questions = _texts(line.record["questions"], "questions", line.where)
            answers = _texts(value_at(line.record, "orig_answers.texts"), "orig_answers.texts", line.where)
            prompt = _prompt(line.record.get("wikipedia_page_title"), *about, line.record.get("context"))
            messages = [*prompt, *_turns(_alternating(questions, answers, line.where))]
            yield line, {"id": line.record.get("dialogue_id"), "messages": messages}
            continue
        for paragraph in _objects(line.record, "paragraphs", line.where):
            asked = _objects(paragraph, "qas", line.where)
            # training files have the text as `orig_answer` or the only entry of `answers`, some test files neither
            answers = [value_at(one, "orig_answer.text") or value_at(one, "answers.0.text") for one in asked]
            texts = [text for one, answer in zip(asked, answers, strict=True) for text in (one.get("question"), answer)]
            messages = [*_prompt(*about, paragraph.get("context")), *_turns(texts)]
            yield line, {"id": paragraph.get("id"), "messages": messages}


# MOSS: marks of speakers within texts.

_MOSS_MARKS = re.compile(r"\A\s*<\|[\w ]+\|>:?\s*|\s*<eo\w>\s*\Z")
_MOSS_TURN = re.compile(r"turn_(\d+)")
_MOSS_SAID = re.compile(r"\[(Human|MOSS)\]:((?:(?!<eo[ahm]>).)*)<eo[ahm]>", re.DOTALL)
_MOSS_HIDDEN = (("Inner Thoughts", "thinking"), ("Commands", "tool_use"), ("Tool Responses", "tool_result"))


def _moss(record: _Record, where: str, notes: Counter[str]) -> _Record:
    about = {"id": record.get("conversation_id"), "model": "MOSS"}
    prompt = _prompt(record.get("meta_instruction"), record.get("prefix"))
    if isinstance(record.get("plain_text"), str):
        said = _MOSS_SAID.findall(record["plain_text"])
        names = {"Human": "user", "MOSS": "assistant"}
        return {**about, "messages": [*prompt, *(_message(names[who], text) for who, text in said)]}
    turns = record.get("chat")
    numbers = {name: _MOSS_TURN.fullmatch(name) for name in turns} if isinstance(turns, dict) else {}
    if not numbers or not all(numbers.values()) or not all(isinstance(turn, dict) for turn in turns.values()):
        raise UserError(f"{where}: 'chat' is {_shown(turns)}; it must be an object with turn_1, turn_2, ...")
    messages = prompt
    for name in sorted(numbers, key=lambda name: int(name.removeprefix("turn_"))):
        plain = {
            field: _MOSS_MARKS.sub("", text) if isinstance(text, str) else "" for field, text in turns[name].items()
        }
        messages.append(_message("user", plain.get("Human", "")))
        for field, kind in _MOSS_HIDDEN:
            if plain.get(field, "None") not in ("", "None"):
                part = {"type": kind, "name": "command", kind: plain[field], "input": plain[field]}
                messages.append({"role": "assistant", "content": [{**part, "content": plain[field]}]})
        messages.append(_message("assistant", plain.get("MOSS", "")))
    return {**about, "messages": messages}


# Other data sets of dialogue research.


def _abcd(record: _Record, where: str, notes: Counter[str]) -> _Record:
    messages = []
    for number, entry in enumerate(record["original"] if isinstance(record["original"], list) else [None], start=1):
        if not isinstance(entry, list) or len(entry) != 2 or not all(isinstance(part, str) for part in entry):
            raise UserError(f"{where}, 'original', entry {number}: {_shown(entry)} must be a speaker and a text")
        messages.append(_hidden("tool_use", "action", entry[1]) if entry[0] == "action" else _message(*entry))
    return {"id": record.get("convo_id"), "messages": messages}


def _persona_chat(lines: Iterable[JsonLine], notes: Counter[str]) -> _Found:
    """Yields the dialogues of objects with all replies, or of a row for each, of which the last repeats all others."""
    found: dict[Any, tuple[int, JsonLine, _Record]] = {}
    for line in lines:
        record, persona = line.record, line.record.get("personality")
        reply = _objects(record, "utterances", line.where)[-1:] if "utterances" in record else [record]
        said = [
            text for one in reply for text in (*_texts(one.get("history"), "history", line.where),
            *_texts(one.get("candidates"), "candidates", line.where)[-1:])
        ]  # fmt: skip
        messages = [_message(_ROLES[(len(said) - number) % 2], text) for number, text in enumerate(said)]
        messages = [message for message in messages if message["content"] != SILENCE]
        prompt = _prompt(*(persona if isinstance(persona, list) else []))
        name = record.get("conv_id")
        key = line.where if name is None else f"{name}"
        if key not in found or found[key][0] <= len(said):
            found[key] = (len(said), line, {"id": name, "messages": [*prompt, *messages]})
    for _, line, record in found.values():
        yield line, record


def _multiwoz(record: _Record, where: str, notes: Counter[str]) -> _Record:
    texts = [entry.get("text") for entry in _objects(record, "log", where)]
    return {"id": record.get("dialogue_id"), "messages": _turns(texts)}


def _paths(entries: str, speaker: str, text: str, dialogue_id: str) -> Callable[..., _Found]:
    """Returns a conversion of objects whose list, speakers, texts and id are at paths."""

    def convert(record: _Record, where: str, notes: Counter[str]) -> _Record:
        found = [(value_at(one, speaker), value_at(one, text)) for one in _objects(record, entries, where)]
        messages = [_message(who.lower() if isinstance(who, str) else who, said) for who, said in found]
        return {"id": value_at(record, dialogue_id), "messages": messages}

    return _each(convert)


def _camrest(record: _Record, where: str, notes: Counter[str]) -> _Record:
    turns = _objects(record, "dial", where)
    texts = [value_at(turn, path) for turn in turns for path in ("usr.transcript", "sys.sent")]
    return {"id": record.get("dialogue_id"), "messages": _turns(texts)}


def _tau_bench(record: _Record, where: str, notes: Counter[str]) -> _Record:
    trial = record.get("trial")
    name = f"{record['task_id']}" if trial is None else f"{record['task_id']}-{trial}"
    return {"id": name, "case_id": f"{record['task_id']}", "messages": record["traj"]}


def _ultrachat(record: _Record, where: str, notes: Counter[str]) -> _Record:
    return {"id": record.get("id"), "messages": _turns(record["data"])}


def _blended(record: _Record, where: str, notes: Counter[str]) -> _Record:
    free, guided = (_texts(record[name], name, where) for name in ("free_messages", "guided_messages"))
    messages = _turns(_alternating(free, guided, where), ("free", "guided"))
    return {"id": None, "messages": messages}


_MARKED = ("transcript", "text", "chat", "input")
_INSTRUCTION = re.compile(r"\s*(?:<s>)?\s*\[INST\](.*?)\[/INST\](.*?)(?=<s>|\[INST\]|\Z)", re.DOTALL)
_LLAMAS_PROMPT = re.compile(r"\s*<<SYS>>(.*?)<</SYS>>", re.DOTALL)


def _marked_field(record: _Record) -> str:
    """Returns the field with a text of several speakers; empty if none is."""
    texts = [(name, record[name]) for name in _MARKED if isinstance(record.get(name), str)]
    return next((name for name, text in texts if begins_marked(text) or _INSTRUCTION.match(text)), "")


def _marked(record: _Record, where: str, notes: Counter[str]) -> _Record:
    text = record[_marked_field(record)] if _marked_field(record) else ""
    messages = marked_messages(text, "system") if text else []
    if _INSTRUCTION.match(text):
        prompt = _LLAMAS_PROMPT.search(text)
        pairs = _INSTRUCTION.findall(_LLAMAS_PROMPT.sub("", text))
        messages = [
            *_prompt(prompt and prompt[1]),
            *_turns([one.replace("</s>", "") for pair in pairs for one in pair]),
        ]
    elif not text:
        raise UserError(f"{where}: none of {', '.join(_MARKED)} begins with a speaker, such as `Human:`")
    system = record.get("system")
    before = _prompt(system.removeprefix("SYSTEM:")) if isinstance(system, str) else []
    return {"id": _first(record, "id"), "model": record.get("model"), "messages": [*before, *messages]}


# Exports of chat applications.

_DISCORD_SAID = ("Default", "Reply", "ChatInputCommand", "ContextMenuCommand", "ThreadStarterMessage")


def _discord(record: _Record, where: str, notes: Counter[str]) -> _Record:
    messages, bots = [], Counter[str]()
    for message in _objects(record, "messages", where):
        if message.get("type", "Default") not in _DISCORD_SAID:
            notes["messages of Discord itself, such as joins, left out"] += 1
            continue
        name = f"{value_at(message, 'author.name') or 'unknown'}"
        bots[name] += value_at(message, "author.isBot") is True
        messages.append(_message(name, message.get("content")))
    bot = next((name for name, count in bots.most_common(1) if count), None)
    return {"id": value_at(record, "channel.id"), "model": bot, "messages": messages}


def _telegram(record: _Record, where: str, notes: Counter[str]) -> _Record:
    messages = []
    for message in _objects(record, "messages", where):
        if message.get("type", "message") != "message":
            notes["messages of Telegram itself, such as calls, left out"] += 1
        else:
            messages.append(_message(f"{message.get('from') or message.get('from_id')}", message.get("text")))
    is_bot = record["type"] == "bot_chat" and isinstance(record["name"], str)
    return {"id": record["id"], "model": record["name"] if is_bot else None, "messages": messages}


_LIBRECHAT = ("messages", "messagesTree")


def _librechat(record: _Record, where: str, notes: Counter[str]) -> _Record:
    if isinstance(record.get("messagesTree"), list):
        messages, level = [], record["messagesTree"]
        while isinstance(level, list) and level and isinstance(level[-1], dict):
            if len(level) > 1:
                notes["dialogues with branches, of which the one that ends last is read"] += not messages
            messages.append(level[-1])
            level = level[-1].get("children")
    else:
        messages = branch_of_last(_objects(record, "messages", where), notes)
    models = [one["model"] for one in messages if not one.get("isCreatedByUser") and isinstance(one.get("model"), str)]
    entries = [
        {"role": "user" if one.get("isCreatedByUser") else "assistant", "text": one.get("text"),
         "content": one.get("content")}
        for one in messages
    ]  # fmt: skip
    about = {"id": record["conversationId"], "model": models[-1] if models else value_at(record, "options.model")}
    return {**about, "messages": entries}


def _open_webui(record: _Record, where: str, notes: Counter[str]) -> _Record:
    chat = record["chat"]
    nodes, last = value_at(chat, "history.messages"), value_at(chat, "history.currentId")
    messages: list[_Record] = []
    seen: set[str] = set()
    if isinstance(nodes, dict) and last in nodes:
        while isinstance(last, str) and isinstance(nodes.get(last), dict) and last not in seen:
            seen.add(last)
            messages.insert(0, nodes[last])
            last = nodes[last].get("parentId")
    else:
        messages = branch_of_last(_objects(chat, "messages", f"{where}, 'chat'"), notes)
    models = [one["model"] for one in messages if one.get("role") == "assistant" and isinstance(one.get("model"), str)]
    model = models[-1] if models else value_at(chat, "models.0")
    prompt = _prompt(chat.get("system"), value_at(chat, "params.system"))
    entries = [_message(one.get("role"), one.get("content")) for one in messages]
    return {"id": record.get("id"), "model": model, "messages": [*prompt, *entries]}


def _oobabooga(record: _Record, where: str, notes: Counter[str]) -> _Record:
    pairs = record["internal"] if isinstance(record["internal"], list) else [None]
    if not all(_all_texts(pair, 2) for pair in pairs):
        raise UserError(f"{where}: 'internal' is {_shown(record['internal'])}; it must be a list of pairs of texts")
    texts = [text for pair in pairs for text in pair[:2]]
    said = [message for message in _turns(texts) if not message["content"].startswith("<|BEGIN-VISIBLE-CHAT|>")]
    return {"id": record.get("id"), "messages": said}


_FRAGMENTS = {"REQUEST": "user", "RESPONSE": "assistant"}


def _deepseek(record: _Record, where: str, notes: Counter[str]) -> _Record:
    nodes, name = record["mapping"], "root"
    messages: list[_Record] = []
    models: list[str] = []
    seen: set[str] = set()
    while isinstance(nodes, dict) and isinstance(nodes.get(name), dict) and name not in seen:
        seen.add(name)
        fragments = value_at(nodes[name], "message.fragments")
        for one in fragments if isinstance(fragments, list) else []:
            if isinstance(one, dict) and one.get("type") == "THINK":
                part = {"type": "thinking", "thinking": one.get("content")}
                messages.append({"role": "assistant", "content": [part]})
            elif isinstance(one, dict) and f"{one.get('type')}" in _FRAGMENTS:
                messages.append(_message(_FRAGMENTS[one["type"]], one.get("content")))
                models += [value_at(nodes[name], "message.model")] * (one["type"] == "RESPONSE")
        following = nodes[name].get("children")
        name = f"{following[-1]}" if isinstance(following, list) and following else ""
    return {"id": record["id"], "model": models[-1] if models else None, "messages": messages}


def _messenger(record: _Record, where: str, notes: Counter[str]) -> _Record:
    entries = _objects(record, "messages", where)
    times = [entry.get("timestamp_ms") for entry in entries]
    if all(isinstance(time, int) for time in times):
        entries = [entries[place] for place in sorted(range(len(entries)), key=lambda place: times[place])]
    messages = [_message(_metas_text(entry.get("sender_name")), _metas_text(entry.get("content"))) for entry in entries]
    return {"id": record["thread_path"], "messages": messages}


def _metas_text(value: Any) -> Any:
    """Returns a text of Meta's exports, which write each byte of UTF-8 as a character."""
    try:
        return value.encode("latin-1").decode() if isinstance(value, str) else value
    except UnicodeError:
        return value


def _openai_thread(record: _Record, where: str, notes: Counter[str]) -> _Record:
    entries = _objects(record, "data", where)
    if all(isinstance(entry.get("created_at"), int) for entry in entries):
        entries = entries[::-1]
        entries.sort(key=lambda entry: entry["created_at"])  # of one second, the later one stands first
    messages = [_message(entry.get("role"), entry.get("content")) for entry in entries]
    return {"id": value_at(record, "data.0.thread_id"), "messages": messages}


_CHAINLIT_ROLES = {"user_message": "user", "assistant_message": "assistant", "system_message": "system"}


def _chainlit(record: _Record, where: str, notes: Counter[str]) -> _Record:
    messages = []
    for step in _objects(record, "steps", where):
        if f"{step.get('type')}" in _CHAINLIT_ROLES:
            messages.append(_message(_CHAINLIT_ROLES[step["type"]], _first(step, "output", "input")))
        elif step.get("type") == "tool":
            messages.append(_hidden("tool_use", step.get("name"), step.get("input")))
            messages.append(_hidden("tool_result", step.get("name"), step.get("output")))
    return {"id": record["id"], "messages": messages}


def _sillytavern(lines: Iterable[JsonLine], notes: Counter[str]) -> _Found:
    """Yields a dialogue for each head that names user and character."""
    found: list[tuple[JsonLine, _Record]] = []
    for line in lines:
        record = line.record
        if "character_name" in record and "mes" not in record:
            about = {"id": value_at(record, "chat_metadata.integrity"), "model": record["character_name"]}
            found.append((line, {**about, "messages": []}))
        elif not found or "mes" not in record:
            raise UserError(f"{line.where}: no 'mes', or no line with 'character_name' before; export the chat again")
        elif record.get("is_system"):
            notes["messages of SillyTavern itself, left out"] += 1
        else:
            found[-1][1]["messages"].append(_message("user" if record.get("is_user") else "assistant", record["mes"]))
    yield from found


def _ai_studio(record: _Record, where: str, notes: Counter[str]) -> _Record:
    messages = _prompt(value_at(record, "systemInstruction.text"), value_at(record, "systemInstruction.parts.0.text"))
    for chunk in _objects(record, "chunkedPrompt.chunks", where):
        if chunk.get("isThought"):
            messages.append({"role": "assistant", "content": [{"type": "thinking", "thinking": chunk.get("text")}]})
        else:
            kinds = [name for name in chunk if name.startswith("drive") or name.startswith("inline")]
            messages.append(_message(chunk.get("role"), chunk.get("text", [{"type": kind} for kind in kinds])))
    model = f"{value_at(record, 'runSettings.model') or ''}".removeprefix("models/")
    return {"id": None, "model": model or None, "messages": messages}


_ASKED = "Prompted "


def _gemini_activity(lines: Iterable[JsonLine], notes: Counter[str]) -> _Found:
    for line in lines:
        title, html = line.record.get("title"), value_at(line.record, "safeHtmlItem.0.html")
        if not isinstance(title, str) or not isinstance(html, str):
            notes["entries of Gemini's activity without a response, left out"] += 1
            continue
        if not title.startswith(_ASKED):
            notes["prompts of Gemini's activity that do not begin with 'Prompted', kept whole"] += 1
        asked = unescape(title.removeprefix(_ASKED))
        yield line, {"id": None, "model": "gemini", "messages": _turns([asked, html_text(html)])}


# Help desks, bots and calls.


def _zendesk(record: _Record, where: str, notes: Counter[str]) -> _Record:
    comments = _objects(record, "comments", where)
    customer = record.get("requester_id", comments[0].get("author_id") if comments else None)
    messages = []
    for comment in comments:
        if comment.get("public") is False:
            notes["internal notes left out"] += 1
            continue
        text = _first(comment, "plain_body", "body", "html_body")
        role = "user" if comment.get("author_id") == customer else "agent"
        messages.append(_message(role, html_text(text) if isinstance(text, str) else text))
    return {"id": _first(record, "id", "ticket_id"), "messages": messages}


def _freshdesk(record: _Record, where: str, notes: Counter[str]) -> _Record:
    messages = [_message("user", record.get("description_text") or html_text(f"{record.get('description') or ''}"))]
    for entry in _objects(record, "conversations", where):
        if entry.get("private"):
            notes["internal notes left out"] += 1
        else:
            text = _first(entry, "body_text", "body")
            role = "user" if entry.get("incoming") else "agent"
            messages.append(_message(role, html_text(text) if isinstance(text, str) else text))
    return {"id": record["id"], "messages": messages}


def _lex(lines: Iterable[JsonLine], notes: Counter[str]) -> _Found:
    found: dict[str, list[tuple[str, int, JsonLine, list[_Record]]]] = {}
    for line in lines:
        record = line.record
        several = record.get("messages")
        replies = several if isinstance(several, list) else [{"content": record.get("botResponse")}]
        said = [one.get("content") for one in replies if isinstance(one, dict) and one.get("content")]
        messages = [_message("user", record["inputTranscript"]), *(_message("bot", text) for text in said)]
        name = f"{_first(record, 'sessionId', 'userId') or line.where}"
        found.setdefault(name, []).append((f"{record.get('timestamp') or ''}", line.number, line, messages))
    yield from _in_sessions(found)


def _in_sessions(found: Mapping[str, list[tuple[str, int, JsonLine, list[_Record]]]]) -> _Found:
    """Yields sessions with the messages of their entries in the order of the times."""
    for name, parts in found.items():
        parts.sort(key=lambda part: part[:2])
        yield parts[0][2], {"id": name, "messages": [message for *_, some in parts for message in some]}


def _bot_framework(lines: Iterable[JsonLine], notes: Counter[str]) -> _Found:
    found: dict[Any, tuple[JsonLine, _Record]] = {}
    for line in lines:
        record = line.record
        name = value_at(record, "conversation.id")
        if not isinstance(name, str):
            raise UserError(f"{line.where}: 'conversation' has no 'id'; save the transcript again")
        messages = found.setdefault(name, (line, {"id": name, "messages": []}))[1]["messages"]
        if record.get("type") != "message":
            notes["activities that are no messages, such as events, left out"] += 1
        else:
            kinds = [one.get("contentType") for one in record.get("attachments") or [] if isinstance(one, dict)]
            shown = [{"type": f"{kind}".rpartition(".")[2] or "attachment"} for kind in kinds]
            role = next((one for one in ("role", "name", "id") if value_at(record, f"from.{one}")), "role")
            messages.append(_message(value_at(record, f"from.{role}"), record.get("text") or shown))
    yield from found.values()


def _dialogflow(lines: Iterable[JsonLine], notes: Counter[str]) -> _Found:
    found: dict[str, list[tuple[str, int, JsonLine, list[_Record]]]] = {}
    for line in lines:
        result = value_at(line.record, "jsonPayload.queryResult")
        name = f"{value_at(line.record, 'labels.session_id') or value_at(line.record, 'jsonPayload.session') or ''}"
        if not isinstance(result, dict) or not name:
            notes["entries of Dialogflow's log without a response or session, left out"] += 1
            continue
        several = _first(result, "responseMessages", "fulfillmentMessages")
        texts = [value_at(one, "text.text") for one in several] if isinstance(several, list) else []
        said = [text for some in texts if isinstance(some, list) for text in some if isinstance(text, str)]
        said = said or [text for text in [result.get("fulfillmentText")] if isinstance(text, str)]
        asked = _first(result, "text", "transcript", "queryText")
        messages = [_message("user", asked), *(_message("bot", text) for text in said)]
        found.setdefault(name, []).append((f"{line.record.get('timestamp') or ''}", line.number, line, messages))
    yield from _in_sessions(found)


_CALL_ROLES = {"bot": "assistant", "agent": "agent"}


def _call(record: _Record, where: str, notes: Counter[str]) -> _Record:
    field = next(name for name in ("transcript_with_tool_calls", "transcript_object", "messages") if record.get(name))
    messages = []
    for entry in _objects(record, field, where):
        role, text = f"{entry.get('role')}", _first(entry, "message", "content")
        if role in ("tool_calls", "tool_call_invocation"):
            calls = entry.get("toolCalls") if isinstance(entry.get("toolCalls"), list) else [entry]
            for call in (one for one in calls if isinstance(one, dict)):
                inner = call["function"] if isinstance(call.get("function"), dict) else call
                messages.append(_hidden("tool_use", inner.get("name"), inner.get("arguments")))
        elif role == "tool_call_result":
            messages.append(_hidden("tool_result", entry.get("name"), _first(entry, "result", "content")))
        elif role in ("user", "system", *_CALL_ROLES):
            messages.append(_message(_CALL_ROLES.get(role, role), text))
        else:
            notes["entries of calls that are no utterances, such as pressed keys, left out"] += 1
    return {"id": _first(record, "call_id", "id"), "messages": messages}


def _sets(*sets: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(fields.split()) for fields in sets)


def _batch(record: _Record, where: str, notes: Counter[str]) -> _Record:
    raise UserError(
        f"{where}: requests or results of a batch, each of which is half of a dialogue; write one object for each "
        "'custom_id' with the request's `body` (Anthropic: `params`) as `request` and the result's `body` (Anthropic: "
        "`message`) as `response`"
    )


def _is_calls(record: _Record) -> bool:
    return any(isinstance(record.get(name), list) and record[name] for name in ("messages", "transcript_object"))


def _all_texts(value: Any, at_least: int = 1) -> bool:
    return isinstance(value, list) and len(value) >= at_least and all(isinstance(one, str) for one in value)


CONVERSIONS: dict[str, Conversion] = {
    "coqa": Conversion(
        "CoQA, and its rows on the Hugging Face Hub. The story is a system prompt.",
        _sets("story questions answers"), _each(_coqa),
    ),
    "quac": Conversion(
        "QuAC, and its rows on the Hugging Face Hub. Title, background and section are a system prompt.",
        _sets("paragraphs section_title background", "context questions orig_answers"), _quac,
    ),
    "moss": Conversion(
        'MOSS: `{"chat": {"turn_1": {"Human": ..., "MOSS": ...}}}`, or `plain_text` with `[Human]:` and `[MOSS]:`.',
        _sets("chat meta_instruction", "chat num_turns", "plain_text num_turns"), _each(_moss),
        lambda record: isinstance(record.get("chat", record.get("plain_text")), dict | str),
    ),
    "abcd": Conversion(
        "ABCD, the Action-Based Conversations Dataset: `original`. Actions are tool calls. Speakers are `agent` and "
        "`customer`.",
        _sets("convo_id original", "original delexed"), _each(_abcd),
    ),
    "persona_chat": Conversion(
        "Persona-Chat and ConvAI2 as JSON: `personality` and `utterances` with `history` and `candidates`, of which "
        "the last is the reply; also a row for each reply. The text format is read by `text`.",
        _sets("personality utterances", "personality candidates history"), _persona_chat,
    ),
    "multiwoz": Conversion(
        "MultiWOZ 2.0, 2.1, 2.3 and 2.4, `data.json`: dialogues by their names with a `log`. `jsonl` reads 2.2.",
        _sets("goal log"), _each(_multiwoz),
    ),
    "topical_chat": Conversion(
        "Topical-Chat: dialogues by their ids with `content`. Speakers are `agent_1` and `agent_2`.",
        _sets("article_url content", "config content conversation_rating"),
        _paths("content", "agent", "message", "dialogue_id"),
    ),
    "kvret": Conversion(
        "KVRET, Stanford's multi-domain dialogues of `driver` and `assistant`.",
        _sets("dialogue scenario"), _paths("dialogue", "turn", "data.utterance", "scenario.uuid"),
        lambda record: isinstance(value_at(record, "dialogue.0.data"), dict),
    ),
    "camrest": Conversion(
        "CamRest676: `dial` with `usr` and `sys`.", _sets("dialogue_id dial"), _each(_camrest),
    ),
    "cmu_dog": Conversion(
        "CMU DoG: `history` with `uid` and `text`.",
        _sets("history documentID", "history whoSawDoc"), _paths("history", "uid", "text", "conversation_id"),
    ),
    "redial": Conversion(
        "ReDial: `messages` with `senderWorkerId`. The respondent recommends films: set `evaluated_role` to it.",
        _sets("messages respondentWorkerId initiatorWorkerId"),
        _paths("messages", "senderWorkerId", "text", "conversationId"),
    ),
    "tau_bench": Conversion(
        "tau-bench's results: `traj`. The task is the case, each trial a dialogue.",
        _sets("traj task_id"), _each(_tau_bench),
    ),
    "sharegpt_items": Conversion(
        "ShareGPT's first dump: `items` with `from` and `value`.",
        _sets("id items"),
        _paths("items", "from", "value", "id"),
        lambda record: isinstance(value_at(record, "items.0"), dict) and {"from", "value"} <= record["items"][0].keys(),
    ),
    "ultrachat": Conversion(
        'UltraChat: `{"id": ..., "data": ["...", "..."]}`, alternating texts of user and assistant.',
        _sets("id data"), _each(_ultrachat), lambda record: _all_texts(record["data"], 2) and len(record) < 4,
    ),
    "blended_skill_talk": Conversion(
        "BlendedSkillTalk's rows on the Hugging Face Hub: `free_messages` and `guided_messages`. `jsonl` reads its "
        "original files.",
        _sets("free_messages guided_messages"), _each(_blended),
    ),
    "marked": Conversion(
        "One text with marks of speakers in `transcript` (Anthropic's red-team attempts), `text` (Guanaco), `chat` "
        "(Glaive) or `input` (Baize): `Human:`, `### Human:`, `USER:`, `[|Human|]`, `<|im_start|>user`, `[INST]`.",
        _sets("transcript", "text", "chat", "input"), _each(_marked), lambda record: bool(_marked_field(record)),
    ),
    "discord": Conversion(
        "Discord, by DiscordChatExporter (JSON). The system is the bot with the most messages.",
        _sets("guild channel messages"), _each(_discord),
    ),
    "telegram": Conversion(
        "Telegram's export `result.json`, of one chat or all. The system is the bot of a chat with one.",
        _sets("name type id messages"), _each(_telegram),
        lambda record: f"{record['type']}".endswith(("_chat", "_group", "_supergroup", "_channel", "saved_messages")),
    ),
    "librechat": Conversion(
        "LibreChat's export of a conversation (JSON), as a list or a tree; the branch that ends last.",
        _sets("conversationId messages", "conversationId messagesTree"), _each(_librechat),
        lambda record: any(value_at(record, f"{name}.0.isCreatedByUser") is not None for name in _LIBRECHAT),
    ),
    "open_webui": Conversion(
        "Open WebUI's export of chats (JSON): the branch shown.",
        _sets("chat id"), _each(_open_webui),
        lambda record: isinstance(record["chat"], dict) and bool({"history", "messages"} & record["chat"].keys()),
    ),
    "chainlit": Conversion(
        "Chainlit's threads with their `steps`. Tools are hidden messages.",
        _sets("id steps"), _each(_chainlit),
        lambda record: isinstance(record["steps"], list)
        and any(isinstance(one, dict) and f"{one.get('type')}" in _CHAINLIT_ROLES for one in record["steps"]),
    ),
    "oobabooga": Conversion(
        "Chats of text-generation-webui: `internal` and `visible` pairs.", _sets("internal visible"), _each(_oobabooga),
    ),
    "deepseek": Conversion(
        "DeepSeek's export: `mapping` with `fragments`; the branch that ends last.",
        _sets("mapping title id"), _each(_deepseek), lambda record: "current_node" not in record,
    ),
    "grok": Conversion(
        "Grok's export: `conversation` and `responses`.",
        _sets("conversation responses"), _paths("responses", "response.sender", "response.message", "conversation.id"),
        lambda record: isinstance(record["conversation"], dict),
    ),
    "messenger": Conversion(
        "Facebook's and Instagram's messages (JSON), in the order of their times.",
        _sets("participants messages thread_path"), _each(_messenger),
    ),
    "openai_thread": Conversion(
        "A list of messages of an OpenAI thread, in the order of their times.",
        _sets("object data"), _each(_openai_thread),
        lambda record: value_at(record, "data.0.object") == "thread.message",
    ),
    "sillytavern": Conversion(
        "SillyTavern's chats (JSON Lines). The system is the character. Other swipes than the one shown are skipped.",
        _sets("user_name character_name"), _sillytavern,
    ),
    "ai_studio": Conversion(
        "Google AI Studio's saved prompts: `chunkedPrompt`. Thoughts are hidden messages.",
        _sets("chunkedPrompt"), _each(_ai_studio),
    ),
    "gemini_activity": Conversion(
        "Gemini's activity in Google Takeout (`MyActivity.json`): each prompt with its response is a dialogue.",
        _sets("header title safeHtmlItem", "header title products"), _gemini_activity,
        lambda record: f"{record['header']}".startswith(("Gemini", "Bard")),
    ),
    "zendesk": Conversion(
        "Zendesk's tickets with `comments` (JSON): `user` is the requester, `agent` anyone else. Internal notes are "
        "left out.",
        _sets("comments", "comments requester_id", "comments ticket_id"), _each(_zendesk),
        lambda record: isinstance(record["comments"], list)
        and bool(record["comments"])
        and all(isinstance(one, dict) and {"author_id", "public"} <= one.keys() for one in record["comments"]),
    ),
    "freshdesk": Conversion(
        "Freshdesk's tickets with `conversations`: the description, and replies of `user` and `agent`. Private notes "
        "are left out.",
        _sets("requester_id conversations description_text", "requester_id conversations description"),
        _each(_freshdesk),
    ),
    "lex": Conversion(
        "Amazon Lex's conversation logs (JSON): `inputTranscript` and `messages`. A session is a dialogue.",
        _sets("inputTranscript sessionId", "inputTranscript botResponse"), _lex,
    ),
    "bot_framework": Conversion(
        "Bot Framework's transcripts: activities with `from` and `conversation`.",
        _sets("type from conversation"), _bot_framework,
        lambda record: isinstance(record["from"], dict) and isinstance(record["conversation"], dict),
    ),
    "dialogflow": Conversion(
        "Dialogflow's log of Google Cloud (JSON): `jsonPayload` with a `queryResult`. A session is a dialogue.",
        _sets("jsonPayload labels", "jsonPayload insertId"), _dialogflow,
        lambda record: isinstance(record["jsonPayload"], dict) and "queryResult" in record["jsonPayload"],
    ),
    "batch": Conversion(
        "Requests or results of a batch of OpenAI or Anthropic: each half of a dialogue, so they are refused with the "
        "way to join them.",
        _sets("custom_id body", "custom_id response", "custom_id result", "custom_id params"),
        _each(_batch),
    ),
    "vapi": Conversion(
        "Vapi's calls: `messages` with their times. Tool calls are hidden messages.",
        _sets("assistantId messages", "costBreakdown messages", "artifact messages"), _each(_call), _is_calls,
    ),
    "retell": Conversion(
        "Retell's calls: `transcript_object`, or `transcript_with_tool_calls`.",
        _sets("call_id transcript_object"), _each(_call), _is_calls,
    ),
}  # fmt: skip
"""Formats by the reader's name in the configuration."""
FIELD_SETS = [fields for one in CONVERSIONS.values() for fields in one.fields if len(fields) > 1]


def conversion_of(record: _Record) -> str:
    """Returns the format of an object; empty if it is none of them."""
    return next((name for name, one in CONVERSIONS.items() if one.fits(record)), "")
