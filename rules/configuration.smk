# The configuration, read and checked before any rule is defined.

import gc
import re
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.io import IOFile
from snakemake_interface_executor_plugins.settings import ExecMode, SharedFSUsage

# what is read here stays for the whole run: to look through it for garbage every 700 objects is a sixth of a start
gc.set_threshold(50_000, 20, 20)

try:
    from dialeval.tables import files as lagging
    from dialeval.labels.joined_judgements import labelled_design
    from dialeval.measures.design import design_of
    from dialeval.jobs.cluster_check import Request
    from dialeval.jobs.slurm import asking as asking_slurm, tell_of_waiting
    from dialeval.config import (
        DOMAINS,
        EmbeddedModel,
        EncoderModel,
        OpenAIModel,
        PublishedModel,
        VllmModel,
    )
    from dialeval.config.corpora import absence_in_words as told, without_absent
    from dialeval.config.criteria import (
        asked_dimensions,
        asked_hurt,
        fillable,
        joined_criteria,
    )
    from dialeval.config.dialogbench import parts_in_items
    from dialeval.config.models import METHODS as EMBEDDED_METHODS
    from dialeval.config.ensembles import kinds, one_model, pool_of, tagged
    from dialeval.config.metaeval import PACKAGE, partial_to
    from dialeval.config.section import JobResources
    from dialeval.config.labels import (
        labelled_protocols as labelled_protocols_of,
        labelled_sheets,
    )
    from dialeval.config.files import (
        check_files,
        check_module,
        configuration_file,
        from_results,
        shown,
    )
    from dialeval.config.consistency import asks_otherwise
    from dialeval.config.protocols import SHIPPED
    from dialeval.config.model_base import gpus_for, resource_for
    from dialeval.config.training import LoraTraining
    from dialeval.config.loading import write_configuration
    from dialeval.corpora import robustness_sets
    from dialeval.dialogbench.items import item_files
    from dialeval.corpora.rated_readers import rated_source_files
    from dialeval.corpora.readers import source_files
    from dialeval.corpora.transcripts import readers as transcripts
    from dialeval.engines.availability import (
        cannot_compute_here,
        local_content,
        without_key,
    )
    from dialeval.engines.local_models import too_few_gpus
    from dialeval.engines.spending.prices import Prices, prices_of
    from dialeval.engines.spending import prices as terms
    from dialeval.engines.spending.ledger import FOLDER as SPENDING
    from dialeval.engines.spending.ledger import Ledger
    from dialeval.errors import UserError, visible
    from dialeval.criteria import (
        FAILURES_BY_RULE as BY_RULE,
        FAILURES_PROTOCOL as OF_FAILURES,
    )
    from dialeval.figures import registry as entries
    from dialeval.figures.registry import drawings, text_of
    from dialeval.provenance.fingerprints import content_digest, fingerprint
    from dialeval.stages import stage_function
    from dialeval.labels.spreadsheets import label_files, ledger_files
    from dialeval.labels.ledger import ledger_digest, ledger_path
    from dialeval.jobs.failure_summary import Notices, say_at_exit
    from dialeval.perturbations.wordnet import wordnet_files
    from dialeval.jobs import (
        process_setup as how_jobs_run,
        progress as progress_files,
        run_lock as runlock,
        signals as runwatch,
    )
    from dialeval.jobs.run_lock import bring_to_the_present
    from dialeval.jobs.run_progress import AskingJob, JobLines, Requests
    from dialeval.paths import check_can_be_installed, check_name
    from dialeval.provenance import kept_outputs as kept
    from dialeval.provenance.leftovers import check_folder
    from dialeval.planning import preflight
    from dialeval.planning.preflight import is_named, refuse_without_section
    from dialeval.report.export import outdated_files
    from dialeval.report.terminal_summary import say_at_exit as say_summary_at_exit
    from dialeval.tables.measures import MEASURED
    from dialeval.training.encoder import DECIDES as ENCODER_DECIDES
    from dialeval.text import counted
    from dialeval.training.lora import DECIDES
    from dialeval.translation import external_scores as outside
    from dialeval.whole_files import refuse_links, write_new
except ImportError as error:
    raise WorkflowError(f"{error}; install the project first: pip install -e .")


PROJECT = Path(workflow.current_basedir).parent
# another workflow may use this one as a module, with names of its own for the rules, and a configuration that it gives
AS_MODULE = not workflow.modifier.is_main_snakefile()


