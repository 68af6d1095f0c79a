# Plain tables of battles, rated on their own: `snakemake --cores 2 battles`.


rule battles:
    """Rates the models of plain tables of battles, without asking any model."""
    input:
        battle_files(),


rule rate_battles:
    """Rates the models of one table of battles."""
    input:
        lambda wildcards: str(CONFIG.battles_path(wildcards.battles)),
    output:
        table=f"{RESULTS}/tables/battles/{{battles}}.parquet",
        csv=f"{RESULTS}/tables/battles/{{battles}}.csv",
        differences=f"{RESULTS}/tables/battles/differences/{{battles}}.parquet",
        differences_csv=f"{RESULTS}/tables/battles/differences/{{battles}}.csv",
    log:
        f"{RESULTS}/logs/tables/battles/{{battles}}.log",
    wildcard_constraints:
        battles=one_of(CONFIG.battles),
    group:
        grouped("battles")
    conda:
        "../envs/core.yaml"
    params:
        settings=lambda wildcards: settings(
            **CONFIG.battles[wildcards.battles].columns(),
            elo=CONFIG.elo,
            random_seed=CONFIG.random_seed,
        ),
        code=code("rate_battles"),
        content=lambda wildcards: content([CONFIG.battles_path(wildcards.battles)]),
    shell:
        command(
            "rate_battles",
            "--content={params.content:q} --battles {input:q} --table {output.table:q} --csv {output.csv:q} "
            "--differences {output.differences:q} --differences-csv {output.differences_csv:q}",
        )
