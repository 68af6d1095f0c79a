"""Has a judge say which written items are sound (DialogBench 3.4, data filter); what was written is not asked again."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from pydantic import BaseModel

from dialeval.config.models import EmbeddedModel, Model
from dialeval.config.running import Answering
from dialeval.dialogbench import filtering
from dialeval.dialogbench.embedded_engines import FilterByChoice
from dialeval.dialogbench.rounds import Attempt, filter_attempts, items_of
from dialeval.engines.opening import open_engine
from dialeval.prompts.rendering import Templates
from dialeval.schemas.dialogbench import WRITTEN_ITEMS
from dialeval.stages.asking import asking
from dialeval.tables import TableWriter, iterate_rows


class Settings(BaseModel, defer_build=True):
    """The judge."""

    name: str
    model: Model
    answering: Answering


def stage(
    settings: Settings,
    written: Path,
    learned: list[Path],
    store: Path,
    filtered: Path,
    usage: Path,
    templates: Templates,
) -> None:
    """Writes the table `written_items` with the judge's reasons, and a record of the usage."""
    attempts = [Attempt.from_row(row) for row in iterate_rows(written, WRITTEN_ITEMS)]
    n_accepted = sum(one.is_filtered for one in attempts)
    engine = open_engine(settings.model, learned, store, filtering.PROTOCOL)
    with asking(
        FilterByChoice(engine) if isinstance(settings.model, EmbeddedModel) else engine,
        store,
        name=settings.name,
        protocol=filtering.PROTOCOL,
        max_failure_share=settings.answering.max_failure_share,
        total=n_accepted,
    ) as judge:
        unparsed = import_module("dialeval.stages.unparsed")
        judge.answering.early_stop.parsing = unparsed.of_items(
            filtering.PROTOCOL, items_of(attempts), filtering.parse, settings.answering
        )
        results = judge.run(filter_attempts(judge.ask, attempts, templates, judge=settings.name))
    with TableWriter(filtered, WRITTEN_ITEMS) as table:
        table.write_all(one.to_row() for one in results)
    judge.write_usage(usage)
    n_correct = sum(one.is_filtered for one in results)
    print(f"{n_correct} of {n_accepted} items called correct")
