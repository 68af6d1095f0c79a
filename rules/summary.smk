# What came out of a run, in a page of text, which the run shows when it ends.


rule summarise:
    """Writes what came out of all parts, in a page of text."""
    input:
        tables=report_tables(),
        usage=rules.tabulate_usage.output.table if CONFIG.models else [],
        battles=[f"{RESULTS}/tables/battles/{name}.parquet" for name in CONFIG.battles],
    output:
        f"{RESULTS}/summary.md",
    log:
        f"{RESULTS}/logs/summary.log",
    group:
        grouped("report")
    conda:
        "../envs/core.yaml"
    params:
        settings=settings(
            title=report_title(),
            chatbots=CONFIG.chatbots,
            judges=report_judges(),
            protocols=report_protocols(),
            embedded=sorted(METHODS),
            baselines=sorted(
                name for name in METHODS if EMBEDDED_METHODS[METHODS[name]].is_baseline
            ),
            ensembles=CONFIG.ensembles,
            transcripts=list(CONFIG.transcripts),
            results_dir=RESULTS,
            report=(
                f"{RESULTS}/report/index.html"
                if CONFIG.models or shown_protocols()
                else ""
            ),
        ),
        code=code("summarise"),
    shell:
        command(
            "summarise",
            "--tables {input.tables:q} --usage {input.usage:q} --battles {input.battles:q} --summary {output:q}",
        )
