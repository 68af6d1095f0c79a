# What judges said becomes tables, a measure of a protocol each.


rule measure:
    """Makes one table of a protocol, a measure, of what judges said."""
    input:
        judgements=lambda wildcards: results_of(wildcards.protocol),
        item_tables=measured_items,
        seeds=measured_seeds,
    output:
        table=f"{RESULTS}/tables/{{protocol}}/{{measure}}.parquet",
        csv=f"{RESULTS}/tables/{{protocol}}/{{measure}}.csv",
    log:
        f"{RESULTS}/logs/tables/{{protocol}}/{{measure}}.log",
    wildcard_constraints:
        protocol=one_of(CONFIG.resolved_protocols()),
        measure=one_of(
            name for name in MEASURED if name not in ("ratings", "differences")
        ),
    group:
        grouped(of_measures)
    conda:
        "../envs/core.yaml"
    params:
        stage=lambda wildcards: f"measure_{wildcards.measure}",
        settings=lambda wildcards: settings(
            **design_of(CONFIG, wildcards.protocol).needed_by(wildcards.measure)
        ),
        code=lambda wildcards: code(f"measure_{wildcards.measure}"),
    shell:
        command(
            "{params.stage}",
            "--judgements {input.judgements:q} --items {input.item_tables:q} --seeds {input.seeds:q} "
            "--table {output.table:q} --csv {output.csv:q}",
        )


rule measure_ratings:
    """Rates the systems of a protocol that were shown in pairs, and compares their ratings."""
    input:
        judgements=lambda wildcards: results_of(wildcards.protocol),
        item_tables=items_of_pairs,
    output:
        table=f"{RESULTS}/tables/{{protocol}}/ratings.parquet",
        csv=f"{RESULTS}/tables/{{protocol}}/ratings.csv",
        differences=RATING_DIFFERENCES,
    log:
        f"{RESULTS}/logs/tables/{{protocol}}/ratings.log",
    wildcard_constraints:
        protocol=one_of(CONFIG.resolved_protocols()),
    group:
        grouped(of_measures)
    conda:
        "../envs/core.yaml"
    params:
        settings=lambda wildcards: settings(
            **design_of(CONFIG, wildcards.protocol).needed_by("ratings")
        ),
        code=code("measure_ratings"),
    shell:
        command(
            "measure_ratings",
            "--judgements {input.judgements:q} --items {input.item_tables:q} --table {output.table:q} "
            "--csv {output.csv:q} --differences {output.differences:q}",
        )


rule measure_differences:
    """Compares every two systems of a protocol by all that is measured of them."""
    input:
        judgements=lambda wildcards: results_of(wildcards.protocol),
        rated=rating_differences,
        seeds=seeds_of_differences,
    output:
        table=f"{RESULTS}/tables/{{protocol}}/differences.parquet",
        csv=f"{RESULTS}/tables/{{protocol}}/differences.csv",
    log:
        f"{RESULTS}/logs/tables/{{protocol}}/differences.log",
    wildcard_constraints:
        protocol=one_of(CONFIG.resolved_protocols()),
    group:
        grouped(of_measures)
    conda:
        "../envs/core.yaml"
    params:
        settings=lambda wildcards: settings(
            **design_of(CONFIG, wildcards.protocol).needed_by("differences")
        ),
        code=code("measure_differences"),
    shell:
        command(
            "measure_differences",
            "--judgements {input.judgements:q} --ratings {input.rated:q} --seeds {input.seeds:q} "
            "--table {output.table:q} --csv {output.csv:q}",
        )


rule rank_systems:
    """Says which places the systems can have, by what is known of every two of them."""
    input:
        f"{RESULTS}/tables/{{protocol}}/differences.parquet",
    output:
        table=f"{RESULTS}/tables/{{protocol}}/ranks.parquet",
        csv=f"{RESULTS}/tables/{{protocol}}/ranks.csv",
    log:
        f"{RESULTS}/logs/tables/{{protocol}}/ranks.log",
    wildcard_constraints:
        protocol=one_of(CONFIG.resolved_protocols()),
    group:
        grouped(of_measures)
    conda:
        "../envs/core.yaml"
    params:
        settings=lambda wildcards: settings(
            protocol=wildcards.protocol,
            confidence=design_of(CONFIG, wildcards.protocol).confidence,
        ),
        code=code("rank_systems"),
    shell:
        command(
            "rank_systems",
            "--differences {input:q} --table {output.table:q} --csv {output.csv:q}",
        )
