"""Transcripts as read from files, their judged speaker, and names of speakers within plain text."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from dialeval.errors import UserError

HiddenType = Literal["system", "tool_call", "tool_result", "reasoning"]
"""Types of hidden messages: a system prompt, a tool call and its result, a model's reasoning."""

SYSTEM_ROLES = frozenset({"system", "developer"})
_KINDS: dict[str, HiddenType] = {
    **dict.fromkeys(("tool_call", "tool-call", "tool_use", "function_call", "function-call"), "tool_call"),
    **dict.fromkeys(
        ("tool", "function", "ipython", "observation", "tool_result", "tool_response", "tool-response",
         "function_response", "function-response", "function response"),
        "tool_result",
    ),
}  # fmt: skip
HIDDEN_ROLES = frozenset(_KINDS)
JUDGED = ("assistant", "gpt", "chatgpt", "chatbot", "bot", "ai", "model", "agent", "system", "sys")
"""How exports call the speaker who is the system, where the configuration does not say it."""


class HiddenMessage(NamedTuple):
    """A hidden message; `before` is the 0-based number of the next utterance."""

    before: int
    kind: HiddenType
    text: str


@dataclass(frozen=True, slots=True)
class Transcript:
    """One dialogue of a file.

    Attributes:
        place: its place, for messages.
        dialogue_id: as the file has it; empty where it has none.
        system: the system; empty where the file does not name it.
        model: the system where neither file nor configuration names one.
        speakers: the speaker of each utterance, in the file's words.
        utterances: their texts; none is empty.
        hidden_messages: the hidden messages.
        case_id: the file's name of the case that systems share; empty if none.
        prompt: the prompt that systems share; empty if none.
        language: empty where the file does not name it.
        reference: the reference dialogue: speakers and utterances.
    """

    place: str
    dialogue_id: str
    system: str
    speakers: tuple[str, ...]
    utterances: tuple[str, ...]
    hidden_messages: tuple[HiddenMessage, ...] = ()
    case_id: str = ""
    prompt: str = ""
    language: str = ""
    model: str = ""
    reference: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())


class Message(NamedTuple):
    """One entry of a record: an utterance, or a hidden message if it has a kind."""

    speaker: str
    text: str
    kind: HiddenType | None = None


@dataclass
class EntryReading:
    """The entries of a record: utterances and hidden messages.

    Attributes:
        notes: how often something was met that is worth knowing.
        prompts_by_role: whether `system` is always the role of a system prompt; else it is one only where another
            speaker is plainly the system, since some dialogues are between `user` and `system`.
    """

    notes: Counter[str]
    prompts_by_role: bool = True
    messages: list[Message] = field(default_factory=list)

    def add_utterance(self, speaker: str, text: str) -> None:
        """Add an entry of a speaker, or of a role such as a tool."""
        self.messages.append(Message(speaker, text.strip(), _KINDS.get(speaker.casefold())))

    def add_hidden(self, kind: HiddenType, text: str) -> None:
        """Add a hidden message."""
        self.messages.append(Message("", text.strip(), kind))

    def transcript(self, where: str, **about: Any) -> Transcript:
        """Return the dialogue at a place; entries without a text are passed over and counted.

        Entries of which none names a speaker are two speakers' in turn, A and B.

        Raises:
            UserError: some entries name their speaker and others do not.
        """
        spoken = [message for message in self.messages if message.kind is None]
        names = [message.speaker.casefold() for message in spoken]
        has_assistant = any(name in JUDGED and name not in SYSTEM_ROLES for name in names)
        # without an assistant, a `system` that speaks after others is no prompt
        answers = any(name in SYSTEM_ROLES and names[place - 1] in OTHERS for place, name in enumerate(names) if place)
        prompts = has_assistant or (self.prompts_by_role and not answers)
        n_named = sum(bool(message.speaker) for message in spoken)
        if 0 < n_named < len(spoken):
            number = next(place for place, message in enumerate(spoken, start=1) if not message.speaker)
            raise UserError(f"{where}: utterance {number} has no speaker, unlike others; name every speaker")
        if spoken and not n_named:
            self.notes["dialogues without names of speakers, read as two alternating speakers, A and B"] += 1
        speakers: list[str] = []
        utterances: list[str] = []
        hidden_messages: list[HiddenMessage] = []
        spellings: dict[str, str] = {}
        turn = 0
        for message in self.messages:
            kind = message.kind
            if kind is None and prompts and message.speaker.casefold() in SYSTEM_ROLES:
                kind = "system"
            if kind is None:
                turn += 1
            if not message.text:
                self.notes["entries without a text, skipped"] += kind is None
            elif kind is not None:
                hidden_messages.append(HiddenMessage(len(utterances), kind, message.text))
            else:
                speaker = message.speaker or "AB"[(turn - 1) % 2]
                speakers.append(spellings.setdefault(speaker.casefold(), speaker))
                utterances.append(message.text)
        return Transcript(
            place=where,
            speakers=tuple(speakers),
            utterances=tuple(utterances),
            hidden_messages=tuple(hidden_messages),
            **{"dialogue_id": "", "system": "", **about},
        )


# Who of the speakers of a transcript is the system, and is judged.

OTHERS = frozenset({"user", "usr", "human", "customer", "client", "caller", "visitor", "person"})
"""How exports call who talks with the system."""
ROLES = OTHERS.union(JUDGED)
_NO_LETTERS = re.compile(r"[\W_]+")


