# BotChat's tables, as Parquet and, for reading, as CSV.


rule botchat:
    input:
        [
            f"{TABLES}/{name}.{suffix}"
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


rule tabulate_unieval:
    input:
        judgements=results_of("unieval"),
        seeds=SEEDS,
    output:
        rates=f"{TABLES}/unieval_pass_rates.parquet",
        rates_csv=f"{TABLES}/unieval_pass_rates.csv",
        at_gt_length=f"{TABLES}/unieval_at_gt_length.parquet",
        at_gt_length_csv=f"{TABLES}/unieval_at_gt_length.csv",
    log:
        f"{RESULTS}/logs/tables/unieval.log",
    conda:
        "../envs/core.yaml"
    params:
        settings=settings(
            judges=CONFIG.judges,
            chatbots=CONFIG.chatbots,
            n_utterances=(
                CONFIG.protocols.unieval.n_utterances
                if CONFIG.protocols.unieval
                else []
            ),
        ),
        code=code("unieval_rates"),
    shell:
        command(
            "unieval_rates",
            "--judgements {input.judgements:q} --seeds {input.seeds:q} --rates {output.rates:q} "
            "--rates-csv {output.rates_csv:q} --at-gt-length {output.at_gt_length:q} "
            "--at-gt-length-csv {output.at_gt_length_csv:q}",
        )


rule rate_arena:
    input:
        judgements=results_of("arena"),
        dialogues=dialogues(CONFIG.chatbots),
    output:
        elo=f"{TABLES}/arena_elo.parquet",
        elo_csv=f"{TABLES}/arena_elo.csv",
        differences=RATED_DIFFERENCES,
    log:
        f"{RESULTS}/logs/tables/arena_elo.log",
    conda:
        "../envs/core.yaml"
    params:
        settings=settings(
            judges=CONFIG.judges,
            chatbots=CONFIG.chatbots,
            n_utterances=(
                CONFIG.protocols.arena.n_utterances if CONFIG.protocols.arena else []
            ),
            elo=CONFIG.elo,
            random_seed=CONFIG.random_seed,
        ),
        code=code("arena_ratings"),
    shell:
        command(
            "arena_ratings",
            "--judgements {input.judgements:q} --dialogues {input.dialogues:q} --elo {output.elo:q} "
            "--elo-csv {output.elo_csv:q} --differences {output.differences:q}",
        )


rule tabulate_arena:
    input:
        results_of("arena"),
    output:
        rates=f"{TABLES}/arena_win_rates.parquet",
        rates_csv=f"{TABLES}/arena_win_rates.csv",
    log:
        f"{RESULTS}/logs/tables/arena_win_rates.log",
    conda:
        "../envs/core.yaml"
    params:
        settings=settings(
            judges=CONFIG.judges,
            chatbots=CONFIG.chatbots,
            n_utterances=(
                CONFIG.protocols.arena.n_utterances if CONFIG.protocols.arena else []
            ),
        ),
        code=code("arena_rates"),
    shell:
        command(
            "arena_rates",
            "--judgements {input:q} --rates {output.rates:q} --rates-csv {output.rates_csv:q}",
        )


rule tabulate_gteval:
    input:
        results_of("gteval"),
    output:
        rates=f"{TABLES}/gteval.parquet",
        rates_csv=f"{TABLES}/gteval.csv",
    log:
        f"{RESULTS}/logs/tables/gteval.log",
    conda:
        "../envs/core.yaml"
    params:
        settings=settings(
            judges=CONFIG.judges,
            chatbots=CONFIG.chatbots,
        ),
        code=code("gteval_rates"),
    shell:
        command(
            "gteval_rates",
            "--judgements {input:q} --rates {output.rates:q} --rates-csv {output.rates_csv:q}",
        )


rule tabulate_bias:
    input:
        judgements=[path for protocol in PAIRWISE for path in results_of(protocol)],
        human=HUMAN,
        dialogues=dialogues(CONFIG.chatbots),
    output:
        table=f"{TABLES}/judge_bias.parquet",
        csv=f"{TABLES}/judge_bias.csv",
    log:
        f"{RESULTS}/logs/tables/judge_bias.log",
    conda:
        "../envs/core.yaml"
    params:
        settings=settings(
            judges=CONFIG.judges,
            chatbots=CONFIG.chatbots,
            families=CONFIG.families(),
            groups=pairwise_groups(),
            resamples=CONFIG.elo.resamples,
            random_seed=CONFIG.random_seed,
        ),
        code=code("judge_bias"),
    shell:
        command(
            "judge_bias",
            "--judgements {input.judgements:q} --human {input.human:q} --dialogues {input.dialogues:q} "
            "--table {output.table:q} --csv {output.csv:q}",
        )


rule compare_chatbots:
    input:
        unieval=results_of("unieval") if CONFIG.protocols.unieval else [],
        gteval=results_of("gteval") if CONFIG.protocols.gteval else [],
        arena=results_of("arena") if CONFIG.protocols.arena else [],
        rated=RATED_DIFFERENCES if CONFIG.protocols.arena else [],
        seeds=SEEDS,
    output:
        table=f"{TABLES}/differences.parquet",
        csv=f"{TABLES}/differences.csv",
    log:
        f"{RESULTS}/logs/tables/differences.log",
    conda:
        "../envs/core.yaml"
    params:
        settings=settings(
            judges=CONFIG.judges,
            chatbots=CONFIG.chatbots,
            unieval=(
                CONFIG.protocols.unieval.n_utterances
                if CONFIG.protocols.unieval
                else []
            ),
            arena=(
                CONFIG.protocols.arena.n_utterances if CONFIG.protocols.arena else []
            ),
        ),
        code=code("botchat_differences"),
    shell:
        command(
            "botchat_differences",
            "--unieval {input.unieval:q} --gteval {input.gteval:q} --arena {input.arena:q} --rated {input.rated:q} "
            "--seeds {input.seeds:q} --table {output.table:q} --csv {output.csv:q}",
        )
