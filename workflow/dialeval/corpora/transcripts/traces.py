"""Traces of applications: exports of Langfuse and LangSmith, and spans of OpenTelemetry (OTLP as JSON).

    {"id": "t1", "sessionId": "s1", "input": "Hi", "output": "Hello", "observations": [...]}      Langfuse
    {"trace_id": "t1", "run_type": "llm", "inputs": {...}, "outputs": {...}, "extra": {...}}      LangSmith
    {"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "t1", "attributes": [...]}]}]}]}    OpenTelemetry

A conversation is a session or thread; else a trace. A trace is the exchange that its root has as a text or messages,
else those of its model calls. Calls that repeat the history are joined where their messages overlap. The system is the
model that answered last. Prompts, tool calls and reasoning are hidden messages.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from dialeval.corpora.json_records import value_at
from dialeval.corpora.text_files import JsonLine, listed
from dialeval.corpora.transcripts.entries import OF_DIALOGUE
from dialeval.corpora.transcripts.json_formats import transcript
from dialeval.corpora.transcripts.transcript import SYSTEM_ROLES, Transcript
from dialeval.errors import UserError

_Message = dict[str, Any]
_ROLES = {"human": "user", "ai": "assistant", "AIMessageChunk": "assistant", "model": "assistant", "chat": "user"}
"""Roles as LangChain and Gemini call them."""
_INPUTS = (
    "messages", "input", "question", "query", "prompt", "user_input", "user_message", "text", "content", "contents",
    "message",
)  # fmt: skip
_OUTPUTS = (
    "messages", "output", "answer", "response", "content", "text", "message", "completion", "result", "generations",
    "choices",
)  # fmt: skip
_MODEL_CALLS = ("llm", "generation", "chat", "text_completion", "generate_content")


@dataclass
class Span:
    """One observation, run or span.

    Attributes:
        line: its object and place.
        trace: the id of its trace.
        session: the session or thread; empty where it names none.
        time: when it began, as the export writes it.
        is_root: whether nothing is above it.
        is_call: whether it is a call of a model.
        model: the model; empty where it names none.
        before: the messages that it got; None where it has none that can be read.
        after: the messages that it gave.
    """

    line: JsonLine
    trace: str
    session: str = ""
    time: str = ""
    is_root: bool = False
    is_call: bool = False
    model: str = ""
    before: list[_Message] | None = None
    after: list[_Message] = field(default_factory=list)


@dataclass(frozen=True)
class Export:
    """A format of traces.

    Attributes:
        name: of the tool.
        fields: sets of fields of which an object has one.
        spans: returns the spans of an object.
        remedy: what to do if no span has messages.
    """

    name: str
    fields: tuple[frozenset[str], ...]
    spans: Callable[[JsonLine], Iterable[Span]]
    remedy: str

    def read(
        self, path: Path, objects: Iterable[JsonLine], columns: Mapping[str, str], notes: Counter[str]
    ) -> Iterator[Transcript]:
        """Yield the dialogues of an export, in the order in which they begin.

        Args:
            columns: what the configuration names, which the objects have under their usual names.
        """
        lines = list(objects)
        spans = [span for line in lines for span in self.spans(line)]
        if not any(span.before for span in spans):
            there = listed(dict.fromkeys(name for line in lines for name in line.record))
            raise UserError(
                f"{path}: {self.name}'s export has {len(spans)} spans, but no messages; "
                f"{self.remedy}; its fields: {there}"
            )
        sessions = {span.trace: span.session for span in spans if span.session}
        conversations: dict[str, list[Span]] = {}
        for span in spans:
            named = columns.get("dialogue_id") and span.line.record.get("dialogue_id")
            conversations.setdefault(f"{named or sessions.get(span.trace) or span.trace}", []).append(span)
        for dialogue_id, parts in conversations.items():
            record = _dialogue(parts, notes)
            if record is None:
                notes["conversations without messages, skipped"] += 1
                continue
            named = {name: parts[0].line.record[name] for name in OF_DIALOGUE if name in columns and name != "system"}
            model = parts[0].line.record.get("model") if "system" in columns else record["model"]
            full = {**named, "dialogue_id": dialogue_id, "model": model or None, "messages": record["messages"]}
            yield transcript(parts[0].line._replace(record=full), "messages", notes)


def _dialogue(spans: Sequence[Span], notes: Counter[str]) -> dict[str, Any] | None:
    """Return the messages and the model of a conversation; None where no span has messages."""
    traces: dict[str, list[Span]] = {}
    for span in sorted(spans, key=lambda span: span.time):
        traces.setdefault(span.trace, []).append(span)
    messages: list[_Message] = []
    for parts in traces.values():
        for span in _shown(parts):
            messages = _joined(messages, span)
    if not messages:
        return None
    models = [span.model for span in sorted(spans, key=lambda span: span.time) if span.model]
    if len({*models}) > 1:
        notes["conversations with several models, attributed to the last one"] += 1
    return {"messages": messages, "model": models[-1] if models else ""}


def _shown(spans: Sequence[Span]) -> list[Span]:
    """Return the spans of a trace that are its exchange: its root, else its model calls, else all with messages."""
    full = [span for span in spans if span.before and span.after]
    calls = [span for span in full if span.is_call]
    root = [span for span in full if span.is_root]
    repeats = [call for call in calls if root and len(_spoken(call.before or [])) > len(_spoken(root[0].before or []))]
    if root and not root[0].is_call and not repeats:
        return root
    return calls or root or full


def _joined(messages: list[_Message], span: Span) -> list[_Message]:
    """Return the messages of a conversation with those of a span, whose beginning may repeat their end."""
    known, new = [_identity(entry) for entry in messages], [*(span.before or []), *span.after]
    prompts = [entry for entry in new if entry.get("role") in SYSTEM_ROLES and _identity(entry) not in known]
    spoken, rest = _spoken(messages), _spoken(new)
    overlap = next(
        (
            n
            for n in range(min(len(spoken), len(rest)), 0, -1)
            if [_identity(entry) for entry in spoken[-n:]] == [_identity(entry) for entry in rest[:n]]
        ),
        0,
    )
    return [*messages, *prompts, *rest[overlap:]]


def _spoken(messages: Sequence[_Message]) -> list[_Message]:
    return [entry for entry in messages if entry.get("role") not in SYSTEM_ROLES]


def _identity(message: _Message) -> str:
    """Return role and text of a message, to find it again."""
    content = message.get("content")
    if isinstance(content, list):
        content = "\n".join(str(part.get("text", part)) if isinstance(part, dict) else str(part) for part in content)
    return f"{message.get('role')}: {content or json.dumps(message.get('tool_calls'), default=str)}".strip()


# Messages in all spellings.


def messages_in(value: Any, role: str, names: Sequence[str]) -> list[_Message]:
    """Return a value as messages in OpenAI's format; empty if it has none.

    Args:
        value: a text, a message, a list of them, JSON of these, or an object that holds one in a field.
        role: the role of what names none.
        names: fields that may hold it, the surer ones first.
    """
    if isinstance(value, str):
        if value.lstrip()[:1] in ("{", "["):
            try:
                found = messages_in(json.loads(value), role, names)
            except (ValueError, RecursionError):
                found = []
            if found:
                return found
        return [{"role": role, "content": value}] if value.strip() else []
    if isinstance(value, list):
        inner = value[0] if len(value) == 1 and isinstance(value[0], list) else value  # LangChain's batch of one
        made = [_message(entry, role) for entry in inner]
        return [] if None in made else [entry for entry in made if entry]
    if not isinstance(value, dict):
        return []
    if (message := _message(value, role)) is not None:
        return [message] if message else []
    for name in names:
        if value.get(name) and (found := messages_in(value[name], role, names)):
            return found
    texts = [text for text in value.values() if isinstance(text, str)]
    return [{"role": role, "content": texts[0]}] if len(value) == 1 and texts else []


def _message(entry: Any, role: str) -> _Message | None:
    """Return an entry as a message, with empty text without content; None if it is no message."""
    if not isinstance(entry, dict):
        return {"role": role, "content": entry} if isinstance(entry, str) else None
    if isinstance(entry.get("message"), dict) and not isinstance(entry.get("role"), str):
        return _message(entry["message"], role)  # a choice, a generation, or OpenInference's entry
    if "lc" in entry and isinstance(entry.get("kwargs"), dict):
        entry = {"type": _lang_chain(entry), **entry["kwargs"]}
    elif isinstance(entry.get("data"), dict) and isinstance(entry.get("type"), str):
        entry = {"type": entry["type"], **entry["data"]}
    speaker = entry.get("role", entry.get("type"))
    has_role = isinstance(entry.get("role"), str) or entry.get("type") in (*_ROLES, "system", "tool", "function")
    content = next((entry[name] for name in ("content", "parts", "contents") if entry.get(name) is not None), None)
    calls = entry.get("tool_calls")
    if not has_role or (content is None and not calls):
        return {} if has_role and ("content" in entry or "parts" in entry) else None
    speaker = _ROLES.get(str(speaker), str(speaker).casefold())
    made: _Message = {"role": speaker, "content": _content(content)}
    if isinstance(calls, list) and calls:
        made["tool_calls"] = [_tool_call(call) for call in calls if isinstance(call, dict)]
    return made


def _lang_chain(entry: _Message) -> str:
    """Return the type of a message of LangChain by its class, such as `ai` for AIMessage."""
    ids = entry.get("id")
    name = str(ids[-1]) if isinstance(ids, list) and ids else ""
    return name.removesuffix("Chunk").removesuffix("Message").casefold()


def _tool_call(call: _Message) -> _Message:
    inner = next((call[name] for name in ("tool_call", "function") if isinstance(call.get(name), dict)), call)
    inner = inner["function"] if isinstance(inner.get("function"), dict) else inner
    return {"name": inner.get("name"), "arguments": inner.get("arguments", inner.get("args"))}


def _content(content: Any) -> Any:
    """Return a content as a text or a list of parts with `type`, as OpenAI's messages have it."""
    if content is None or isinstance(content, str):
        return content
    if not isinstance(content, list):
        return json.dumps(content, ensure_ascii=False, default=str)
    parts: list[Any] = []
    for entry in content:
        part = entry.get("message_content", entry) if isinstance(entry, dict) else entry
        if not isinstance(part, dict):
            parts.append(f"{part}")
            continue
        kind = part.get("type")
        text = part.get("text", part.get("content"))
        if kind == "tool_call":
            parts.append({"type": "tool_use", "name": part.get("name"), "input": part.get("arguments")})
        elif kind == "tool_call_response":
            parts.append({"type": "tool_result", "content": part.get("response", part.get("result"))})
        elif kind == "reasoning" and isinstance(text, str):
            parts.append({"type": "reasoning", "reasoning": text})
        elif isinstance(text, str) and kind in (None, "text"):
            parts.append({"type": "text", "text": text})
        else:
            parts.append(part if isinstance(kind, str) else {"type": next(iter(part), "part")})
    return parts