def judged_of(speakers: Sequence[str], system: str, wanted: str | None, where: str) -> str | None:
    """Return the system's speaker; empty if unknown, None if the system has no utterance.

    Args:
        speakers: the speaker of each utterance.
        system: whose dialogue it is.
        wanted: who the system is, by the configuration; None for the one called as the system, or as exports do,
            or whose label else tells the system.

    Raises:
        UserError: two speakers could be the system.
    """
    names = {name.casefold(): name for name in speakers}
    if wanted is not None:
        return names.get(wanted.casefold())
    is_role = system.casefold() in OTHERS and any(name in names for name in JUDGED)  # a person in a system's place
    if len(system) > 1 and system.casefold() in names and not is_role:  # A and B name speakers, not systems
        return names[system.casefold()]
    found = [name for name in JUDGED if name in names]
    if len(found) > 1:
        found = [name for name in found if name not in SYSTEM_ROLES]
    if len(found) > 1:
        both = " and ".join(f"'{names[name]:.40}'" for name in found)
        raise UserError(f"{where}: {both} could both be the system; set `evaluated_role` to the speaker to evaluate")
    if found:
        return names[found[0]]
    if len(naming := [name for name in names.values() if names_system(name, system)]) == 1:
        return naming[0]
    return None if set(names) <= OTHERS else ""


def names_system(label: str, system: str) -> bool:
    """Return whether a speaker's label names the system: holds its name, or begins it.

    Case, blanks and signs do not matter. A role, such as `assistant`, tells nothing, and neither does a single letter.
    """
    label, system = label.casefold(), system.casefold()
    if len(system) < 2 or system in JUDGED:
        return False
    if label == system:
        return True
    short, name = _plain(label), _plain(system)
    if short in ROLES or min(len(short), len(name)) < 2:
        return False
    return name in short or name.startswith(short)


def _plain(name: str) -> str:
    return _NO_LETTERS.sub("", unicodedata.normalize("NFKC", name).casefold())


# Speech as plain text: `Ann: Good morning.`, with the name of who speaks before it.

_NAMED = re.compile(r"(?P<speaker>#?[^\W\d_][^\W_]*(?:[ .'’-]{1,2}[^\W_]+){0,3}\.?#?) ?: +(?P<text>\S.*)", re.DOTALL)
"""A name of four words at most. `Well: I do not know` passes for one, too."""
_MARK = re.compile(
    r"(?:^|\n\n)(Human|Assistant):|(?:^|(?<=\s)|</s>)(USER|ASSISTANT|FUNCTION RESPONSE):"
    r"|(?:<\|im_end\|>\s*)?<\|im_start\|>(\w+)\n|(?:^|\n)<extra_id_1>(User|Assistant)\n"
    r"|### (Human|Assistant):|(?:^|\n)\[\|(Human|AI)\|\]"
)
"""What stands before each text of a dialogue in prompts of Anthropic's, OpenAI's and NVIDIA's models, and others."""
_LINE_MARK = re.compile(r"^(Human|Assistant):", re.MULTILINE)
_BLANK_MARK = r"\n\n(?:Human|Assistant):"
_ENDS_OF_TEXT = ("<|endoftext|>", "</s>")
_LATER_MARK, _LAST_MARK = ("<extra_id_1>", "\n[|Human|]"), "<|im_end|>"


def speaker_and_text(text: str) -> dict[str, str] | str:
    """Return a text as an entry with its speaker; as it is where none is named."""
    found = _NAMED.fullmatch(text.strip())
    return text if found is None else found.groupdict()


def begins_marked(text: str) -> bool:
    """Return whether a text begins with a speaker's mark, such as `Human:`, or is the prompt of several turns."""
    return _MARK.match(text.lstrip()) is not None or any(mark in text for mark in _LATER_MARK)


def marked_messages(text: str, speaker: str) -> list[dict[str, str]]:
    """Return the messages of a text with speakers' marks; what stands before the first is the given speaker's."""
    mark = _MARK
    in_lines = {found[1] for found in _LINE_MARK.finditer(text)} == {"Human", "Assistant"}
    if in_lines and _LINE_MARK.match(text.lstrip()) and not re.search(_BLANK_MARK, text):
        mark = _LINE_MARK  # without blank lines between them
    first, *parts = mark.split(text.strip().removesuffix(_LAST_MARK))
    n_marks = mark.groups
    marks = zip(*(parts[n :: n_marks + 1] for n in range(n_marks)), strict=True)
    roles = (next(filter(None, found)).lower() for found in marks)
    spoken = [(speaker, first), *zip(roles, parts[n_marks :: n_marks + 1], strict=True)]
    texts = [(role, _without_end(said)) for role, said in spoken]
    return [{"role": role, "content": said} for role, said in texts if said]


def _without_end(text: str) -> str:
    text = text.strip()
    for end in _ENDS_OF_TEXT:
        text = text.removesuffix(end).rstrip()
    return text


def transcribed(text: str) -> list[Any]:
    """Return the entries of a dialogue in one text: with marks, or with lines `Ann: ...` of two speakers or more."""
    if begins_marked(text):
        return marked_messages(text, "user")
    entries: list[dict[str, str]] = []
    for line in filter(None, map(str.strip, text.splitlines())):
        spoken = speaker_and_text(line)
        if isinstance(spoken, dict):
            entries.append(spoken)
        elif not entries:
            return []
        else:
            entries[-1]["text"] += f"\n{line}"
    return entries if len({entry["speaker"] for entry in entries}) > 1 else []
