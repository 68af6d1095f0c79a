"""Exports of chat applications, help desks, bots and calls, as messages.

    {"guild": {...}, "channel": {...}, "messages": [{"author": {"name": "Ann"}, "content": "Hi"}]}       Discord
    {"chat": {"history": {"currentId": "m2", "messages": {"m2": {"parentId": "m1", ...}}}}}              Open WebUI
    {"id": 7, "requester_id": 1, "comments": [{"author_id": 1, "body": "Hi", "public": true}]}           Zendesk
    {"call_id": "c1", "transcript_object": [{"role": "agent", "content": "Hello"}]}                      Retell

Of a tree of messages, the branch that ends with the message shown last is the dialogue. Tool calls, thoughts and
instructions are hidden messages; internal notes and events are left out and counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from html import unescape
from typing import Any

from dialeval.corpora.json_records import value_at
from dialeval.corpora.text_files import JsonLine
from dialeval.corpora.transcripts.conversions import (
    Conversion,
    Found,
    Raw,
    all_texts,
    at_paths,
    each,
    field_sets,
    first_of,
    hidden,
    instructions_of,
    message,
    objects_at,
    turns_of,
)
from dialeval.corpora.transcripts.entries import DIALOGUES, branch_of_last, shown
from dialeval.corpora.transcripts.json_formats import chatgpt, html_text, intercom, rasa
from dialeval.errors import UserError

# Exports of chat applications.

_DISCORD_SAID = ("Default", "Reply", "ChatInputCommand", "ContextMenuCommand", "ThreadStarterMessage")


def _discord(record: Raw, where: str, notes: Counter[str]) -> Raw:
    messages: list[Raw] = []
    bots: Counter[str] = Counter()
    for entry in objects_at(record, "messages", where):
        if entry.get("type", "Default") not in _DISCORD_SAID:
            notes["messages of Discord itself, such as joins, left out"] += 1
            continue
        name = f"{value_at(entry, 'author.name') or 'unknown'}"
        bots[name] += value_at(entry, "author.isBot") is True
        messages.append(message(name, entry.get("content")))
    bot = next((name for name, count in bots.most_common(1) if count), None)
    return {"id": value_at(record, "channel.id"), "model": bot, "messages": messages}


def _telegram(record: Raw, where: str, notes: Counter[str]) -> Raw:
    messages = []
    for entry in objects_at(record, "messages", where):
        if entry.get("type", "message") != "message":
            notes["messages of Telegram itself, such as calls, left out"] += 1
        else:
            messages.append(message(f"{entry.get('from') or entry.get('from_id')}", entry.get("text")))
    is_bot = record["type"] == "bot_chat" and isinstance(record["name"], str)
    return {"id": record["id"], "model": record["name"] if is_bot else None, "messages": messages}


_LIBRECHAT = ("messages", "messagesTree")


def _librechat(record: Raw, where: str, notes: Counter[str]) -> Raw:
    if isinstance(record.get("messagesTree"), list):
        messages: list[Raw] = []
        level = record["messagesTree"]
        while isinstance(level, list) and level and isinstance(level[-1], dict):
            if len(level) > 1:
                notes["dialogues with several branches: the latest branch is read"] += not messages
            messages.append(level[-1])
            level = level[-1].get("children")
    else:
        messages = branch_of_last(objects_at(record, "messages", where), notes)
    models = [one["model"] for one in messages if not one.get("isCreatedByUser") and isinstance(one.get("model"), str)]
    entries = [
        {"role": "user" if one.get("isCreatedByUser") else "assistant", "text": one.get("text"),
         "content": one.get("content")}
        for one in messages
    ]  # fmt: skip
    about = {"id": record["conversationId"], "model": models[-1] if models else value_at(record, "options.model")}
    return {**about, "messages": entries}


def _open_webui(record: Raw, where: str, notes: Counter[str]) -> Raw:
    chat = record["chat"]
    nodes, last = value_at(chat, "history.messages"), value_at(chat, "history.currentId")
    messages: list[Raw] = []
    seen: set[str] = set()
    if isinstance(nodes, dict) and isinstance(last, str) and last in nodes:
        while isinstance(last, str) and isinstance(nodes.get(last), dict) and last not in seen:
            seen.add(last)
            messages.append(nodes[last])
            last = nodes[last].get("parentId")
        messages.reverse()
    else:
        messages = branch_of_last(objects_at(chat, "messages", f"{where}, 'chat'"), notes)
    models = [one["model"] for one in messages if one.get("role") == "assistant" and isinstance(one.get("model"), str)]
    model = models[-1] if models else value_at(chat, "models.0")
    instructions = instructions_of(chat.get("system"), value_at(chat, "params.system"))
    entries = [message(one.get("role"), one.get("content")) for one in messages]
    return {"id": record.get("id"), "model": model, "messages": [*instructions, *entries]}


def _oobabooga(record: Raw, where: str, notes: Counter[str]) -> Raw:
    pairs: list[Any] = record["internal"] if isinstance(record["internal"], list) else [None]
    if not all(all_texts(pair, 2) for pair in pairs):
        raise UserError(f"{where}: 'internal' is {shown(record['internal'])}; it must be a list of pairs of texts")
    texts = [text for pair in pairs for text in pair[:2]]
    said = [one for one in turns_of(texts) if not one["content"].startswith("<|BEGIN-VISIBLE-CHAT|>")]
    return {"id": record.get("id"), "messages": said}


_FRAGMENTS = {"REQUEST": "user", "RESPONSE": "assistant"}


def _has_fragments(record: Raw) -> bool:
    nodes = record["mapping"].values() if isinstance(record["mapping"], dict) else ()
    return any(value_at(node, "message.fragments") is not None for node in nodes)


def _deepseek(record: Raw, where: str, notes: Counter[str]) -> Raw:
    nodes, name = record["mapping"], "root"
    messages: list[Raw] = []
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
                messages.append(message(_FRAGMENTS[one["type"]], one.get("content")))
                models += [value_at(nodes[name], "message.model")] * (one["type"] == "RESPONSE")
        following = nodes[name].get("children")
        name = f"{following[-1]}" if isinstance(following, list) and following else ""
    return {"id": record["id"], "model": models[-1] if models else None, "messages": messages}


def _messenger(record: Raw, where: str, notes: Counter[str]) -> Raw:
    entries = objects_at(record, "messages", where)
    if all(isinstance(entry.get("timestamp_ms"), int) for entry in entries):
        entries = sorted(entries, key=lambda entry: int(entry["timestamp_ms"]))
    messages = [message(_metas_text(entry.get("sender_name")), _metas_text(entry.get("content"))) for entry in entries]
    return {"id": record["thread_path"], "messages": messages}


def _metas_text(value: Any) -> Any:
    """Return a text of Meta's exports, which write each byte of UTF-8 as a character."""
    try:
        return value.encode("latin-1").decode() if isinstance(value, str) else value
    except UnicodeError:
        return value


