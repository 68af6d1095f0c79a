"""What a run writes to Snakemake's log: lines on jobs and models, and how jobs failed."""

from __future__ import annotations

import logging
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from snakemake.logging import DefaultFilter, DefaultFormatter
from snakemake.settings.enums import Quietness
from snakemake_interface_logger_plugins.common import LogEvent

from dialeval.jobs import progress as progress_files
from dialeval.jobs.progress import ModelJob, Requests, SoFar, duration
from dialeval.jobs.run_progress import Ending, ProgressLines, RunLog, endings_in, job_words

LOGGER = logging.getLogger("snakemake.logging")
ANSWER_COMMAND = """python -m dialeval.stages answer --settings '{"model": {"a": "it''s"}}' 2>&1 | tee -i log"""
LOG = "results/logs/responses/gpt/quality-1-of-1.log"


class Shown(logging.Handler):
    """Keeps what Snakemake would show under the default profile."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.records: list[logging.LogRecord] = []
        self.setFormatter(DefaultFormatter({Quietness.RULES}))

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)
        if DefaultFilter({Quietness.RULES}, False, False, False, False).filter(record):
            self.lines.append(self.format(record))


@pytest.fixture
def handler(monkeypatch: pytest.MonkeyPatch) -> Iterator[Shown]:
    handler = Shown()
    monkeypatch.setattr(LOGGER, "level", logging.INFO)
    LOGGER.addHandler(handler)
    yield handler
    LOGGER.removeHandler(handler)
    for one in [one for one in LOGGER.filters if isinstance(one, RunLog)]:
        LOGGER.removeFilter(one)


@pytest.fixture
def shown(handler: Shown) -> list[str]:
    """The lines that Snakemake would show under the default profile."""
    return handler.lines


@pytest.fixture
def records(handler: Shown) -> list[logging.LogRecord]:
    """The records that reach Snakemake's handlers."""
    return handler.records


# Lines on jobs and models.


def say(event: LogEvent | None, words: str | None = None, **fields: Any) -> None:
    LOGGER.info(words, extra={"event": event, **fields})


def job_info(number: int, rule: str, log: str | None, **wildcards: str) -> None:
    about = {"jobid": number, "rule_name": rule, "rule_msg": None, "local": False, "wildcards": wildcards}
    say(LogEvent.JOB_INFO, **about, log=[log] if log else [], output=[], input=[])


def tell(results: Path, job: str, *counts: int | None, state: str = "running") -> None:
    """Write how far a job of the clerk's is: requests, all of them, those from the store, those failed."""
    done, total, stored, failed = (*counts, 0, 0)[:4]
    progress_files.report_for(results, results / f"logs/{job}.log")
    progress_files.write(SoFar("arena by clerk", "answers", done or 0, total, stored or 0, failed or 0, 0, 1.0, state))
    progress_files.report_for(results, None)


def run_two_jobs(results: Path) -> None:
    say(None, "Select jobs to execute...")
    say(LogEvent.JOB_STARTED, "Execute 2 jobs...", jobs=[1, 2])
    job_info(
        1, "answer", f"{results}/logs/responses/clerk/arena.log", judge="clerk", protocol="arena", shard="1", shards="2"
    )
    job_info(2, "tabulate_seeds", f"{results}/logs/tables/seeds.log")
    tell(results, "responses/clerk/arena", 9, 9, 4, 1, state="done")
    say(LogEvent.JOB_FINISHED, "Finished jobid: 1 (Rule: answer)", job_id=1)
    say(LogEvent.PROGRESS, done=1, total=3)
    say(LogEvent.JOB_FINISHED, "Finished jobid: 2 (Rule: tabulate_seeds)", job_id=2)
    say(LogEvent.PROGRESS, done=2, total=3)
    job_info(3, "all", None)
    say(LogEvent.JOB_FINISHED, "Finished jobid: 3 (Rule: all)", job_id=3)
    say(LogEvent.PROGRESS, done=3, total=3)


def attached(results: Path, *jobs: ModelJob, total: int = 3, here: bool = True) -> RunLog:
    run_log = RunLog().attach()
    run_log.progress = ProgressLines(Requests(results, jobs), total, here)
    run_log.progress.requests.begun = set()
    return run_log


