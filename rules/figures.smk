# BotChat's figures. Each is drawn from one table; the file's name begins with the paper's number for it.

FIGURES = {  # file -> figure, table
    "figure2_seed_lengths": ("seed_lengths", "seeds"),
    "figure3_utterance_lengths": ("utterance_lengths", "utterance_tokens"),
    "figure4_unieval": ("unieval", "unieval_pass_rates"),
    "figure6_gteval": ("gteval", "gteval"),
    "figure7_unieval_at_gt_length": ("unieval_at_gt_length", "unieval_at_gt_length"),
    "table2_arena_ratings": ("arena_ratings", "arena_elo"),
}
for n in CONFIG.protocols.arena.n_utterances if CONFIG.protocols.arena else []:
    FIGURES[f"figure5_arena_n{n}"] = ("arena", "arena_win_rates", n)


def botchat_figures(suffixes=("svg", "pdf")):
    """Returns the figures whose tables the configured protocols give."""
    there = {*botchat_tables(), "utterance_tokens"}
    return [
        f"{RESULTS}/figures/botchat/{name}.{suffix}"
        for name, (_, table, *_) in sorted(FIGURES.items())
        if table in there
        for suffix in suffixes
    ]


rule draw_figure:
    input:
        lambda wildcards: f"{TABLES}/{FIGURES[wildcards.name][1]}.parquet",
    output:
        svg=report(
            f"{RESULTS}/figures/botchat/{{name}}.svg", caption="captions/botchat.rst", category="BotChat"
        ),
        pdf=f"{RESULTS}/figures/botchat/{{name}}.pdf",
    wildcard_constraints:
        name=one_of(FIGURES),
    params:
        settings=lambda wildcards: settings(
            figure=FIGURES[wildcards.name][0],
            n=FIGURES[wildcards.name][2] if len(FIGURES[wildcards.name]) > 2 else None,
            arena_min_utterances=CONFIG.seeds.arena_min_utterances,
        ),
        code=code("draw_figure"),
    log:
        f"{RESULTS}/logs/figures/{{name}}.log",
    conda:
        "../envs/core.yaml"
    shell:
        command("draw_figure", "--table {input:q} --svg {output.svg:q} --pdf {output.pdf:q}")
