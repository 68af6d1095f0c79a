"""The start of a run: its target, and the configuration, read and checked before any rule is defined."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from snakemake.exceptions import WorkflowError
from snakemake_interface_executor_plugins.settings import ExecMode, SharedFSUsage

from dialeval.config.configuration import Config
from dialeval.config.corpora import absence_in_words, without_absent
from dialeval.config.files import check_files, check_module, configuration_file, from_results, shown
from dialeval.engines.spending import prices as terms
from dialeval.errors import UserError, visible
from dialeval.jobs import lifecycle, process_setup
from dialeval.jobs.run_progress import RunLog
from dialeval.layout.run import Layout
from dialeval.paths import check_can_be_installed, check_name
from dialeval.planning import preflight
from dialeval.planning.preflight import is_named, refuse_without_section
from dialeval.provenance.stale_files import check_folder
from dialeval.rules.jobs import Sources
from dialeval.tables.files import LATENCY_WAIT
from dialeval.translation import external_scores

LOOKING = re.compile(
    "-[lSD]|--(list.*|l[cip]|(detailed-)?summary|dag|rulegraph|filegraph|d3dag|report|lint|unlock|archive)(=.*)?"
)
"""Snakemake's commands that run no job."""
COMPARED = ("run_a", "run_b")
"""Values of `--config` that are no fields of the configuration: the folders of results that `compare` reads."""


