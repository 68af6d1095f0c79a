# Judges that learn: what they learn from is made of people's dialogues, without what is judged.


rule training:
    """Makes what judges learn from, and says how well they learned."""
    input:
        training_files(),


rule judged_texts:
    """Writes down which passages are judged, so that no judge learns from them."""
    input:
        item_tables=judged_items(),
        seeds=[SEEDS] if CONFIG.chatbots else [],
        human=[HUMAN] if CONFIG.chatbots else [],
    output:
        f"{RESULTS}/training/judged.parquet",
    log:
        f"{RESULTS}/logs/training/judged.log",
    group:
        grouped(PREPARING)
    conda:
        "../envs/core.yaml"
    params:
        settings=settings(),
        code=code("judged_texts"),
    shell:
        command(
            "judged_texts",
            "--items {input.item_tables:q} --seeds {input.seeds:q} --human {input.human:q} --texts {output:q}",
        )


rule check_overlap:
    """Finds the dialogues of a training set that are judged later."""
    input:
        utterances=lambda wildcards: training_dialogues(wildcards.training),
        judged=f"{RESULTS}/training/judged.parquet",
    output:
        f"{RESULTS}/training/{{training}}/overlap.parquet",
    log:
        f"{RESULTS}/logs/training/{{training}}/overlap.log",
    wildcard_constraints:
        training=one_of(TRAINING),
    group:
        grouped(PREPARING)
    conda:
        "../envs/core.yaml"
    params:
        settings=lambda wildcards: settings(
            **training_settings(wildcards.training),
            overlap=CONFIG.training[wildcards.training].overlap,
        ),
        code=code("check_overlap"),
    shell:
        command(
            "check_overlap",
            "--utterances {input.utterances:q} --judged {input.judged:q} --overlap {output:q}",
        )


rule make_training_data:
    """Makes the pairs of true and spoiled dialogues that judges learn from."""
    input:
        utterances=lambda wildcards: training_dialogues(wildcards.training),
        left_out=lambda wildcards: learned_around(wildcards.training),
    output:
        f"{RESULTS}/training/{{training}}/examples.parquet",
    log:
        f"{RESULTS}/logs/training/{{training}}/examples.log",
    wildcard_constraints:
        training=one_of(TRAINING),
    group:
        grouped(PREPARING)
    conda:
        "../envs/core.yaml"
    params:
        settings=lambda wildcards: settings(**training_settings(wildcards.training)),
        code=code("make_training_data"),
    shell:
        command(
            "make_training_data",
            "--utterances {input.utterances:q} --left-out {input.left_out:q} --examples {output:q}",
        )


rule tabulate_training_data:
    """Tables what judges learn from."""
    input:
        examples=training_examples(MADE_TRAINING),
        overlaps=training_overlap(MADE_TRAINING),
    output:
        tables_in(f"{RESULTS}/tables/training", ["data"]),
    log:
        f"{RESULTS}/logs/tables/training_data.log",
    group:
        grouped("report")
    conda:
        "../envs/core.yaml"
    params:
        settings=settings(),
        code=code("tabulate_training_data"),
        folder=folder_of_first,
    shell:
        command(
            "tabulate_training_data",
            "--examples {input.examples:q} --overlaps {input.overlaps:q} --folder {params.folder:q}",
        )


rule tabulate_training:
    """Tables how well judges learned."""
    input:
        examples=training_examples(USED_TRAINING),
        trained=trained_folders(),
    output:
        tables_in(f"{RESULTS}/tables/training", TRAINING_TABLES),
    log:
        f"{RESULTS}/logs/tables/training.log",
    group:
        grouped("report")
    conda:
        "../envs/core.yaml"
    params:
        settings=settings(judges=trained_judges(), random_seed=CONFIG.random_seed),
        code=code("tabulate_training"),
        folder=folder_of_first,
    shell:
        command(
            "tabulate_training",
            "--examples {input.examples:q} --trained {input.trained:q} --folder {params.folder:q}",
        )


rule train_lora:
    """Trains a LoRA adapter with which a language model judges."""
    input:
        lambda wildcards: training_examples(CONFIG.models[wildcards.judge].learns_from),
    output:
        trained=directory(f"{RESULTS}/trained/{{judge}}"),
        digest=f"{RESULTS}/trained/{{judge}}.digest",
    log:
        f"{RESULTS}/logs/trained/{{judge}}.log",
    wildcard_constraints:
        judge=one_of(lora_judges()),
    conda:
        "../envs/train.yaml"
    resources:
        **resources_of(lambda wildcards: [wildcards.judge], trains=True),
    params:
        settings=lambda wildcards: lora_settings(wildcards.judge),
        code=code("train_lora"),
        content=lambda wildcards: content_of_models(wildcards.judge),
        checkpoints=lambda wildcards: f"{RESULTS}/checkpoints/{wildcards.judge}",
    shell:
        command(
            "train_lora",
            "--content={params.content:q} --examples {input:q} --trained {output.trained:q} --digest {output.digest:q} "
            "--checkpoints {params.checkpoints:q}",
        )


rule train_encoder:
    """Trains an encoder that scores turns or dialogues."""
    input:
        lambda wildcards: training_examples(CONFIG.models[wildcards.judge].learns_from),
    output:
        trained=directory(f"{RESULTS}/trained/{{judge}}"),
        digest=f"{RESULTS}/trained/{{judge}}.digest",
    log:
        f"{RESULTS}/logs/trained/{{judge}}.log",
    wildcard_constraints:
        judge=one_of(encoder_judges()),
    conda:
        "../envs/train.yaml"
    resources:
        **resources_of(lambda wildcards: [wildcards.judge], trains=True),
    params:
        settings=lambda wildcards: encoder_settings(wildcards.judge),
        code=code("train_encoder"),
        content=lambda wildcards: content_of_models(wildcards.judge),
        checkpoints=lambda wildcards: f"{RESULTS}/checkpoints/{wildcards.judge}",
    shell:
        command(
            "train_encoder",
            "--content={params.content:q} --examples {input:q} --trained {output.trained:q} --digest {output.digest:q} "
            "--checkpoints {params.checkpoints:q}",
        )
