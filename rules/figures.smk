# Figures, as SVG and PDF: one job for each part, and one for each measure of the user's own protocols. BotChat's file names
# begin with the number of the figure in the paper.

FIGURES = FigureRules(MEASURES, DIRECTIVES)


use rule stage as draw with:
    """Draws the figures of a measure of a protocol."""
    input:
        tables=paths.MEASURE,
    output:
        FIGURES.shown(paths.FIGURE_SVG, "{protocol}", "{measure}"),
        paths.FIGURE_PDF,
    pathvars:
        part="figures/{protocol}/{measure}",
    wildcard_constraints:
        protocol=one_of(LAYOUT.own_measures),
        measure=one_of(LAYOUT.measures_with_figures),
    group:
        grouped("dialogues")
    params:
        **FIGURES.job(MEASURES.draw),


use rule stage as draw_battles with:
    """Draws the figures of a table of battles."""
    input:
        tables=paths.BATTLES,
    output:
        FIGURES.shown(paths.BATTLE_SVG, "Battles", "{battles}"),
        paths.BATTLE_PDF,
    pathvars:
        part="figures/battles/{battles}",
    wildcard_constraints:
        battles=one_of(CONFIG.battles),
    group:
        grouped("battles")
    params:
        **FIGURES.job(MEASURES.draw_battles),


use rule stage as draw_botchat with:
    """Draws the figures of BotChat."""
    input:
        tables=LAYOUT.tables_drawn("botchat"),
    output:
        FIGURES.files("botchat", "BotChat"),
    pathvars:
        part="figures/botchat",
    group:
        grouped("dialogues")
    params:
        **FIGURES.part("botchat"),


use rule stage as draw_metaeval with:
    """Draws the figures of meta-evaluation."""
    input:
        tables=LAYOUT.tables_drawn("metaeval"),
    output:
        FIGURES.files("metaeval", "Meta-evaluation"),
    pathvars:
        part="figures/metaeval",
    group:
        grouped("items")
    params:
        **FIGURES.part("metaeval"),


use rule stage as draw_robustness with:
    """Draws the figures of robustness."""
    input:
        tables=LAYOUT.tables_drawn("robustness"),
    output:
        FIGURES.files("robustness", "Robustness"),
    pathvars:
        part="figures/robustness",
    group:
        grouped("items")
    params:
        **FIGURES.part("robustness"),


use rule stage as draw_dialogbench with:
    """Draws the figures of DialogBench."""
    input:
        tables=LAYOUT.tables_drawn("dialogbench"),
    output:
        FIGURES.files("dialogbench", "DialogBench"),
    pathvars:
        part="figures/dialogbench",
    group:
        grouped("examination")
    params:
        **FIGURES.part("dialogbench"),


use rule stage as draw_training with:
    """Draws the figures of training."""
    input:
        tables=LAYOUT.tables_drawn("training"),
    output:
        FIGURES.files("training", "Training"),
    pathvars:
        part="figures/training",
    group:
        grouped("report")
    params:
        **FIGURES.part("training"),


use rule stage as draw_labels with:
    """Draws the figures of labels."""
    input:
        tables=LAYOUT.tables_drawn("labels"),
    output:
        FIGURES.files("labels", "Labels"),
    pathvars:
        part="figures/labels",
    group:
        grouped("dialogues")
    params:
        **FIGURES.part("labels"),
