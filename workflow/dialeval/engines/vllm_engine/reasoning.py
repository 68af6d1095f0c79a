"""How a model marks the reasoning that it writes before its answer, and taking the two apart.

The ways are named as vLLM names its reasoning parsers. Those whose marks are known here are read here: vLLM's own
parsers cut wherever the closing mark stands, or take all of an answer without marks for reasoning, and those of gpt-oss
and Cohere cannot take a finished text apart. Reasoning is only what an answer begins with, or what the prompt opened.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from dialeval.errors import UserError
from dialeval.reasoning_marks import CLOSING, OPENING, split_thinking

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


class Reasoning(Protocol):
    """One way of marking reasoning."""

    @property
    def name(self) -> str:
        """Its name as vLLM's parser; empty for `<think>`, which every model's answers are looked through for."""
        ...

    @property
    def words(self) -> str:
        """What tells the reasoning from the answer, for the log."""
        ...

    @property
    def keeps_special(self) -> bool:
        """Whether its marks may be special tokens, which must then be in the text that is taken apart."""
        ...

    def opened_by(self, rendered: str) -> bool:
        """Returns whether a rendered prompt ends inside the reasoning, as some chat templates make it."""
        ...

    def split(self, text: str, *, opened: bool) -> tuple[str, str]:
        """Returns the answer and the reasoning before it; reasoning that never ends leaves an empty answer."""
        ...

    def before_label(self, rendered: str) -> str:
        """Returns a rendered prompt with what stands between it and the answer if nothing is thought."""
        ...


@dataclass(frozen=True)
class Between:
    """Reasoning between two marks at the beginning of an answer."""

    name: str
    opening: str = OPENING
    closing: str = CLOSING
    keeps_special: bool = False

    @property
    def words(self) -> str:
        """What tells the reasoning from the answer."""
        return f"{self.opening.strip()} ... {self.closing}"

    def opened_by(self, rendered: str) -> bool:
        """Returns whether a prompt ends with the opening mark."""
        return rendered.rstrip().endswith(self.opening.rstrip())

    def split(self, text: str, *, opened: bool) -> tuple[str, str]:
        """Returns the answer and the reasoning."""
        return split_thinking(text, self.opening, self.closing, opened=opened)

    def before_label(self, rendered: str) -> str:
        """Returns the prompt with its open reasoning closed, empty as it is."""
        return f"{rendered.rstrip()}\n\n{self.closing}\n\n" if self.opened_by(rendered) else rendered


@dataclass(frozen=True)
class Harmony:
    """The channels of gpt-oss: `analysis` is reasoning, `final` and what else is for the user is the answer."""

    name: str = _HARMONY
    words: str = "the channel analysis"
    keeps_special: bool = True

    def opened_by(self, rendered: str) -> bool:
        """Returns false: the channel is the model's to open."""
        return False

    def split(self, text: str, *, opened: bool) -> tuple[str, str]:
        """Returns the answer and the reasoning; a text without channels is all answer."""
        if not text.lstrip().removeprefix("<|start|>assistant").startswith("<|channel|>"):
            return text, ""
        said: dict[bool, list[str]] = {True: [], False: []}
        for message in _MESSAGE.finditer(text):
            if "to=" not in message["to"]:  # a tool is called, which nobody offered
                said[message["channel"] == "analysis"].append(message["text"].strip())
        return "\n".join(filter(None, said[False])), "\n".join(filter(None, said[True]))

    def before_label(self, rendered: str) -> str:
        """Returns the prompt with the answer's channel opened."""
        return rendered + _FINAL


class OfVllm:
    """A parser of vLLM's own.

    Args:
        name: the parser's name.
        tokenizer: the model's tokenizer.
        options: values for the chat template, which some parsers look at.

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
                raise NotImplementedError("it only finds where reasoning ends")
        except Exception as error:  # each parser refuses a tokenizer in its own way
            raise UserError(
                f"reasoning_parser: vLLM's {name} cannot be used with this model: {type(error).__name__}: {error}"
            ) from error
        self._opening: str = self._parser.reasoning_start_str or ""

    def opened_by(self, rendered: str) -> bool:
        """Returns whether a prompt ends with the parser's opening mark."""
        return bool(self._opening) and rendered.rstrip().endswith(self._opening.rstrip())

    def split(self, text: str, *, opened: bool) -> tuple[str, str]:
        """Returns the answer and the reasoning; an answer that does not begin with the opening mark is all answer."""
        begins = text.lstrip().startswith(self._opening)
        if not begins and not opened:
            return text, ""
        reasoning, answer = self._parser.extract_reasoning(text if begins else self._opening + text, self._request)
        return (answer or "").lstrip(), (reasoning or "").strip()

    def before_label(self, rendered: str) -> str:
        """Returns the prompt with its open reasoning closed."""
        closing = self._parser.reasoning_end_str or ""
        return f"{rendered.rstrip()}\n\n{closing}\n\n" if self.opened_by(rendered) else rendered


DEFAULT = Between("")
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


def reasoning_of(
    choice: str | None, template: str, special: Collection[str], tokenizer: Any, options: Mapping[str, Any]
) -> Reasoning:
    """Returns how a model marks its reasoning.

    Args:
        choice: `reasoning_parser` of the configuration: vLLM's name of it, `none` for nothing but `<think>`, or None to
            find it out.
        template: source of its chat template; empty for a base model, which has none.
        special: its special tokens.
        tokenizer: its tokenizer, for parsers of vLLM's.
        options: values for its chat template.

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
