"""Builds the HTML report: leaderboards, figures, tables and every dialogue in one file."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from pydantic import BaseModel

from dialeval.errors import UserError
from dialeval.report import Figure, ReportInputs, build_report
from dialeval.stages.command import run
from dialeval.tables import read_provenance, read_table, read_tables, replacing


class Settings(BaseModel):
    """Names for the page; `captions` gives title and caption by the name of a figure's file."""

    title: str
    chatbots: list[str]
    judges: list[str]
    embedded: list[str]
    results_dir: str
    captions: dict[str, tuple[str, str]]


def stage(
    settings: Settings,
    seeds: Path,
    human: Path,
    dialogues: list[Path],
    verdicts: list[Path],
    tables: list[Path],
    figures: list[Path],
    report: Path,
) -> None:
    """Writes the page."""
    by_schema: dict[str, list[pa.Table]] = {}
    for path in tables:
        schema = read_provenance(path).get("table")
        if schema is None:
            raise UserError(f"{path} does not say which table it is; delete it and run again")
        by_schema.setdefault(schema, []).append(read_table(path, schema).replace_schema_metadata())
    page = build_report(
        ReportInputs(
            title=settings.title,
            chatbots=tuple(settings.chatbots),
            judges=tuple(settings.judges),
            seeds=read_table(seeds, "seeds"),
            human=read_table(human, "utterances"),
            generated=read_tables(dialogues, "generated"),
            verdicts=read_tables(verdicts, "verdicts"),
            tables={schema: pa.concat_tables(parts) for schema, parts in by_schema.items()},
            embedded=frozenset(settings.embedded),
            figures=tuple(
                Figure(*settings.captions[path.stem], svg=path.read_text(encoding="utf-8")) for path in figures
            ),
            results_dir=settings.results_dir,
        )
    )
    with replacing(report) as temporary:
        temporary.write_text(page, encoding="utf-8")
    print(f"{report}: {report.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    run(stage)
