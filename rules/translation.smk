# Corpora in other languages: what is asked of the model that translates, and the dialogues put together again.


rule plan_translation:
    """Plans the requests that translate a corpus."""
    input:
        lambda wildcards: translated_source(wildcards.corpus),
    output:
        f"{RESULTS}/requests/translate-{{corpus}}-{{language}}.parquet",
    log:
        f"{RESULTS}/logs/requests/translate-{{corpus}}-{{language}}.log",
    wildcard_constraints:
        corpus=one_of(CONFIG.translate),
        language=one_of({language for _, language in TRANSLATED.values()}),
    group:
        grouped("reading")
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
    """Puts a corpus together again in another language."""
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
    group:
        grouped(PREPARING)
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


rule sample_translation:
    """Draws the utterances whose translations are looked at."""
    input:
        f"{RESULTS}/translations/{{corpus}}/{{language}}.utterances.parquet",
    output:
        drawn=f"{RESULTS}/translations/{{corpus}}/{{language}}.sample.parquet",
        csv=f"{RESULTS}/translations/{{corpus}}/{{language}}.sample.csv",
    log:
        f"{RESULTS}/logs/translations/{{corpus}}/{{language}}.sample.log",
    wildcard_constraints:
        corpus=one_of({corpus for corpus, _ in looked_at()}),
        language=one_of({language for _, language in looked_at()}),
    group:
        grouped(PREPARING)
    conda:
        "../envs/core.yaml"
    params:
        settings=lambda wildcards: settings(
            sample=CONFIG.translate[wildcards.corpus].quality.sample,
            random_seed=CONFIG.random_seed,
        ),
        code=code("sample_translation"),
    shell:
        command(
            "sample_translation",
            "--utterances {input:q} --drawn {output.drawn:q} --csv {output.csv:q}",
        )


rule plan_back_translation:
    """Plans the requests that translate a sample back."""
    input:
        f"{RESULTS}/translations/{{corpus}}/{{language}}.sample.parquet",
    output:
        f"{RESULTS}/requests/back-{{corpus}}-{{language}}.parquet",
    log:
        f"{RESULTS}/logs/requests/back-{{corpus}}-{{language}}.log",
    wildcard_constraints:
        corpus=one_of({corpus for corpus, _ in looked_at()}),
        language=one_of({language for _, language in looked_at()}),
    group:
        grouped(PREPARING)
    conda:
        "../envs/core.yaml"
    params:
        settings=lambda wildcards: settings(
            source=CONFIG.translate[wildcards.corpus].source,
            max_tokens=CONFIG.translate[wildcards.corpus].max_tokens,
        ),
        code=code("plan_back_translation"),
    shell:
        command("plan_back_translation", "--drawn {input:q} --requests {output:q}")


rule plan_adequacy:
    """Plans what judges are asked about a sample of translations."""
    input:
        f"{RESULTS}/translations/{{corpus}}/{{language}}.sample.parquet",
    output:
        f"{RESULTS}/requests/adequacy-{{corpus}}-{{language}}.parquet",
    log:
        f"{RESULTS}/logs/requests/adequacy-{{corpus}}-{{language}}.log",
    wildcard_constraints:
        corpus=one_of({corpus for corpus, _ in looked_at()}),
        language=one_of({language for _, language in looked_at()}),
    group:
        grouped(PREPARING)
    conda:
        "../envs/core.yaml"
    params:
        settings=lambda wildcards: settings(
            source=CONFIG.translate[wildcards.corpus].source
        ),
        code=code("plan_adequacy"),
    shell:
        command("plan_adequacy", "--drawn {input:q} --requests {output:q}")


rule list_back_translations:
    """Lists what came back of a sample of translations."""
    input:
        drawn=f"{RESULTS}/translations/{{corpus}}/{{language}}.sample.parquet",
        responses=lambda wildcards: shards_of(
            CONFIG.translate[wildcards.corpus].quality.back,
            f"back-{wildcards.corpus}-{wildcards.language}",
        ),
    output:
        back=f"{RESULTS}/translations/{{corpus}}/{{language}}.back.parquet",
        csv=f"{RESULTS}/translations/{{corpus}}/{{language}}.back.csv",
    log:
        f"{RESULTS}/logs/translations/{{corpus}}/{{language}}.back.log",
    wildcard_constraints:
        corpus=one_of({corpus for corpus, _ in looked_at()}),
        language=one_of({language for _, language in looked_at()}),
    group:
        grouped("back_translations")
    conda:
        "../envs/core.yaml"
    params:
        settings=lambda wildcards: settings(
            source=CONFIG.translate[wildcards.corpus].source,
            by=CONFIG.translate[wildcards.corpus].quality.back,
        ),
        code=code("list_back_translations"),
    shell:
        command(
            "list_back_translations",
            "--drawn {input.drawn:q} --responses {input.responses:q} --back {output.back:q} --csv {output.csv:q}",
        )


rule score_translations:
    """Scores a sample of translations by a metric."""
    input:
        measured_rows,
    output:
        f"{RESULTS}/translations/{{corpus}}/{{language}}.{{metric}}.csv",
    log:
        f"{RESULTS}/logs/translations/{{corpus}}/{{language}}.{{metric}}.log",
    wildcard_constraints:
        corpus=one_of({corpus for corpus, _ in looked_at()}),
        language=one_of({language for _, language in looked_at()}),
        metric=one_of({metric for _, metric in measured()}),
    conda:
        "../envs/comet.yaml"
    params:
        source=lambda wildcards: CONFIG.translate[wildcards.corpus].source,
        code=fingerprint("dialeval.translation.external_scores"),
    shell:
        # by its path, and alone: this environment has none of our packages
        'rm -f {log:q} && python -u "$DIALEVAL_OUTSIDE" --metric {wildcards.metric} --rows {input:q} --language {params.source:q} '
        "--scores {output:q} 2>&1 | tee -i {log:q}"


rule translation_quality:
    """Says how good the translations of a corpus are."""
    input:
        drawn=[
            f"{RESULTS}/translations/{corpus}/{language}.sample.parquet"
            for corpus, language in looked_at()
        ],
        back=quality_responses("back"),
        adequacy=quality_responses("adequacy"),
        files=scored_files(),
        measured=[path for path, _ in measured()],
    output:
        quality=f"{TRANSLATION}/quality.parquet",
        csv=f"{TRANSLATION}/quality.csv",
    log:
        f"{RESULTS}/logs/tables/translation_quality.log",
    group:
        grouped("report")
    conda:
        "../envs/train.yaml"
    params:
        settings=quality_settings(),
        code=code("translation_quality"),
        content=lambda wildcards: content(scored_files()),
    shell:
        command(
            "translation_quality",
            "--content={params.content:q} --drawn {input.drawn:q} --back {input.back:q} --adequacy {input.adequacy:q} --quality {output.quality:q}",
        )


rule tabulate_translation:
    """Tables how good all translations are."""
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
    group:
        grouped("report")
    conda:
        "../envs/core.yaml"
    params:
        settings=settings(),
        code=code("tabulate_translation"),
    shell:
        command(
            "tabulate_translation", "--counts {input:q} --corpora {output.corpora:q}"
        )
