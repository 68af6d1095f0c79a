# Figures, as SVG and PDF: those of a part in one job, and of one's own protocols each measure in one.
# BotChat's begin with the paper's number for the figure.


rule draw:
    """Draws the figures of a measure of a protocol."""
    input:
        tables=f"{RESULTS}/tables/{{protocol}}/{{measure}}.parquet",
    output:
        svg=report(
            f"{RESULTS}/figures/{{protocol}}/{{measure}}.svg",
            caption="captions/figures.rst",
            category="{protocol}",
            labels={"figure": "{measure}"},
        ),
        pdf=f"{RESULTS}/figures/{{protocol}}/{{measure}}.pdf",
    log:
        f"{RESULTS}/logs/figures/{{protocol}}/{{measure}}.log",
    wildcard_constraints:
        protocol=one_of(WITH_FIGURES),
        measure=one_of(figure.name for figure in entries.MEASURES),
    group:
        grouped("dialogues")
    conda:
        "../envs/core.yaml"
    params:
        settings=lambda wildcards: draw_settings(drawn_measure(**wildcards)),
        code=lambda wildcards: draw_code(drawn_measure(**wildcards)),
        captions=lambda wildcards, output: captions(output),
        folder=folder_of_first,
    shell:
        command(
            "draw",
            "--tables {input.tables:q} --folder {params.folder:q}",
        )


use rule draw as draw_botchat with:
    """Draws the figures of BotChat."""
    input:
        tables=drawn_from("botchat"),
    output:
        svg=reported("botchat", "BotChat"),
        pdf=figure_files("botchat", "pdf"),
    log:
        f"{RESULTS}/logs/figures/botchat.log",
    group:
        grouped("dialogues")
    params:
        settings=draw_settings(DRAWN["botchat"]),
        code=draw_code(DRAWN["botchat"]),
        captions=lambda wildcards, output: captions(output),


use rule draw as draw_metaeval with:
    """Draws the figures of meta-evaluation."""
    input:
        tables=drawn_from("metaeval"),
    output:
        svg=reported("metaeval", "Meta-evaluation"),
        pdf=figure_files("metaeval", "pdf"),
    log:
        f"{RESULTS}/logs/figures/metaeval.log",
    group:
        grouped("items")
    params:
        settings=draw_settings(DRAWN["metaeval"]),
        code=draw_code(DRAWN["metaeval"]),
        captions=lambda wildcards, output: captions(output),


use rule draw as draw_robustness with:
    """Draws the figures of robustness."""
    input:
        tables=drawn_from("robustness"),
    output:
        svg=reported("robustness", "Robustness"),
        pdf=figure_files("robustness", "pdf"),
    log:
        f"{RESULTS}/logs/figures/robustness.log",
    group:
        grouped("items")
    params:
        settings=draw_settings(DRAWN["robustness"]),
        code=draw_code(DRAWN["robustness"]),
        captions=lambda wildcards, output: captions(output),


use rule draw as draw_dialogbench with:
    """Draws the figures of DialogBench."""
    input:
        tables=drawn_from("dialogbench"),
    output:
        svg=reported("dialogbench", "DialogBench"),
        pdf=figure_files("dialogbench", "pdf"),
    log:
        f"{RESULTS}/logs/figures/dialogbench.log",
    group:
        grouped("examination")
    params:
        settings=draw_settings(DRAWN["dialogbench"]),
        code=draw_code(DRAWN["dialogbench"]),
        captions=lambda wildcards, output: captions(output),


use rule draw as draw_training with:
    """Draws the figures of training."""
    input:
        tables=drawn_from("training"),
    output:
        svg=reported("training", "Training"),
        pdf=figure_files("training", "pdf"),
    log:
        f"{RESULTS}/logs/figures/training.log",
    group:
        grouped("report")
    params:
        settings=draw_settings(DRAWN["training"]),
        code=draw_code(DRAWN["training"]),
        captions=lambda wildcards, output: captions(output),


use rule draw as draw_battles with:
    """Draws the figures of a table of battles."""
    input:
        tables=f"{RESULTS}/tables/battles/{{battles}}.parquet",
    output:
        svg=report(
            f"{RESULTS}/figures/battles/{{battles}}.svg",
            caption="captions/figures.rst",
            category="Battles",
            labels={"figure": "{battles}"},
        ),
        pdf=f"{RESULTS}/figures/battles/{{battles}}.pdf",
    log:
        f"{RESULTS}/logs/figures/battles/{{battles}}.log",
    wildcard_constraints:
        battles=one_of(CONFIG.battles),
    group:
        grouped("battles")
    params:
        settings=lambda wildcards: draw_settings(drawn_battles(wildcards.battles)),
        code=lambda wildcards: draw_code(drawn_battles(wildcards.battles)),
        captions=lambda wildcards, output: captions(output),
