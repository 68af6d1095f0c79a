"""Has a judge tell style and domain of written dialogues (DialogBench, Figures 5 and 6)."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from pydantic import BaseModel

from dialeval.config.models import Model
from dialeval.config.running import Answering
from dialeval.dialogbench import classification
from dialeval.dialogbench.rounds import Attempt, classify_attempts, items_of
from dialeval.engines.opening import open_engine
from dialeval.prompts.rendering import Templates
from dialeval.schemas.dialogbench import ITEM_DESCRIPTIONS, WRITTEN_ITEMS
from dialeval.stages.asking import asking
from dialeval.tables import iterate_rows, to_table, write_table


class Settings(BaseModel, defer_build=True):
    """The judge."""

    name: str
    model: Model
    answering: Answering


def stage(
    settings: Settings,
    written: Path,
    store: Path,
    descriptions: Path,
    usage: Path,
    templates: Templates,
) -> None:
    """Writes the table `item_descriptions`, a row for each accepted item, and a record of the usage."""
    attempts = [Attempt.from_row(row) for row in iterate_rows(written, WRITTEN_ITEMS)]
    with asking(
        open_engine(settings.model, [], store, classification.PROTOCOL),
        store,
        name=settings.name,
        protocol=classification.PROTOCOL,
        max_failure_share=settings.answering.max_failure_share,
        total=sum(one.outcome.accepted for one in attempts),
    ) as judge:
        unparsed = import_module("dialeval.stages.unparsed")
        judge.answering.early_stop.parsing = unparsed.of_items(
            classification.PROTOCOL, items_of(attempts), classification.parse, settings.answering
        )
        rows = judge.run(classify_attempts(judge.ask, attempts, templates, judge=settings.name))
    write_table(descriptions, ITEM_DESCRIPTIONS, to_table(ITEM_DESCRIPTIONS, rows))
    judge.write_usage(usage)
