"""What is remarkable about answers that were given and stored: counted, said in the job's log, and what mends it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dialeval.engines.answer_values import BROKEN
from dialeval.engines.labels import LOWEST_MASS
from dialeval.engines.request import Response
from dialeval.reasoning_marks import thinking_mark
from dialeval.text.counting import counted

REASONING_MARK, LOW_MASS, BROKEN_LETTERS = "reasoning_mark", "low_mass", "broken_letters"
_WORDS = {
    REASONING_MARK: "a mark of reasoning stands, such as </think> or [THINK], that nothing was cut at, so that "
    "thoughts may stand in what was said. For engine vllm name the model's reasoning_parser; an endpoint needs its own "
    "(vllm serve --reasoning-parser NAME), or the model's field reasoning_end",
    LOW_MASS: f"all labels together have a probability below {LOWEST_MASS:g} and the status is low_mass, no score: "
    "the model is about to say something else, most often to think. Have it answer at once: chat_template_options: "
    "{enable_thinking: false} for engine vllm, extra_body: {chat_template_kwargs: {enable_thinking: false}} for a vLLM "
    "server, or ask for the answer in words (rating, letter)",
    BROKEN_LETTERS: "U+FFFD stands in place of a character that came broken",
}


def remarks_on(response: Response) -> Iterator[str]:
    """Yields what is remarkable about an answer, by a short word for counting."""
    if thinking_mark(response.text):
        yield REASONING_MARK
    if response.label_mass is not None and response.label_mass < LOWEST_MASS:
        yield LOW_MASS
    if BROKEN in response.text or BROKEN in response.reasoning:
        yield BROKEN_LETTERS


def remark_lines(remarks: Mapping[str, int], about: str) -> Iterator[str]:
    """Yields a line of a log for each kind of remark.

    Args:
        remarks: how many answers each kind is about.
        about: whose answers they are.
    """
    for kind, count in remarks.items():
        yield f"warning: in {counted(count, 'answer')} of {about} {_WORDS.get(kind, kind)}"
