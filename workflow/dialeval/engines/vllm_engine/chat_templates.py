"""Chat templates: messages that they refuse, ends of utterances, and marks of reasoning.

A template is tried out once, with marked messages. One that refuses (or silently leaves out) a system message, or a
dialogue whose first message is the assistant's, gets the system text merged into the first user message; where the
assistant speaks first, the system text becomes a user message of its own before that.

The ways are named as vLLM names its reasoning parsers. Those whose marks are known here are read here: vLLM's own
parsers cut wherever the closing mark stands, or take all of an answer without marks for reasoning, and those of gpt-oss
and Cohere cannot take a finished text apart. Reasoning is only what an answer begins with, or what the prompt opened.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dialeval.engines.requests import Message, merge_system
from dialeval.engines.vllm_engine.model_files import no_chat_template
from dialeval.errors import UserError
from dialeval.prompts.rendering import CLOSING, OPENING, split_thinking

AS_IS, MERGED, TRANSCRIPT = "none", "system merged into the first user message", "transcript"
_SYSTEM, _USER, _ASSISTANT = "Marksystem", "Markuser", "Markassistant"
_NAMES = {"user": "A", "assistant": "B"}


class ChatTemplate:
    """Renders messages as one model wants them.

    Args:
        tokenizer: the model's tokenizer of transformers.
        choice: `chat_template` of the configuration: None, `none` or a file.
        options: values for the template.
        name: the model's name, for errors.

    Attributes:
        normalisation: how messages are rearranged; part of the model's identity.
        text: the template's source; empty for a transcript.
        stop: texts that end an utterance.
        stop_token: the special token that the template puts behind an assistant's message, if it does.

    Raises:
        UserError: there is no template, or it cannot be used.
    """

    def __init__(self, tokenizer: Any, choice: str | None, options: Mapping[str, Any], name: str) -> None:
        self._tokenizer = tokenizer
        self._options = dict(options)
        self.plain = choice == "none"
        self.text = "" if self.plain else _template_text(tokenizer, choice, name)
        self.stop_token: str | None = None
        if self.plain:
            self.normalisation = TRANSCRIPT
            return
        self.normalisation = AS_IS if self._takes_all() else MERGED
        if self.normalisation == MERGED:
            self._check_merged(name)
        self.stop_token = self._end_of_turn()

    def render(self, messages: Sequence[Message]) -> str:
        """Return the prompt up to the beginning of the assistant's message."""
        if self.plain:
            return transcript(messages)
        return self._apply(messages if self.normalisation == AS_IS else merge_system(messages))

    def stops(self, messages: Sequence[Message]) -> tuple[str, ...]:
        """Return texts that end the answer: an utterance of a transcript ends with its line."""
        return ("\n",) if self.plain and _is_dialogue(messages) else ()

    def before_answer(self) -> str:
        """Return the white space that the template puts between a prompt's end and the answer."""
        if self.plain:
            return ""
        messages = (Message("user", _USER), Message("assistant", _ASSISTANT))
        try:
            full, prompt = self._apply(messages, prompt=False), self._apply(messages[:1])
        except Exception:  # a template refuses with whatever error it likes
            return ""
        between = full[len(prompt) :].partition(_ASSISTANT)[0] if full.startswith(prompt) else ""
        return between if not between.strip() else ""

    def _apply(self, messages: Sequence[Message], *, prompt: bool = True) -> str:
        rendered = self._tokenizer.apply_chat_template(
            [message._asdict() for message in messages],
            chat_template=self.text,
            tokenize=False,
            add_generation_prompt=prompt,
            **self._options,
        )
        assert isinstance(rendered, str)
        return rendered

    def _takes_all(self) -> bool:
        """Return whether a template accepts a system message and a first message by the assistant, in order."""
        system, user, assistant = Message("system", _SYSTEM), Message("user", _USER), Message("assistant", _ASSISTANT)
        return self._shows((system, user)) and self._shows((system, assistant, user))

    def _shows(self, messages: Sequence[Message]) -> bool:
        try:
            rendered = self._apply(messages)
        except Exception:  # a template refuses with whatever error it likes
            return False
        places = [rendered.find(message.content) for message in messages]
        return -1 not in places and places == sorted(places)

    def _check_merged(self, name: str) -> None:
        dialogue = (Message("system", _SYSTEM), Message("assistant", _ASSISTANT), Message("user", _USER))
        try:
            self._apply(merge_system(dialogue))
        except Exception as error:  # as above
            raise UserError(
                f"the chat template of {name} cannot be used: {type(error).__name__}: {error}; set another template "
                f"in the model's field chat_template"
            ) from error

    def _end_of_turn(self) -> str | None:
        """Return the special token behind an assistant's message, which ends an utterance."""
        messages = (Message("user", _USER), Message("assistant", _ASSISTANT))
        try:
            _, _, behind = self._apply(messages, prompt=False).partition(_ASSISTANT)
        except Exception:  # no rendering that ends with the assistant: the model's own end of sequence has to do
            return None
        return max(
            (token for token in special_tokens(self._tokenizer) if behind.startswith(token)), key=len, default=None
        )


