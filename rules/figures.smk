# BotChat's figures, as SVG and PDF. A file's name begins with the paper's number for the figure.

DRAWN_FROM = {  # figure -> its table
    "figure2_seed_lengths": "seeds",
    "figure3_utterance_lengths": "utterance_tokens",
    "figure4_unieval": "unieval_pass_rates",
    "figure6_gteval": "gteval",
    "figure7_unieval_at_gt_length": "unieval_at_gt_length",
    "judge_bias": "judge_bias",
    "table2_arena_ratings": "arena_elo",
}
for n in CONFIG.protocols.arena.n_utterances if CONFIG.protocols.arena else []:
    DRAWN_FROM[f"figure5_arena_n{n}"] = "arena_win_rates"
FIGURES = sorted(
    name
    for name, table in DRAWN_FROM.items()
    if table in {*botchat_tables(), "utterance_tokens"}
)


rule draw_botchat:
    input:
        sorted({f"{TABLES}/{DRAWN_FROM[name]}.parquet" for name in FIGURES}),
    output:
        svg=[
            report(path, caption=caption(name), category="BotChat")
            for name, path in zip(FIGURES, figure_files("svg"))
        ],
        pdf=figure_files("pdf"),
    log:
        f"{RESULTS}/logs/figures.log",
    conda:
        "../envs/core.yaml"
    params:
        settings=settings(
            figures=FIGURES, arena_min_utterances=CONFIG.seeds.arena_min_utterances
        ),
        code=code("draw_botchat"),
        folder=lambda wildcards, output: str(Path(output.svg[0]).parent),
    shell:
        command("draw_botchat", "--tables {input:q} --folder {params.folder:q}")
