"""Plans which of two: every two systems' dialogues on one case, in both orders (BotChat 3.3, 3.4)."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from pathlib import Path

from dialeval.corpora.items import iterate_items
from dialeval.forms.cases import by_case, refuse_strangers
from dialeval.forms.pair import plan
from dialeval.prompts.rendering import Templates
from dialeval.protocols.planning import write_requests
from dialeval.protocols.question_settings import QuestionSettings
from dialeval.text.counting import counted


def stage(
    settings: QuestionSettings,
    items: list[Path],
    damaged: list[Path],
    pairs: list[Path],
    requests: Path,
    templates: Templates,
) -> None:
    """Writes the table `requests` about the dialogues of all tables, none of which is `damaged`."""
    question, skipped = settings.question(), Counter[str]()
    cases = by_case(chain.from_iterable(iterate_items(path) for path in items))
    if not question.shipped:
        refuse_strangers(cases, question.protocol.of, question.name)
    write_requests(requests, plan(question, cases, templates, skipped))
    for reason, count in (+skipped).items():
        print(f"{counted(count, 'pair')} left out: {reason}")
