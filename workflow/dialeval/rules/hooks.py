"""What a run does before its first job and after its last."""

from __future__ import annotations

import atexit
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from snakemake.io import IOFile
from snakemake.settings.enums import Quietness

from dialeval import layout
from dialeval.config.loading import write_configuration
from dialeval.engines.availability import cannot_compute_here, without_key
from dialeval.engines.installation import too_few_gpus
from dialeval.engines.spending.entries import FOLDER as SPENDING
from dialeval.engines.spending.entries import Ledger
from dialeval.jobs import lifecycle, progress
from dialeval.jobs.failure_summary import command_to_resume, print_at_exit
from dialeval.jobs.lifecycle import reset_future_timestamps
from dialeval.jobs.progress import ModelJob, Requests
from dialeval.jobs.run_progress import ProgressLines
from dialeval.jobs.slurm import print_blocked_jobs, status_command_of
from dialeval.layout.run import Layout
from dialeval.paths import refuse_links, write_new
from dialeval.planning import preflight
from dialeval.provenance import records
from dialeval.report.export import outdated_files
from dialeval.report.terminal_summary import print_at_exit as say_summary_at_exit
from dialeval.rules.run import Run
from dialeval.stages import job_server
from dialeval.text import counted

GRAPH_READERS = ("clean", "clean_remove", "versions")
"""Targets that compare all jobs with the files in the results."""