def special_tokens(tokenizer: Any) -> dict[str, int]:
    """Return the special tokens of rendered texts, and their numbers."""
    named = {str(token): tokenizer.convert_tokens_to_ids(str(token)) for token in tokenizer.all_special_tokens}
    added = getattr(tokenizer, "added_tokens_decoder", {})
    return named | {str(token): number for number, token in added.items() if token.special}


def transcript(messages: Sequence[Message]) -> str:
    """Return messages as plain text for a base model to go on with.

    One user message alone stands as it is; a dialogue becomes lines `A: ...` and `B: ...` after the system text, and
    ends with the name of who is to speak.
    """
    if not _is_dialogue(messages):
        return "".join(message.content for message in messages)
    head = "".join(f"{message.content}\n\n" for message in messages if message.role == "system")
    lines = [f"{_NAMES[m.role]}: {' '.join(m.content.split())}" for m in messages if m.role != "system"]
    return head + "\n".join([*lines, f"{_NAMES['assistant']}:"])


def _template_text(tokenizer: Any, choice: str | None, name: str) -> str:
    if choice is not None:
        try:
            return Path(choice).expanduser().read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UserError(
                f"chat_template: {choice} cannot be read: {error}; name a readable file in UTF-8"
            ) from error
    try:
        text = tokenizer.get_chat_template()
    except ValueError:
        text = None
    if not text:
        raise UserError(no_chat_template(name))
    return str(text)


def _is_dialogue(messages: Sequence[Message]) -> bool:
    return len(messages) > 1


# How a model marks the reasoning that it writes before its answer, and taking the two apart.

NONE = "none"
PLAIN = frozenset(
    {
        "deepseek_r1",
        "deepseek_v3",
        "glm45",
        "glm47",
        "holo2",
        "kimi_k2",
        "mimo",
        "minimax_m2",
        "nemotron_v3",
        "olmo3",
        "qwen3",
        "step3",
    }
)
"""Parsers of models that write `<think>` and `</think>`."""
_HARMONY = "openai_gptoss"
_FINAL = "<|channel|>final<|message|>"
_MESSAGE = re.compile(
    r"<\|channel\|>\s?(?P<channel>\w{1,40})(?P<to>[^<]{0,200})(?:<\|constrain\|>[^<]{0,80})?<\|message\|>"
    r"(?P<text>.*?)(?=<\|(?:end|return|call|start|channel)\|>|\Z)",
    re.DOTALL,
)


@dataclass(frozen=True)
class Between:
    """Reasoning between two marks at the beginning of an answer.

    Attributes:
        name: its name as vLLM's parser; empty for `<think>`, which every model's answers are looked through for.
        keeps_special: whether its marks may be special tokens, which must then be in the text that is taken apart.
    """

    name: str
    opening: str = OPENING
    closing: str = CLOSING
    keeps_special: bool = False

    @property
    def words(self) -> str:
        """The separation of reasoning and answer, for the log."""
        return f"{self.opening.strip()} ... {self.closing}"

    def opened_by(self, rendered: str) -> bool:
        """Return whether a rendered prompt ends with the opening mark, as some chat templates make it."""
        return rendered.rstrip().endswith(self.opening.rstrip())

    def split(self, text: str, *, opened: bool) -> tuple[str, str]:
        """Return the answer and the reasoning before it; reasoning that never ends leaves an empty answer."""
        return split_thinking(text, self.opening, self.closing, opened=opened)

    def before_label(self, rendered: str) -> str:
        """Return the prompt before an answer without reasoning: an opened block is closed and empty."""
        return f"{rendered.rstrip()}\n\n{self.closing}\n\n" if self.opened_by(rendered) else rendered


DEFAULT = Between("")


@dataclass(frozen=True)
class Harmony:
    """The channels of gpt-oss: `analysis` is reasoning, `final` and others for the user are the answer."""

    name: str = _HARMONY
    words: str = "the channel analysis"
    keeps_special: bool = True

    def opened_by(self, rendered: str) -> bool:
        """Return false: the channel is the model's to open."""
        return False

    def split(self, text: str, *, opened: bool) -> tuple[str, str]:
        """Return the answer and the reasoning; a text without channels is all answer."""
        if not text.lstrip().removeprefix("<|start|>assistant").startswith("<|channel|>"):
            return text, ""
        by_channel: dict[bool, list[str]] = {True: [], False: []}
        for message in _MESSAGE.finditer(text):
            if "to=" not in message["to"]:  # a call of a tool that was not offered
                by_channel[message["channel"] == "analysis"].append(message["text"].strip())
        return "\n".join(filter(None, by_channel[False])), "\n".join(filter(None, by_channel[True]))

    def before_label(self, rendered: str) -> str:
        """Return the prompt with the answer's channel opened."""
        return rendered + _FINAL


