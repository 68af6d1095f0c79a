# Judgements become tables, one for each measure of a protocol. Plain tables of battles are rated on their own.

MEASURES = Measures(LAYOUT, SOURCES)


rule botchat:
    """Makes BotChat's tables and figures, and the measures of all protocols."""
    input:
        paths.botchat_files,


rule battles:
    """Rates the models of plain tables of battles; makes no model calls."""
    input:
        paths.battle_files,


use rule stage as measure with:
    """Makes one table of a protocol from its judgements."""
    input:
        judgements=paths.judgements,
        items_=paths.measured_items,
        seeds=paths.measured_seeds,
    output:
        table=paths.MEASURE,
        csv=paths.MEASURE_CSV,
    pathvars:
        part="tables/{protocol}/{measure}",
    wildcard_constraints:
        protocol=one_of(LAYOUT.protocols),
        measure=one_of(
            name for name in MEASURED if name not in ("ratings", "differences")
        ),
    group:
        grouped(GROUPS.measures)
    params:
        **job(MEASURES.measure, "stage"),


use rule stage as measure_ratings with:
    """Rates the systems of a protocol of pairs, and compares their ratings."""
    input:
        judgements=paths.judgements,
        items_=paths.items_of_pairs,
    output:
        table=paths.RATINGS_OF_SYSTEMS,
        csv=paths.RATINGS_OF_SYSTEMS_CSV,
        differences=paths.RATING_DIFFERENCES,
    pathvars:
        part="tables/{protocol}/ratings",
    wildcard_constraints:
        protocol=one_of(LAYOUT.protocols),
    group:
        grouped(GROUPS.measures)
    params:
        **job(MEASURES.measure_ratings),


use rule stage as measure_differences with:
    """Compares every two systems of a protocol by all its measures."""
    input:
        judgements=paths.judgements,
        ratings=paths.rating_differences,
        seeds=paths.seeds_of_differences,
    output:
        table=paths.DIFFERENCES,
        csv=paths.DIFFERENCES_CSV,
    pathvars:
        part="tables/{protocol}/differences",
    wildcard_constraints:
        protocol=one_of(LAYOUT.protocols),
    group:
        grouped(GROUPS.measures)
    params:
        **job(MEASURES.measure_differences),


use rule stage as rank_systems with:
    """Makes the confidence sets of the systems' ranks under a protocol."""
    input:
        differences=paths.DIFFERENCES,
    output:
        table=paths.RANKS,
        csv=paths.RANKS_CSV,
    pathvars:
        part="tables/{protocol}/ranks",
    wildcard_constraints:
        protocol=one_of(LAYOUT.protocols),
    group:
        grouped(GROUPS.measures)
    params:
        **job(MEASURES.rank_systems),


use rule stage as tabulate_trust with:
    """Tabulates how well the judges of a protocol agree with people on the run's rated corpora."""
    input:
        correlations=paths.validity_correlations,
    output:
        table=paths.JUDGE_VALIDITY,
        csv=paths.JUDGE_VALIDITY_CSV,
    pathvars:
        part="tables/{protocol}-judge_validity",
    wildcard_constraints:
        protocol=one_of(LAYOUT.validated_protocols),
    group:
        grouped("report")
    params:
        **job(MEASURES.tabulate_trust),


use rule stage as rate_battles with:
    """Rates the models of one table of battles."""
    input:
        battles=by(SOURCES.battles),
    output:
        table=paths.BATTLES,
        csv=paths.BATTLES_CSV,
        differences=paths.BATTLE_DIFFERENCES,
        differences_csv=paths.BATTLE_DIFFERENCES_CSV,
    pathvars:
        part="tables/battles/{battles}",
    wildcard_constraints:
        battles=one_of(CONFIG.battles),
    group:
        grouped("battles")
    params:
        **job(MEASURES.rate_battles, "content"),
