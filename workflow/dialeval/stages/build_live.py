"""Builds the page of an unfinished run: what is there of the report, what is missing, what is being answered."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from dialeval.errors import UserError
from dialeval.processes.runlock import refuse_second_run
from dialeval.progress.files import read_all
from dialeval.report.answer_tables import Answers
from dialeval.report.live import live_of
from dialeval.stages import build_report


class Settings(build_report.Settings):
    """What the report is told, and `files`: all that it reads, by the name of the option, there or not."""

    files: dict[str, list[Path]]


def stage(settings: Settings, configuration: Path, report: Path) -> None:
    """Writes the page of what is there now.

    Args:
        settings: what the report is told, and what it reads.
        configuration: what the run wrote down of its configuration; it may be missing.
        report: the page, a file of its own beside the report.
    """
    results = Path(settings.results_dir)
    try:
        refuse_second_run(results)
        is_running = False
    except UserError:
        is_running = True
    at = datetime.now(UTC).strftime("%H:%M:%S UTC")
    live = live_of(settings.files, read_all(results), is_running=is_running, at=at)
    there = {option: [path for path in paths if path.exists()] for option, paths in settings.files.items()}
    whole = settings.model_copy(update={"answers": Answers()})  # what was asked in full is the finished report's
    report.parent.mkdir(parents=True, exist_ok=True)
    build_report.write_page(whole, there, configuration, report, live)
    print(f"{live.title}. {live.words}")