class Hooks:
    """The hooks of a run, and the messages around its jobs.

    Args:
        run: the start of the run.
        layout: the files of the run.
        spending: returns the digests under which the spending on models with prices is recorded.
    """

    def __init__(self, run: Run, layout: Layout, spending: Callable[[], dict[str, str]]) -> None:
        self.run = run
        self.workflow = run.workflow
        self.layout = layout
        self.config = layout.config
        self.quiet = set(self.workflow.output_settings.quiet or ())
        self._spending = spending
        self._requests: Requests | None = None
        self._spent: float | None = None
        run.log.on_planning = self.prepare_planning
        run.log.on_nothing_to_do = self.show_summary
        run.log.targets = lambda: [rule.name for rule in self.workflow.rules if not rule.output]

    # hooks

    def on_start(self) -> None:
        """Begin the run, unless the target only reads another run's results."""
        if self._only_looks():
            lifecycle.withdraw_run()
            return
        self._refuse_jobs_without_a_device()
        reading, planning = self.run.rule_name("read_transcripts"), self.run.rule_name("plan")
        names = sorted(job.wildcards.source for job in self._jobs() if job.rule.name == reading)
        planned = [job.wildcards.protocol for job in self._jobs() if job.rule.name == planning]
        understood = self.run.in_words(preflight.check_transcripts, self.config, names, planned)
        for name, notes in understood.items() if Quietness.ALL not in self.quiet else ():
            self.run.say("\n  ".join([f"transcripts.{name}:", *notes]))
        self._name_missing_keys()
        if self.run.asks_for("status"):  # not checked before, as this target alone may run beside another run
            self.run.in_words(lifecycle.refuse_second_run, self.config.results_dir)
        self.run.in_words(self._take_the_results)
        self._watch_slurm()
        os.environ.pop("DIALEVAL_STAGE", None)  # another run's
        if self.workflow.local_exec and not self.run.has_own_environments and job_server.pays(len(self._jobs())):
            os.environ["DIALEVAL_STAGE"] = job_server.start()
        self._show_progress()

    def on_success(self) -> None:
        """Show the summary."""
        if not self._only_looks():
            self._end_progress()
            self.show_summary()

    def on_error(self) -> None:
        """Mark unfinished outputs for the next run, and show why jobs failed.

        Snakemake removes a failed job's files, and yet records its new settings as if it had made them. The files that
        an earlier run made would count as up to date, so all that was not made gets an old time stamp.
        """
        self._end_progress()
        for path in (path for job in self.workflow.dag.needrun_jobs() for path in job.output):
            if not Path(path).exists():
                self.workflow.persistence.cleanup_metadata(path)
                continue
            with suppress(OSError):  # where nothing can be written, that is the error
                os.utime(path, (1, 1), follow_symlinks=False)
        if Quietness.ALL not in self.quiet:
            print_at_exit(self.workflow.scheduler.failed, self.run.log, sys.argv, self.config.results_dir)

    def prepare_planning(self) -> None:
        """Run the jobs whose files another version of DialEval made; Snakemake may have no record of them."""
        if not self.run.is_main or self.run.is_module:
            return
        if "pandas" not in sys.modules:  # Snakemake imports it to compare parameters, and ours are texts
            sys.modules["pandas"] = None  # type: ignore[assignment]
            getattr(self.workflow.persistence, "_serialize_param", None)  # is computed once
            del sys.modules["pandas"]
        outdated = outdated_files(
            self.config.results_dir,
            lambda path: self.workflow.persistence.params(IOFile(str(path))) is not None,
        )
        self.workflow.dag.forcefiles.update(map(str, outdated))
        if outdated:
            path, how = next(iter(outdated.items()))
            self.run.say(
                f"note: another version of DialEval made {counted(len(outdated), 'file')} in {self.layout.results} "
                f"(such as {path}: {how}); this run remakes the needed files from stored responses"
            )

    def show_summary(self) -> None:
        """Show the summary when the process ends, if the run makes one, with its requests and cost."""
        if Quietness.ALL in self.quiet or self.workflow.touch or self.workflow.dryrun:
            return
        if words := self._next_step():
            atexit.register(partial(print, f"\n{words}", file=sys.stderr, flush=True))
        spent, before = self._spent_so_far(), self._spent
        say_summary_at_exit(
            self.config.results_dir,
            self._requests.so_far() if self._requests else None,
            None if spent is None or before is None else spent - before,
            finished=any(self.layout.SUMMARY in job.output for job in self.workflow.dag.jobs),
        )

    def _next_step(self) -> str:
        """Return the next step after a target that prepares a run or its labels; empty for others."""
        labels = self.config.labels
        if labels and self.run.asks_for("annotation_pages"):
            command = command_to_resume([word for word in sys.argv if word != "annotation_pages"])
            return (
                "next:\n"
                f"  send each annotator the page of that name below {self.layout.below('labels/pages')}\n"
                f"  put the files that annotators return into {labels.path}\n"
                f"  {command}"
            )
        if self.run.asks_for("estimate"):
            return f"next:\n  {command_to_resume([word for word in sys.argv if word != 'estimate'])}"
        return ""

    # before the first job

    def _jobs(self) -> list[Any]:
        """Return the jobs that run; none where files are only touched."""
        return [] if self.workflow.touch else list(self.workflow.dag.needrun_jobs())

    def _only_looks(self) -> bool:
        return {job.rule.name for job in self.workflow.dag.needrun_jobs()} == {self.run.rule_name("status")}

    def models_of(self, job: Any) -> set[str]:
        """Return the models that a job calls."""
        named = set(self.config.models).intersection(job.wildcards)
        named |= {self.layout.partner} if self.layout.partner and "chatbot" in job.wildcards.keys() else set()  # noqa: SIM118
        # the makers of test items are in no wildcard
        return named or set(self.config.models).intersection(filter(None, self.layout.item_makers.values()))

    def _asking_jobs(self) -> Iterator[Any]:
        usage = self.layout.below(f"{layout.folder_of(layout.USAGE)}/")
        for job in self.workflow.dag.needrun_jobs():
            if job.log and any(path.startswith(usage) for path in job.output):
                yield job

    def _name_missing_keys(self) -> None:
        """Say which models can only be answered for from the store, as their key is not set."""
        jobs = [] if self.workflow.touch else self._asking_jobs()
        for name in sorted({name for job in jobs for name in self.models_of(job)}):
            if reason := without_key(self.config.models[name]):
                self.run.say(
                    f"note: models.{name}: {reason}. Stored responses are used; the run stops at the first new request"
                )

    def _refuse_jobs_without_a_device(self) -> None:
        """End the run if a job is to run here that this machine has no device for; a cluster's nodes may have it."""
        waiting = [job for job in self._jobs() if self.workflow.local_exec and job.resources.get("gpu")]
        models: dict[str, Any] = dict(self.config.models)
        training = self.run.rule_name("train_lora")
        for name in [job.wildcards.judge for job in waiting if job.rule.name == training]:
            if reason := too_few_gpus(models[name].lora.gpus, "lora.gpus"):
                raise self.run.error(f"models.{name}: {reason}")
        for name in sorted({name for job in waiting if job.rule.name != training for name in self.models_of(job)}):
            if reason := cannot_compute_here(models[name], own_environment=self.run.has_own_environments):
                raise self.run.error(f"models.{name}: {reason}")

    def _take_the_results(self) -> None:
        """Lock the results until this run ends, and write the run's information for its jobs there."""
        results, jobs = self.config.results_dir, list(self.workflow.dag.needrun_jobs())
        with lifecycle.writing(results):
            lifecycle.lock_results(results)
            for path in (path for job in jobs for path in (*job.output, *job.log)):
                refuse_links(Path(path), results)
            for job in self._jobs():
                if self.workflow.dag.reason(job).forced:  # made anew, and not restored
                    records.forget_outputs(results, map(Path, job.output))
            if any(str(path).startswith(f"{self.layout.results}/") for job in jobs for path in job.output):
                write_configuration(self.config)
            lifecycle.mark_on_termination(results)
            self._write_graph()
        read = {Path(path) for job in jobs for path in job.input}
        self.run.say(reset_future_timestamps(read, results / lifecycle.LOCK))

    def _watch_slurm(self) -> None:
        """Let the Slurm plugin ask squeue where sacct has no accounting, and report jobs that will never begin."""
        executor = self.workflow.executor_settings
        if not hasattr(executor, "status_command"):
            return
        print_blocked_jobs(Path.cwd())
        found = status_command_of(executor.status_command, executor.init_seconds_before_status_checks)
        executor.status_command = found.command
        executor.init_seconds_before_status_checks = found.first_look
        if found.words:
            print(found.words, file=sys.stderr)

    # all jobs of the configuration, for targets that compare them with the files in the results

    def _write_graph(self) -> None:
        planned = {job.rule.name for job in self.workflow.dag.needrun_jobs()}
        readers = [self.layout.graph(name) for name in GRAPH_READERS if self.run.rule_name(name) in planned]
        if not readers:
            return
        about = {
            "made": {name: job.rule.name for job in self._all_jobs() for name in self._written_by(job)},
            "configuration": self.run.configured_by(self.config),
            "left_out": self.run.left_out,
        }
        for path in readers:
            write_new(Path(path), json.dumps(about))

    def _all_jobs(self) -> list[Any]:
        """Return the jobs of all outputs of the configuration, and of its further targets."""
        from snakemake.dag import DAG  # can be imported once Snakemake's workflow is

        names = [
            "all",
            "estimate",
            "download",
            "status",
            *(["annotation_pages"] if self.layout.labelled_protocols else []),
        ]
        graph = DAG(
            self.workflow,
            self.workflow.rules,
            targetfiles=set(),
            targetrules={self.workflow.get_rule(self.run.rule_name(name)) for name in names},
            ignore_incomplete=True,
        )
        self.workflow.async_run(graph.init())
        return [*graph.jobs, *self.workflow.dag.jobs]

    def _written_by(self, job: Any) -> list[str]:
        """Return a job's files below the results: its outputs, and paths among its parameters such as checkpoints."""
        values: Iterable[Any] = (one for value in job.params for one in (value if isinstance(value, list) else [value]))
        paths = [*job.output, *job.log, *(value for value in values if isinstance(value, str))]
        results = self.layout.results
        return [os.path.relpath(path, results) for path in map(str, paths) if path.startswith(f"{results}/")]

    # messages while jobs run

    def _show_progress(self) -> None:
        """Write lines on jobs and models, unless the user wants Snakemake's own, another logger's or none."""
        jobs = [self._asking(job) for job in self._asking_jobs()]
        if jobs:  # a run that asks no model may look at what another asks
            progress.forget(self.config.results_dir)
        self._requests = Requests(self.config.results_dir, jobs)
        self._spent = self._spent_so_far()
        jobs_alone = self.quiet & {Quietness.RULES, Quietness.ALL, Quietness.PROGRESS} == {Quietness.RULES}
        if jobs_alone and not self.run.has_logger_plugin:
            lines = ProgressLines(self._requests, len(self.workflow.dag), self.workflow.local_exec)
            self.run.log.progress = lines.start()

    def _end_progress(self) -> None:
        if self.run.log.progress:
            self.run.log.progress.stop()
            self.run.log.progress = None

    def _asking(self, job: Any) -> ModelJob:
        requests = self.layout.below(f"{layout.folder_of(layout.REQUESTS)}/")
        planned = [Path(path) for path in job.input if path.startswith(requests)]
        name = progress.job_name(self.config.results_dir, Path(job.log[0]))
        return ModelJob(name, tuple(planned), int(job.wildcards.get("shards", 1)), tuple(sorted(self.models_of(job))))

    def _spent_so_far(self) -> float | None:
        """Return the spending on the run's models; None where none has prices."""
        digests = self._spending()
        if not digests:
            return None
        spent = Ledger(self.config.store_dir / SPENDING).by_name(digests).values()
        return sum(sums.spent for sums in spent)
