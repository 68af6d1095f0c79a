"""How far a run is as a whole, in requests."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from snakemake.logging import DefaultFilter, DefaultFormatter
from snakemake.settings.enums import Quietness
from snakemake_interface_logger_plugins.common import LogEvent

from dialeval.jobs import progress as progress_files
from dialeval.jobs.progress import SoFar
from dialeval.jobs.run_progress import JobLines, ModelJob, Requests, duration, job_words

# How far a run is as a whole, in requests.


def plan(folder: Path, n: int) -> Path:
    path = folder / f"plan{n}.parquet"
    pq.write_table(pa.table({"request_id": list(range(n))}), path)
    return path


def tell(results: Path, job: str, done: int, total: int | None, state: str = "running", stored: int = 0) -> None:
    progress_files.report_for(results, results / "logs" / f"{job}.log")
    progress_files.write(SoFar(f"{job} asks", "answers", done, total, stored, 1 if done > 4 else 0, 0, 1.0, state))
    progress_files.report_for(results, None)


def test_planned_requests_count_before_their_job_begins_and_each_shard_has_its_part(tmp_path: Path) -> None:
    path = plan(tmp_path, 10)
    run = Requests(tmp_path, [ModelJob("a", (path,), 2), ModelJob("b", (path,), 2)])
    assert run.so_far().in_words() == "0 of 10 requests answered (0%)"


def test_what_a_job_says_counts_more_than_its_plan(tmp_path: Path) -> None:
    run = Requests(tmp_path, [ModelJob("a", (plan(tmp_path, 10),)), ModelJob("b", (plan(tmp_path, 30),))])
    tell(tmp_path, "a", 3, 6, stored=2)
    whole = run.so_far()
    assert (whole.done, whole.total, whole.asked, whole.stored, whole.n_running) == (3, 36, 1, 2, 1)
    assert whole.in_words() == "3 of 36 requests answered (8%)"


def test_jobs_of_which_nothing_is_known_are_told_apart(tmp_path: Path) -> None:
    run = Requests(tmp_path, [ModelJob("a", ()), ModelJob("b", (tmp_path / "not there yet.parquet",))])
    assert run.so_far().in_words() == "2 jobs that ask have not said yet how much"
    tell(tmp_path, "a", 5, None)
    words = run.so_far().in_words()
    assert words == "5 of 5 requests answered (100%), 1 of them failed; 2 jobs that ask have not said yet how much"


def test_a_job_that_is_done_asked_what_it_asked_and_one_put_back_nothing(tmp_path: Path) -> None:
    path = plan(tmp_path, 10)
    run = Requests(tmp_path, [ModelJob("a", (path,)), ModelJob("b", (path,))])
    tell(tmp_path, "a", 7, None, "done")
    run.ended |= {"b"}
    whole = run.so_far()
    assert (whole.done, whole.total, whole.unknown) == (7, 7, 0)


def test_a_plan_that_is_made_anew_is_counted_anew(tmp_path: Path) -> None:
    path = plan(tmp_path, 10)
    run = Requests(tmp_path, [ModelJob("a", (path,))])
    assert run.so_far().total == 10
    pq.write_table(pa.table({"request_id": list(range(4))}), path)
    assert run.so_far().total == 4


def test_all_but_one_is_not_all(tmp_path: Path) -> None:
    run = Requests(tmp_path, [ModelJob("a", (plan(tmp_path, 100_000),))])
    tell(tmp_path, "a", 99_999, 100_000)
    assert "(99.9%)" in run.so_far().in_words()


def test_a_run_that_asks_nothing_says_nothing(tmp_path: Path) -> None:
    assert Requests(tmp_path, []).so_far().in_words() == ""


def test_only_jobs_that_began_are_looked_at_and_those_that_ended_once_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Requests(tmp_path, [ModelJob(name, ()) for name in "abc"], begun={"a", "b"})
    tell(tmp_path, "a", 2, 2, "done")
    tell(tmp_path, "b", 1, 3)
    looked: list[str] = []

    def read(results: Path, name: str) -> list[SoFar]:
        looked.append(name)
        return progress_files.read_job(results, name)

    monkeypatch.setattr("dialeval.jobs.run_progress.read_job", read)
    run.ended.add("a")
    assert [run.so_far().done, run.so_far().done] == [3, 3]
    assert looked == ["a", "b", "b"]


# What a run says of its jobs, in place of Snakemake's own lines.

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
    progress_files.report_for(results, results / "logs/responses/clerk/arena.log")
    progress_files.write(SoFar("arena by clerk", "answers", 9, 9, 4, 1, 0, 1.0, "done"))
    progress_files.report_for(results, None)
    say(LogEvent.JOB_FINISHED, "Finished jobid: 1 (Rule: answer)", job_id=1)
    say(LogEvent.PROGRESS, done=1, total=3)
    say(LogEvent.JOB_FINISHED, "Finished jobid: 2 (Rule: tabulate_seeds)", job_id=2)
    say(LogEvent.PROGRESS, done=2, total=3)
    job_info(3, "all", None)
    say(LogEvent.JOB_FINISHED, "Finished jobid: 3 (Rule: all)", job_id=3)
    say(LogEvent.PROGRESS, done=3, total=3)


def test_each_job_has_a_line_when_it_begins_and_one_when_it_ends(shown: list[str], tmp_path: Path) -> None:
    lines = JobLines(Requests(tmp_path, [ModelJob("responses/clerk/arena", ()), ModelJob("later", ())])).attach()
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
