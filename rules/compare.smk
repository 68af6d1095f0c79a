# Two runs, side by side: what moved, which verdicts flipped, and what was set otherwise.


rule compare:
    """Compares the results of two runs: which numbers moved, which verdicts flipped, and what was set otherwise."""
    log:
        f"{RESULTS}/logs/compare.log",
    localrule: True
    conda:
        "../envs/core.yaml"
    params:
        settings=settings(),
        code=code("compare_runs"),
        runs=[RUNS["run_a"], RUNS["run_b"]],
        folder=f"{RESULTS}/comparison",
    shell:
        command(
            "compare_runs",
            "--first {params.runs[0]:q} --second {params.runs[1]:q} --folder {params.folder:q}",
        )
