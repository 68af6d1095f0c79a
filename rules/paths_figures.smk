# What is drawn, by the configuration: files, captions and settings follow from the figures' entries.

# by another name, as a line that begins with `report` is a directive
from snakemake.io import report as shown_in_report

PRINTED_IN = {"unieval", "arena", "gteval", "metaeval", "robustness", "dialogbench"}
"""The folders of tables whose figures have numbers that a paper prints."""


def interval(section, how):
    """Returns what the bars of a part's figures are."""
    return f"{100 * (section.confidence if section else 0.95):g} % interval ({how})"


DRAWN = {  # one without anything to show says why
    "botchat": drawings(
        entries.BOTCHAT,
        {
            "arena_min": CONFIG.seeds.arena_min_utterances,
            "n": CONFIG.protocols.arena.n_utterances if CONFIG.protocols.arena else [],
            "protocol": [
                name for name in CONFIG.resolved_protocols() if name not in WITH_FIGURES
            ],
        },
        [*botchat_tables(), "botchat/utterance_tokens"],
    ),
    "metaeval": drawings(
        entries.METAEVAL, {"interval": interval(CONFIG.metaeval, "dialogues resampled")}
    ),
    "robustness": drawings(
        entries.ROBUSTNESS,
        {"interval": interval(CONFIG.robustness, "clustered by dialogue")},
    ),
    "dialogbench": drawings(
        entries.DIALOGBENCH,
        {"interval": interval(CONFIG.dialogbench, "clustered by dialogue")},
    ),
    "training": drawings(
        entries.TRAINING, {"interval": interval(None, "clustered by dialogue")}
    ),
    "labels": drawings(
        entries.LABELS, {"interval": interval(CONFIG.labels, "clustered by case")}
    ),
}


def drawn_measure(protocol, measure):
    """Returns what is drawn of a measure of one's own protocol."""
    figures = [figure for figure in entries.MEASURES if figure.name == measure]
    return drawings(figures, {"protocol": [protocol]})


def measure_figures(suffix):
    """Returns the figures of one's own protocols."""
    drawn = {figure.name for figure in entries.MEASURES}
    return [
        f"{RESULTS}/figures/{name}/{measure}.{suffix}"
        for name, protocol in shown_protocols().items()
        if name in WITH_FIGURES
        for measure in protocol.measured()
        if measure in drawn
    ]


def drawn_battles(name):
    """Returns what is drawn of a table of battles."""
    battles = CONFIG.battles[name]
    words = f"95 % interval (resampled by {battles.cluster or 'row'})"
    return drawings(entries.BATTLES, {"title": [name], "interval": words})


def figure_files(part, suffix):
    """Returns the figures of a part."""
    return [f"{RESULTS}/figures/{part}/{one.name}.{suffix}" for one in DRAWN[part]]


def both_figure_files(part):
    """Returns the figures of a part as SVG and as PDF."""
    return [*figure_files(part, "svg"), *figure_files(part, "pdf")]


def reported(part, category):
    """Returns the figures of a part as Snakemake's own report shows them."""
    words = {"caption": "captions/figures.rst", "category": category}
    return [
        shown_in_report(path, labels={"figure": one.title}, **words)
        for path, one in zip(figure_files(part, "svg"), DRAWN[part])
    ]


def drawn_from(part):
    """Returns the tables that the figures of a part are drawn from."""
    tables = dict.fromkeys(table for one in DRAWN[part] for table in one.tables)
    return [f"{RESULTS}/tables/{table}.parquet" for table in tables]


def labelled_order(sources):
    """Returns what people would say of systems, where they labelled dialogues of these sources: it orders them."""
    of_labels = [PROTOCOLS[name].of.source for name in labelled_protocols()]
    is_labelled = has_labels() and tuple(sources) in map(tuple, of_labels)
    return [f"{RESULTS}/tables/labels/corrected.parquet"] if is_labelled else []


def systems_order(protocol):
    """Returns the tables that order the systems in all figures of the dialogues that a protocol is about."""
    source = PROTOCOLS[protocol].of.source
    deciding = [
        (measure != "ratings", measure == "rates", f"{name}/{measure}")
        for name, one in shown_protocols().items()
        if one.of.source == source
        for measure in one.measured()
        if measure in drawable()
    ]
    names = [name for *_, name in sorted(deciding, key=lambda one: one[:2])][:1]
    return labelled_order(source) + [f"{RESULTS}/tables/{n}.parquet" for n in names]


def drawable():
    """Returns the measures that have figures."""
    return [figure.name for figure in entries.MEASURES if figure.order]


def draw_settings(drawn):
    """Returns what the stage that draws must know of the pictures."""
    folders = {table.partition("/")[0] for one in drawn for table in one.tables}
    marked = folders & PRINTED_IN and asks_otherwise(CONFIG)
    return settings(
        drawings=[one.settings() for one in drawn],
        **({"other_prompts": True} if marked else {}),
    )


def draw_code(drawn):
    """Returns the fingerprint of the stage that draws, and of the modules that these pictures need."""
    modules = sorted({module for one in drawn for module in one.modules})
    return "-".join([code("draw"), *map(fingerprint, modules)])


def captions(drawn):
    """Returns titles and captions for Snakemake's own report.

    Rules give it a function that takes `output`, too, as what such a one returns is not compared: captions draw nothing.
    """
    return [[one.title, one.caption] for one in drawn]


def figure_captions():
    """Returns title and caption of every figure by part and name, for the report."""
    of_parts = [(part, one) for part in DRAWN for one in DRAWN[part]]
    own = drawings(entries.MEASURES, {"protocol": WITH_FIGURES})
    of_own = [(one.tables[0].partition("/")[0], one) for one in own]
    return {
        f"{part}/{one.name}": (one.title, one.caption)
        for part, one in of_parts + of_own
    }
