# Two runs, side by side: what moved, which verdicts flipped, and what was set otherwise.


def two_runs():
    """Returns the folders of the two runs that are to be compared."""
    given = [RUNS[name] for name in ("run_a", "run_b") if RUNS[name]]
    if len(given) < 2:
        raise WorkflowError(
            "compare needs two folders of results: "
            "snakemake --cores 1 compare --config run_a=results run_b=results-2"
        )
    return given


rule compare:
    """Compares the results of two runs: which numbers moved, which verdicts flipped, and what was set otherwise."""
    log:
        f"{RESULTS}/logs/compare.log",
    localrule: True
    conda:
        "../envs/core.yaml"
    params:
        runs=lambda wildcards: two_runs(),
        folder=f"{RESULTS}/comparison",
    shell:
        command(
            "compare_runs",
            "--first {params.runs[0]:q} --second {params.runs[1]:q} --folder {params.folder:q}",
        )
