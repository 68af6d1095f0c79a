# BotChat's tables, as Parquet and, for reading, as CSV.


rule botchat:
    input:
        [
            f"{RESULTS}/tables/{name}.{suffix}"
            for name in botchat_tables()
            for suffix in ("parquet", "csv")
        ],
        [figure_files("botchat", suffix) for suffix in ("svg", "pdf")],


rule tabulate_seeds:
    input:
        SEEDS,
    output:
        table=f"{TABLES}/seeds.parquet",
        csv=f"{TABLES}/seeds.csv",
    log:
        f"{RESULTS}/logs/tables/seeds.log",
    conda:
        "../envs/core.yaml"
    params:
        settings=settings(),
        code=code("seed_lengths"),
    shell:
        command(
            "seed_lengths",
            "--seeds {input:q} --table {output.table:q} --csv {output.csv:q}",
        )


rule tabulate_lengths:
    input:
        human=HUMAN,
        seeds=SEEDS,
        dialogues=dialogues(CONFIG.chatbots),
    output:
        tokens=f"{TABLES}/utterance_tokens.parquet",
        table=f"{TABLES}/utterance_lengths.parquet",
        csv=f"{TABLES}/utterance_lengths.csv",
    log:
        f"{RESULTS}/logs/tables/utterance_lengths.log",
    conda:
        "../envs/core.yaml"
    params:
        settings=settings(
            cl100k_file=CONFIG.tokens.cl100k_file and str(CONFIG.tokens.cl100k_file),
            at_hand=cl100k.at_hand(CONFIG.tokens.cl100k_file),
        ),
        code=code("utterance_lengths"),
    shell:
        command(
            "utterance_lengths",
            "--human {input.human:q} --seeds {input.seeds:q} --dialogues {input.dialogues:q} "
            "--tokens {output.tokens:q} --table {output.table:q} --csv {output.csv:q}",
        )
