"""Writes what came out of a run in a page of text: the leaderboards, what was asked, and where everything lies."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from dialeval.report.inputs import ReportInputs
from dialeval.report.named_tables import tables_by_name
from dialeval.report.protocols import AskedProtocol
from dialeval.run_summary.written import summary_of
from dialeval.schemas.battles import BATTLE_RATINGS
from dialeval.schemas.botchat import GENERATED, SEEDS
from dialeval.schemas.judgements import JUDGEMENTS
from dialeval.schemas.metaeval import ITEMS
from dialeval.schemas.shared import USAGE, UTTERANCES
from dialeval.tables import empty_table, read_table, read_tables, replacing


class Settings(BaseModel, defer_build=True):
    """Names for the summary, which are the report's; `transcripts` names the sources that have a part of their own."""

    title: str
    chatbots: list[str]
    judges: list[str]
    embedded: list[str]
    baselines: list[str]
    ensembles: dict[str, tuple[str, ...]]
    transcripts: list[str]
    protocols: list[AskedProtocol]
    results_dir: str
    report: str


def stage(settings: Settings, tables: list[Path], usage: list[Path], battles: list[Path], summary: Path) -> None:
    """Writes the summary; a part of a run that did not take place gives no tables."""
    inputs = ReportInputs(
        title=settings.title,
        chatbots=tuple(settings.chatbots),
        judges=tuple(settings.judges),
        seeds=empty_table(SEEDS),
        human=empty_table(UTTERANCES),
        generated=empty_table(GENERATED),
        verdicts=empty_table(JUDGEMENTS),
        protocols=tuple(settings.protocols),
        transcripts={name: empty_table(ITEMS) for name in settings.transcripts},
        tables=tables_by_name(tables),
        embedded=frozenset(settings.embedded),
        baselines=frozenset(settings.baselines),
        ensembles=settings.ensembles,
        results_dir=settings.results_dir,
    )
    rated = {path.stem: read_table(path, BATTLE_RATINGS) for path in battles}
    words = summary_of(inputs, read_tables(usage, USAGE) if usage else None, rated, settings.report)
    with replacing(summary) as temporary:
        temporary.write_text(words, encoding="utf-8")
