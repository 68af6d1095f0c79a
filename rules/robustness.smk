# Robustness: good dialogues and responses are damaged, and judges score both.

ROBUSTNESS = f"{RESULTS}/tables/robustness"


rule robustness:
    """Says whether judges notice damage."""
    input:
        robustness_files(),


rule damage_items:
    """Damages dialogues and responses by rule."""
    input:
        dialogues=[
            f"{RESULTS}/corpora/{name}.parquet" for name in CONFIG.damaged_dialogues()
        ],
        rated=source_items_of(CONFIG.damaged_rated()),
        ratings=ratings_of_originals(),
        published=published_damage_files(),
        wordnet=files_of_wordnet(),
    output:
        item_table=f"{RESULTS}/perturbed/by_rule.items.parquet",
        pairs=f"{RESULTS}/perturbed/by_rule.pairs.parquet",
    log:
        f"{RESULTS}/logs/perturbed/by_rule.log",
    group:
        grouped("reading")
    conda:
        "../envs/core.yaml"
    params:
        settings=damage_settings(),
        code=code("damage_items"),
        content=lambda wildcards: content_of_damage(),
    shell:
        command(
            "damage_items",
            "--content={params.content:q} --dialogues {input.dialogues:q} --rated {input.rated:q} --ratings {input.ratings:q} "
            "--items {output.item_table:q} --pairs {output.pairs:q}",
        )


rule rewrite_items:
    """Has a model damage dialogues and responses where rules are poor at it."""
    input:
        dialogues=[
            f"{RESULTS}/corpora/{name}.parquet" for name in CONFIG.damaged_dialogues()
        ],
        rated=source_items_of(CONFIG.damaged_rated()),
        ratings=ratings_of_originals(),
        learned=lambda wildcards: learned(wildcards.model),
    output:
        item_table=f"{RESULTS}/perturbed/by_{{model}}.items.parquet",
        pairs=f"{RESULTS}/perturbed/by_{{model}}.pairs.parquet",
        usage=f"{RESULTS}/usage/{{model}}/perturb-1-of-1.json",
    log:
        f"{RESULTS}/logs/perturbed/by_{{model}}.log",
    wildcard_constraints:
        model=one_of(rewriters()),
    group:
        grouped(of_rewriting)
    conda:
        lambda wildcards: environment(wildcards.model)
    resources:
        **resources_of(lambda wildcards: [wildcards.model]),
    params:
        settings=lambda wildcards: rewrite_settings(wildcards.model),
        code=lambda wildcards: code("rewrite_items", wildcards.model),
        content=lambda wildcards: content_of_models(wildcards.model),
    shell:
        command(
            "rewrite_items",
            "--content={params.content:q} --dialogues {input.dialogues:q} --rated {input.rated:q} --ratings {input.ratings:q} "
            '--learned {input.learned:q} --store="$DIALEVAL_STORE" --items {output.item_table:q} --pairs {output.pairs:q} --usage {output.usage:q}',
        )


rule tabulate_robustness:
    """Tables what judges noticed of the damage."""
    input:
        pairs=perturbed("pairs"),
        judgements=judged_scores(),
    output:
        tables_in(ROBUSTNESS, ROBUSTNESS_TABLES),
    log:
        f"{RESULTS}/logs/tables/robustness.log",
    group:
        grouped("items")
    conda:
        "../envs/core.yaml"
    params:
        settings=(
            settings(
                thetas=CONFIG.robustness.thetas,
                confidence=CONFIG.robustness.confidence,
                hurt=CONFIG.hurt(),
            )
            if CONFIG.robustness
            else settings()
        ),
        code=code("robustness"),
        folder=folder_of_first,
    shell:
        command(
            "robustness",
            "--pairs {input.pairs:q} --judgements {input.judgements:q} --folder {params.folder:q}",
        )
