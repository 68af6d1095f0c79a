# DialogBench: test items are written and filtered, or read; models are examined on them.

DIALOGBENCH = TestItems(LAYOUT, SOURCES)


rule dialogbench:
    """Makes DialogBench's tables and figures: accuracies on multiple-choice tasks."""
    input:
        paths.dialogbench_files,


use rule stage as write_items with:
    """Writes test items, and checks them by rule."""
    input:
        dialogues=paths.item_dialogues,
    output:
        written=paths.WRITTEN_TEST_ITEMS,
        usage=LAYOUT.item_usage("writing"),
    pathvars:
        part="dialogbench/written",
    group:
        grouped(GROUPS.test_items("writing"))
    conda:
        environment(DIALOGBENCH.write_items)
    resources:
        **resources(DIALOGBENCH.write_items),
    params:
        **job(DIALOGBENCH.write_items, "content", store=True),


use rule stage as filter_items with:
    """Lets a judge filter written items."""
    input:
        written=paths.WRITTEN_TEST_ITEMS,
        learned=by_digest(LAYOUT.learned(LAYOUT.item_makers["filter"])),
    output:
        filtered=paths.FILTERED_TEST_ITEMS,
        usage=LAYOUT.item_usage("filter"),
    pathvars:
        part="dialogbench/filtered",
    group:
        grouped(GROUPS.test_items("filter"))
    conda:
        environment(DIALOGBENCH.filter_items)
    resources:
        **resources(DIALOGBENCH.filter_items),
    params:
        **job(DIALOGBENCH.filter_items, "content", store=True),


use rule stage as describe_items with:
    """Lets a judge describe style and domain of written dialogues."""
    input:
        written=paths.written_items,
    output:
        descriptions=paths.DESCRIPTIONS,
        usage=LAYOUT.item_usage("classification"),
    pathvars:
        part="dialogbench/descriptions",
    group:
        grouped(GROUPS.test_items("classification"))
    conda:
        environment(DIALOGBENCH.describe_items)
    resources:
        **resources(DIALOGBENCH.describe_items),
    params:
        **job(DIALOGBENCH.describe_items, "content", store=True),


use rule stage as read_items with:
    """Reads all test items, written and published, into one table, and plans the requests of every examination."""
    input:
        by(SOURCES.test_items),
        written=paths.written_items,
    output:
        items_=paths.TEST_ITEMS,
        requests=LAYOUT.planned_examinations(),
    pathvars:
        part="dialogbench/items",
    group:
        grouped("asking")
    params:
        **job(DIALOGBENCH.read_items, "content"),


use rule answer as examine with:
    """Sends the requests of an examination to a model, unless their responses are stored."""
    wildcard_constraints:
        judge=one_of({name for name, method in LAYOUT.examined}),
        protocol=one_of({f"dialogbench_{method}" for name, method in LAYOUT.examined}),


use rule stage as draw_expert_sheet with:
    """Draws the items that experts answer, as a sheet to fill in."""
    input:
        items_=paths.TEST_ITEMS,
    output:
        digest=paths.EXPERT_SHEET_DIGEST,
    pathvars:
        part="dialogbench/expert_sheet",
    group:
        grouped("asking")
    params:
        # no output: Snakemake would delete the sheet, with people's answers in it, before the rule runs again
        **job(
            DIALOGBENCH.draw_expert_sheet,
            always_anew=True,
            sheet_file=paths.EXPERT_SHEET,
        ),


use rule stage as read_expert_answers with:
    """Reads the answers of experts."""
    input:
        items_=paths.TEST_ITEMS,
        file=by(SOURCES.expert_answers),
    output:
        answers=paths.EXPERT_ANSWERS,
    pathvars:
        part="dialogbench/expert_answers",
    group:
        grouped("examination")
    params:
        **job(DIALOGBENCH.read_expert_answers, "content"),


use rule stage as tabulate_dialogbench with:
    """Parses the options that models chose, and makes the tables of DialogBench."""
    input:
        items_=paths.TEST_ITEMS,
        requests=paths.examination_requests,
        responses=paths.examination_responses,
        written=paths.written_items,
        descriptions=paths.descriptions,
        experts=paths.expert_answers,
    output:
        LAYOUT.all_dialogbench_tables(),
        answers=LAYOUT.test_answers(),
    pathvars:
        part="tables/dialogbench",
    group:
        grouped("examination")
    params:
        **job(DIALOGBENCH.tabulate_dialogbench, in_folder=True),
