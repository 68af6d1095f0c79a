# What people label, and where their labels lie, by the configuration.

LABELLED = labelled_protocols_of(CONFIG)
SHEETS = labelled_sheets(CONFIG)
LABELS_FOLDER = str(CONFIG.labels.path.expanduser()) if CONFIG.labels else ""
LABELS_TABLE = f"{RESULTS}/labels/labels.parquet"
ANNOTATORS = CONFIG.labels.annotators if CONFIG.labels else []


def labelled_protocols():
    """Returns the protocols that people label under."""
    return list(LABELLED)


def has_labels():
    """Returns whether there are files of labels."""
    return bool(files_of_labels())


def files_of_labels():
    """Returns the files of labels."""
    return in_words(label_files, Path(LABELS_FOLDER)) if LABELLED else []


def ledgers():
    """Returns the ledgers that say what was drawn."""
    return in_words(ledger_files, Path(LABELS_FOLDER)) if LABELLED else []


def labelled_question(protocol):
    """Returns what is asked under a protocol, as far as it tells what people can be asked about, and what."""
    own = LABELLED[protocol].model_dump(
        mode="json", include={"form", "of", "options", "criteria"}
    )
    return question(protocol) | {
        "protocol": own,
        "said_before": 1 if SCENARIOS else 2,
        "own": own_criteria(protocol),
    }


def judgements_to_draw_by(protocol):
    """Returns the judgements by whose scores things are drawn; none where a draw goes by no judge."""
    if CONFIG.labels.by not in ("score", "uncertainty"):
        return []
    judges = [CONFIG.labels.judge] if CONFIG.labels.judge else []
    judges += CONFIG.judging(protocol)
    return [f"{RESULTS}/judgements/{judges[0]}/{protocol}.parquet"]


def draw_to_label_settings(protocol):
    """Returns how things are drawn."""
    return settings(
        **labelled_question(protocol),
        n=CONFIG.labels.n,
        by=CONFIG.labels.by,
        random_seed=CONFIG.random_seed,
    )


def sheet_settings(sheet, annotator):
    """Returns whose sheet is made, and who else labels."""
    protocol, level = SHEETS[sheet]
    return settings(
        **labelled_question(protocol),
        level=level,
        annotator=annotator,
        annotators=ANNOTATORS,
        each=CONFIG.labels.each,
        instead=CONFIG.labels.questions.get(protocol, ""),
    )


def labelled_items():
    """Returns the tables of what people label."""
    return list(dict.fromkeys(path for name in LABELLED for path in items_about(name)))


def read_labels_settings():
    """Returns what labels are about, and who gives them."""
    if not LABELLED:
        return settings()
    tables, questions = labelled_items(), CONFIG.labels.questions
    return settings(
        protocols=[
            labelled_question(name)
            | {"items": [tables.index(path) for path in items_about(name)]}
            | ({"instead": questions[name]} if name in questions else {})
            for name in LABELLED
        ],
        annotators=ANNOTATORS,
        simulated=CONFIG.labels.simulated,
    )


def sheets_to_label(wildcards):
    """Returns the sheets of all annotators."""
    for name in LABELLED:
        refuse_other_ledger(name)
    return [
        f"{RESULTS}/labels/pages/{annotator}/{sheet}-{annotator}.{suffix}"
        for annotator in ANNOTATORS
        for sheet in SHEETS
        for suffix in ("html", "csv")
    ]


def refuse_other_ledger(protocol):
    """Refuses to go on from a draw that is not the one on record any more.

    The ledger is no file of the workflow's, which would be free to delete it; so only here is it seen that it changed.
    """
    drawn = Path(f"{RESULTS}/labels/draw/{protocol}.ledger")
    ledger = ledger_path(Path(LABELS_FOLDER), protocol)
    if "draw_to_label" in sys.argv or not drawn.is_file():
        return
    if drawn.read_text(encoding="utf-8").strip() != ledger_digest(ledger):
        raise WorkflowError(
            f"{ledger} is not the ledger that these pages were drawn with: it is gone, somebody drew more elsewhere, or "
            "labels.path names another folder. Bring it back if it is gone; then run the same command with "
            "`--forcerun draw_to_label` behind it"
        )
