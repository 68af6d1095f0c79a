# What is drawn, by the configuration: files and settings follow from the entries of the figures.

# by another name, as a line that begins with `report` is a directive
from snakemake.io import report as shown_in_report

PRINTED_IN = {"unieval", "arena", "gteval", "metaeval", "robustness", "dialogbench"}
"""The folders of tables whose figures have numbers that a paper prints."""


def interval(section, how):
    """Returns what the bars of a part's figures are."""
    return f"{100 * (section.confidence if section else 0.95):g}% confidence interval ({how})"


ROSTER = {"roster": ["human", *CONFIG.chatbots]}
"""The systems whose colours are the same in all figures."""


DRAWN = {  # one without anything to show says why
    "botchat": drawings(
        entries.BOTCHAT,
        {
            **ROSTER,
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
    return drawings(figures, {**ROSTER, "protocol": [protocol]})


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
    words = f"95% confidence interval (resampled by {battles.cluster or 'row'})"
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
        shown_in_report(path, labels={"figure": one.name.replace("_", " ")}, **words)
        for path, one in zip(figure_files(part, "svg"), DRAWN[part])
    ]


def drawn_from(part):
    """Returns the tables that the figures of a part are drawn from."""
    tables = dict.fromkeys(table for one in DRAWN[part] for table in one.tables)
    return [f"{RESULTS}/tables/{table}.parquet" for table in tables]


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
    modules = sorted({one.module for one in drawn})
    return "-".join([code("draw"), *map(fingerprint, modules)])


def captions(paths):
    """Returns titles and captions of figures for Snakemake's own report, from the SVG files if they exist.

    Rules give it a function that takes `output`: Snakemake does not compare what such a one returns.
    """
    svg = [Path(path) for path in paths if str(path).endswith(".svg")]
    texts = [text_of(path.read_text(), path.stem) for path in svg if path.exists()]
    return [[one.title, one.caption] for one in texts]
