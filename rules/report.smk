# The HTML report: one page that works offline, with the dialogues and items behind the numbers.

BASELINES = {"random", "length", "overlap", "perplexity"}

TITLES = {  # file -> title and caption, here and in Snakemake's own report
    "botchat/figure2_seed_lengths": (
        "Human dialogues by length",
        "How many utterances the human dialogues have; the marked ones serve Arena and GTEval (the paper's Figure 2).",
    ),
    "botchat/figure3_utterance_lengths": (
        "Utterance lengths",
        "Lengths of the utterances that each chatbot wrote, and of all human ones, in tokens (Figure 3).",
    ),
    "botchat/figure4_unieval": (
        "UniEval pass rate by length",
        "Share of dialogues in which the judge sees no AI utterance up to N (Figure 4). Intervals are clustered by seed.",
    ),
    "botchat/figure6_gteval": (
        "GTEval: against the human dialogue",
        "How often the judge takes a chatbot's dialogue for the human one (Figure 6). Seeds resampled.",
    ),
    "botchat/figure7_unieval_at_gt_length": (
        "UniEval pass rate at the human length",
        "The same pass rate, each dialogue cut to the length of the human one on its seed (Figure 7).",
    ),
    "botchat/judge_bias": (
        "The judges' biases",
        "What the order and length of two dialogues, and kinship with a model, do to a judge's verdicts, and how far "
        "judges agree. Seeds resampled; models held fixed: together with length and place, in one logit.",
    ),
    "botchat/table2_arena_ratings": (
        "Arena ratings",
        "Bootstrap Elo beside Bradley-Terry and Davidson ratings, with intervals over resampled seeds (Table 2).",
    ),
    "metaeval/judges": (
        "How well judges agree with the ratings",
        "Mean Pearson correlation over corpora, dimension by dimension; a paper's number beside it where a judge has "
        "a name of the paper's. Dialogues resampled.",
    ),
    "metaeval/judges_by_corpus": (
        "Corpus by corpus",
        "Pearson correlation of every judge with the ratings of every corpus, on overall or else what was rated.",
    ),
    "metaeval/judges_by_language": (
        "Language by language",
        "Pearson correlation of every judge in each language, averaged over corpora (xDial-Eval, Table 5).",
    ),
    "metaeval/dimensions": (
        "Dimension with dimension",
        "Whether a judge tells dimensions apart as people do (comp-analysis, Figures 1 and 2).",
    ),
    "metaeval/languages": (
        "Language with language",
        "How a judge's scores of the same items agree from language to language (xDial-Eval, Figures 1 and 2).",
    ),
    "metaeval/judges_among_themselves": (
        "Judge with judge",
        "How the scores of judges go with one another's and with people's ratings (xDial-Eval, Figure 3).",
    ),
    "metaeval/ensembles": (
        "Ensembles of judges",
        "The mean score of the best judges beside their best member, chosen on all corpora or on the others alone "
        "(comp-analysis, Table 9). Dialogues resampled.",
    ),
    "metaeval/annotators": (
        "How far raters agree",
        "Agreement of the raters of each corpus among themselves. Dialogues resampled.",
    ),
    "robustness/ratios": (
        "Which damage judges notice",
        "Share of pairs whose score falls by more than theta, beside the share whose score rises by as much, which is "
        "what noise alone gives (comp-analysis, Table 12). Intervals are clustered by dialogue.",
    ),
    "robustness/drops": (
        "How far scores fall",
        "Original score less damaged score: the middle half and nine tenths of the pairs, and the theta past which "
        "damage counts as noticed.",
    ),
    "robustness/ladders": (
        "Damage in steps",
        "Share of severity ladders on which the score falls with every step, or never rises. Intervals are clustered by dialogue.",
    ),
    "dialogbench/tasks": (
        "Accuracy by task",
        "Share of the test items of each task that a model answers rightly; the average is over tasks (DialogBench, "
        "Table 2).",
    ),
    "dialogbench/domains": (
        "Accuracy by domain",
        "Daily life beside professional knowledge (Tables 7 and 8).",
    ),
    "dialogbench/positions": (
        "Position bias",
        "How often a model chooses each letter, and how often it is right where the right answer stands there.",
    ),
    "dialogbench/styles": (
        "Styles of the speakers",
        "Written items before and after their speakers were given characters, as a model sees them.",
    ),
    "dialogbench/domain_counts": (
        "Domains of the written items",
        "As a model sees them, before and after the domain was given.",
    ),
}
for n in CONFIG.protocols.arena.n_utterances if CONFIG.protocols.arena else []:
    TITLES[f"botchat/figure5_arena_n{n}"] = (
        f"Arena: who wins against whom, N = {n}",
        f"Win and win+tie rates of the row's model against the column's, dialogues cut to {n} utterances (Figure 5).",
    )


METHODS = {
    name: model.method
    for name, model in CONFIG.models.items()
    if isinstance(model, EmbeddedModel)
}


rule build_report:
    input:
        seeds=SEEDS if CONFIG.talks() else [],
        human=HUMAN if CONFIG.talks() else [],
        dialogues=dialogues(CONFIG.chatbots),
        verdicts=report_verdicts(),
        item_tables=items_of(RATED),
        ratings=ratings_of(RATED),
        scores=all_scores() if CONFIG.metaeval else [],
        tables=report_tables(),
        figures=report_figures(),
    output:
        f"{RESULTS}/report/index.html",
    log:
        f"{RESULTS}/logs/report.log",
    conda:
        "../envs/core.yaml"
    params:
        settings=settings(
            title=report_title(),
            chatbots=CONFIG.chatbots,
            judges=CONFIG.judges if CONFIG.talks() else [],
            embedded=sorted(METHODS),
            baselines=sorted(name for name in METHODS if METHODS[name] in BASELINES),
            results_dir=RESULTS,
            captions=TITLES,
            random_seed=CONFIG.random_seed,
        ),
        code=code("build_report"),
    shell:
        command(
            "build_report",
            "--seeds {input.seeds:q} --human {input.human:q} --dialogues {input.dialogues:q} "
            "--verdicts {input.verdicts:q} --items {input.item_tables:q} --ratings {input.ratings:q} "
            "--scores {input.scores:q} --tables {input.tables:q} --figures {input.figures:q} --report {output:q}",
        )


rule report:
    input:
        rules.build_report.output,
