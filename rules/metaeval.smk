# Meta-evaluation compares judges' scores of rated corpora with people's ratings; robustness compares their scores of good and
# of perturbed items.

METAEVAL = MetaEvaluation(LAYOUT, SOURCES)


rule metaeval:
    """Correlates judges' scores with human ratings."""
    input:
        paths.metaeval_files,


rule robustness:
    """Measures how often judges detect perturbations."""
    input:
        paths.robustness_files,


use rule stage as read_rated with:
    """Reads a rated corpus."""
    input:
        by(SOURCES.rated),
    output:
        items_=paths.ITEMS,
        ratings=paths.RATINGS,
        left_out=paths.LEFT_OUT,
    pathvars:
        part="items/{corpus}",
    wildcard_constraints:
        corpus=one_of(LAYOUT.read_rated),
    group:
        grouped("reading")
    params:
        **job(METAEVAL.read_rated, "content"),


use rule stage as construct_rated with:
    """Makes rated items by perturbing human dialogues step by step."""
    input:
        utterances=paths.ladder_dialogues,
    output:
        items_=paths.ITEMS,
        ratings=paths.RATINGS,
    pathvars:
        part="items/{corpus}",
    wildcard_constraints:
        corpus=one_of(LAYOUT.constructed_rated),
    group:
        grouped("reading")
    params:
        **job(METAEVAL.construct_rated),


use rule stage as read_scores with:
    """Reads a file of scores as the judgements of a judge."""
    input:
        file=by(SOURCES.scores),
        items_=paths.rated_items,
        ratings=paths.ratings,
        left_out=expand(paths.LEFT_OUT, corpus=LAYOUT.read_rated),
    output:
        judgements=paths.SCORE_JUDGEMENTS,
    pathvars:
        part="judgements/{metric}/file",
    wildcard_constraints:
        metric=one_of(CONFIG.metaeval.score_files if CONFIG.metaeval else []),
    group:
        grouped("items")
    params:
        **job(METAEVAL.read_scores, "content"),


use rule stage as impute_ratings with:
    """Imputes missing ratings with the repeated ratings of a judge."""
    input:
        items_=expand(paths.ITEMS, corpus=LAYOUT.read_rated),
        ratings=expand(paths.RATINGS, corpus=LAYOUT.read_rated),
        judgements=paths.JUDGEMENTS.replace("{protocol}", "rating"),
    output:
        imputed=paths.IMPUTED,
    pathvars:
        part="imputed_ratings/{judge}",
    wildcard_constraints:
        judge=one_of(filter(None, [CONFIG.metaeval and CONFIG.metaeval.imputer])),
    group:
        grouped("items")
    params:
        **job(METAEVAL.impute_ratings),


use rule stage as tabulate_repeats with:
    """Tabulates the agreement of judges with themselves."""
    input:
        items_=paths.rated_items,
        judgements=paths.repeated_scores,
    output:
        LAYOUT.repeat_agreement(),
    pathvars:
        part="tables/metaeval_repeats",
    group:
        grouped("items")
    params:
        **job(METAEVAL.tabulate_repeats, in_folder=True),


use rule stage as tabulate_metaeval with:
    """Correlates the scores of judges and of ensembles with human ratings, and tabulates the rated corpora."""
    input:
        items_=paths.rated_items,
        ratings=paths.ratings,
        imputed=paths.imputed_ratings,
        judgements=paths.all_scores,
    output:
        LAYOUT.all_metaeval_tables(),
    pathvars:
        part="tables/metaeval",
    group:
        grouped("items")
    params:
        **job(METAEVAL.tabulate_metaeval, in_folder=True),


use rule stage as perturb_items with:
    """Perturbs dialogues and responses by rule."""
    input:
        by(SOURCES.perturbed),
        by(SOURCES.wordnet),
        dialogues=expand(paths.READ_CORPUS, corpus=CONFIG.perturbed_corpora()),
        rated=paths.items_to_perturb,
        ratings=paths.ratings_of_originals,
    output:
        items_=paths.RULE_ITEMS,
        pairs=paths.RULE_PAIRS,
    pathvars:
        part="perturbed/by_rule",
    group:
        grouped("reading")
    params:
        **job(METAEVAL.perturb_items, "content"),


use rule stage as rewrite_items with:
    """Lets a model perturb dialogues and responses."""
    input:
        dialogues=expand(paths.READ_CORPUS, corpus=CONFIG.perturbed_corpora()),
        rated=paths.items_to_perturb,
        ratings=paths.ratings_of_originals,
        learned=learned("model"),
    output:
        items_=paths.REWRITTEN_ITEMS,
        pairs=paths.REWRITTEN_PAIRS,
        usage=paths.REWRITER_USAGE,
    pathvars:
        part="perturbed/by_{model}",
    wildcard_constraints:
        model=one_of(LAYOUT.rewriters),
    group:
        grouped(GROUPS.rewriting)
    conda:
        environment(METAEVAL.rewrite_items)
    resources:
        **resources(METAEVAL.rewrite_items),
    params:
        **job(METAEVAL.rewrite_items, "content", store=True),


use rule stage as tabulate_robustness with:
    """Tabulates the detected perturbations."""
    input:
        pairs=paths.perturbed_pairs,
        judgements=paths.judged_scores,
    output:
        LAYOUT.all_robustness_tables(),
    pathvars:
        part="tables/robustness",
    group:
        grouped("items")
    params:
        **job(METAEVAL.tabulate_robustness, in_folder=True),
