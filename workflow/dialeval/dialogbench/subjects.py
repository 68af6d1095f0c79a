"""What a request is about, as data: embedded models answer from it, other models from the messages.

A subject is a tuple of tuples of texts. A writing request's are pairs of field and value. A request about an item has
its utterances, its options, and then pairs of field and value.
"""

from __future__ import annotations

from collections.abc import Sequence

from dialeval.corpora.dialogbench_tasks import task_of
from dialeval.corpora.multiple_choice import TestItem
from dialeval.dialogbench.briefs import Brief
from dialeval.engines.request import Dialogue

Subject = tuple[Dialogue, ...]


def of_brief(brief: Brief, repeat: int) -> Subject:
    """Returns the subject of a writing request: pairs of field and value."""
    fields = {
        "task": brief.task,
        "language": brief.language,
        "domain": brief.domain,
        "number": str(brief.number),
        "repeat": str(repeat),
    }
    return tuple(fields.items())


def of_item(item: TestItem, *, answer: bool = False) -> Subject:
    """Returns the subject of a request about an item: utterances, options, and pairs of field and value.

    Args:
        item: the item.
        answer: whether the label belongs to it.
    """
    fields = {"task": item.task, "language": item.language, "question": item.question}
    fields |= {name: item.extra.get(name, "") for name in task_of(item.task).shown}
    if answer:
        fields["label"] = item.label
    return (item.utterances, item.options, *fields.items())


def fields_of(pairs: Sequence[Dialogue]) -> dict[str, str]:
    """Returns the pairs of a subject as fields."""
    return {pair[0]: pair[1] for pair in pairs}
