"""Every parser of answers as one function of a text and how it ended, and texts that break careless ones."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from dialogbench_examples import item, record
from judged_dialogues import shipped_question
from perturbation_items import dialogue, response

from dialeval.criteria import DIMENSIONS
from dialeval.dialogbench import examination, writing
from dialeval.dialogbench.briefs import plan_briefs
from dialeval.dialogbench.written_items import read_written
from dialeval.engines.requests import Response
from dialeval.perturbations.registry import STRATEGIES
from dialeval.perturbations.rewriting import settled_rewriting
from dialeval.prompts.rendering import one_line, split_thinking, thinking_mark, without_marks
from dialeval.protocols import locate, pair, scores
from dialeval.tables.dialogbench import TEST_ITEMS, WRITTEN_ITEMS
from dialeval.tables.dialogues import JUDGEMENTS
from dialeval.tables.files import to_table
from dialeval.tables.schema import Table

STATUSES = {"ok", "unparsed", "refused", "truncated", "low_mass", "missing", "rejected"}
ABOUT = {"request_id": "r", "case_id": "s", "left": "a", "right": "b", "n_utterances": 16, "protocol": "arena"}
ITEM = {"request_id": "r", "protocol": "rating", "labels": list(DIMENSIONS["dialogue"])}
ITEM |= {"corpus": "c", "language": "en", "item_id": "i", "repeat": 0}
BRIEF = next(plan_briefs(["IC"], ["Film"], per_cell=1))
TALK = dialogue("Do you sail?", "Every summer on the big lake.", "Alone?", "With my aunt Ines, who owns the boat.")
REPLY = response("Where is Tom?", "Tom went to Oslo with 3 friends.")


def _answer(text: str, finish_reason: str) -> dict[str, Any]:
    return {"status": "ok", "text": text, "finish_reason": finish_reason, "label_logprobs": None, "label_mass": None}


def _written(answer: dict[str, Any]) -> Iterable[dict[str, Any]]:
    outcome = read_written(BRIEF, answer, "w")
    if outcome.item is not None:
        row = {"source": "s", "variant": "v"} | outcome.item.to_row()
        to_table(TEST_ITEMS, [row])
    yield {"procedure": "full", "round": 0} | outcome.to_row()


def _settled(answer: dict[str, Any]) -> Iterable[dict[str, Any]]:
    for strategy in STRATEGIES.values():
        if strategy.by_model:
            about = REPLY if strategy.level == "turn" else TALK
            yield {
                "status": settled_rewriting(about, strategy, [Response(answer["text"], answer["finish_reason"])]).status
            }


def _texts(answer: dict[str, Any]) -> Iterable[dict[str, Any]]:
    shown = [one_line(answer["text"]), without_marks(answer["text"]), *split_thinking(answer["text"])]
    yield {"status": "ok", "found": [thinking_mark(text) for text in shown]}


PARSERS: dict[str, tuple[Table | None, Callable[[dict[str, Any]], Iterable[dict[str, Any]]]]] = {
    "unieval": (JUDGEMENTS, lambda answer: locate.parse(shipped_question("unieval"), ABOUT, answer)),
    "pairwise": (JUDGEMENTS, lambda answer: pair.parse(shipped_question("arena"), ABOUT, answer)),
    "rating": (JUDGEMENTS, lambda answer: scores.parse_scale(shipped_question("rating"), ITEM, answer)),
    "letter": (None, lambda answer: examination.parse("m", "letter", item(), 0, [answer])),
    "classification": (None, lambda answer: [writing.parse_classification("j", item(), answer)]),
    "filtering": (None, lambda answer: [writing.parse_filtering("j", item(), answer)]),
    "written": (WRITTEN_ITEMS, _written),
    "rewriting": (None, _settled),
    "texts": (None, _texts),
}
"""Parser -> the table that its rows go into, and the parser."""


def read_everywhere(text: str, finish_reason: str = "stop") -> None:
    """Put an answer to every parser and its rows into their tables, and check the statuses."""
    for name, (table, parser) in PARSERS.items():
        rows = list(parser(_answer(text, finish_reason)))
        if table is not None:
            to_table(table, rows)
        for row in rows:
            assert row["status"] in STATUSES, name
            assert finish_reason != "refusal" or row["status"] != "ok" or name == "texts", name


PIECES = (
    "Choice:", "choice：", "**Choice:**", "Yes", "No", "Conversation 1", "Both", "Index:", "Index: 3", "Reason:",
    "None", "12", "9" * 5000, "4.5", "-", "coherence", "overall", " - 4", "/5", "B", "(C)", "The answer is", "答案是",
    "选", "correct", "incorrect", "不正确", "Speaker 1: friendly", "Domain:", "Response:", "1: ", "3. ", "{", "}", "[",
    "]", '"', "\\", ",", ":", '"dialogue"', "<think>", "</think>", "[THINK]", "<|channel|>", "<chat_end>", "```json",
    "\n", "\r\n", "\u2028", "\x00", "\x85", " ", "\t", "\u200b", "ﷺ", "½", "²", "٣", "👩‍👩‍👧", "e\u0301", "，", "the ",
    json.dumps(record()), json.dumps(record()).replace("sink", "\\ud800"), '{"dialogue": [{"speaker1": "\\ud800"}]}',
)  # fmt: skip
"""What answers are made of."""


def long_texts(length: int) -> Iterable[str]:
    """Yield texts of about a length on which backtracking, copying or recursion would take long or fail."""
    for piece in (*PIECES, *"a*_#`>.;-(=<|9?", "* ", "> ", "\n\n", "\n ", '"\\', "the my ", "isis", "index ", "most a"):
        yield piece * (length // len(piece))
    for opening in ('{"a":', "[", '{"dialogue":[', '{"dialogue":{"option":', '{"a":[{"b":', "<", "**Choice"):
        yield opening * (length // len(opening))
    blanks = " " * length
    for start, end in (
        ("Choice:", "Yes"), ("Choice", ":Yes"), ("Choice: Yes\nIndex:", "3"), ("coherence", "4"),
        ("coherence - 4", "x"), ("1", "x"), ("Answer", "B"), ("The answer is", "x"), ("<", "think>"), ("", "x"),
        ("Response:", "x"), ("<think>", ""),
        ("Speaker 1", ": x"), ("not", "correct"), ('{"a": 1,', "}"), ('"', ""), ("选", "B"), ("best", "answer is B"),
    ):  # fmt: skip
        yield f"{start}{blanks}{end}"
        yield f"{start}{'*' * length}{end}"
        yield f"{start}{'x' * length}{end}"
    nested = length // 8
    yield '{"dialogue": ' + "[" * nested + "]" * nested + "}"
    yield '{"dialogue": 1, "option": ' + '{"option": ' * nested + "1" + "}" * nested + "}"
