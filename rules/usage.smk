# What models are asked and what it takes: `estimate` says it before the run, the table `usage` after it.


rule tabulate_usage:
    input:
        usage_records(),
    output:
        table=f"{RESULTS}/tables/usage.parquet",
        csv=f"{RESULTS}/tables/usage.csv",
    log:
        f"{RESULTS}/logs/tables/usage.log",
    conda:
        "../envs/core.yaml"
    params:
        settings=settings(prices=prices(), spending=spending_folders()),
        code=code("tabulate_usage"),
        store=STORE,
    shell:
        command(
            "tabulate_usage",
            "--records {input:q} --store {params.store:q} --table {output.table:q} --csv {output.csv:q}",
        )


def planned():
    """Returns the plans that need no chatbot's dialogues, by protocol."""
    return {protocol: f"{RESULTS}/requests/{protocol}.parquet" for protocol in askers()}


def asked_before(protocol):
    """Returns the models that would have to be paid for what a protocol asks about; an estimate asks none of them."""
    return CONFIG.asked_before(protocol)


def planned_before():
    """Returns the plans that rest on what models wrote, where an earlier run has made them."""
    return [
        path
        for protocol, path in planned().items()
        if asked_before(protocol) and Path(path).exists()
    ]


def not_estimated():
    """Returns what is asked besides, in words."""
    written = CONFIG.dialogbench.written if CONFIG.dialogbench else None
    classifier = CONFIG.dialogbench.classifier if CONFIG.dialogbench else None
    asked = {
        "writes test items": written and written.writer,
        "filters test items": written and written.filter,
        "describes test items": classifier,
        "rewrites items": CONFIG.robustness and CONFIG.robustness.rewriter,
    }
    parts = [
        f"what {name} is asked when it {task}" for task, name in asked.items() if name
    ]
    parts += [
        f"{protocol}, which asks about what {' and '.join(asked_before(protocol))} must write first"
        for protocol, path in planned().items()
        if asked_before(protocol) and not Path(path).exists()
    ]
    return parts + [f"{protocol} asked again" for protocol in ASKED_AGAIN]


# It depends on the store, which Snakemake does not see; a rule without outputs runs whenever it is asked for.
rule estimate:
    input:
        human=HUMAN,
        seeds=SEEDS,
        learned=[path for name in asked_models() for path in learned(name)],
        dialogues=dialogues(
            [name for name in CONFIG.chatbots if name in set(PUBLISHED)]
        ),
        planned=[
            path for protocol, path in planned().items() if not asked_before(protocol)
        ],
    log:
        f"{RESULTS}/logs/estimate.log",
    conda:
        "../envs/core.yaml"
    params:
        settings=settings(
            models={name: CONFIG.models[name] for name in asked_models()},
            chatbots=CONFIG.chatbots,
            judges=CONFIG.judges,
            selfchat=CONFIG.selfchat,
            protocols=CONFIG.protocols,
            askers=askers(),
            left_out=not_estimated(),
            prompts_directory=PROMPTS,
        ),
        code=code("estimate"),
        store=STORE,
        planned_before=planned_before(),
        table=f"{RESULTS}/tables/estimate.parquet",
        csv=f"{RESULTS}/tables/estimate.csv",
    shell:
        command(
            "estimate",
            "--human {input.human:q} --seeds {input.seeds:q} --learned {input.learned:q} "
            "--dialogues {input.dialogues:q} --planned {input.planned:q} {params.planned_before:q} --store {params.store:q} --table {params.table:q} --csv {params.csv:q}",
        )
