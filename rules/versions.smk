# Libraries change; results that were made with other versions than are installed are named, with what makes them anew.


rule versions:
    """Tells which results were made with other versions of libraries than are installed, and what makes them anew."""
    log:
        f"{RESULTS}/logs/versions.log",
    localrule: True
    conda:
        "../envs/core.yaml"
    params:
        results=RESULTS,
        graph=GRAPHS["versions"],
    shell:
        "rm -f {log:q} && python -u -m dialeval.provenance.versions {params.results:q} {params.graph:q} 2>&1 | tee -i {log:q}"
