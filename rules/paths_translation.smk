# Which files translations read and write, by the configuration.

TRANSLATION = f"{RESULTS}/tables/translation"
TRANSLATED = {  # requests are planned and answered under such a name
    f"translate-{corpus}-{language}": (corpus, language)
    for corpus, asked in CONFIG.translate.items()
    for language in asked.into
}


def translators():
    """Returns the models that translate."""
    return list(dict.fromkeys(asked.by for asked in CONFIG.translate.values()))


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
    model = CONFIG.translate[wildcards.corpus].by
    shards = CONFIG.models[model].shards
    protocol = f"translate-{wildcards.corpus}-{wildcards.language}"
    return [
        f"{RESULTS}/responses/{model}/{protocol}/{shard}-of-{shards}.parquet"
        for shard in range(1, shards + 1)
    ]


def translation_files():
    """Returns the tables of translations."""
    if not CONFIG.translate:
        return []
    return [f"{TRANSLATION}/corpora.{suffix}" for suffix in ("parquet", "csv")]
