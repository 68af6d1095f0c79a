# What a run does before its first job and after its last.

import os
import sys
from contextlib import suppress
from pathlib import Path


def asked_by(job):
    """Returns the models that a job asks."""
    named = set(CONFIG.models).intersection(job.wildcards)
    named |= {PARTNER} if PARTNER and "chatbot" in job.wildcards.keys() else set()
    # the makers of test items stand in no wildcard
    return named or set(CONFIG.models).intersection(item_makers().values())


def tell_of_missing_keys():
    """Says before the first job which models can only be answered for from the store, as their key is not at hand."""
    jobs = [] if workflow.touch else asking_needrun_jobs()
    for name in sorted({name for job in jobs for name in asked_by(job)}):
        if reason := without_key(CONFIG.models[name]):
            say(
                f"note: models.{name}: {reason}. Stored answers are used; the run stops at the first request that is new"
            )


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
    asked = {name for job in waiting for name in asked_by(job)}
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
        write_configuration(CONFIG)


def take_the_results():
    """Has nobody else work in the results until this run ends, and writes there what its jobs are to know of it."""
    with runlock.writing(CONFIG.results_dir):
        runlock.acquire(CONFIG.results_dir)
        for job in workflow.dag.needrun_jobs():
            for path in (*job.output, *job.log):
                refuse_links(Path(path), CONFIG.results_dir)
        make_forced_anew()
        write_down_configuration()
        runwatch.mark_when_terminated(CONFIG.results_dir)
        write_graph()
    read = {Path(path) for job in workflow.dag.needrun_jobs() for path in job.input}
    say(bring_to_the_present(read, CONFIG.results_dir / ".run.lock"))


def only_looks():
    """Returns whether the run makes a page of what another one makes now, and so must leave all alone that is its."""
    live = workflow.modifier.modify_rulename("live")
    return {job.rule.name for job in workflow.dag.needrun_jobs()} == {live}


def begin():
    """Does what a run begins with that makes something: nobody else may be at work in its results."""
    refuse_jobs_without_a_device()
    refuse_wrong_transcripts()
    tell_of_missing_keys()
    if (
        LIVE
    ):  # it was not looked at before, as this target alone may run beside another run
        in_words(runlock.refuse_second_run, CONFIG.results_dir)
    in_words(take_the_results)
    watch_slurm()
    tell_of_jobs()


def make_outdated_again():
    """Has those jobs run whose files another version of DialEval made; Snakemake may know nothing of how they came."""
    if workflow.exec_mode != ExecMode.DEFAULT or AS_MODULE:
        return
    outdated = outdated_files(
        CONFIG.results_dir,
        lambda path: workflow.persistence.params(IOFile(str(path))) is not None,
    )
    workflow.dag.forcefiles.update(map(str, outdated))
    if outdated:
        path, how = next(iter(outdated.items()))
        say(
            f"note: another version of DialEval made {counted(len(outdated), 'file')} in {RESULTS} (such as {path}: "
            f"{how}); what this run needs of them is made again, with the answers in the store"
        )


NOTICES.when_jobs_are_sought = make_outdated_again


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
                os.utime(path, (1, 1), follow_symlinks=False)
    say_at_exit(workflow.scheduler.failed, NOTICES, sys.argv, CONFIG.results_dir)