# Langfuse: traces with observations, as its API and its page export them, or observations alone.


def _first(record: Mapping[str, Any], *names: str) -> Any:
    """Return the first value of some fields that is there."""
    there = (record[name] for name in names if record.get(name) is not None)
    return next((value for value in there if value == value), None)  # NaN is no id


def _objects_in(value: Any) -> list[dict[str, Any]]:
    """Return the objects of a list; none of another value."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _langfuse(line: JsonLine) -> Iterator[Span]:
    record = line.record
    inner = _objects_in(record.get("observations"))
    has_type = _first(record, "type", "traceId", "trace_id") is not None
    trace = f"{_first(record, 'traceId', 'trace_id', 'id')}"
    session = f"{_first(record, 'sessionId', 'session_id') or ''}"
    kind = f"{record.get('type', '')}".casefold()
    parent = _first(record, "parentObservationId", "parent_observation_id")
    model = _first(record, "model", "providedModelName", "provided_model_name") if has_type else None
    yield Span(
        line, trace, session,
        time=f"{_first(record, 'startTime', 'start_time', 'timestamp') or ''}",
        is_root=parent is None, is_call=kind in _MODEL_CALLS, model=f"{model or ''}",
        before=messages_in(record.get("input"), "user", _INPUTS),
        after=messages_in(record.get("output"), "assistant", _OUTPUTS),
    )  # fmt: skip
    for one in inner:
        shared = {"traceId": trace, "sessionId": session or None, "parentObservationId": trace}
        for span in _langfuse(line._replace(record={**line.record, **one, **shared, "observations": None})):
            span.line = line
            yield span


# LangSmith: runs, as its client lists them and its page exports them.

_THREADS = ("thread_id", "session_id", "conversation_id")


def _langsmith(line: JsonLine) -> Iterator[Span]:
    record = line.record
    metadata = value_at(record, "extra.metadata")
    metadata = metadata if isinstance(metadata, dict) else record.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    is_call = record.get("run_type") == "llm"
    model = metadata.get("ls_model_name") or value_at(record, "extra.invocation_params.model") if is_call else None
    trace = f"{_first(record, 'trace_id', 'id')}"
    yield Span(
        line, trace, f"{_first(metadata, *_THREADS) or record.get('thread_id') or ''}",
        time=f"{record.get('start_time') or ''}",
        is_root=record.get("parent_run_id") is None, is_call=is_call, model=f"{model or ''}",
        before=messages_in(record.get("inputs"), "user", _INPUTS),
        after=messages_in(record.get("outputs"), "assistant", _OUTPUTS),
    )  # fmt: skip
    for child in _objects_in(record.get("child_runs")):
        shared = {"trace_id": trace, "parent_run_id": record.get("id") or trace}
        yield from _langsmith(line._replace(record={**child, **shared}))


# OpenTelemetry: spans as OTLP's JSON, in the conventions for generative AI, of OpenLLMetry, or of OpenInference.

_CONVERSATIONS = ("gen_ai.conversation.id", "session.id", "traceloop.association.properties.session_id", "thread.id")
_MODELS = ("gen_ai.request.model", "gen_ai.response.model", "llm.model_name", "llm.request.model")


def _opentelemetry(line: JsonLine) -> Iterator[Span]:
    for scopes in _objects_in(_first(line.record, "resourceSpans", "resource_spans")):
        for scope in _objects_in(_first(scopes, "scopeSpans", "scope_spans", "instrumentationLibrarySpans")):
            for span in _objects_in(scope.get("spans")):
                yield _span(span, line)


def _span(span: dict[str, Any], line: JsonLine) -> Span:
    attributes = _attributes(span.get("attributes"))
    for event in _objects_in(span.get("events")):  # earlier conventions have messages as events
        attributes.update(
            {name: value for name, value in _attributes(event.get("attributes")).items() if name.startswith("gen_ai.")}
        )
    nested = _nested(attributes)
    read = partial(_first_messages, attributes, nested)
    instructions = _instructions(attributes.get("gen_ai.system_instructions"))
    before = read("user", _INPUTS, "gen_ai.input.messages", "gen_ai.prompt", "llm.input_messages", "input.value")
    after = read(
        "assistant", _OUTPUTS, "gen_ai.output.messages", "gen_ai.completion", "llm.output_messages", "output.value"
    )
    operation = (
        attributes.get("gen_ai.operation.name")
        or attributes.get("openinference.span.kind")
        or attributes.get("llm.request.type")
    )
    return Span(
        line, f"{_first(span, 'traceId', 'trace_id')}", f"{_first(attributes, *_CONVERSATIONS) or ''}",
        time=f"{_first(span, 'startTimeUnixNano', 'start_time_unix_nano') or ''}",
        is_root=not _first(span, "parentSpanId", "parent_span_id"),
        is_call=f"{operation}".casefold() in _MODEL_CALLS, model=f"{_first(attributes, *_MODELS) or ''}",
        before=[*instructions, *before], after=after,
    )  # fmt: skip


def _instructions(value: Any) -> list[_Message]:
    """Return a system prompt, which the conventions give as parts of a message."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        with suppress(ValueError, RecursionError):
            value = json.loads(value)
    return [{"role": "system", "content": _content(value)}] if value else []