def _openai_thread(record: Raw, where: str, notes: Counter[str]) -> Raw:
    entries = objects_at(record, "data", where)
    if all(isinstance(entry.get("created_at"), int) for entry in entries):
        entries = entries[::-1]
        entries.sort(key=lambda entry: entry["created_at"])  # of one second, the later one stands first
    messages = [message(entry.get("role"), entry.get("content")) for entry in entries]
    return {"id": value_at(record, "data.0.thread_id"), "messages": messages}


_CHAINLIT_ROLES = {"user_message": "user", "assistant_message": "assistant", "system_message": "system"}


def _chainlit(record: Raw, where: str, notes: Counter[str]) -> Raw:
    messages = []
    for step in objects_at(record, "steps", where):
        if f"{step.get('type')}" in _CHAINLIT_ROLES:
            messages.append(message(_CHAINLIT_ROLES[step["type"]], first_of(step, "output", "input")))
        elif step.get("type") == "tool":
            messages.append(hidden("tool_use", step.get("name"), step.get("input")))
            messages.append(hidden("tool_result", step.get("name"), step.get("output")))
    return {"id": record["id"], "messages": messages}


def _sillytavern(lines: Iterable[JsonLine], notes: Counter[str]) -> Found:
    """Yield a dialogue for each head that names user and character."""
    found: list[tuple[JsonLine, Raw]] = []
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
            found[-1][1]["messages"].append(message("user" if record.get("is_user") else "assistant", record["mes"]))
    yield from found


def _ai_studio(record: Raw, where: str, notes: Counter[str]) -> Raw:
    paths = ("systemInstruction.text", "systemInstruction.parts.0.text")
    messages = instructions_of(*(value_at(record, path) for path in paths))
    for chunk in objects_at(record, "chunkedPrompt.chunks", where):
        if chunk.get("isThought"):
            messages.append({"role": "assistant", "content": [{"type": "thinking", "thinking": chunk.get("text")}]})
        else:
            kinds = [name for name in chunk if name.startswith("drive") or name.startswith("inline")]
            messages.append(message(chunk.get("role"), chunk.get("text", [{"type": kind} for kind in kinds])))
    model = f"{value_at(record, 'runSettings.model') or ''}".removeprefix("models/")
    return {"id": None, "model": model or None, "messages": messages}


