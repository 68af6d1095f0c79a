# The HTML report: one page that works offline, with every dialogue behind every number.

TITLES = {  # file -> title and caption, here and in Snakemake's own report
    "figure2_seed_lengths": (
        "Human dialogues by length",
        "How many utterances the human dialogues have; the marked ones serve Arena and GTEval (the paper's Figure 2).",
    ),
    "figure3_utterance_lengths": (
        "Utterance lengths",
        "Lengths of the utterances that each chatbot wrote, and of all human ones, in tokens (Figure 3).",
    ),
    "figure4_unieval": (
        "UniEval pass rate by length",
        "Share of dialogues in which the judge sees no AI utterance up to N (Figure 4). Wilson intervals.",
    ),
    "figure6_gteval": (
        "GTEval: against the human dialogue",
        "How often the judge takes a chatbot's dialogue for the human one (Figure 6). Seeds resampled.",
    ),
    "figure7_unieval_at_gt_length": (
        "UniEval pass rate at the human length",
        "The same pass rate, each dialogue cut to the length of the human one on its seed (Figure 7).",
    ),
    "judge_bias": (
        "The judges' biases",
        "What the order and length of two dialogues, and kinship with a model, do to a judge's verdicts, and how far "
        "judges agree. Seeds resampled; ratings held fixed: by Bradley-Terry on the same verdicts.",
    ),
    "table2_arena_ratings": (
        "Arena ratings",
        "Bootstrap Elo beside Bradley-Terry and Davidson ratings, with intervals over resampled seeds (Table 2).",
    ),
}
for n in CONFIG.protocols.arena.n_utterances if CONFIG.protocols.arena else []:
    TITLES[f"figure5_arena_n{n}"] = (
        f"Arena: who wins against whom, N = {n}",
        f"Win and win+tie rates of the row's model against the column's, dialogues cut to {n} utterances (Figure 5).",
    )


rule build_report:
    input:
        seeds=SEEDS,
        human=HUMAN,
        dialogues=dialogues(CONFIG.chatbots),
        verdicts=[path for protocol in PROTOCOLS for path in results_of(protocol)],
        tables=report_tables(),
        figures=figure_files("svg"),
    output:
        f"{RESULTS}/report/index.html",
    log:
        f"{RESULTS}/logs/report.log",
    conda:
        "../envs/core.yaml"
    params:
        settings=settings(
            title="DialEval: BotChat",
            chatbots=CONFIG.chatbots,
            judges=CONFIG.judges,
            embedded=[
                name
                for name in (*CONFIG.chatbots, *CONFIG.judges)
                if isinstance(CONFIG.models[name], EmbeddedModel)
            ],
            results_dir=RESULTS,
            captions=TITLES,
        ),
        code=code("build_report"),
    shell:
        command(
            "build_report",
            "--seeds {input.seeds:q} --human {input.human:q} --dialogues {input.dialogues:q} "
            "--verdicts {input.verdicts:q} --tables {input.tables:q} --figures {input.figures:q} --report {output:q}",
        )


rule report:
    input:
        rules.build_report.output,
