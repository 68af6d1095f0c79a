# The HTML report, the summary and the table of usage.


rule report:
    """Makes the HTML report with all tables and figures."""
    input:
        paths.REPORT,


use rule stage as build_report with:
    """Builds the HTML report."""
    input:
        paths.report_answers,
        **LAYOUT.report_inputs(),
    output:
        report=paths.REPORT,
    pathvars:
        part="report",
    group:
        grouped("report")
    params:
        **job(REPORT.build_report, configuration=paths.CONFIGURATION),


use rule stage as status with:
    """Writes a status page during a run: progress, finished results and missing files, without model calls."""
    output:
        [],
    pathvars:
        part="status",
    localrule: True
    params:
        **job(
            REPORT.build_status_page,
            configuration=paths.CONFIGURATION,
            report=paths.STATUS_PAGE,
        ),


use rule stage as tabulate_usage with:
    """Tabulates the requests, tokens and cost of each model."""
    input:
        records=paths.usage,
    output:
        table=paths.USAGE_TABLE,
        csv=paths.USAGE_TABLE_CSV,
    pathvars:
        part="tables/usage",
    group:
        grouped("report")
    params:
        **job(REPORT.tabulate_usage, always_anew=True, store=True),


use rule stage as summarise with:
    """Writes the summary of all results as text."""
    input:
        tables=paths.report_tables,
        usage=paths.report_usage,
        battles=paths.battle_tables,
    output:
        summary=paths.SUMMARY,
    pathvars:
        part="summary",
    group:
        grouped("report")
    params:
        **job(REPORT.summarise),
