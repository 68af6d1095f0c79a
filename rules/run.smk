# The run: its configuration, what rules take from the library, the base of all rules of stages, and hooks.

import gc
from functools import partial

from snakemake.exceptions import WorkflowError

# what is read here stays for the whole run: to look through it for garbage every 700 objects is a sixth of a start
gc.set_threshold(50_000, 20, 20)

try:
    from dialeval.layout.run import Layout
    from dialeval.provenance.fingerprints import fingerprint
    from dialeval.rules.dialogbench import TestItems
    from dialeval.rules.dialogues import Corpora, Selfchat, Training, Translation
    from dialeval.rules.groups import Groups, Submissions, cluster_check
    from dialeval.rules.hooks import Hooks
    from dialeval.rules.jobs import Bound, Directives, StageJob, by_digest, one_of
    from dialeval.rules.judging import Judging, Labels
    from dialeval.rules.measures import FigureRules, Measures, MetaEvaluation
    from dialeval.rules.report import Report
    from dialeval.rules.run import Run
    from dialeval.tables.measures import MEASURED
except ImportError as error:
    raise WorkflowError(f"{error}; install the project first: pip install -e .")

RUN = Run(workflow)
for found in RUN.configuration_to_read(config):

    configfile: found


CONFIG = RUN.read(config)
SOURCES = RUN.sources(CONFIG)
LAYOUT = Layout(CONFIG, has_labels=bool(RUN.in_words(SOURCES.labels)))
PUBLISHED = set(LAYOUT.published)
GROUPS = Groups(LAYOUT)
REPORT = Report(LAYOUT, SOURCES)
HOOKS = Hooks(RUN, LAYOUT, REPORT.spending_folders)
DIRECTIVES = Directives(CONFIG, RUN.in_words)
SUBMISSIONS = Submissions(workflow, DIRECTIVES)
# what directives take, by wildcards
by, job = DIRECTIVES.by_wildcards, DIRECTIVES.job
grouped, environment, resources = (
    SUBMISSIONS.grouped,
    SUBMISSIONS.environment,
    SUBMISSIONS.resources,
)
paths = Bound(LAYOUT, DIRECTIVES)
learned = partial(DIRECTIVES.learned, LAYOUT.learned)

shell.prefix(RUN.shell_prefix(LAYOUT))


# the command of all stages; a link in the log's place is removed and not followed
COMMAND = (
    "rm -f {log:q} && ${{DIALEVAL_STAGE:-python -u -m dialeval.stages}} {params.command} --makes {output:q} --log {log:q} "
    "--settings {params.settings:q} --code {params.code} "
    '--prompts="$DIALEVAL_PROMPTS" 2>&1 | tee -i {log:q} '
    "|| {{ status=$?; [ ! -e {log:q}.error ] || {{ cat {log:q}.error >> {log:q}; rm {log:q}.error; }}; exit $status; }}"
)


wildcard_constraints:
    corpus="[^/]+",
    model="[^/]+",
    chatbot="[^/]+",
    judge="[^/]+",
    protocol="[^/]+",
    shard=r"\d+",
    shards=r"\d+",


rule stage:
    """Runs a stage of the library; all rules of stages take log, environment and command from here."""
    output:
        LAYOUT.below(".stage"),
    log:
        LAYOUT.log("<part>"),
    pathvars:
        part="stage",
    conda:
        "../envs/core.yaml"
    shell:
        COMMAND


onstart:
    HOOKS.on_start()


onsuccess:
    HOOKS.on_success()


onerror:
    HOOKS.on_error()