def _first_messages(
    attributes: Mapping[str, Any], nested: Mapping[str, Any], role: str, fields: Sequence[str], *names: str
) -> list[_Message]:
    """Return the messages of the first attribute that has some, whole or in parts such as `gen_ai.prompt.0.role`."""
    for name in names:
        value = attributes.get(name, value_at(nested, name))
        if found := messages_in(value, role, fields):
            return found
    return []


def _attributes(value: Any) -> dict[str, Any]:
    """Return the attributes of a span, which OTLP lists with their types, as an object."""
    if isinstance(value, dict):
        return value
    pairs = value if isinstance(value, list) else []
    return {f"{one.get('key')}": _typed(one.get("value")) for one in pairs if isinstance(one, dict)}


def _typed(value: Any) -> Any:
    if not isinstance(value, dict) or len(value) != 1:
        return value
    ((kind, inner),) = value.items()
    if kind == "arrayValue":
        return [_typed(entry) for entry in _listed_values(inner)]
    if kind == "kvlistValue":
        return _attributes(_listed_values(inner))
    return inner


def _listed_values(value: Any) -> list[Any]:
    values = value.get("values") if isinstance(value, dict) else None
    return values if isinstance(values, list) else []


_NUMBERED = re.compile(r"\.\d+\.")


def _nested(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return attributes with numbers in their names as lists within objects."""
    tree: dict[str, Any] = {}
    for name in sorted(attributes):
        if _NUMBERED.search(name):
            *outer, last = name.split(".")
            branch = tree
            for part in outer:
                inner = branch.setdefault(part, {})
                branch = inner if isinstance(inner, dict) else {}
            branch[last] = attributes[name]
    nested: dict[str, Any] = _with_lists(tree)
    return nested


def _with_lists(tree: Any) -> Any:
    if not isinstance(tree, dict):
        return tree
    inner = {name: _with_lists(value) for name, value in tree.items()}
    if inner and all(name.isdecimal() and len(name) < 9 for name in inner):
        return [inner[name] for name in sorted(inner, key=int)]
    return inner


EXPORTS = {
    "langfuse": Export(
        "Langfuse",
        (
            frozenset({"traceId", "startTime"}), frozenset({"trace_id", "parent_observation_id"}),
            frozenset({"observations", "input"}), frozenset({"timestamp", "input", "output"}),
            frozenset({"sessionId", "input", "output"}), frozenset({"htmlPath"}),
        ),
        _langfuse,
        "export traces or observations with input and output",
    ),
    "langsmith": Export(
        "LangSmith", (frozenset({"run_type", "inputs"}),), _langsmith, "export runs with inputs and outputs"
    ),
    "opentelemetry": Export(
        "OpenTelemetry", (frozenset({"resourceSpans"}), frozenset({"resource_spans"})), _opentelemetry,
        "let the instrumentation record messages (OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT) and export again",
    ),
}  # fmt: skip
"""The formats of traces by the reader's name."""
