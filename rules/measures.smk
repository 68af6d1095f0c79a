# Judgements become tables, in one job for each protocol. Plain tables of battles are rated on their own.

MEASURES = Measures(LAYOUT, SOURCES)


rule botchat:
    """Makes BotChat's tables and figures, and the measures of all protocols."""
    input:
        paths.botchat_files,


rule battles:
    """Rates the systems of the tables under `battles`, without model calls."""
    input:
        paths.battle_files,


for protocol in LAYOUT.measured_protocols:

    rule:
        """Makes all tables of a protocol from its judgements: measures, differences of systems, ranks."""
        name:
            f"measure_{protocol}"
        input:
            judgements=LAYOUT.judgements(protocol),
            items_=LAYOUT.measured_items(protocol),
            seeds=LAYOUT.measured_seeds(protocol),
        output:
            LAYOUT.protocol_tables(protocol),
            ratings=LAYOUT.rating_differences(protocol),
        log:
            LAYOUT.log(f"tables/{protocol}/measures"),
        group:
            grouped(GROUPS.measures(protocol))
        conda:
            "../envs/core.yaml"
        params:
            **job(partial(MEASURES.measure, protocol), in_folder=True),
        shell:
            COMMAND


use rule stage as tabulate_judge_validity with:
    """Correlates the judges of a protocol with human ratings on the run's rated corpora."""
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
        **job(MEASURES.tabulate_judge_validity),


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
