# What a run says while it works, and at its end: jobs by what they are about, how much is answered, and what came out.

from snakemake.settings.enums import Quietness

QUIET = set(workflow.output_settings.quiet or ())
TOLD = {}  # what was known when the run began


def asking_needrun_jobs():
    """Returns the jobs of this run that ask models."""
    return [
        job
        for job in workflow.dag.needrun_jobs()
        if job.log and any(path.startswith(f"{RESULTS}/usage/") for path in job.output)
    ]


def asking_jobs():
    """Returns the jobs of this run that ask models, with what was planned for them."""
    found = []
    for job in asking_needrun_jobs():
        planned = [
            Path(path) for path in job.input if path.startswith(f"{RESULTS}/requests/")
        ]
        name = progress_files.job_name(CONFIG.results_dir, Path(job.log[0]))
        found.append(
            AskingJob(name, tuple(planned), int(job.wildcards.get("shards", 1)))
        )
    return found


def spent_so_far():
    """Returns what was spent on the run's models; None where none has prices."""
    digests = spending_folders()
    if not digests:
        return None
    spent = Ledger(CONFIG.store_dir / SPENDING).by_name(digests).values()
    return sum(sums.spent for sums in spent)


def tell_of_jobs():
    """Has the run speak of its jobs in words, unless the user wants Snakemake's own or none."""
    jobs = asking_jobs()
    if jobs:  # whoever asks nobody may look on while another run asks
        progress_files.forget(CONFIG.results_dir)
    TOLD["requests"] = Requests(CONFIG.results_dir, jobs)
    TOLD["spent"] = spent_so_far()
    if Quietness.RULES in QUIET and not QUIET & {Quietness.ALL, Quietness.PROGRESS}:
        TOLD["lines"] = JobLines(TOLD["requests"], workflow.local_exec).attach()


def stop_telling():
    """Leaves Snakemake its words again, when all jobs have ended."""
    if "lines" in TOLD:
        TOLD["lines"].detach()


def tell_what_came_out():
    """Has the run end with its answer: the summary, where that was asked for, and what was asked for it."""
    if Quietness.ALL in QUIET or workflow.touch or workflow.dryrun:
        return
    summary = f"{RESULTS}/summary.md"
    asked, spent = TOLD.get("requests"), TOLD.get("spent")
    say_summary_at_exit(
        CONFIG.results_dir,
        asked.so_far() if asked else None,
        None if spent is None else spent_so_far() - spent,
        finished=any(summary in job.output for job in workflow.dag.jobs),
    )


NOTICES.when_nothing_to_do = tell_what_came_out
NOTICES.targets = lambda: [rule.name for rule in workflow.rules if not rule.output]