_ASKED = "Prompted "


def _gemini_activity(lines: Iterable[JsonLine], notes: Counter[str]) -> Found:
    for line in lines:
        title, html = line.record.get("title"), value_at(line.record, "safeHtmlItem.0.html")
        if not isinstance(title, str) or not isinstance(html, str):
            notes["entries of Gemini's activity without a response, left out"] += 1
            continue
        if not title.startswith(_ASKED):
            notes["prompts of Gemini's activity that do not begin with 'Prompted', kept whole"] += 1
        asked = unescape(title.removeprefix(_ASKED))
        yield line, {"id": None, "model": "gemini", "messages": turns_of([asked, html_text(html)])}


# Help desks, bots and calls.


def _zendesk(record: Raw, where: str, notes: Counter[str]) -> Raw:
    comments = objects_at(record, "comments", where)
    customer = record.get("requester_id", comments[0].get("author_id") if comments else None)
    messages = []
    for comment in comments:
        if comment.get("public") is False:
            notes["internal notes left out"] += 1
            continue
        text = first_of(comment, "plain_body", "body", "html_body")
        role = "user" if comment.get("author_id") == customer else "agent"
        messages.append(message(role, html_text(text) if isinstance(text, str) else text))
    return {"id": first_of(record, "id", "ticket_id"), "messages": messages}


def _freshdesk(record: Raw, where: str, notes: Counter[str]) -> Raw:
    messages = [message("user", record.get("description_text") or html_text(f"{record.get('description') or ''}"))]
    for entry in objects_at(record, "conversations", where):
        if entry.get("private"):
            notes["internal notes left out"] += 1
        else:
            text = first_of(entry, "body_text", "body")
            role = "user" if entry.get("incoming") else "agent"
            messages.append(message(role, html_text(text) if isinstance(text, str) else text))
    return {"id": record.get("id"), "messages": messages}


def _lex(lines: Iterable[JsonLine], notes: Counter[str]) -> Found:
    found: dict[str, list[tuple[str, int, JsonLine, list[Raw]]]] = {}
    for line in lines:
        record = line.record
        several = record.get("messages")
        replies = several if isinstance(several, list) else [{"content": record.get("botResponse")}]
        said = [one.get("content") for one in replies if isinstance(one, dict) and one.get("content")]
        messages = [message("user", record["inputTranscript"]), *(message("bot", text) for text in said)]
        name = f"{first_of(record, 'sessionId', 'userId') or line.where}"
        found.setdefault(name, []).append((f"{record.get('timestamp') or ''}", line.number, line, messages))
    yield from _in_sessions(found)


def _in_sessions(found: Mapping[str, list[tuple[str, int, JsonLine, list[Raw]]]]) -> Found:
    """Yield sessions with the messages of their entries in the order of the times."""
    for name, parts in found.items():
        parts.sort(key=lambda part: part[:2])
        yield parts[0][2], {"id": name, "messages": [one for *_, some in parts for one in some]}


def _bot_framework(lines: Iterable[JsonLine], notes: Counter[str]) -> Found:
    found: dict[Any, tuple[JsonLine, Raw]] = {}
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
            messages.append(message(value_at(record, f"from.{role}"), record.get("text") or shown))
    yield from found.values()


def _dialogflow(lines: Iterable[JsonLine], notes: Counter[str]) -> Found:
    found: dict[str, list[tuple[str, int, JsonLine, list[Raw]]]] = {}
    for line in lines:
        result = value_at(line.record, "jsonPayload.queryResult")
        name = f"{value_at(line.record, 'labels.session_id') or value_at(line.record, 'jsonPayload.session') or ''}"
        if not isinstance(result, dict) or not name:
            notes["entries of Dialogflow's log without a response or session, left out"] += 1
            continue
        several = first_of(result, "responseMessages", "fulfillmentMessages")
        texts = [value_at(one, "text.text") for one in several] if isinstance(several, list) else []
        said = [text for some in texts if isinstance(some, list) for text in some if isinstance(text, str)]
        said = said or [text for text in [result.get("fulfillmentText")] if isinstance(text, str)]
        asked = first_of(result, "text", "transcript", "queryText")
        messages = [message("user", asked), *(message("bot", text) for text in said)]
        found.setdefault(name, []).append((f"{line.record.get('timestamp') or ''}", line.number, line, messages))
    yield from _in_sessions(found)


