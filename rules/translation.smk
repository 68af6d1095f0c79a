# Corpora in further languages: requests to the model that translates, the dialogues put together again, and checks of samples.

TRANSLATION = Translation(LAYOUT, SOURCES)
TRANSLATED = {
    "corpus": one_of(CONFIG.translate),
    "language": one_of({language for _, language in LAYOUT.translated.values()}),
}
CHECKED = {
    "corpus": one_of({corpus for corpus, _ in LAYOUT.checked_translations()}),
    "language": one_of({language for _, language in LAYOUT.checked_translations()}),
}


use rule stage as plan_translation with:
    """Plans the requests that translate a corpus."""
    input:
        table=paths.source_table,
    output:
        requests=paths.TRANSLATION_REQUESTS,
    pathvars:
        part="requests/translate-{corpus}-{language}",
    wildcard_constraints:
        **TRANSLATED,
    group:
        grouped("reading")
    params:
        **job(TRANSLATION.plan_translation),


use rule stage as join_translation with:
    """Joins the translated utterances of a corpus."""
    input:
        table=paths.source_table,
        responses=paths.translation_responses,
    output:
        translated=paths.TRANSLATION,
        utterances=paths.TRANSLATED_UTTERANCES,
        counts=paths.TRANSLATION_COUNTS,
    pathvars:
        part="translations/{corpus}/{language}",
    wildcard_constraints:
        **TRANSLATED,
    group:
        grouped(GROUPS.preparing)
    params:
        **job(TRANSLATION.join_translation),


use rule stage as sample_translation with:
    """Draws the utterances whose translations are checked."""
    input:
        utterances=paths.TRANSLATED_UTTERANCES,
    output:
        drawn=paths.TRANSLATION_SAMPLE,
        csv=paths.TRANSLATION_SAMPLE_CSV,
    pathvars:
        part="translations/{corpus}/{language}.sample",
    wildcard_constraints:
        **CHECKED,
    group:
        grouped(GROUPS.preparing)
    params:
        **job(TRANSLATION.sample_translation),


use rule stage as plan_back_translation with:
    """Plans the requests that translate a sample back."""
    input:
        drawn=paths.TRANSLATION_SAMPLE,
    output:
        requests=paths.BACK_REQUESTS,
    pathvars:
        part="requests/back-{corpus}-{language}",
    wildcard_constraints:
        **CHECKED,
    group:
        grouped(GROUPS.preparing)
    params:
        **job(TRANSLATION.plan_back_translation),


use rule stage as plan_adequacy with:
    """Plans the requests about the adequacy of a sample of translations."""
    input:
        drawn=paths.TRANSLATION_SAMPLE,
    output:
        requests=paths.ADEQUACY_REQUESTS,
    pathvars:
        part="requests/adequacy-{corpus}-{language}",
    wildcard_constraints:
        **CHECKED,
    group:
        grouped(GROUPS.preparing)
    params:
        **job(TRANSLATION.plan_adequacy),


use rule stage as list_back_translations with:
    """Lists a sample of translations with their translations back."""
    input:
        drawn=paths.TRANSLATION_SAMPLE,
        responses=paths.back_translation_responses,
    output:
        back=paths.BACK_TRANSLATION,
        csv=paths.BACK_TRANSLATION_CSV,
    pathvars:
        part="translations/{corpus}/{language}.back",
    wildcard_constraints:
        **CHECKED,
    group:
        grouped("back_translations")
    params:
        **job(TRANSLATION.list_back_translations),


rule score_translations:
    """Scores a sample of translations by a metric."""
    input:
        paths.scored_rows,
    output:
        paths.TRANSLATION_SCORES,
    log:
        LAYOUT.log("translations/{corpus}/{language}.{metric}"),
    wildcard_constraints:
        **CHECKED,
        metric=one_of(LAYOUT.translation_scores()),
    conda:
        "../envs/comet.yaml"
    params:
        source=by(TRANSLATION.source_language),
        code=fingerprint("dialeval.translation.external_scores"),
    shell:
        # by its path, and alone: this environment has none of our packages
        'rm -f {log:q} && python -u "$DIALEVAL_OUTSIDE" --metric {wildcards.metric} --rows {input:q} --language {params.source:q} '
        "--scores {output:q} 2>&1 | tee -i {log:q}"


use rule stage as translation_quality with:
    """Measures the quality of all translations."""
    input:
        by(SOURCES.translation_quality),
        paths.all_translation_scores,
        drawn=paths.translation_samples,
        back=paths.back_responses,
        adequacy=paths.adequacy_responses,
    output:
        quality=paths.TRANSLATION_QUALITY,
        csv=paths.TRANSLATION_QUALITY_CSV,
    pathvars:
        part="tables/translation_quality",
    group:
        grouped("report")
    conda:
        "../envs/train.yaml"
    params:
        **job(TRANSLATION.translation_quality, "content", untold=["csv"]),


use rule stage as tabulate_translation with:
    """Tabulates the translations of all corpora."""
    input:
        counts=paths.translation_counts,
    output:
        corpora=paths.TRANSLATION_CORPORA,
        csv=paths.TRANSLATION_CORPORA_CSV,
    pathvars:
        part="tables/translation",
    group:
        grouped("report")
    params:
        **job(TRANSLATION.tabulate_translation, untold=["csv"]),
