"""Whether what the papers print was asked in other prompts than a run asks in, so that it stands beside marked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialeval.config.models import PublishedModel

if TYPE_CHECKING:
    from dialeval.config.whole import Config

PRINTED_WITH = (
    "selfchat.j2",
    "unieval.j2",
    "arena.j2",
    "gteval.j2",
    "rating_turn.j2",
    "rating_dialogue.j2",
    "rating_criteria.j2",
    "yes_no_turn.j2",
    "yes_no_dialogue.j2",
    "yes_no_question.j2",
    "adequacy.j2",
    "dialogbench_question_en.j2",
    "dialogbench_question_zh.j2",
    "dialogbench_perplexity_en.j2",
    "dialogbench_perplexity_zh.j2",
)
"""The templates that decide the numbers beside which printed ones stand."""


def asks_otherwise(config: Config) -> bool:
    """Returns whether a run asks in other prompts than the papers do.

    A run of nothing but published dialogues and answers asks nothing: these were got with the papers' own prompts.
    """
    asked = [config.models.get(name) for name in config.models_in_use()]
    if asked and all(isinstance(model, PublishedModel) for model in asked):
        return False
    return not config.prompts.as_papers(*PRINTED_WITH)
