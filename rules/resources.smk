# What jobs ask a cluster's scheduler for. On one machine nothing is asked.

MEMORY = 2000  # MB of a job where nobody says anything, which Snakemake must be told; see benchmarks/README.md


def resources_of(names, trains=False):
    """Returns what jobs of models ask for, by Snakemake's names of resources.

    `names` gives a job's models by its wildcards; what neither they nor their engines say is as `default-resources` has it.
    What no model of the run says anything of is left to it: Snakemake asks a function anew for every job.
    """
    defaults = workflow.resource_settings.default_resources or {}
    models = CONFIG.models.values()
    said = [
        field
        for field in JobResources.model_fields
        if any(resource_for(field, [model], trains) is not None for model in models)
    ]
    found = {} if "mem_mb" in defaults else {"mem_mb": MEMORY}
    found |= {field: resource_of(field, names, trains) for field in said}
    if any(gpus_for([model], trains) for model in models):
        return found | {
            "gpu": lambda wildcards: gpus_for(named(names(wildcards)), trains)
        }
    return found | {"gpu": 0}


def resource_of(field, names, trains):
    def value(wildcards, input, attempt, threads, rulename, async_run):
        said = resource_for(field, named(names(wildcards)), trains)
        defaults = workflow.resource_settings.default_resources
        if said is not None:
            return said
        if not defaults or field not in defaults:
            return MEMORY if field == "mem_mb" else None
        return (
            defaults[field]
            .evaluate(
                wildcards,
                input=input,
                attempt=attempt,
                threads=threads,
                rulename=rulename,
                async_run=async_run,
            )
            .value
        )

    return value
