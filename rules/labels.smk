# A draw of items to label, pages and sheets for annotators, their labels, and the estimates that these labels correct.

LABELLING = Labels(LAYOUT, SOURCES)


rule annotation_pages:
    """Draws the sample and makes the labelling pages and sheets."""
    input:
        by(LABELLING.labelling_sheets),


use rule stage as draw_to_label with:
    """Draws the sample of items to label under a protocol."""
    input:
        items_=paths.items,
        judgements=paths.judgements_to_draw_by,
    output:
        table=paths.DRAWN_TO_LABEL,
        ledger=paths.DRAWN_LEDGER,
    pathvars:
        part="labels/draw-{protocol}",
    wildcard_constraints:
        protocol=one_of(LAYOUT.labelled_protocols),
    group:
        grouped("dialogues")
    params:
        **job(LABELLING.draw_to_label, always_anew=True, folder=paths.labels_folder),


use rule stage as labelling_page with:
    """Writes one annotator's sheet under a protocol, as a page and as a CSV file."""
    input:
        draw=paths.drawn_for_sheet,
        items_=paths.items_of_sheet,
    output:
        page=paths.LABELLING_PAGE,
        csv=paths.LABELLING_SHEET,
    pathvars:
        part="labels/{annotator}/{sheet}",
    wildcard_constraints:
        sheet=one_of(LAYOUT.sheets),
        annotator=one_of(LAYOUT.annotators),
    group:
        grouped("dialogues")
    params:
        **job(LABELLING.labelling_page),


use rule stage as read_labels with:
    """Reads the labels."""
    input:
        by(SOURCES.ledgers),
        items_=paths.labelled_items,
        files=by(SOURCES.labels),
    output:
        table=paths.LABELS,
        csv=paths.LABELS_CSV,
    pathvars:
        part="labels/labels",
    group:
        grouped("dialogues")
    params:
        **job(LABELLING.read_labels, "content", folder=paths.labels_folder),


use rule stage as correct with:
    """Makes the human-corrected estimates, with differences and rank confidence sets of systems."""
    input:
        labels=paths.LABELS,
        judgements=paths.labelled_judgements,
        planned=paths.adaptive_requests,
    output:
        LAYOUT.corrected_tables(),
    pathvars:
        part="tables/labels-corrected",
    group:
        grouped("dialogues")
    params:
        **job(LABELLING.correct, in_folder=True),


use rule stage as tabulate_agreement with:
    """Tabulates the agreement of annotators."""
    input:
        labels=paths.LABELS,
    output:
        table=paths.LABEL_AGREEMENT,
        csv=paths.LABEL_AGREEMENT_CSV,
        annotators_table=paths.ANNOTATORS,
        annotators_csv=paths.ANNOTATORS_CSV,
        components_table=paths.LABEL_COMPONENTS,
        components_csv=paths.LABEL_COMPONENTS_CSV,
    pathvars:
        part="tables/labels-agreement",
    group:
        grouped("dialogues")
    params:
        **job(LABELLING.tabulate_agreement),
