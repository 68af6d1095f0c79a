"""How an item is put into words: its question, what stands beside the dialogue, its options and the cue to answer."""

from __future__ import annotations

from collections.abc import Sequence

from dialeval.corpora.dialogbench_tasks import task_of
from dialeval.corpora.multiple_choice import LETTERS, TestItem
from dialeval.reasoning_marks import without_marks

_QUESTIONS: dict[str, tuple[str, str]] = {
    "KRG": ("Which reply of speaker 2 agrees with the background knowledge?", "说话人2的哪个回复与背景知识一致？"),
    "CRG": ("Which reply of speaker 2 rests on correct common sense?", "说话人2的哪个回复所依据的常识是正确的？"),
    "DI": (
        "The next utterance of speaker 1 is missing; speaker 2's reply to it is known. Which one is missing?",
        "说话人1接下来的一句话缺失了，说话人2对它的应答已知。缺失的是哪一句？",
    ),
    "MRG": ("Which reply of speaker 2 carries on the conversation best?", "说话人2的哪个回复与上文衔接得最好？"),
    "PRG": ("Which reply suits speaker 2's personality best?", "哪个回复最符合说话人2的性格？"),
    "RC": ("How are the two speakers related to each other?", "两位说话人是什么关系？"),
    "NLI": (
        "How does the hypothesis stand to what is said in the conversation?",
        "假设与对话内容是什么关系？",
    ),
    "DS": ("Which is the best summary of the conversation?", "哪个是这段对话最好的摘要？"),
    "OD": (
        "Is anything in the conversation offensive?",
        "对话中有没有冒犯性的话？",
    ),
}
_EXTRAS: dict[str, tuple[str, str]] = {
    "knowledge": ("Background knowledge", "背景知识"),
    "persona": ("Speaker 2's personality", "说话人2的性格"),
    "hypothesis": ("Hypothesis", "假设"),
    "response": ("Speaker 2's reply", "说话人2的应答"),
}
_REPLY = ("Speaker 2", "说话人2")
_CUES: dict[str, tuple[str, str]] = {
    "KRG": _REPLY,
    "CRG": _REPLY,
    "MRG": _REPLY,
    "PRG": _REPLY,
    "DI": ("Speaker 1", "说话人1"),
    "DS": ("Summary", "摘要"),
    "RC": ("Relation", "关系"),
    "OD": ("The conversation is", "这段对话"),
}
_ANSWER = ("Answer", "答案")


def question_of(item: TestItem) -> str:
    """Returns the item's own question, or the one that its task asks of every dialogue."""
    return without_marks(item.question) or _in(item.language, _QUESTIONS[item.task])


def extras_of(item: TestItem) -> list[tuple[str, str]]:
    """Returns name and text of what whoever answers is shown beside the dialogue."""
    return [(_in(item.language, _EXTRAS[name]), without_marks(item.extra[name])) for name in task_of(item.task).shown]


def cue_of(item: TestItem) -> str:
    """Returns the words after which the text of an option stands when options are scored by their probability."""
    return _in(item.language, _CUES.get(item.task, _ANSWER))


def render_utterances(utterances: Sequence[str], language: str) -> str:
    """Returns a dialogue with one line per utterance, each with its speaker."""
    name, colon = ("说话人", "：") if language == "zh" else ("Speaker ", ": ")
    return "\n".join(f"{name}{place % 2 + 1}{colon}{_one_line(text)}" for place, text in enumerate(utterances))


def render_options(options: Sequence[str]) -> str:
    """Returns options with one line each, behind their letters."""
    return "\n".join(f"{letter}. {_one_line(text)}" for letter, text in zip(LETTERS, options, strict=False))


def _one_line(text: str) -> str:
    return without_marks(" ".join(text.split()))


def _in(language: str, words: tuple[str, str]) -> str:
    return words[language == "zh"]
