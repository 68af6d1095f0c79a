# Names of the run, the texts of settings and code that stages are told, and the command of a stage.

import json
import os
import re
import shlex
import sys
from dataclasses import asdict
from functools import cache
from pathlib import Path

RESULTS = str(CONFIG.results_dir)
STORE = str(CONFIG.store_dir)
CONFIGURED_BY = from_results(CONFIGURATION, CONFIG.results_dir)
PROTOCOLS = CONFIG.resolved_protocols()
ASKED_AGAIN = [name for name, protocol in PROTOCOLS.items() if protocol.ask_again]
ENSEMBLES = CONFIG.ensemble_methods()
PUBLISHED = [
    name for name, model in CONFIG.models.items() if isinstance(model, PublishedModel)
]
# the commands of all jobs name these as they stand here: where folders lie is no part of them, and moving one re-runs nothing
os.environ |= {
    "DIALEVAL_PROMPTS": f"{CONFIG.prompts.set}:{CONFIG.prompts.directory or ''}",
    "DIALEVAL_RESULTS": RESULTS,
    "DIALEVAL_STORE": STORE,
    "DIALEVAL_OUTSIDE": str(outside.__file__),
    "DIALEVAL_CONFIGURATION": CONFIGURED_BY,
}

if workflow.exec_mode != ExecMode.DEFAULT and "--latency-wait" in sys.argv:
    # a job on a cluster's node waits as long for what another node has written as Snakemake does
    os.environ |= {
        lagging.SECONDS: sys.argv[sys.argv.index("--latency-wait") + 1],
    }


if OWN_ENVIRONMENTS:
    # for envs/*.post-deploy.sh, which install it
    in_words(check_can_be_installed, PROJECT)
    os.environ |= {"DIALEVAL_PROJECT": str(PROJECT)}
else:
    # jobs run with the Python that runs Snakemake, whether or not its environment is activated
    shell.prefix(
        f"set -euo pipefail; export PATH={shlex.quote(str(Path(sys.executable).parent))}:$PATH OPENBLAS_NUM_THREADS=1; "
    )


wildcard_constraints:
    corpus="[^/]+",
    model="[^/]+",
    chatbot="[^/]+",
    judge="[^/]+",
    protocol="[^/]+",
    shard=r"\d+",
    shards=r"\d+",


runwatch.announce(CONFIG.results_dir)
how_jobs_run.announce(
    {
        name: model.model_dump(
            mode="json", include=model.how_jobs_run, exclude_defaults=True
        )
        for name, model in CONFIG.models.items()
    },
    CONFIG.answering.model_dump(mode="json"),
)
terms.announce(terms.run_terms(CONFIG.models, CONFIG.budget))


def settings(**parts):
    """Returns a stage's part of the configuration as canonical JSON: the same settings are always the same text."""
    return json.dumps(
        parts,
        sort_keys=True,
        ensure_ascii=False,
        default=lambda part: part.model_dump(mode="json"),
    )


def code(stage, *asked, templates=()):
    """Returns the fingerprint of a stage's code and templates, and of the engines of the models that it asks.

    One that is not asked, and so is not named, or has no engine, adds nothing. `templates` are those that it is told of.
    """
    models = [CONFIG.models[name] for name in asked if name in CONFIG.models]
    engines = sorted({name for model in models for name in model.modules})
    return fingerprint_of((stage_function(stage), *engines), tuple(templates))


@cache
def fingerprint_of(modules, templates):
    """Returns what is the same for all of the hundreds of jobs that share a stage and engines."""
    return fingerprint(
        *modules,
        templates=templates,
        prompts_directory=CONFIG.prompts.directory,
        prompt_set=CONFIG.prompts.set,
    )


def content(files):
    """Returns a digest of what stands in files of the user's: a copy that kept its old time stamp is new all the same.

    It is asked for by wildcards alone: what a parameter takes from a rule's `input` is not compared with the last run's.
    """
    return in_words(content_digest, map(Path, files))


@cache
def content_of_model(name):
    return in_words(local_content, CONFIG.models[name])


def content_of_models(*names):
    """Returns a digest of what models that a job asks or trains load from this machine; without any, nothing."""
    known = sorted({name for name in names if name in CONFIG.models})
    return " ".join(filter(None, map(content_of_model, known)))


def command(stage, options, always_anew=False):
    """Returns the shell command of a stage; what it says goes to the terminal and to the log.

    A stage whose files follow from more than its inputs, settings and code is `always_anew` when it runs; of any other
    that is told what it was told before, what it made is put back.

    Why it failed stands in the log, from which the run tells it at its end, each cause once.

    `params.content`, a digest of files that the stage is not told, is named where there is one: `--content={params.content:q}`.
    """
    return (
        # a link in the log's place is removed and not followed
        f"rm -f {{log:q}} && python -u -m dialeval.stages {stage} --makes {{output:q}} --log {{log:q}}{' --always-anew' * always_anew} "
        f"--settings {{params.settings:q}} --code {{params.code}} "
        f'--prompts="$DIALEVAL_PROMPTS" {options} 2>&1 | tee -i {{log:q}} '
        "|| {{ status=$?; [ ! -e {log:q}.error ] || {{ cat {log:q}.error >> {log:q}; rm {log:q}.error; }}; exit $status; }}"
    )


def one_of(names):
    """Returns a wildcard's constraint to some names; without any it matches nothing."""
    return "|".join(map(re.escape, names)) or "(?!)"


def asked_model(name):
    """Returns a model as a job that asks it is told: without what changes no answer.

    These are prices and budget, how its jobs run, and how an adapter was trained: its weights decide.
    """
    model = CONFIG.models[name]
    if isinstance(model, VllmModel) and model.lora:
        model = model.model_copy(update={"lora": LoraTraining(train=model.lora.train)})
    billed = {"budget", *Prices.model_fields}
    return model.model_dump(mode="json", exclude=model.how_jobs_run | billed)


def prices():
    """Returns the prices of the models that have any."""
    found = {name: prices_of(model) for name, model in CONFIG.models.items()}
    return {name: price for name, price in found.items() if any(dict(price).values())}


def spending_folders():
    """Returns under which digest the spending on each model with prices is written down."""
    return {name: terms.digest_of(CONFIG.models[name]) for name in prices()}


def environment(*names):
    """Returns the conda environment of a job of models."""
    needed = {model.runs_in for model in named(names)}
    return f"../envs/{next((name for name in ('vllm', 'train') if name in needed), 'core')}.yaml"


def named(names):
    """Returns those of some models that the configuration has."""
    return [CONFIG.models[name] for name in names if name in CONFIG.models]
