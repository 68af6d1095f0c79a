# Targets that make no part of the results: an estimate before a run, a check of the cluster, and care of the results.


use rule stage as estimate with:
    """Estimates the requests, tokens and cost of each model, and the precision of the results, without model calls."""
    input:
        human=paths.report_human,
        seeds=paths.report_seeds,
        scenarios=paths.scenarios,
        learned=paths.learned_for_estimate,
        dialogues=paths.published_dialogues,
        planned=paths.plannable_requests,
    output:
        [],
    pathvars:
        part="estimate",
    localrule: True
    params:
        **job(
            REPORT.estimate,
            store=True,
            learned=paths.trained_before,
            planned=paths.requests_planned_before,
            judgements=paths.judged_before,
            corrected=paths.estimated_before,
            spread=paths.spread_before,
            replacement=paths.replacement_before,
            table=paths.ESTIMATE,
            csv=paths.ESTIMATE_CSV,
            planning=paths.LABEL_PLANNING,
            planning_csv=paths.LABEL_PLANNING_CSV,
        ),


use rule stage as clean with:
    """Lists stale files in the results folder, with sizes."""
    output:
        [],
    pathvars:
        part="clean",
    localrule: True
    params:
        **job(
            REPORT.clean,
            results=LAYOUT.results,
            store_=LAYOUT.store,
            graph=LAYOUT.graph("clean"),
        ),


use rule clean as clean_remove with:
    """Removes stale files from the results folder."""
    output:
        [],
    localrule: True
    params:
        **job(
            REPORT.clean_remove,
            results=LAYOUT.results,
            store_=LAYOUT.store,
            graph=LAYOUT.graph("clean_remove"),
        ),


use rule stage as compare with:
    """Compares the numbers, verdicts and settings of two runs."""
    output:
        [],
    pathvars:
        part="compare",
    localrule: True
    params:
        **job(
            REPORT.compare,
            first=RUN.compared["run_a"],
            second=RUN.compared["run_b"],
            folder=LAYOUT.COMPARISON,
        ),


rule versions:
    """Lists results made with other library versions, and the command that remakes them."""
    log:
        LAYOUT.log("versions"),
    localrule: True
    conda:
        "../envs/core.yaml"
    params:
        results=LAYOUT.results,
        graph=LAYOUT.graph("versions"),
    shell:
        "rm -f {log:q} && python -u -m dialeval.provenance.stale_files {params.results:q} {params.graph:q} 2>&1 | tee -i {log:q}"


rule check:
    """Tests within a minute whether the cluster of `--profile profiles/slurm` can run the jobs."""
    log:
        LAYOUT.log("check"),
    localrule: True
    conda:
        "../envs/core.yaml"
    params:
        asked=lambda wildcards, resources: cluster_check(
            workflow, CONFIG, resources, RUN.has_own_environments
        ),
    shell:
        "rm -f {log:q} && python -u -m dialeval.jobs.cluster_check {params.asked:q} 2>&1 | tee -i {log:q}"
