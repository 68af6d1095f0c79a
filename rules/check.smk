# Whether the cluster of the profile can run the jobs: asked of Slurm, and tried by jobs of a few seconds.


rule check:
    """Tells within a minute whether the cluster of `--profile profiles/slurm` can run the jobs."""
    log:
        f"{RESULTS}/logs/check.log",
    localrule: True
    conda:
        "../envs/core.yaml"
    params:
        asked=lambda wildcards, resources: cluster_check(resources),
    shell:
        "rm -f {log:q} && python -u -m dialeval.jobs.cluster_check {params.asked:q} 2>&1 | tee -i {log:q}"
