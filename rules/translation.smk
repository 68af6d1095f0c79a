# Corpora in other languages: what is asked of the model that translates, and the dialogues put together again.


rule plan_translation:
    input:
        lambda wildcards: translated_source(wildcards.corpus),
    output:
        f"{RESULTS}/requests/translate-{{corpus}}-{{language}}.parquet",
    log:
        f"{RESULTS}/logs/requests/translate-{{corpus}}-{{language}}.log",
    wildcard_constraints:
        corpus=one_of(CONFIG.translate),
        language=one_of({language for _, language in TRANSLATED.values()}),
    conda:
        "../envs/core.yaml"
    params:
        settings=lambda wildcards: translation_settings(
            wildcards, max_tokens="max_tokens"
        ),
        code=code("plan_translation"),
    shell:
        command("plan_translation", "--table {input:q} --requests {output:q}")


rule join_translation:
    input:
        table=lambda wildcards: translated_source(wildcards.corpus),
        responses=translation_responses,
    output:
        translated=f"{RESULTS}/translations/{{corpus}}/{{language}}.parquet",
        utterances=f"{RESULTS}/translations/{{corpus}}/{{language}}.utterances.parquet",
        counts=f"{RESULTS}/translations/{{corpus}}/{{language}}.counts.parquet",
    log:
        f"{RESULTS}/logs/translations/{{corpus}}/{{language}}.log",
    wildcard_constraints:
        corpus=one_of(CONFIG.translate),
        language=one_of({language for _, language in TRANSLATED.values()}),
    conda:
        "../envs/core.yaml"
    params:
        settings=lambda wildcards: translation_settings(wildcards, translated_by="by"),
        code=code("join_translation"),
    shell:
        command(
            "join_translation",
            "--table {input.table:q} --responses {input.responses:q} --translated {output.translated:q} "
            "--utterances {output.utterances:q} --counts {output.counts:q}",
        )


rule tabulate_translation:
    input:
        [
            f"{RESULTS}/translations/{corpus}/{language}.counts.parquet"
            for corpus, language in TRANSLATED.values()
        ],
    output:
        corpora=f"{TRANSLATION}/corpora.parquet",
        csv=f"{TRANSLATION}/corpora.csv",
    log:
        f"{RESULTS}/logs/tables/translation.log",
    conda:
        "../envs/core.yaml"
    params:
        settings=settings(),
        code=code("tabulate_translation"),
    shell:
        command(
            "tabulate_translation", "--counts {input:q} --corpora {output.corpora:q}"
        )
