# Which files translations read and write, by the configuration.

TRANSLATION = f"{RESULTS}/tables/translation"
TRANSLATED = {  # requests are planned and answered under such a name
    f"translate-{corpus}-{language}": (corpus, language)
    for corpus, asked in CONFIG.translate.items()
    for language in asked.into
}


QUALITY = (
    {  # what is asked about translations, likewise: what for, corpus, language, models
        f"{kind}-{corpus}-{language}": (kind, corpus, language, models)
        for corpus, asked in CONFIG.translate.items()
        if asked.quality
        for language in asked.into
        for kind, models in (
            ("back", [asked.quality.back] if asked.quality.back else []),
            ("adequacy", asked.quality.judges),
        )
        if models
    }
)


def translators():
    """Returns the models that translate, translate back, or judge translations."""
    names = [asked.by for asked in CONFIG.translate.values()]
    return list(
        dict.fromkeys(names + [name for *_, of in QUALITY.values() for name in of])
    )


def asked_of_translations():
    """Returns the models that are asked under each name above."""
    asked = {
        name: [CONFIG.translate[corpus].by] for name, (corpus, _) in TRANSLATED.items()
    }
    return asked | {name: models for name, (*_, models) in QUALITY.items()}


def translated_source(corpus):
    """Returns the table that is translated: of a corpus of dialogues, or of the items of a rated one."""
    kind = "corpora" if corpus in CONFIG.corpora else "items"
    return f"{RESULTS}/{kind}/{corpus}.parquet"


def translations_of(corpora):
    """Returns the tables of some corpora in the languages that they are put into."""
    return [
        f"{RESULTS}/translations/{corpus}/{language}.parquet"
        for corpus in corpora
        if corpus in CONFIG.translate
        for language in CONFIG.translate[corpus].into
    ]


def translation_settings(wildcards, **more):
    """Returns what a stage is told of a corpus and a language; what is more, by name, out of its section."""
    corpus, language = wildcards.corpus, wildcards.language
    section = CONFIG.translate[corpus]
    return settings(
        corpus=corpus,
        kind="dialogues" if corpus in CONFIG.corpora else "items",
        source=section.source,
        target=language,
        context=section.context,
        **{name: getattr(section, field) for name, field in more.items()},
    )


def translation_responses(wildcards):
    """Returns the answers of the model that translates a corpus into a language, one table per shard."""
    protocol = f"translate-{wildcards.corpus}-{wildcards.language}"
    return shards_of(CONFIG.translate[wildcards.corpus].by, protocol)


def shards_of(model, protocol):
    """Returns the answers of a model under such a name, one table per shard."""
    shards = CONFIG.models[model].shards
    return [
        f"{RESULTS}/responses/{model}/{protocol}/{shard}-of-{shards}.parquet"
        for shard in range(1, shards + 1)
    ]


def translation_files():
    """Returns the tables of translations."""
    if not CONFIG.translate:
        return []
    names = ["corpora", *(["quality"] if looked_at() else [])]
    return tables_in(TRANSLATION, names)


def looked_at():
    """Returns the corpora and languages whose translations are looked at."""
    return [pair for pair in TRANSLATED.values() if CONFIG.translate[pair[0]].quality]


def quality_responses(kind):
    """Returns the answers about translations: `back` or `adequacy`."""
    return [
        path
        for name, (asked, _, _, models) in QUALITY.items()
        if asked == kind
        for model in models
        for path in shards_of(model, name)
    ]


def quality_settings():
    """Returns what was asked about translations, and the files of ratings and scores."""
    sections = {
        corpus: asked for corpus, asked in CONFIG.translate.items() if asked.quality
    }
    if not sections:
        return settings()
    files = [file for asked in sections.values() for file in quality_files(asked)]
    return settings(
        measured={
            metric: [path for path, of in measured() if of == metric]
            for metric in sorted({of for _, of in measured()})
        },
        sources={corpus: asked.source for corpus, asked in sections.items()},
        back={corpus: asked.quality.back for corpus, asked in sections.items()},
        judges=sorted(
            {name for asked in sections.values() for name in asked.quality.judges}
        ),
        files=[dict(one) for one in sorted({tuple(file.items()) for file in files})],
    )


def quality_files(asked):
    """Returns the files of ratings and scores of a translation."""
    named = {"people": asked.quality.ratings, **asked.quality.scores}
    return [
        {"metric": metric, "path": str(CONFIG.data_dir / path)}
        for metric, path in named.items()
        if path
    ]


def scored_files():
    """Returns the files of people's ratings of translations, and of scores."""
    return [
        file["path"]
        for asked in CONFIG.translate.values()
        if asked.quality
        for file in quality_files(asked)
    ]


def measured():
    """Returns the files of scores that are computed in an environment of their own, and their metrics."""
    return [
        (f"{RESULTS}/translations/{corpus}/{language}.{metric}.csv", metric)
        for corpus, language in looked_at()
        for metric in CONFIG.translate[corpus].quality.metrics
    ]


def measured_rows(wildcards):
    """Returns what a metric reads of a sample: the translations, or what came back of them."""
    kind = "back" if wildcards.metric == "bertscore" else "sample"
    return f"{RESULTS}/translations/{wildcards.corpus}/{wildcards.language}.{kind}.csv"