_CALLS = ("transcript_with_tool_calls", "transcript_object", "messages")
_CALL_ROLES = {"bot": "assistant"}


def _call(record: Raw, where: str, notes: Counter[str]) -> Raw:
    field = next((name for name in _CALLS if record.get(name)), "messages")
    messages = []
    for entry in objects_at(record, field, where):
        role, text = f"{entry.get('role')}", first_of(entry, "message", "content")
        if role in ("tool_calls", "tool_call_invocation"):
            several = entry.get("toolCalls")
            calls = several if isinstance(several, list) else [entry]
            for call in (one for one in calls if isinstance(one, dict)):
                inner = call["function"] if isinstance(call.get("function"), dict) else call
                messages.append(hidden("tool_use", inner.get("name"), inner.get("arguments")))
        elif role == "tool_call_result":
            messages.append(hidden("tool_result", entry.get("name"), first_of(entry, "result", "content")))
        elif text is not None:
            messages.append(message(_CALL_ROLES.get(role, role), text))
        else:
            notes["entries of calls that are no utterances, such as pressed keys, left out"] += 1
    return {"id": first_of(record, "call_id", "id"), "messages": messages}


def _batch(record: Raw, where: str, notes: Counter[str]) -> Raw:
    raise UserError(
        f"{where}: this file has the requests or the results of a batch, and each has only one side of a dialogue. "
        f"Join them: write one object for each 'custom_id' with the request's `body` (Anthropic: `params`) as "
        f"`request` and the result's `body` (Anthropic: "
        "`message`) as `response`"
    )


def _is_calls(record: Raw) -> bool:
    return any(isinstance(record.get(name), list) and record[name] for name in ("messages", "transcript_object"))


def _has_no_dialogue(record: Raw) -> bool:
    return not any(name in record for name in DIALOGUES.holding)


