# Which files DialogBench reads and writes, by the configuration.

DIALOGBENCH_TABLES = [
    "items",
    "accuracy",
    "overview",
    "averages",
    "domains",
    "positions",
    "circular",
    "experts",
    "agreement",
    "styles",
    "domain_counts",
    "ablations",
    "filter_counts",
    "differences",
]


def item_ablations():
    """Returns the ablations of written test items."""
    section = CONFIG.dialogbench
    return section.written.ablations if section and section.written else []


def item_makers():
    """Returns the models that write, filter and describe test items, by what they do; None where there is none."""
    section = CONFIG.dialogbench
    written = section.written if section else None
    return {
        "writing": written.writer if written else None,
        "filter": written.filter if written else None,
        "classification": section.classifier if section else None,
    }


def item_usage(part):
    """Returns the record of the model that writes, filters or describes test items.

    It has the same name for every model: Snakemake looks for changed settings only where it knows all outputs.
    """
    return f"{RESULTS}/usage/dialogbench/{part}.json"


def written_items():
    """Returns the table of written test items, filtered if there is a filter."""
    if not CONFIG.dialogbench or not CONFIG.dialogbench.written:
        return []
    name = "filtered" if CONFIG.dialogbench.written.filter else "written"
    return [f"{RESULTS}/dialogbench/{name}.parquet"]


def item_descriptions():
    """Returns the table of what written dialogues are like, if a model describes them."""
    described = item_makers()["classification"]
    return [f"{RESULTS}/dialogbench/descriptions.parquet"] if described else []


def item_dialogues():
    """Returns the dialogues that test items are made of by rule."""
    corpora = CONFIG.dialogbench.corpora() if CONFIG.dialogbench else []
    return [f"{RESULTS}/corpora/{corpus}.parquet" for corpus in corpora]


def published_item_files():
    """Returns the files of published test items."""
    published = CONFIG.dialogbench.published if CONFIG.dialogbench else {}
    return [
        str(path) for name in published for path in item_files(CONFIG.item_path(name))
    ]


def examined():
    """Returns every model that takes the test, with the method by which it answers."""
    methods = CONFIG.dialogbench.examine.by_method() if CONFIG.dialogbench else {}
    return [(name, method) for method, names in methods.items() for name in names]


def test_answers():
    """Returns the tables of what models chose."""
    return [
        f"{RESULTS}/dialogbench/answers/{name}/{method}.parquet"
        for name, method in examined()
    ]


def examination_responses(wildcards):
    """Returns a model's response tables under a method, one per shard."""
    shards = CONFIG.models[wildcards.model].shards
    return [
        f"{RESULTS}/responses/{wildcards.model}/dialogbench_{wildcards.method}/{shard}-of-{shards}.parquet"
        for shard in range(1, shards + 1)
    ]


def expert_files():
    """Returns the file of what experts answered to test items, if there is one."""
    path = CONFIG.expert_answers()
    return [str(path)] if path else []


def expert_answers():
    """Returns the table of what experts answered to test items, if there is one."""
    return [f"{RESULTS}/dialogbench/experts/answers.parquet" for path in expert_files()]


def expert_sheet():
    """Returns the digest of the sheet for experts, if there are any."""
    experts = CONFIG.dialogbench.experts if CONFIG.dialogbench else None
    return [f"{RESULTS}/dialogbench/experts/sheet.digest"] if experts else []


def dialogbench_usage():
    """Returns what every job of DialogBench that asks a model writes about that."""
    return [item_usage(part) for part, name in item_makers().items() if name] + [
        f"{RESULTS}/usage/{name}/dialogbench_{method}-{shard}-of-{shards}.json"
        for name, method in examined()
        for shards in [CONFIG.models[name].shards]
        for shard in range(1, shards + 1)
    ]


def dialogbench_tables():
    """Returns the tables of DialogBench."""
    if not CONFIG.dialogbench:
        return []
    return tables_in(f"{RESULTS}/tables/dialogbench", DIALOGBENCH_TABLES)


def dialogbench_files():
    """Returns the tables and figures of DialogBench."""
    if not CONFIG.dialogbench:
        return []
    return [
        *dialogbench_tables(),
        *expert_sheet(),
        *both_figure_files("dialogbench"),
    ]
