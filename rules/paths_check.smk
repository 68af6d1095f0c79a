# What a check of the cluster asks for, and how Slurm is asked.


def cluster_check(resources):
    """Returns what is to be checked of the cluster that this command names, with resources of a job of its profile."""
    executor = workflow.executor_settings
    return settings(
        executor=getattr(workflow.executor_plugin, "name", ""),
        requests=cluster_requests(resources),
        folders={
            "results_dir": str(CONFIG.results_dir),
            "store_dir": str(CONFIG.store_dir),
        },
        latency_wait=workflow.execution_settings.latency_wait,
        own_environments=OWN_ENVIRONMENTS,
        status_command=getattr(executor, "status_command", None),
        first_look=getattr(executor, "init_seconds_before_status_checks", 40),
    )


def cluster_requests(resources):
    """Returns what jobs ask for: those without a model as the profile says, and those that ask or train a model."""
    by_profile = {
        field: resources.get(field)
        for field in Request.model_fields
        if resources.get(field) not in (None, "")
    }
    cores = workflow.resource_settings.cores
    together = []
    if cores:  # a group of jobs asks for those of as many jobs as may run at once
        each = by_profile.get("cpus_per_task", 1)
        at_once = max(cores // each, 1)
        all_of_them = {"cpus_per_task": at_once * each, "together": True}
        if memory := by_profile.get("mem_mb"):
            all_of_them["mem_mb"] = at_once * memory
        bounded = all_of_them | {"by": f"groups of {at_once} jobs at once"}
        together = [{**by_profile, **bounded, "runtime": None, "gpu": 0}]
    asking = {
        f"jobs of {name}": (model, False)
        for name, model in CONFIG.models.items()
        if not isinstance(model, (EmbeddedModel, PublishedModel))
    }
    training = {
        f"training of {name}": (model, True)
        for name, model in CONFIG.models.items()
        if isinstance(model, EncoderModel) or getattr(model, "lora", None)
    }
    of_models = [
        by_profile
        | {
            field: value
            for field in JobResources.model_fields
            if (value := resource_for(field, [model], trains)) is not None
        }
        | {"by": by, "gpu": gpus_for([model], trains)}
        for by, (model, trains) in {**asking, **training}.items()
    ]
    return [{**by_profile, "by": "jobs of the profile"}, *together, *of_models]


def watch_slurm():
    """Has the Slurm plugin ask squeue where sacct has no accounting to ask, and jobs told that will never begin."""
    executor = workflow.executor_settings
    if not hasattr(executor, "status_command"):
        return
    tell_of_waiting(Path.cwd())
    found = asking_slurm(
        executor.status_command, executor.init_seconds_before_status_checks
    )
    executor.status_command = found.command
    executor.init_seconds_before_status_checks = found.first_look
    if found.words:
        print(found.words, file=sys.stderr)