APPLICATIONS: dict[str, Conversion] = {
    "chatgpt": Conversion(
        "ChatGPT's export `conversations.json`. DialEval reads the branch that ends at `current_node`. The system is "
        "the model that wrote the responses of this branch.",
        field_sets("mapping current_node"), each(chatgpt), _has_no_dialogue,
    ),
    "rasa": Conversion(
        'Rasa\'s trackers: `{"sender_id": ..., "events": [{"event": "user", "text": "..."}, ...]}`',
        field_sets("sender_id events"), each(rasa), _has_no_dialogue,
    ),
    "intercom": Conversion(
        "Intercom's conversations with their `conversation_parts`, JSON or JSON Lines. The system is the bot; to "
        "evaluate human agents, set `system: NAME` and `evaluated_role: admin`. Internal notes are left out.",
        field_sets("source conversation_parts", "source contacts id"), each(intercom),
    ),
    "discord": Conversion(
        "Discord, by DiscordChatExporter (JSON). The system is the bot with the most messages.",
        field_sets("guild channel messages"), each(_discord),
    ),
    "telegram": Conversion(
        "Telegram's export `result.json`, of one or all chats. In a chat with a bot, the bot is the system.",
        field_sets("name type id messages"), each(_telegram),
        lambda record: f"{record['type']}".endswith(("_chat", "_group", "_supergroup", "_channel", "saved_messages")),
    ),
    "librechat": Conversion(
        "LibreChat's export of a conversation (JSON), as a list or a tree. Of several branches, such as regenerated "
        "responses, DialEval reads the latest.",
        field_sets("conversationId messages", "conversationId messagesTree"), each(_librechat),
        lambda record: any(value_at(record, f"{name}.0.isCreatedByUser") is not None for name in _LIBRECHAT),
    ),
    "open_webui": Conversion(
        "Open WebUI's export of chats (JSON). DialEval reads the branch that Open WebUI shows.",
        field_sets("chat id"), each(_open_webui),
        lambda record: isinstance(record["chat"], dict) and bool({"history", "messages"} & record["chat"].keys()),
    ),
    "chainlit": Conversion(
        "Chainlit's threads with their `steps`. Tool calls are hidden messages.",
        field_sets("id steps"), each(_chainlit),
        lambda record: isinstance(record["steps"], list)
        and any(isinstance(one, dict) and f"{one.get('type')}" in _CHAINLIT_ROLES for one in record["steps"]),
    ),
    "oobabooga": Conversion(
        "Chats of text-generation-webui: `internal` and `visible` pairs.",
        field_sets("internal visible"), each(_oobabooga),
    ),
    "deepseek": Conversion(
        "DeepSeek's export: `mapping` with `fragments`. Of several branches, such as regenerated responses, DialEval "
        "reads the latest.",
        field_sets("mapping title id"), each(_deepseek), _has_fragments,
    ),
    "grok": Conversion(
        "Grok's export: `conversation` and `responses`.",
        field_sets("conversation responses"),
        at_paths("responses", "response.sender", "response.message", "conversation.id"),
        lambda record: isinstance(record["conversation"], dict),
    ),
    "messenger": Conversion(
        "Facebook's and Instagram's messages (JSON), in the order of their times.",
        field_sets("participants messages thread_path"), each(_messenger),
    ),
    "openai_thread": Conversion(
        "A list of messages of an OpenAI thread, in the order of their times.",
        field_sets("object data"), each(_openai_thread),
        lambda record: value_at(record, "data.0.object") == "thread.message",
    ),
    "sillytavern": Conversion(
        "SillyTavern's chats (JSON Lines). The system is the character. Of several swipes, DialEval reads the shown "
        "one.",
        field_sets("user_name character_name"), _sillytavern, is_uniform=False,
    ),
    "ai_studio": Conversion(
        "Google AI Studio's saved prompts: `chunkedPrompt`. Thoughts are hidden messages.",
        field_sets("chunkedPrompt"), each(_ai_studio),
    ),
    "gemini_activity": Conversion(
        "Gemini's activity in Google Takeout (`MyActivity.json`): each prompt with its response is a dialogue.",
        field_sets("header title safeHtmlItem", "header title products"), _gemini_activity,
        lambda record: f"{record['header']}".startswith(("Gemini", "Bard")),
        is_uniform=False,
    ),
    "zendesk": Conversion(
        "Zendesk's tickets with `comments` (JSON): the speaker `user` is the requester; all others are `agent`. "
        "Internal notes are "
        "left out.",
        field_sets("comments", "comments requester_id", "comments ticket_id"), each(_zendesk),
        lambda record: isinstance(record["comments"], list)
        and bool(record["comments"])
        and all(isinstance(one, dict) and {"author_id", "public"} <= one.keys() for one in record["comments"]),
    ),
    "freshdesk": Conversion(
        "Freshdesk's tickets with `conversations`: the description, and replies of `user` and `agent`. Private notes "
        "are left out.",
        field_sets("requester_id conversations description_text", "requester_id conversations description"),
        each(_freshdesk),
    ),
    "lex": Conversion(
        "Amazon Lex's conversation logs (JSON): `inputTranscript` and `messages`. A session is a dialogue.",
        field_sets("inputTranscript sessionId", "inputTranscript botResponse"), _lex,
    ),
    "bot_framework": Conversion(
        "Bot Framework's transcripts: activities with `from` and `conversation`.",
        field_sets("type from conversation"), _bot_framework,
        lambda record: isinstance(record["from"], dict) and isinstance(record["conversation"], dict),
    ),
    "dialogflow": Conversion(
        "Dialogflow's log of Google Cloud (JSON): `jsonPayload` with a `queryResult`. A session is a dialogue.",
        field_sets("jsonPayload labels", "jsonPayload insertId"), _dialogflow,
        lambda record: isinstance(record["jsonPayload"], dict) and "queryResult" in record["jsonPayload"],
        is_uniform=False,
    ),
    "batch": Conversion(
        "Files of OpenAI's or Anthropic's Batch API. DialEval refuses these files, since requests and results are in "
        "separate files. The error describes how to join the two files.",
        field_sets("custom_id body", "custom_id response", "custom_id result", "custom_id params"),
        each(_batch),
    ),
    "vapi": Conversion(
        "Vapi's calls: `messages` with their times. Tool calls are hidden messages.",
        field_sets("assistantId messages", "costBreakdown messages", "artifact messages"), each(_call), _is_calls,
    ),
    "retell": Conversion(
        "Retell's calls: `transcript_object`, or `transcript_with_tool_calls`.",
        field_sets("call_id transcript_object"), each(_call), _is_calls,
    ),
}  # fmt: skip
"""Applications by the reader's name in the configuration."""