def test_jobs_have_lines_when_they_begin_and_end_and_models_when_they_answered(
    shown: list[str], tmp_path: Path
) -> None:
    attached(tmp_path, *(ModelJob(name, (), models=("clerk",)) for name in ("responses/clerk/arena", "later")))
    run_two_jobs(tmp_path)
    assert shown[:2] == ["answer (clerk, arena, shard 1 of 2): begins", "tabulate_seeds: begins"]
    job, model = shown[2].splitlines()
    assert re.fullmatch(r"answer \(clerk, arena, shard 1 of 2\): done in 0\.\d s \(33%, 1 of 3 jobs\)", job)
    assert model == "  clerk: 9 of 9 requests, 4 cached, 1 failed; 1 job not planned yet"
    assert re.fullmatch(r"tabulate_seeds: done in 0\.\d s \(66%, 2 of 3 jobs\)", shown[3]), "the model has no news"
    assert shown[4:] == ["all jobs are done (100%, 3 of 3 jobs)"], "a target does nothing and has no line"


def test_jobs_of_a_cluster_are_sent_there(shown: list[str], tmp_path: Path) -> None:
    attached(tmp_path, here=False)
    job_info(1, "parse", f"{tmp_path}/logs/a.log", judge="clerk")
    assert shown == ["parse (clerk): sent to the cluster"]


def test_without_progress_lines_snakemake_has_its_own(shown: list[str], tmp_path: Path) -> None:
    run_log = attached(tmp_path)
    say(None, "Building DAG of jobs...")
    run_log.progress = None
    say(LogEvent.JOB_FINISHED, "Finished jobid: 3 (Rule: all)", job_id=3)
    assert shown[0] == "Building DAG of jobs..."
    assert "Finished jobid: 3" in shown[1]


def test_the_progress_of_the_run_counts_requests_of_a_job_under_way(tmp_path: Path) -> None:
    lines = ProgressLines(Requests(tmp_path, [ModelJob("a", (), models=("clerk",))]), 4, done=1)
    assert lines.in_words() == "25%, 1 of 4 jobs"
    tell(tmp_path, "a", 30, 60)
    assert lines.in_words() == "37%, 1 of 4 jobs"
    assert lines.news() == ["  clerk: 30 of 60 requests"]
    assert lines.news() == [], "nothing has changed"


