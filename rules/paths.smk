# Which files the rules read and write, by the configuration.

PARTNER = CONFIG.selfchat.partner
SCENARIOS = (
    [f"{RESULTS}/scenarios/scenarios.parquet"] if CONFIG.selfchat.scenarios else []
)
HUMAN = (
    f"{RESULTS}/scenarios/people.parquet"
    if SCENARIOS
    else f"{RESULTS}/corpora/{CONFIG.seeds.corpus}.parquet"
)
SEEDS = (
    f"{RESULTS}/scenarios/seeds.parquet" if SCENARIOS else f"{RESULTS}/seeds.parquet"
)
TABLES = f"{RESULTS}/tables/botchat"
RATING_DIFFERENCES = f"{RESULTS}/rating_differences/{{protocol}}.parquet"
AT_HUMAN_LENGTH = "pass_rates_at_gt_length"


def tables_in(folder, names):
    """Returns tables in a folder, each as Parquet and, for reading, as CSV."""
    return [
        f"{folder}/{name}.{suffix}" for name in names for suffix in ("parquet", "csv")
    ]


def folder_of_first(wildcards, output):
    """Returns the folder of a rule's first file, for a stage that names its files itself."""
    return str(Path(output[0]).parent)


def learned(name):
    """Returns what a model's engine reads of what a run learned: an embedded model's file, or trained weights.

    Weights are an input by content: their digest is compared, their folder only has to be there.
    """
    model = CONFIG.models.get(name)
    if isinstance(model, EmbeddedModel):
        return [f"{RESULTS}/embedded/{name}.learned"]
    if isinstance(model, EncoderModel) and model.weights:
        weights = model.weights.expanduser()
        return [str(weights / name) for name in ("metric.json", "experts.safetensors")]
    if model is None or not model.learns_from:
        return []
    return [ancient(f"{RESULTS}/trained/{name}"), f"{RESULTS}/trained/{name}.digest"]


def corpus_files(corpus):
    """Returns the files that a corpus is read from."""
    return source_files(CONFIG.corpora[corpus].reader, CONFIG.corpus_path(corpus))


def scenario_files():
    """Returns the file of scenarios, if there is one."""
    path = CONFIG.scenarios_path()
    return [path] if path else []


def transcript_files(source):
    """Returns the files that transcripts are read from."""
    return in_words(
        transcripts.source_files,
        CONFIG.transcripts[source].reader,
        CONFIG.transcripts_path(source),
    )


def dialogues(names):
    """Returns the dialogue tables of chatbots."""
    return [f"{RESULTS}/dialogues/{name}.parquet" for name in names]


def talk_usage(chatbot, shard, shards):
    """Returns what a job that chats writes about the chatbot, and about the partner if there is one."""
    records = [f"{RESULTS}/usage/{chatbot}/selfchat-{shard}-of-{shards}.json"]
    if PARTNER:
        name = f"partner-of-{chatbot}-{shard}-of-{shards}"
        records.append(f"{RESULTS}/usage/{PARTNER}/{name}.json")
    return records


def results_of(protocol):
    """Returns the judgements under a protocol: of all judges that judged everything, and of several as one."""
    return [
        f"{RESULTS}/judgements/{judge}/{protocol}.parquet"
        for judge in CONFIG.judging(protocol)
    ]


def members_scores(ensemble, method):
    """Returns the judgements that an ensemble is the mean of."""
    return [
        f"{RESULTS}/judgements/{member}/{own}.parquet"
        for member, methods in ENSEMBLES[ensemble][method].items()
        for own in methods
    ]


def responses(wildcards):
    """Returns a judge's response tables under a protocol, one per shard."""
    shards = CONFIG.models[wildcards.judge].shards
    return [
        f"{RESULTS}/responses/{wildcards.judge}/{wildcards.protocol}/{shard}-of-{shards}.parquet"
        for shard in range(1, shards + 1)
    ]


def again(wildcards):
    """Returns the responses to what a judge was asked again under a protocol."""
    if wildcards.protocol not in ASKED_AGAIN or wildcards.judge in PUBLISHED:
        return []
    return [f"{RESULTS}/responses/again/{wildcards.judge}/{wildcards.protocol}.parquet"]


def asked_models():
    """Returns the models that chat or judge and are asked, not read from a file."""
    return [
        name
        for name in dict.fromkeys(
            [
                *CONFIG.chatbots,
                *([PARTNER] if PARTNER else []),
                *CONFIG.judges,
                *CONFIG.asked_judges(),
                *translators(),
            ]
        )
        if name not in PUBLISHED
    ]


def usage_records():
    """Returns what every job that asks a model writes about that."""
    chats = [
        record
        for name in CONFIG.chatbots
        if name not in PUBLISHED
        for shards in [CONFIG.models[name].shards]
        for shard in range(1, shards + 1)
        for record in talk_usage(name, shard, shards)
    ]
    jobs = [
        (name, protocol)
        for protocol in PROTOCOLS
        for name in CONFIG.judges_of(protocol)
    ] + [
        (name, protocol)
        for protocol, models in asked_of_translations().items()
        for name in models
    ]
    repeated = [
        f"{RESULTS}/usage/again/{name}/{protocol}.json"
        for protocol in ASKED_AGAIN
        for name in CONFIG.judges_of(protocol)
        if name not in PUBLISHED
    ]
    rewriting = [
        f"{RESULTS}/usage/{name}/perturb-1-of-1.json"
        for name in (rewriters() if perturbed("pairs") else [])
    ]
    return (
        chats
        + dialogbench_usage()
        + repeated
        + rewriting
        + [
            f"{RESULTS}/usage/{name}/{protocol}-{shard}-of-{shards}.json"
            for name, protocol in jobs
            if name not in PUBLISHED
            for shards in [CONFIG.models[name].shards]
            for shard in range(1, shards + 1)
        ]
    )


