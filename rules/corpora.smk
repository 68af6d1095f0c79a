# Corpora of human dialogues, transcripts of the user's own systems, and what embedded models learn from corpora.

CORPORA = Corpora(LAYOUT, SOURCES)


use rule stage as download with:
    """Fetches public corpora into `data_dir`."""
    output:
        [],
    pathvars:
        part="download",
    localrule: True
    params:
        **job(CORPORA.download),


use rule stage as read_corpus with:
    """Reads a corpus of human dialogues."""
    input:
        by(SOURCES.corpus),
    output:
        utterances=paths.READ_CORPUS,
    pathvars:
        part="corpora/{corpus}",
    group:
        grouped("reading")
    params:
        **job(CORPORA.read_corpus, "content"),


use rule stage as extract_seeds with:
    """Takes the seeds of self-chat from human dialogues, and tabulates the lengths of these."""
    input:
        utterances=paths.seed_corpus,
    output:
        seeds=paths.EXTRACTED_SEEDS,
        table=paths.SEED_LENGTHS,
        csv=paths.SEED_LENGTHS_CSV,
    pathvars:
        part="seeds",
    group:
        grouped("reading")
    params:
        **job(CORPORA.extract_seeds),


use rule stage as read_scenarios with:
    """Reads the scenarios of the simulated user."""
    input:
        path=by(SOURCES.scenarios),
    output:
        scenarios=paths.SCENARIOS,
        seeds=paths.SCENARIO_SEEDS,
        people=paths.SCENARIO_PEOPLE,
    pathvars:
        part="scenarios",
    group:
        grouped("reading")
    params:
        **job(CORPORA.read_scenarios, "content"),


use rule stage as read_transcripts with:
    """Reads transcripts of the user's own systems."""
    input:
        by(SOURCES.transcripts),
    output:
        items_=paths.TRANSCRIPT_ITEMS,
        hidden_messages=paths.HIDDEN_MESSAGES,
        left_out=paths.TRANSCRIPTS_LEFT_OUT,
    pathvars:
        part="items/{source}",
    wildcard_constraints:
        source=one_of(CONFIG.transcripts),
    group:
        grouped("reading")
    params:
        **job(CORPORA.read_transcripts, "content"),


use rule stage as find_contamination with:
    """Looks for passages of cases and responses in the corpora."""
    input:
        items_=paths.items_to_look_up,
        corpora=expand(paths.READ_CORPUS, corpus=CONFIG.corpora),
    output:
        table=paths.CONTAMINATION,
        csv=paths.CONTAMINATION_CSV,
    pathvars:
        part="tables/contamination",
    group:
        grouped("dialogues")
    params:
        **job(CORPORA.find_contamination),


use rule stage as plan_completion with:
    """Plans the requests that complete texts of a corpus."""
    input:
        source=paths.source_table,
    output:
        requests=paths.COMPLETION_REQUESTS,
    pathvars:
        part="requests/complete-{corpus}",
    wildcard_constraints:
        corpus=one_of(LAYOUT.completed_corpora),
    group:
        grouped("asking")
    params:
        **job(CORPORA.plan_completion),


use rule stage as measure_memorization with:
    """Counts the texts that models complete verbatim."""
    input:
        sources=paths.completed_sources,
        responses=paths.completion_responses,
    output:
        table=paths.MEMORIZATION,
        csv=paths.MEMORIZATION_CSV,
    pathvars:
        part="tables/memorization",
    group:
        grouped("dialogues")
    params:
        **job(CORPORA.measure_memorization),


use rule stage as learn_embedded with:
    """Lets an embedded model learn from human dialogues."""
    input:
        corpora=paths.corpora_to_learn,
    output:
        learned=paths.LEARNED,
        report=paths.EMBEDDED,
        report_csv=paths.EMBEDDED_CSV,
    pathvars:
        part="embedded/{model}",
    group:
        grouped("reading")
    params:
        **job(CORPORA.learn_embedded),
