# What lies in the results and the configuration no longer makes is listed, and removed where that is asked for.


rule tidy:
    """Lists what lies in the results and the configuration no longer makes, with sizes."""
    log:
        f"{RESULTS}/logs/tidy.log",
    localrule: True
    conda:
        "../envs/core.yaml"
    params:
        settings=settings(remove=False),
        code=code("tidy"),
        results=RESULTS,
        store=STORE,
        graph=GRAPHS["tidy"],
    shell:
        command(
            "tidy",
            "--results {params.results:q} --store {params.store:q} --graph {params.graph:q}",
        )


use rule tidy as tidy_remove with:
    """Removes what lies in the results and the configuration no longer makes."""
    params:
        settings=settings(remove=True),
        code=code("tidy"),
        results=RESULTS,
        store=STORE,
        graph=GRAPHS["tidy_remove"],