class Run:
    """One start of Snakemake with this workflow.

    Attributes:
        workflow: Snakemake's own.
        project: the folder of the workflow.
        is_module: whether another workflow uses this one as a module, with a configuration of its own.
        log: the filter of Snakemake's log.
        configuration: the files of the configuration, as messages name them.
        left_out: remarks on parts of the configuration whose files are missing.
    """

    def __init__(self, workflow: Any) -> None:
        for stream in (sys.stdout, sys.stderr):
            process_setup.continue_without_reader(stream)
        self.workflow = workflow
        self.project = Path(workflow.current_basedir).parent
        self.modifier = workflow.modifier  # when the run begins, Snakemake has another workflow's there
        self.is_module = not self.modifier.is_main_snakefile()
        output = workflow.output_settings
        # a logger plugin of the user's gets Snakemake's records as they are
        self.has_logger_plugin = bool(output.log_handler_settings)
        self.log = RunLog(output.printshellcmds or self.has_logger_plugin).attach()
        self.configuration: list[str] = []
        self.left_out: list[str] = []
        self.compared = dict.fromkeys(COMPARED, "")
        self.has_own_environments = bool(workflow.deployment_settings.deployment_method)
        # of a module's workflow, the files that the command gives are that workflow's
        self._given = [] if self.is_module else workflow.overwrite_configfiles
        self.in_words(check_name, self.project)
        self._refuse_storage()

    @property
    def is_main(self) -> bool:
        """Return whether this is the process that a user started, and not that of one of its jobs."""
        return bool(self.workflow.exec_mode == ExecMode.DEFAULT)

    def rule_name(self, name: str) -> str:
        """Return the name of a rule in the workflow that uses this one as a module."""
        return str(self.modifier.modify_rulename(name))

    def asks_for(self, *targets: str) -> bool:
        """Return whether the command names one of some targets; Snakemake says only later which it has."""
        return any(is_named(self.rule_name(target), sys.argv) for target in targets)

    def in_words(self, function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """Return a function's result, or end with the message of a user's mistake."""
        try:
            return function(*arguments, **options)
        except UserError as error:
            raise self.error(str(error)) from None

    def error(self, message: str) -> WorkflowError:
        """Return an error that ends the run with a message alone."""
        return WorkflowError(self.log.without_location(message))

    def say(self, words: str) -> None:
        """Print a notice, once: jobs read the rules too."""
        if words and self.is_main:
            print(visible(words), file=sys.stderr)

    def configuration_to_read(self, config: Any) -> list[str]:
        """Return the file of the configuration, if neither the command nor another workflow gives one."""
        if self.is_module:
            paths = self.modifier.path_modifier
            moved = paths.prefix or ("" if paths.modifies_prefixes else None)
            self.in_words(check_module, config, moved)
            self.configuration = [shown(Path(self.workflow.main_snakefile))]
            return []
        if self._given:
            self.in_words(check_files, self._given)
            self.configuration = list(map(shown, self._given))
            return []
        found, remark = self.in_words(configuration_file, Path.cwd(), self.project)
        self.in_words(check_files, [found])
        self.configuration = [shown(found)]
        self.say(remark)
        return [str(found)]

    def read(self, raw: dict[str, Any]) -> Config:
        """Return the configuration, checked as far as the targets need it."""
        is_comparing, is_downloading = self.asks_for("compare"), self.asks_for("download")
        is_cleaning = self.asks_for("clean", "clean_remove")
        if is_comparing:
            self.compared = {name: str(raw.pop(name, "")) for name in COMPARED}  # a folder may be called 2026
            if not all(self.compared.values()):
                raise self.error(
                    "compare needs two results folders: "
                    "snakemake --cores 1 compare --config run_a=results run_b=results-2"
                )
        asks_no_model = is_downloading or is_cleaning or is_comparing or self.asks_for("estimate", "status")
        config: Config = self.in_words(
            preflight.checked_config,
            raw,
            self._given,
            asks=not asks_no_model,
            reads=not (is_downloading or is_comparing),
            labelling=self.asks_for("annotation_pages"),
            own_environments=self.has_own_environments,
        )
        self.in_words(refuse_without_section, config, self.asks_for)
        if not (is_downloading or is_comparing):
            complete, config = config, self.in_words(without_absent, config)
            self.left_out = list(absence_in_words(config, complete))
            notices = [*preflight.unused_templates(config), *preflight.unread_labels(config)]
            self.say("\n".join([*self.left_out, *notices]))
        if is_cleaning:
            self.in_words(check_folder, config.results_dir, config.store_dir, Path.cwd())
        # Snakemake's own lock, where a profile leaves it on, would come first and say less
        is_dry_run = self.workflow.output_settings.dryrun or any(map(LOOKING.fullmatch, sys.argv))
        if self.is_main and not is_dry_run and not self.asks_for("status"):
            self.in_words(lifecycle.refuse_second_run, config.results_dir)
        return config

    def sources(self, config: Config) -> Sources:
        """Return the user's files that the run reads."""
        return Sources(config, is_downloading=self.asks_for("download"))

    def shell_prefix(self, layout: Layout) -> str:
        """Set the environment of jobs, and return the beginning of their commands.

        Commands name folders by variables: moving a folder changes no command.
        """
        config = layout.config
        os.environ |= {
            "DIALEVAL_PROMPTS": f"{config.prompts.set}:{config.prompts.directory or ''}",
            "DIALEVAL_RESULTS": layout.results,
            "DIALEVAL_STORE": layout.store,
            "DIALEVAL_OUTSIDE": str(external_scores.__file__),
            "DIALEVAL_CONFIGURATION": self.configured_by(config),
        }
        if not self.is_main and "--latency-wait" in sys.argv:
            # a job on a cluster's node waits for another node's files as long as Snakemake does
            os.environ[LATENCY_WAIT] = sys.argv[sys.argv.index("--latency-wait") + 1]
        lifecycle.announce_run(config.results_dir)
        process_setup.announce(
            {
                name: model.model_dump(mode="json", include=set(model.how_jobs_run), exclude_defaults=True)
                for name, model in config.models.items()
            },
            config.answering.model_dump(mode="json"),
        )
        terms.announce(terms.run_terms(config.models, config.budget))
        if self.has_own_environments:  # envs/*.post-deploy.sh install the project there
            self.in_words(check_can_be_installed, self.project)
            os.environ["DIALEVAL_PROJECT"] = str(self.project)
            return ""
        # jobs run with the Python that runs Snakemake, whether or not its environment is activated
        python = shlex.quote(str(Path(sys.executable).parent))
        return f"set -euo pipefail; export PATH={python}:$PATH OPENBLAS_NUM_THREADS=1; "

    def configured_by(self, config: Config) -> str:
        """Return the files of the configuration as a reader of the results finds them."""
        return from_results(self.configuration, config.results_dir)

    def _refuse_storage(self) -> None:
        storage = self.workflow.storage_settings
        has_files = SharedFSUsage.INPUT_OUTPUT in storage.shared_fs_usage
        if self.is_main and (storage.default_storage_provider or not has_files):
            raise WorkflowError(
                "results, the response store and the files that a configuration names must have the same paths here "
                "and on all nodes. Object storage (--default-storage-provider) and executors without a shared file "
                "system, such as kubernetes, do not provide this. Run the whole workflow in one container "
                "(docs/cluster.md), or on a cluster with a shared file system"
            )