KNOWN: tuple[Between | Harmony, ...] = (
    Between("seed_oss", "<seed:think>", "</seed:think>", keeps_special=True),
    Between("mistral", "[THINK]", "[/THINK]", keeps_special=True),
    Between("cohere_command3", "<|START_THINKING|>", "<|END_THINKING|>", keeps_special=True),
    Between("gemma4", "<|channel>thought\n", "<channel|>", keeps_special=True),
    Between("minimax_m3", "<mm:think>", "</mm:think>", keeps_special=True),
    Between("plamo3", "<|plamo:begin_think:plamo|>", "<|plamo:end_think:plamo|>", keeps_special=True),
    Between("k2_horizon", "<ifm|think>", "</ifm|think>", keeps_special=True),
    Between("thought", "<thought>", "</thought>", keeps_special=True),
    Between("kimi_vl", "◁think▷", "◁/think▷", keeps_special=True),
    Harmony(),
)
"""Other marks than `<think>`; `thought` and `kimi_vl` are no parsers of vLLM's."""


class OfVllm:
    """A parser of vLLM's own.

    Raises:
        UserError: vLLM has no such parser, it does not fit the model, or it cannot take a finished text apart.
    """

    keeps_special = True

    def __init__(self, name: str, tokenizer: Any, options: Mapping[str, Any]) -> None:
        from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
        from vllm.reasoning import ReasoningParserManager

        known = sorted({NONE, *ReasoningParserManager.list_registered(), *(format_.name for format_ in KNOWN)})
        if name not in known:
            raise UserError(f"reasoning_parser: vLLM has none named '{name}'; it has {', '.join(known)}")
        self.name, self.words = name, f"vLLM's parser {name}"
        self._request: Any = ChatCompletionRequest(messages=[])
        try:
            self._parser = ReasoningParserManager.get_reasoning_parser(name)(
                tokenizer, chat_template_kwargs=dict(options)
            )
            if self._parser.extract_reasoning("Hello.", self._request) is None:
                raise NotImplementedError("it only finds the end of reasoning")
        except Exception as error:  # each parser refuses a tokenizer in its own way
            raise UserError(
                f"reasoning_parser: vLLM's {name} cannot be used with this model: {type(error).__name__}: {error}; "
                f"set another parser, or none"
            ) from error
        self._opening: str = self._parser.reasoning_start_str or ""

    def opened_by(self, rendered: str) -> bool:
        """Return whether a prompt ends with the parser's opening mark."""
        return bool(self._opening) and rendered.rstrip().endswith(self._opening.rstrip())

    def split(self, text: str, *, opened: bool) -> tuple[str, str]:
        """Return the answer and the reasoning; an answer that does not begin with the opening mark is all answer."""
        begins = text.lstrip().startswith(self._opening)
        if not begins and not opened:
            return text, ""
        reasoning, answer = self._parser.extract_reasoning(text if begins else self._opening + text, self._request)
        return (answer or "").lstrip(), (reasoning or "").strip()

    def before_label(self, rendered: str) -> str:
        """Return the prompt with its open reasoning closed."""
        closing = self._parser.reasoning_end_str or ""
        return f"{rendered.rstrip()}\n\n{closing}\n\n" if self.opened_by(rendered) else rendered


Reasoning = Between | Harmony | OfVllm


def reasoning_of(
    choice: str | None, template: str, special: Collection[str], tokenizer: Any, options: Mapping[str, Any]
) -> Reasoning:
    """Return how a model marks its reasoning.

    Args:
        choice: `reasoning_parser` of the configuration: vLLM's name of it, `none` for nothing but `<think>`, or None to
            find it out.
        template: source of its chat template; empty for a base model, which has none.

    Raises:
        UserError: there is no such parser, or it cannot be used with this model.
    """
    think = (
        Between("deepseek_r1", keeps_special=True) if OPENING in special else DEFAULT
    )  # else it is left out of the text
    if choice is None:
        marks = "\n".join([template, *special]) if template else ""
        return next((format_ for format_ in KNOWN if _mark(format_) in marks), think if template else DEFAULT)
    if choice == NONE:
        return DEFAULT
    if choice in PLAIN:
        return think
    return next((format_ for format_ in KNOWN if format_.name == choice), None) or OfVllm(choice, tokenizer, options)


def _mark(reasoning: Between | Harmony) -> str:
    return "<|channel|>" if isinstance(reasoning, Harmony) else reasoning.opening.removesuffix("thought\n")
