"""Chat templates: what they refuse, how messages are rearranged for them, and where an utterance ends.

A template is tried out once, with marked messages. One that refuses (or silently leaves out) a system message, or a
dialogue whose first message is the assistant's, gets the system text merged into the first user message; where the
assistant speaks first, the system text becomes a user message of its own before that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dialeval.engines.request import Message
from dialeval.engines.system_messages import merge_system
from dialeval.errors import UserError

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
        """Returns the prompt, up to where the assistant begins to speak."""
        if self.plain:
            return transcript(messages)
        return self._apply(messages if self.normalisation == AS_IS else merge_system(messages))

    def stops(self, messages: Sequence[Message]) -> tuple[str, ...]:
        """Returns texts that end the answer: an utterance of a transcript ends with its line."""
        return ("\n",) if self.plain and _is_dialogue(messages) else ()

    def before_answer(self) -> str:
        """Returns the white space that the template puts between a prompt's end and what the assistant says."""
        if self.plain:
            return ""
        messages = (Message("user", _USER), Message("assistant", _ASSISTANT))
        try:
            whole, prompt = self._apply(messages, prompt=False), self._apply(messages[:1])
        except Exception:  # a template refuses with whatever error it likes
            return ""
        between = whole[len(prompt) :].partition(_ASSISTANT)[0] if whole.startswith(prompt) else ""
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
        """Returns whether a system message and an assistant who speaks first are taken, and shown in their order."""
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
                f"the chat template of {name} cannot be used: {type(error).__name__}: {error}; give another by the "
                "model's field chat_template"
            ) from error

    def _end_of_turn(self) -> str | None:
        """Returns the special token behind an assistant's message, which ends an utterance."""
        messages = (Message("user", _USER), Message("assistant", _ASSISTANT))
        try:
            _, _, behind = self._apply(messages, prompt=False).partition(_ASSISTANT)
        except Exception:  # no rendering that ends with the assistant: the model's own end of sequence has to do
            return None
        return max(
            (token for token in special_tokens(self._tokenizer) if behind.startswith(token)), key=len, default=None
        )


def special_tokens(tokenizer: Any) -> dict[str, int]:
    """Returns the special tokens that stand for themselves in a rendered text, and their numbers."""
    named = {str(token): tokenizer.convert_tokens_to_ids(str(token)) for token in tokenizer.all_special_tokens}
    added = getattr(tokenizer, "added_tokens_decoder", {})
    return named | {str(token): number for number, token in added.items() if token.special}


def transcript(messages: Sequence[Message]) -> str:
    """Returns messages as plain text for a base model to go on with.

    One user message alone stands as it is; a dialogue becomes lines `A: ...` and `B: ...` after the system text, and
    ends with the name of who is to speak.
    """
    if not _is_dialogue(messages):
        return "".join(message.content for message in messages)
    head = "".join(f"{message.content}\n\n" for message in messages if message.role == "system")
    lines = [f"{_NAMES[m.role]}: {' '.join(m.content.split())}" for m in messages if m.role != "system"]
    return head + "\n".join([*lines, f"{_NAMES['assistant']}:"])


def _is_dialogue(messages: Sequence[Message]) -> bool:
    return len(messages) > 1


def _template_text(tokenizer: Any, choice: str | None, name: str) -> str:
    if choice is not None:
        try:
            return Path(choice).expanduser().read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UserError(f"chat_template: {choice} cannot be read: {error}") from error
    try:
        text = tokenizer.get_chat_template()
    except ValueError:
        text = None
    if not text:
        raise UserError(
            f"the tokenizer of {name} has no chat template; name a file with one in the model's field chat_template, "
            "or write chat_template: none for a base model, which then goes on with a plain transcript"
        )
    return str(text)