def botchat_tables():
    """Returns BotChat's tables, and the measures of all protocols, below `tables` and without suffix."""
    of_people = [] if SCENARIOS else ["botchat/seeds"]
    return [*of_people, "botchat/utterance_lengths", *measure_tables()]


def measure_tables():
    """Returns the measures of all protocols, below `tables` and without suffix."""
    return [
        f"{name}/{measure}"
        for name, protocol in CONFIG.resolved_protocols().items()
        if CONFIG.judging(name)
        for measure in protocol.measured()
    ] + rounds_tables()


def measured_items(wildcards):
    """Returns the tables of items whose lengths or texts a measure needs beside the judgements."""
    if wildcards.measure == "examples":
        return items_about(wildcards.protocol)
    return items_of_pairs(wildcards) if wildcards.measure == "bias" else []


def items_of_pairs(wildcards):
    """Returns the tables of items whose lengths are held against judgements of pairs of them."""
    protocol = CONFIG.resolved_protocols()[wildcards.protocol]
    return items_of(protocol.of.source) if protocol.form == "pair" else []


def measured_seeds(wildcards):
    """Returns the table of ChatSEEDs, where a measure takes dialogues to the length of the human ones."""
    return [SEEDS] if wildcards.measure == AT_HUMAN_LENGTH else []


def seeds_of_differences(wildcards):
    """Returns the same where what is compared needs it."""
    protocol = CONFIG.resolved_protocols()[wildcards.protocol]
    return [SEEDS] if AT_HUMAN_LENGTH in protocol.measured() else []


def rating_differences(wildcards):
    """Returns the differences of ratings, which are made with the ratings, where the protocol has any."""
    protocol = CONFIG.resolved_protocols()[wildcards.protocol]
    return [RATING_DIFFERENCES] if "ratings" in protocol.measured() else []


def battle_files():
    """Returns the tables and figures of all configured battles."""
    figures = [
        f"{RESULTS}/figures/battles/{name}.{suffix}"
        for name in CONFIG.battles
        for suffix in ("svg", "pdf")
    ]
    tables = f"{RESULTS}/tables/battles"
    return [
        *tables_in(tables, CONFIG.battles),
        *figures,
        *tables_in(f"{tables}/differences", CONFIG.battles),
    ]


def report_tables():
    """Returns the tables that the page shows, or says where they are."""
    names = botchat_tables() if CONFIG.talks() else measure_tables()
    tables = [f"{RESULTS}/tables/{name}.parquet" for name in names]
    if CONFIG.talks():
        tables += [
            f"{RESULTS}/tables/embedded/{judge}.parquet"
            for judge in CONFIG.judges
            if isinstance(CONFIG.models[judge], EmbeddedModel)
        ]
    parts = [
        *trust_tables(),
        *label_tables(),
        *metaeval_tables(),
        *robustness_tables(),
        *dialogbench_tables(),
        *training_tables(),
        *translation_files(),
    ]
    return tables + [path for path in parts if path.endswith(".parquet")]


def shown_protocols():
    """Returns the protocols about dialogues of systems, chatbots' or transcripts', with their names."""
    rated = {"rated", "damaged", *(CONFIG.metaeval.corpora if CONFIG.metaeval else ())}
    return {
        name: protocol
        for name, protocol in PROTOCOLS.items()
        if CONFIG.judging(name) and not rated.issuperset(protocol.of.source)
    }


def report_protocols():
    """Returns what the report must know of them."""
    return [
        {
            "name": name,
            "form": protocol.form,
            "sources": protocol.of.source,
            "measures": protocol.measured(),
            "lengths": protocol.of.cut,
        }
        for name, protocol in shown_protocols().items()
    ]


def report_verdicts():
    """Returns the judgements about dialogues of systems."""
    return [path for name in shown_protocols() for path in results_of(name)]


def report_parts():
    """Returns the names and titles of the parts of this run."""
    parts = {
        "botchat": ("BotChat", CONFIG.talks()),
        "metaeval": ("meta-evaluation", CONFIG.metaeval),
        "robustness": ("robustness", CONFIG.robustness),
        "dialogbench": ("DialogBench", CONFIG.dialogbench),
        "training": ("training", USED_TRAINING),
    }
    return {part: title for part, (title, is_shown) in parts.items() if is_shown}


def report_figures():
    """Returns the figures that the page shows."""
    files = [path for part in report_parts() for path in figure_files(part, "svg")]
    return files + measure_figures("svg") + label_figures("svg")


def report_judges():
    """Returns the judges of dialogues of systems."""
    own = [
        judge
        for name, one in shown_protocols().items()
        if one.form != "mark"  # whose numbers are on no leaderboard
        for judge in CONFIG.judging(name)
    ]
    return list(dict.fromkeys([*(CONFIG.judges if CONFIG.talks() else []), *own]))


def report_title():
    """Returns the heading of the page."""
    shown = list(report_parts().values())
    return f"DialEval: {shown[0]}" if len(shown) == 1 else "DialEval"
