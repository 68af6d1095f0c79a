# BotChat's tables, as Parquet and, for reading, as CSV.


rule botchat:
    """Makes BotChat's tables and figures, and the measures of all protocols about chatbots."""
    input:
        tables_in(f"{RESULTS}/tables", botchat_tables()),
        both_figure_files("botchat"),
        [failure_figures(suffix) for suffix in ("svg", "pdf")],


rule tabulate_seeds:
    """Tables the lengths of the human dialogues."""
    input:
        SEEDS,
    output:
        table=f"{TABLES}/seeds.parquet",
        csv=f"{TABLES}/seeds.csv",
    log:
        f"{RESULTS}/logs/tables/seeds.log",
    group:
        grouped("reading")
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


rule choose_tokenizer:
    """Chooses once for a folder of results the unit in which lengths are counted."""
    output:
        f"{TABLES}/tokenizer.parquet",
    log:
        f"{RESULTS}/logs/tables/tokenizer.log",
    localrule: True
    conda:
        "../envs/core.yaml"
    params:
        settings=settings(
            cl100k_file=CONFIG.tokens.cl100k_file and str(CONFIG.tokens.cl100k_file),
            fetch=CONFIG.tokens.fetch,
        ),
        code=code("choose_tokenizer"),
    shell:
        command("choose_tokenizer", "--tokenizer {output:q}", always_anew=True)


rule tabulate_lengths:
    """Tables the lengths of the utterances of people and chatbots."""
    input:
        human=HUMAN,
        seeds=SEEDS,
        dialogues=dialogues(CONFIG.chatbots),
        tokenizer=f"{TABLES}/tokenizer.parquet",
    output:
        tokens=f"{TABLES}/utterance_tokens.parquet",
        table=f"{TABLES}/utterance_lengths.parquet",
        csv=f"{TABLES}/utterance_lengths.csv",
    log:
        f"{RESULTS}/logs/tables/utterance_lengths.log",
    group:
        grouped("dialogues")
    conda:
        "../envs/core.yaml"
    params:
        settings=settings(
            cl100k_file=CONFIG.tokens.cl100k_file and str(CONFIG.tokens.cl100k_file)
        ),
        code=code("utterance_lengths"),
    shell:
        command(
            "utterance_lengths",
            "--human {input.human:q} --seeds {input.seeds:q} --dialogues {input.dialogues:q} "
            "--tokenizer {input.tokenizer:q} --tokens {output.tokens:q} --table {output.table:q} --csv {output.csv:q}",
        )