def asked_for(target):
    """Returns whether the command names a target; Snakemake says only later what the targets are."""
    return is_named(workflow.modifier.modify_rulename(target), sys.argv)


NOTICES = Notices(workflow.output_settings.printshellcmds).attach()


def in_words(check, *arguments, **options):
    """Returns what a check returns, or ends with its message."""
    try:
        return check(*arguments, **options)
    except UserError as error:
        raise WorkflowError(NOTICES.shown_alone(str(error))) from None


def say(words):
    """Tells whoever started the run; the processes of its jobs, which read all this too, say nothing."""
    if words and workflow.exec_mode == ExecMode.DEFAULT:
        print(visible(words), file=sys.stderr)


in_words(check_name, PROJECT)

# these ask nobody, so engines need not be at hand
ESTIMATING = asked_for("estimate")
DOWNLOADING = asked_for("download")
LABELLING = asked_for("label")
TIDYING = asked_for("tidy") or asked_for("tidy_remove")
COMPARING = asked_for("compare")
LIVE = asked_for("live")
OWN_ENVIRONMENTS = bool(workflow.deployment_settings.deployment_method)
LOOKING = re.compile(  # Snakemake's commands that run no job
    "-[lSD]|--(list.*|l[cip]|(detailed-)?summary|dag|rulegraph|filegraph|d3dag|report|lint|unlock|archive)(=.*)?"
)
# by --configfile or a profile; what a module's workflow is given so is that workflow's
GIVEN = [] if AS_MODULE else workflow.overwrite_configfiles

STORAGE = workflow.storage_settings
if workflow.exec_mode == ExecMode.DEFAULT and (
    STORAGE.default_storage_provider
    or SharedFSUsage.INPUT_OUTPUT not in STORAGE.shared_fs_usage
):
    raise WorkflowError(
        "results, the response store and the files that a configuration names are plain files, which must have the same "
        "paths here and on all nodes. Object storage (--default-storage-provider) and executors that share no file "
        "system, such as kubernetes, do not give them that: run the whole workflow in one container instead, as "
        "docs/cluster.md says, or on a cluster whose nodes share a file system"
    )

CONFIGURATION = []  # its files, as they are told
if AS_MODULE:
    PATHS = workflow.modifier.path_modifier
    MOVED = PATHS.prefix or ("" if PATHS.modifies_prefixes else None)
    in_words(check_module, config, MOVED)
    CONFIGURATION = [shown(Path(workflow.main_snakefile))]
elif GIVEN:  # stands alone
    in_words(check_files, GIVEN)
    CONFIGURATION = list(map(shown, GIVEN))
else:
    FOUND, TOLD = in_words(configuration_file, Path.cwd(), PROJECT)
    in_words(check_files, [FOUND])
    CONFIGURATION = [shown(FOUND)]
    say(TOLD)

    configfile: str(FOUND)


# no fields of the configuration: folders of the two runs that `compare` is told
RUNS = {
    name: str(config.pop(name, "")) if COMPARING else ""
    for name in ("run_a", "run_b")  # a folder may be called 2026
}
if COMPARING and not all(RUNS.values()):
    raise WorkflowError(
        "compare needs two folders of results: "
        "snakemake --cores 1 compare --config run_a=results run_b=results-2"
    )
CONFIG = in_words(
    preflight.checked_config,
    config,
    GIVEN,
    asks=not (ESTIMATING or DOWNLOADING or TIDYING or COMPARING or LIVE),
    reads=not (DOWNLOADING or COMPARING),
    labelling=LABELLING,
    own_environments=OWN_ENVIRONMENTS,
)
in_words(refuse_without_section, CONFIG, asked_for)

LEFT_OUT = []
if not (DOWNLOADING or COMPARING):
    WHOLE, CONFIG = CONFIG, in_words(without_absent, CONFIG)
    LEFT_OUT = list(told(CONFIG, WHOLE))
    say("\n".join(LEFT_OUT))

if TIDYING:
    in_words(check_folder, CONFIG.results_dir, CONFIG.store_dir, Path.cwd())

# Snakemake's own lock, where a profile leaves it on, would come first and say less
if workflow.exec_mode == ExecMode.DEFAULT and not (
    LIVE or workflow.output_settings.dryrun or any(map(LOOKING.fullmatch, sys.argv))
):
    in_words(runlock.refuse_second_run, CONFIG.results_dir)
