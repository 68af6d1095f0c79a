"""What a model is told beside the dialogue, for models whose chat template takes no system message."""

from __future__ import annotations

from collections.abc import Sequence

from dialeval.engines.request import Message

OPENING_LINE = "(The conversation begins.)"
"""What the user says before an assistant who speaks first, where there is no system text to stand there."""


def merge_system(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Returns messages without a system role, beginning with the user, that say the same."""
    system = "\n\n".join(message.content for message in messages if message.role == "system")
    spoken = [message for message in messages if message.role != "system"]
    if not spoken or spoken[0].role != "user":
        return (Message("user", system or OPENING_LINE), *spoken)
    first = f"{system}\n\n{spoken[0].content}" if system else spoken[0].content
    return (Message("user", first), *spoken[1:])
