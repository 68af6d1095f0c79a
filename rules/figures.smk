# Figures, as SVG and PDF: those of a part in one job, and each measure of the user's own protocols in one. BotChat's names begin
# with the paper's number of the figure.

# by another name, as a line that begins with `report` is a directive
from snakemake.io import report as in_report


def drawn(part, category):
    """Returns the figures of a part: as SVG, which Snakemake's own report shows, and as PDF."""
    shown = [
        in_report(
            path,
            caption="captions/figures.rst",
            category=category,
            labels={"figure": one.title},
        )
        for path, one in zip(LAYOUT.figures(part, "svg"), LAYOUT.drawn[part])
    ]
    return shown + LAYOUT.figures(part, "pdf")


def drawing(part):
    """Returns the parameters of a job that draws the figures of a part."""
    return job(partial(MEASURES.drawing, LAYOUT.drawn[part]), in_folder=True) | {
        "captions": captions(lambda: LAYOUT.drawn[part])
    }


def captions(drawings):
    """Returns titles and captions for Snakemake's own report, which no figure depends on."""
    pairs = by(drawings)
    return uncompared(
        lambda wildcards: [[one.title, one.caption] for one in pairs(wildcards)]
    )


use rule stage as draw with:
    """Draws the figures of a measure of a protocol."""
    input:
        tables=paths.MEASURE,
        order=paths.systems_order,
    output:
        in_report(
            paths.FIGURE_SVG,
            caption="captions/figures.rst",
            category="{protocol}",
            labels={"figure": "{measure}"},
        ),
        paths.FIGURE_PDF,
    pathvars:
        part="figures/{protocol}/{measure}",
    wildcard_constraints:
        protocol=one_of(LAYOUT.own_measures),
        measure=one_of(LAYOUT.measures_with_figures),
    group:
        grouped("dialogues")
    params:
        **job(MEASURES.draw, in_folder=True),
        captions=captions(LAYOUT.drawn_measure),


use rule stage as draw_battles with:
    """Draws the figures of a table of battles."""
    input:
        tables=paths.BATTLES,
        order=[],
    output:
        in_report(
            paths.BATTLE_SVG,
            caption="captions/figures.rst",
            category="Battles",
            labels={"figure": "{battles}"},
        ),
        paths.BATTLE_PDF,
    pathvars:
        part="figures/battles/{battles}",
    wildcard_constraints:
        battles=one_of(CONFIG.battles),
    group:
        grouped("battles")
    params:
        **job(MEASURES.draw_battles, in_folder=True),
        captions=captions(LAYOUT.drawn_battles),


use rule stage as draw_botchat with:
    """Draws the figures of BotChat."""
    input:
        tables=LAYOUT.tables_drawn("botchat"),
        order=paths.selfchat_order,
    output:
        drawn("botchat", "BotChat"),
    pathvars:
        part="figures/botchat",
    group:
        grouped("dialogues")
    params:
        **drawing("botchat"),


use rule stage as draw_metaeval with:
    """Draws the figures of meta-evaluation."""
    input:
        tables=LAYOUT.tables_drawn("metaeval"),
        order=[],
    output:
        drawn("metaeval", "Meta-evaluation"),
    pathvars:
        part="figures/metaeval",
    group:
        grouped("items")
    params:
        **drawing("metaeval"),


use rule stage as draw_robustness with:
    """Draws the figures of robustness."""
    input:
        tables=LAYOUT.tables_drawn("robustness"),
        order=[],
    output:
        drawn("robustness", "Robustness"),
    pathvars:
        part="figures/robustness",
    group:
        grouped("items")
    params:
        **drawing("robustness"),


use rule stage as draw_dialogbench with:
    """Draws the figures of DialogBench."""
    input:
        tables=LAYOUT.tables_drawn("dialogbench"),
        order=[],
    output:
        drawn("dialogbench", "DialogBench"),
    pathvars:
        part="figures/dialogbench",
    group:
        grouped("examination")
    params:
        **drawing("dialogbench"),


use rule stage as draw_training with:
    """Draws the figures of training."""
    input:
        tables=LAYOUT.tables_drawn("training"),
        order=[],
    output:
        drawn("training", "Training"),
    pathvars:
        part="figures/training",
    group:
        grouped("report")
    params:
        **drawing("training"),


use rule stage as draw_labels with:
    """Draws the figures of people's labels."""
    input:
        tables=LAYOUT.tables_drawn("labels"),
        order=[],
    output:
        drawn("labels", "Labels"),
    pathvars:
        part="figures/labels",
    group:
        grouped("dialogues")
    params:
        **drawing("labels"),
