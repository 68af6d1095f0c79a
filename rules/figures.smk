# Figures, as SVG and PDF. BotChat's begin with the paper's number for the figure.

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


rule draw_metaeval:
    input:
        [f"{METAEVAL}/{name}.parquet" for name in METAEVAL_DRAWN_FROM],
    output:
        svg=[
            report(
                path,
                caption=f"captions/metaeval_{name}.rst",
                category="Meta-evaluation",
            )
            for name, path in zip(METAEVAL_FIGURES, metaeval_figure_files("svg"))
        ],
        pdf=metaeval_figure_files("pdf"),
    log:
        f"{RESULTS}/logs/figures/metaeval.log",
    conda:
        "../envs/core.yaml"
    params:
        settings=settings(
            figures=METAEVAL_FIGURES,
            confidence=CONFIG.metaeval.confidence if CONFIG.metaeval else 0.95,
        ),
        code=code("draw_metaeval"),
        folder=lambda wildcards, output: str(Path(output.svg[0]).parent),
    shell:
        command("draw_metaeval", "--tables {input:q} --folder {params.folder:q}")


rule draw_robustness:
    input:
        [f"{ROBUSTNESS}/{name}.parquet" for name in ROBUSTNESS_DRAWN_FROM],
    output:
        svg=[
            report(
                path,
                caption=f"captions/robustness_{name}.rst",
                category="Robustness",
            )
            for name, path in zip(ROBUSTNESS_FIGURES, robustness_figure_files("svg"))
        ],
        pdf=robustness_figure_files("pdf"),
    log:
        f"{RESULTS}/logs/figures/robustness.log",
    conda:
        "../envs/core.yaml"
    params:
        settings=settings(
            figures=ROBUSTNESS_FIGURES,
            confidence=CONFIG.robustness.confidence if CONFIG.robustness else 0.95,
        ),
        code=code("draw_robustness"),
        folder=lambda wildcards, output: str(Path(output.svg[0]).parent),
    shell:
        command("draw_robustness", "--tables {input:q} --folder {params.folder:q}")