@given(st.data())
def test_the_progress_of_the_run_never_falls_and_is_100_percent_only_at_its_end(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Plans are made late, and a job may find more requests than it knew of: neither takes progress back."""
    results = tmp_path_factory.mktemp("results")
    jobs = [ModelJob(name, (results / f"{name}.parquet",), models=("clerk",)) for name in "abc"]
    lines = ProgressLines(Requests(results, jobs), total=2 * len(jobs))
    seen = [lines.share()]
    for name in "abc":
        n = data.draw(st.integers(1, 6))
        pq.write_table(pa.table({"request_id": list(range(n))}), results / f"{name}.parquet")
        lines.done += 1  # the job that plans
        seen.append(lines.share())
        for done in sorted(data.draw(st.lists(st.integers(0, n), max_size=3))):
            tell(results, name, done, data.draw(st.sampled_from([None, n, n + 4])))
            seen.append(lines.share())
        lines.requests.ended.add(name)
        seen.append(lines.share())
        lines.done += 1
        seen.append(lines.share())
    assert seen == sorted(seen)
    assert [share == 100 for share in seen] == [False] * (len(seen) - 1) + [True]


def test_words_of_jobs_and_times() -> None:
    assert job_words("answer", {"judge": "j", "shard": "1", "shards": "1"}) == "answer (j)"
    assert job_words("all", {}) == "all"
    assert [duration(seconds) for seconds in (0.04, 12.4, 200, 9000)] == ["0.0 s", "12 s", "3 min", "2.5 h"]


# Snakemake's messages on failed jobs are kept, and shown without commands.


def fail(event: LogEvent, text: str, **more: Any) -> None:
    LOGGER.error(text, extra={"event": event, **more})


def command_failed(status: int) -> None:
    error = subprocess.CalledProcessError(status, f"set -euo pipefail;  {ANSWER_COMMAND}")
    fail(LogEvent.ERROR, f'RuleException:\nCalledProcessError in file "rules/judging.smk", line 54:\n{error}')


def job_failed(log: list[str], words: str | None = None, **aux: str) -> None:
    more = {"rule_name": "answer", "rule_msg": words, "log": log, "aux": aux, "shellcmd": ANSWER_COMMAND}
    fail(LogEvent.JOB_ERROR, "Error in rule answer", **more)


@pytest.mark.parametrize(("status", "how"), [(1, "exit status 1"), (137, "signal 9"), (-9, "signal 9")])
def test_a_failed_command_is_one_line_with_rule_ending_and_log(
    records: list[logging.LogRecord], status: int, how: str
) -> None:
    run_log = RunLog().attach()
    command_failed(status)
    job_failed([LOG])
    texts = [str(record.msg) for record in records if record.__dict__.get("event") is None]
    assert texts == [f"answer failed ({how}), its log: {LOG}"]
    assert not any("--settings" in str(record.__dict__) for record in records)
    assert run_log.endings == {LOG: Ending(how)}
    assert endings_in("x\n" + texts[0] + "\ny") == {LOG: how}


def test_commands_are_printed_on_request(records: list[logging.LogRecord]) -> None:
    RunLog(commands_shown=True).attach()
    command_failed(1)
    assert ANSWER_COMMAND in str(records[0].msg)


def test_jobs_of_a_cluster_keep_number_log_and_words(records: list[logging.LogRecord]) -> None:
    run_log = RunLog().attach()
    job_failed([LOG, "slurm/12.log"], "sbatch failed", external_jobid="12")
    assert run_log.endings[LOG] == Ending(cluster_job="12", cluster_log="slurm/12.log", words="sbatch failed")
    assert [record.__dict__["event"] for record in records] == [LogEvent.JOB_ERROR]


def test_every_job_of_a_group_knows_the_groups_number_and_log(records: list[logging.LogRecord]) -> None:
    run_log = RunLog().attach()
    jobs = [{"log": ["a.log"]}, {"log": ["b.log"]}]
    fail(LogEvent.GROUP_ERROR, "Error in group 1", aux_logs=["slurm/3.log"], job_error_info=jobs, external_jobid="3")
    job_failed(["a.log"])
    assert run_log.endings == dict.fromkeys(["a.log", "b.log"], Ending(cluster_job="3", cluster_log="slurm/3.log"))
    assert records


def test_refusals_of_ours_are_shown_without_places_and_others_with_them(records: list[logging.LogRecord]) -> None:
    run_log = RunLog().attach()
    form = (
        'WorkflowError in file "rules/configuration.smk", line 79:\n{}\n  File "a.smk", line 9, in <module>\n  File "b"'
    )
    fail(LogEvent.ERROR, form.format(run_log.without_location("a mistake\n  in two lines")))
    fail(LogEvent.ERROR, form.format("a mistake of somebody else"))
    assert str(records[0].msg) == "a mistake\n  in two lines"
    assert str(records[1].msg) == form.format("a mistake of somebody else")
    where = 'InputFunctionException in rule all in file "a.smk", line 6:\nError:\n'
    of_input = where + "  WorkflowError:\n{}\nWildcards:\n\nTraceback:"
    fail(LogEvent.ERROR, of_input.format("    a mistake\n      in two lines"))
    assert str(records[2].msg) == "a mistake\n  in two lines"


def test_an_unknown_target_is_answered_with_those_that_there_are(records: list[logging.LogRecord]) -> None:
    run_log = RunLog().attach()
    run_log.targets = lambda: ["report", "all"]
    words = "if you use input functions make sure that they don't raise unexpected exceptions"
    fail(LogEvent.ERROR, f"MissingRuleException:\nNo rule to produce reprot ({words}).")
    (record,) = records
    assert record.msg.splitlines()[:2] == [
        "no rule of this configuration makes 'reprot'; did you mean 'report'?",
        "Targets: all, report",
    ]


def test_files_of_another_user_are_reported_with_a_remedy(records: list[logging.LogRecord]) -> None:
    RunLog().attach()
    text = 'ProtectedOutputException in rule plan in file "rules/judging.smk", line 4:\nWrite-protected output files'
    fail(LogEvent.ERROR, text)
    said = str(records[0].msg)
    assert said.startswith(text)
    assert "another results_dir; the store can stay the same if you can write there." in said


def test_a_run_that_finds_everything_made_is_noticed(records: list[logging.LogRecord]) -> None:
    run_log, called = RunLog().attach(), []
    run_log.on_nothing_to_do = lambda: called.append(True)
    LOGGER.error("Nothing to be done (all requested files are present).")
    assert called == [True]
    assert len(records) == 1


def test_consecutive_rules_of_until_are_reported(
    records: list[logging.LogRecord], monkeypatch: pytest.MonkeyPatch
) -> None:
    RunLog().attach()
    words = "BUG: Out of jobs ready to be started, but not all files built yet."
    for arguments in (["snakemake"], ["snakemake", "--until=a", "b"]):
        monkeypatch.setattr("sys.argv", arguments)
        LOGGER.error(words)
    assert records[0].msg == words
    assert records[1].msg.startswith("Snakemake stops at each rule under --until")
