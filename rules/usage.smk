# What models are asked and what it takes: `estimate` says it before the run, the table `usage` after it.


rule tabulate_usage:
    """Tables what models were asked and what it took."""
    input:
        usage_records(),
    output:
        table=f"{RESULTS}/tables/usage.parquet",
        csv=f"{RESULTS}/tables/usage.csv",
    log:
        f"{RESULTS}/logs/tables/usage.log",
    group:
        grouped("report")
    conda:
        "../envs/core.yaml"
    params:
        settings=settings(prices=prices(), spending=spending_folders()),
        code=code("tabulate_usage"),
    shell:
        command(
            "tabulate_usage",
            '--records {input:q} --store="$DIALEVAL_STORE" --table {output.table:q} --csv {output.csv:q}',
            always_anew=True,
        )


rule estimate:
    """Says what a run would ask of each model, and what that would cost, before anything is asked."""
    input:
        human=HUMAN if CONFIG.talks() else [],
        seeds=SEEDS if CONFIG.talks() else [],
        scenarios=SCENARIOS,
        learned=[
            path
            for name in asked_models()
            for path in learned(name)
            if path.endswith(".learned")  # nothing is trained for an estimate
        ],
        dialogues=dialogues(
            [name for name in CONFIG.chatbots if name in set(PUBLISHED)]
        ),
        planned=[
            path for protocol, path in planned().items() if not asked_before(protocol)
        ],
    log:
        f"{RESULTS}/logs/estimate.log",
    localrule: True
    conda:
        "../envs/core.yaml"
    params:
        settings=settings(
            models={name: CONFIG.models[name] for name in asked_models()},
            chatbots=CONFIG.chatbots,
            selfchat=CONFIG.selfchat,
            questions=[
                asked_question(name) for name in PROTOCOLS if about_chats(name)
            ],
            askers=askers(),
            in_rounds=[
                asked_question(name) for name in ADAPTIVE if not about_chats(name)
            ],
            cascades=CASCADES,
            left_out=not_estimated(),
            designs=planned_designs(),
            labels=label_plan(),
        ),
        code=code("estimate", templates=templates_of(filter(about_chats, PROTOCOLS))),
        planned_before=planned_before(),
        trained=already_trained(asked_models()),
        table=f"{RESULTS}/tables/estimate.parquet",
        csv=f"{RESULTS}/tables/estimate.csv",
        judgements=judged_before(),
        corrected=corrected_before(),
        planning=f"{RESULTS}/tables/labels/planning.parquet",
        planning_csv=f"{RESULTS}/tables/labels/planning.csv",
    shell:
        command(
            "estimate",
            "--human {input.human:q} --seeds {input.seeds:q} --scenarios {input.scenarios:q} "
            '--learned {input.learned:q} {params.trained:q} --dialogues {input.dialogues:q} --planned {input.planned:q} {params.planned_before:q} --store="$DIALEVAL_STORE" --table {params.table:q} --csv {params.csv:q} '
            "--judgements {params.judgements:q} --corrected {params.corrected:q} --planning {params.planning:q} "
            "--planning-csv {params.planning_csv:q}",
        )
