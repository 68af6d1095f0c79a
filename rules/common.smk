# What every rule needs of the configuration.

import json
import os
import re
import shlex
import sys
from contextlib import suppress
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
WRITING_FIELDS = [  # of dialogbench.written, that the stage is told as they are
    "per_cell",
    "languages",
    "max_rounds",
    "temperature",
    "max_tokens",
    "presence_penalty",
    "frequency_penalty",
    "min_turns",
    "max_length_ratio",
    "max_question_share",
    "duplicate_similarity",
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


def refuse_jobs_without_a_device():
    """Ends the run before its first job where one is to run here that this machine has no device for.

    Jobs that a cluster's nodes run are left to them: they have devices that this machine need not have.
    """
    here = workflow.local_exec and not workflow.touch
    jobs = workflow.dag.needrun_jobs() if here else ()
    waiting = [job for job in jobs if job.resources.get("gpu")]
    for name in [
        job.wildcards.judge for job in waiting if job.rule.name == "train_lora"
    ]:
        if reason := too_few_gpus(CONFIG.models[name].lora.gpus, "lora.gpus"):
            raise WorkflowError(NOTICES.shown_alone(f"models.{name}: {reason}"))
    waiting = [job for job in waiting if job.rule.name != "train_lora"]
    asked = set()
    for job in waiting:  # the makers of test items stand in no wildcard
        named = set(CONFIG.models).intersection(job.wildcards)
        named |= {PARTNER} if PARTNER and "chatbot" in job.wildcards.keys() else set()
        asked |= named or set(CONFIG.models).intersection(item_makers().values())
    for name in sorted(asked):
        reason = cannot_compute_here(
            CONFIG.models[name], own_environment=OWN_ENVIRONMENTS
        )
        if reason:
            raise WorkflowError(NOTICES.shown_alone(f"models.{name}: {reason}"))


def refuse_wrong_transcripts():
    """Ends the run before its first job where transcripts that it is to read cannot be read."""
    jobs = [] if workflow.touch else workflow.dag.needrun_jobs()
    names = [
        job.wildcards.source for job in jobs if job.rule.name == "read_transcripts"
    ]
    in_words(preflight.check_transcripts, CONFIG, sorted(names))


def make_forced_anew():
    """Has what the user forces (-F, -R, -f) be made anew, and not be put back from what was kept of it."""
    jobs = [] if workflow.touch else workflow.dag.needrun_jobs()
    for job in jobs:
        if workflow.dag.reason(job).forced:
            kept.forget(CONFIG.results_dir, map(Path, job.output))


def write_down_configuration():
    """Writes down the configuration beside the results, where the run makes any of them."""
    made = [str(path) for job in workflow.dag.needrun_jobs() for path in job.output]
    if any(path.startswith(f"{RESULTS}/") for path in made):
        in_words(write_configuration, CONFIG)


def only_looks():
    """Returns whether the run makes a page of what another one makes now, and so must leave all alone that is its."""
    live = workflow.modifier.modify_rulename("live")
    return {job.rule.name for job in workflow.dag.needrun_jobs()} == {live}


def begin():
    """Does what a run begins with that makes something: nobody else may be at work in its results."""
    refuse_jobs_without_a_device()
    refuse_wrong_transcripts()
    if (
        LIVE
    ):  # it was not looked at before, as this target alone may run beside another run
        in_words(runlock.refuse_second_run, CONFIG.results_dir)
    runlock.acquire(CONFIG.results_dir)
    make_forced_anew()
    write_down_configuration()
    runwatch.mark_when_terminated(CONFIG.results_dir)
    watch_slurm()
    write_graph()
    tell_of_jobs()


onstart:
    if only_looks():
        runwatch.leave_alone()
    else:
        begin()


onsuccess:
    if not only_looks():
        stop_telling()
        tell_what_came_out()


onerror:
    stop_telling()
    # Snakemake takes a failed job's files away, and yet writes down its new settings as if it had made them; what an
    # earlier run made of them still stands, and the next run would take all for done. So what was not done is made old
    for job in workflow.dag.needrun_jobs():
        for path in job.output:
            if not Path(path).exists():
                workflow.persistence.cleanup_metadata(path)
                continue
            with suppress(
                OSError
            ):  # where nothing can be written, that is the error
                os.utime(path, (1, 1))
    say_at_exit(workflow.scheduler.failed, NOTICES, sys.argv, CONFIG.results_dir)


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
    return fingerprint_of((f"dialeval.stages.{stage}", *engines), tuple(templates))


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

    `params.content`, a digest of files that the stage is not told, is named where there is one: `--content={params.content:q}`.
    """
    return (
        f"python -u -m dialeval.stages {stage} --makes {{output:q}} --log {{log:q}}{' --always-anew' * always_anew} "
        f"--settings {{params.settings:q}} --code {{params.code}} "
        f'--prompts="$DIALEVAL_PROMPTS" {options} 2>&1 | tee -i {{log:q}}'
    )


def one_of(names):
    """Returns a wildcard's constraint to some names; without any it matches nothing."""
    return "|".join(map(re.escape, names)) or "(?!)"


def selfchat_settings(wildcards):
    return settings(
        name=wildcards.chatbot,
        model=asked_model(wildcards.chatbot),
        selfchat=CONFIG.selfchat,
        partner=asked_model(PARTNER) if PARTNER else None,
        shard=int(wildcards.get("shard", 1)),
        shards=int(wildcards.get("shards", 1)),
    )


def import_settings(wildcards):
    judge = CONFIG.models[wildcards.judge]
    arena = CONFIG.protocols.arena
    return settings(
        protocol=wildcards.protocol,
        judge_column=judge.judge_column,
        names=judge.names,
        arena_lengths=(
            arena.n_utterances if arena and wildcards.protocol == "arena" else []
        ),
    )


def metaeval_settings(
    benchmarks=False,
    ensemble_size=False,
    published_as=False,
    translated=False,
    ensembles=False,
    fill=False,
    partial=False,
    joined=False,
):
    """Returns how meta-evaluation makes its intervals, and what else a stage of it needs."""
    section = CONFIG.metaeval
    if section is None:
        return settings()
    more = {}
    if benchmarks:
        more["benchmarks"] = {
            name: corpus.benchmark for name, corpus in section.corpora.items()
        }
    if published_as:
        more["published_as"] = CONFIG.published_systems()
    if translated and CONFIG.translate:
        more["translated"] = {
            name: {language: asked.by for language in asked.into}
            for name, asked in CONFIG.translate.items()
        }
    if ensemble_size:
        more["ensemble_size"] = section.ensemble_size
        more["ensemble_pool"] = pool_of(CONFIG)
    if ensembles:
        more["ensembles"] = list(ENSEMBLES)
        more["models"] = one_model(CONFIG)
    if fill and section.fill:
        more["fill"] = section.fill
    if partial and section.fill:
        more["partial"] = partial_to(CONFIG)
    if joined and joined_criteria(CONFIG):
        more["joined"] = joined_criteria(CONFIG)
    return settings(
        resamples=section.resamples,
        confidence=section.confidence,
        random_seed=CONFIG.random_seed,
        **more,
    )


def score_file_settings(name):
    """Returns what a file of ready scores is, and what of it is compared with ratings on another criterion."""
    section, more = CONFIG.metaeval.score_files[name], {}
    if joined_criteria(CONFIG):
        more["joined"] = joined_criteria(CONFIG)
    return settings(
        name=name, scale_min=section.scale_min, scale_max=section.scale_max, **more
    )


def ladder_settings(name):
    """Returns how the items of a constructed corpus are made."""
    corpus = CONFIG.metaeval.corpora[name]
    return settings(
        name=name,
        languages=corpus.languages,
        strategies=corpus.strategies,
        steps=corpus.steps,
        limit=corpus.limit,
        random_seed=CONFIG.random_seed,
        hurt=CONFIG.hurt(corpus.strategies),
    )


def damage_settings():
    """Returns what is damaged by rule, and how."""
    section = CONFIG.robustness
    if section is None:
        return settings()
    ladders = section.ladders
    return settings(
        strategies=section.strategies,
        limit=section.limit,
        dialogue_draws=section.dialogue_draws,
        turn_draws=section.turn_draws,
        ladder_strategies=ladders.strategies if ladders else [],
        ladder_steps=ladders.steps if ladders else 2,
        ladder_limit=ladders.limit if ladders else None,
        published=(
            str(CONFIG.published_damage()) if CONFIG.published_damage() else None
        ),
        random_seed=CONFIG.random_seed,
        **told(section, "min_quality"),
        **({"wordnet": str(CONFIG.wordnet())} if CONFIG.wordnet() else {}),
    )


def told(section, *names):
    """Returns those fields of a section that say something: what is null changes no settings."""
    values = {name: getattr(section, name) for name in names}
    return {name: value for name, value in values.items() if value is not None}


def rewrite_settings(model):
    """Returns what a model damages, and how."""
    section = CONFIG.robustness
    return settings(
        name=model,
        model=asked_model(model),
        strategies=section.strategies,
        limit=section.limit,
        dialogue_draws=section.dialogue_draws,
        turn_draws=section.turn_draws,
        temperature=section.rewriter_temperature,
        random_seed=CONFIG.random_seed,
        **told(section, "min_quality", "rewritten"),
    )


def item_table_settings():
    """Returns what the tables of DialogBench need; nothing where it is not configured."""
    section = CONFIG.dialogbench
    if section is None:
        return settings()
    names = {name for name, method in examined()}
    kind_of = {name: kind for name, kind in kinds(CONFIG).items() if name in names}
    groups = {
        kind: [name for name, own in kind_of.items() if own == kind]
        for kind in ("base", "chat")
    }
    groups |= {
        tag: [name for name in tagged_names if name in names]
        for tag, tagged_names in tagged(CONFIG).items()
        if tag not in groups
    }
    return settings(
        confidence=section.confidence,
        ablations=item_ablations(),
        groups={name: members for name, members in groups.items() if members},
        kinds=kind_of,
        parts=parts_in_items(section, CONFIG.models),
        at_least=section.experts.at_least if section.experts else None,
        random_seed=CONFIG.random_seed,
    )


def expert_sheet_settings():
    """Returns how many items experts are to answer; nothing where there are no experts."""
    experts = CONFIG.dialogbench.experts if CONFIG.dialogbench else None
    if experts is None:
        return settings()
    return settings(per_task=experts.per_task, random_seed=CONFIG.random_seed)


def expert_settings():
    """Returns what is to be known of the experts; nothing where there are none."""
    experts = CONFIG.dialogbench.experts if CONFIG.dialogbench else None
    return settings(simulated=experts.simulated) if experts else settings()


def item_writer_settings():
    """Returns who writes test items, and what."""
    written = CONFIG.dialogbench.written if CONFIG.dialogbench else None
    if written is None:
        return settings()
    by_model = written.writer is not None
    return settings(
        name=written.writer,
        model=asked_model(written.writer) if by_model else None,
        tasks=written.asked_tasks,
        domains=written.domains or DOMAINS,
        procedures=[
            "full",
            *(f"-{name}" for name in written.ablations if name != "filter"),
        ],
        random_seed=CONFIG.random_seed,
        **{name: getattr(written, name) for name in WRITING_FIELDS},
    )


def item_judge_settings(name):
    """Returns the model that filters or describes written items."""
    if name is None:
        return settings()
    return settings(
        name=name,
        model=asked_model(name),
    )


def item_settings():
    """Returns where test items come from."""
    section = CONFIG.dialogbench
    if section is None:
        return settings()
    return settings(
        bundled=section.bundled,
        published={
            name: {
                "path": str(CONFIG.item_path(name)),
                "language": published.language,
                "task": published.task,
            }
            for name, published in section.published.items()
        },
        variants=[
            "full",
            *(f"-{name}" for name in item_ablations() if name != "domains"),
        ],
        limit=section.limit,
        random_seed=CONFIG.random_seed,
    )


def examination_settings(method):
    """Returns how models are asked under a method."""
    section = CONFIG.dialogbench
    return settings(
        method=method,
        circular=section.circular and method != "perplexity",
        presentation=section.presentation,
        max_tokens=section.max_tokens,
        # probabilities are read of one answer's first token, before which nothing was said
        presence_penalty=section.presence_penalty if method == "letter" else 0.0,
        frequency_penalty=section.frequency_penalty if method == "letter" else 0.0,
    )


def askers():
    """Returns the models that are asked what is planned without a look at chatbots, by protocol."""
    found = {
        name: protocol.judges
        for name, protocol in PROTOCOLS.items()
        if not about_chats(name)
    }
    found |= {name: asked_of_translations()[name] for name in TRANSLATED}
    methods = CONFIG.dialogbench.examine.by_method() if CONFIG.dialogbench else {}
    return found | {f"dialogbench_{name}": asked for name, asked in methods.items()}


def own_criteria_of(corpus):
    """Returns the user's criteria that a rated corpus names."""
    section = CONFIG.metaeval.corpora[corpus]
    named = {*(section.asked or ()), *section.asks.values()}
    return [name for name in CONFIG.criteria if name in named]


def read_rated_settings(corpus):
    """Returns what a rated corpus is read from, and what must be in it."""
    section, more = CONFIG.metaeval.corpora[corpus], {}
    if section.asks:
        more["asks"] = section.asks
    return settings(
        name=corpus,
        reader=section.reader,
        path=str(CONFIG.rated_path(corpus)),
        languages=section.languages,
        own_criteria=own_criteria_of(corpus),
        **more,
    )


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
