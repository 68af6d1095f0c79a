"""What a run says of its jobs, in place of Snakemake's own lines."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from snakemake.logging import DefaultFilter, DefaultFormatter
from snakemake.settings.enums import Quietness
from snakemake_interface_logger_plugins.common import LogEvent

from dialeval.progress import files as progress_files
from dialeval.progress.files import SoFar
from dialeval.progress.job_lines import JobLines, duration, job_words
from dialeval.progress.whole_run import AskingJob, Requests

LOGGER = logging.getLogger("snakemake.logging")


class Shown(logging.Handler):
    """Keeps what Snakemake would show under the default profile."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.setFormatter(DefaultFormatter({Quietness.RULES}))
        self.addFilter(DefaultFilter({Quietness.RULES}, False, False, False, False))

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    handler = Shown()
    monkeypatch.setattr(LOGGER, "level", logging.INFO)
    LOGGER.addHandler(handler)
    yield handler.lines
    LOGGER.removeHandler(handler)


def say(event: LogEvent | None, words: str | None = None, **fields: Any) -> None:
    LOGGER.info(words, extra={"event": event, **fields})


def job_info(number: int, rule: str, log: str | None, **wildcards: str) -> None:
    about = {"jobid": number, "rule_name": rule, "rule_msg": None, "local": False, "wildcards": wildcards}
    say(LogEvent.JOB_INFO, **about, log=[log] if log else [], output=[], input=[])


def run_two_jobs(results: Path) -> None:
    say(None, "Select jobs to execute...")
    say(LogEvent.JOB_STARTED, "Execute 2 jobs...", jobs=[1, 2])
    job_info(
        1, "answer", f"{results}/logs/responses/clerk/arena.log", judge="clerk", protocol="arena", shard="1", shards="2"
    )
    job_info(2, "tabulate_seeds", f"{results}/logs/tables/seeds.log")
    progress_files.tell_for(results, results / "logs/responses/clerk/arena.log")
    progress_files.write(SoFar("arena by clerk", "answers", 9, 9, 4, 1, 0, 1.0, "done"))
    progress_files.tell_for(results, None)
    say(LogEvent.JOB_FINISHED, "Finished jobid: 1 (Rule: answer)", job_id=1)
    say(LogEvent.PROGRESS, done=1, total=3)
    say(LogEvent.JOB_FINISHED, "Finished jobid: 2 (Rule: tabulate_seeds)", job_id=2)
    say(LogEvent.PROGRESS, done=2, total=3)
    job_info(3, "all", None)
    say(LogEvent.JOB_FINISHED, "Finished jobid: 3 (Rule: all)", job_id=3)
    say(LogEvent.PROGRESS, done=3, total=3)


def test_each_job_has_a_line_when_it_begins_and_one_when_it_ends(shown: list[str], tmp_path: Path) -> None:
    lines = JobLines(Requests(tmp_path, [AskingJob("responses/clerk/arena", ()), AskingJob("later", ())])).attach()
    run_two_jobs(tmp_path)
    lines.detach()
    assert shown[:2] == ["answer (clerk, arena, shard 1 of 2): begins", "tabulate_seeds: begins"]
    assert shown[2].startswith("answer (clerk, arena, shard 1 of 2): done in 0.")
    assert shown[2].endswith(
        " s; 5 asked, 4 from the store, 1 failed (1 of 3 jobs; 9 of 9 requests answered (100%), 1 of them failed; "
        "1 job that asks has not said yet how much)"
    )
    assert shown[3].startswith("tabulate_seeds: done in 0.")
    assert shown[3].endswith(" s (2 of 3 jobs)"), "what has not changed is not said again"
    assert len(shown) == 4, "a target does nothing, and Snakemake's choosing is of no interest"


def test_jobs_of_a_cluster_are_sent_there(shown: list[str], tmp_path: Path) -> None:
    lines = JobLines(Requests(tmp_path, []), here=False).attach()
    job_info(1, "parse", f"{tmp_path}/logs/a.log", judge="clerk")
    lines.detach()
    assert shown == ["parse (clerk): sent to the cluster"]


def test_other_words_of_snakemake_are_left_alone_and_all_of_them_afterwards(shown: list[str], tmp_path: Path) -> None:
    lines = JobLines(Requests(tmp_path, [])).attach()
    say(None, "Building DAG of jobs...")
    lines.detach()
    say(LogEvent.JOB_FINISHED, "Finished jobid: 3 (Rule: all)", job_id=3)
    assert shown[0] == "Building DAG of jobs..."
    assert "Finished jobid: 3" in shown[1]


def test_words_of_jobs_and_times() -> None:
    assert job_words("answer", {"judge": "j", "shard": "1", "shards": "1"}) == "answer (j)"
    assert job_words("all", {}) == "all"
    assert [duration(seconds) for seconds in (0.04, 12.4, 200, 9000)] == ["0.0 s", "12 s", "3 min", "2.5 h"]
