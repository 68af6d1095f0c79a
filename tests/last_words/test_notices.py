"""What Snakemake says about failed jobs is remembered, and shown without commands."""

from __future__ import annotations

import logging
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
from snakemake_interface_logger_plugins.common import LogEvent

from dialeval.last_words.notices import Notice, Notices, failed_of

COMMAND = """python -m dialeval.stages answer --settings '{"model": {"a": "it''s"}}' 2>&1 | tee -i log"""
LOG = "results/logs/responses/gpt/quality-1-of-1.log"


class Kept(logging.Handler):
    """Keeps what would be shown."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keeps a record."""
        self.records.append(record)


@pytest.fixture
def shown() -> Iterator[list[logging.LogRecord]]:
    """What Snakemake's logger would show."""
    logger, handler = logging.getLogger("snakemake.logging"), Kept()
    logger.addHandler(handler)
    yield handler.records
    logger.removeHandler(handler)
    for one in list(logger.filters):
        logger.removeFilter(one)


def say(event: LogEvent, text: str, **more: Any) -> None:
    logging.getLogger("snakemake.logging").error(text, extra={"event": event, **more})


def command_failed(status: int) -> None:
    error = subprocess.CalledProcessError(status, f"set -euo pipefail;  {COMMAND}")
    say(LogEvent.ERROR, f'RuleException:\nCalledProcessError in file "rules/judging.smk", line 54:\n{error}')


def job_failed(log: list[str], words: str | None = None, **aux: str) -> None:
    more = {"rule_name": "answer", "rule_msg": words, "log": log, "aux": aux, "shellcmd": COMMAND}
    say(LogEvent.JOB_ERROR, "Error in rule answer", **more)


@pytest.mark.parametrize(("status", "how"), [(1, "exit status 1"), (137, "signal 9"), (-9, "signal 9")])
def test_a_failed_command_is_one_line_with_rule_ending_and_log(
    shown: list[logging.LogRecord], status: int, how: str
) -> None:
    notices = Notices().attach()
    command_failed(status)
    job_failed([LOG])
    texts = [str(record.msg) for record in shown if record.__dict__.get("event") is None]
    assert texts == [f"answer failed ({how}), its log: {LOG}"]
    assert not any("--settings" in str(record.__dict__) for record in shown)
    assert notices.of_logs == {LOG: Notice(how)}
    assert failed_of("x\n" + texts[0] + "\ny") == {LOG: how}


def test_who_asks_for_commands_sees_them(shown: list[logging.LogRecord]) -> None:
    Notices(commands_shown=True).attach()
    command_failed(1)
    assert COMMAND in str(shown[0].msg)


def test_jobs_of_a_cluster_keep_number_log_and_words(shown: list[logging.LogRecord]) -> None:
    notices = Notices().attach()
    job_failed([LOG, "slurm/12.log"], "sbatch failed", external_jobid="12")
    assert notices.of_logs[LOG] == Notice(cluster_job="12", cluster_log="slurm/12.log", words="sbatch failed")
    assert [record.__dict__["event"] for record in shown] == [LogEvent.JOB_ERROR]


def test_every_job_of_a_group_knows_the_groups_number_and_log(shown: list[logging.LogRecord]) -> None:
    notices = Notices().attach()
    jobs = [{"log": ["a.log"]}, {"log": ["b.log"]}]
    say(LogEvent.GROUP_ERROR, "Error in group 1", aux_logs=["slurm/3.log"], job_error_info=jobs, external_jobid="3")
    job_failed(["a.log"])
    assert notices.of_logs == dict.fromkeys(["a.log", "b.log"], Notice(cluster_job="3", cluster_log="slurm/3.log"))
    assert shown


def test_refusals_of_ours_are_shown_without_places_and_others_with_them(shown: list[logging.LogRecord]) -> None:
    notices = Notices().attach()
    form = (
        'WorkflowError in file "rules/configuration.smk", line 79:\n{}\n  File "a.smk", line 9, in <module>\n  File "b"'
    )
    say(LogEvent.ERROR, form.format(notices.shown_alone("a mistake\n  in two lines")))
    say(LogEvent.ERROR, form.format("a mistake of somebody else"))
    assert str(shown[0].msg) == "a mistake\n  in two lines"
    assert str(shown[1].msg) == form.format("a mistake of somebody else")


def test_an_unknown_target_is_answered_with_those_that_there_are(shown: list[logging.LogRecord]) -> None:
    notices = Notices().attach()
    notices.targets = lambda: ["report", "all"]
    words = "if you use input functions make sure that they don't raise unexpected exceptions"
    say(LogEvent.ERROR, f"MissingRuleException:\nNo rule to produce reprot ({words}).")
    (record,) = shown
    assert record.msg.splitlines()[:2] == [
        "nothing in this configuration makes 'reprot'; did you mean 'report'?",
        "Targets: all, report",
    ]


def test_files_of_another_user_are_told_with_a_remedy(shown: list[logging.LogRecord]) -> None:
    Notices().attach()
    text = 'ProtectedOutputException in rule plan in file "rules/judging.smk", line 4:\nWrite-protected output files'
    say(LogEvent.ERROR, text)
    said = str(shown[0].msg)
    assert said.startswith(text)
    assert "choose a results_dir of your own" in said


def test_a_run_that_finds_everything_made_is_noticed(shown: list[logging.LogRecord]) -> None:
    notices, called = Notices().attach(), []
    notices.when_nothing_to_do = lambda: called.append(True)
    logging.getLogger("snakemake.logging").error("Nothing to be done (all requested files are present).")
    assert called == [True]
    assert len(shown) == 1


def test_rules_that_until_names_one_after_another_are_told_in_words(
    shown: list[logging.LogRecord], monkeypatch: pytest.MonkeyPatch
) -> None:
    Notices().attach()
    words = "BUG: Out of jobs ready to be started, but not all files built yet."
    for arguments in (["snakemake"], ["snakemake", "--until=a", "b"]):
        monkeypatch.setattr("sys.argv", arguments)
        logging.getLogger("snakemake.logging").error(words)
    assert shown[0].msg == words
    assert shown[1].msg.startswith("Snakemake goes no further than each rule that --until names")
