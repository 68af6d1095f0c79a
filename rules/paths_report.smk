# What the page of the report is told and reads, by the configuration.

METHODS = {
    name: model.method
    for name, model in CONFIG.models.items()
    if isinstance(model, EmbeddedModel)
}


def report_settings():
    """Returns what the page must know of the configuration."""
    return dict(
        title=report_title(),
        chatbots=CONFIG.chatbots,
        judges=report_judges(),
        protocols=[
            {**one, "at": PROTOCOLS[one["name"]].at} for one in report_protocols()
        ],
        embedded=sorted(METHODS),
        baselines=sorted(
            name for name in METHODS if EMBEDDED_METHODS[METHODS[name]].is_baseline
        ),
        ensembles=CONFIG.ensembles,
        results_dir=RESULTS,
        other_prompts=asks_otherwise(CONFIG),
        random_seed=CONFIG.random_seed,
        answers=answers_shown(),
    )


def report_files():
    """Returns what the page reads, by the option of its stage, whether it is there or not."""
    files = rules.build_report.input
    names = {"item_tables": "items"}
    return {
        names.get(name, name): [str(path) for path in flattened(getattr(files, name))]
        for name in files.keys()
        if name != "answers"
    }


def flattened(files):
    """Returns the files of an input, which is one or a list, as a list."""
    return [files] if isinstance(files, str) else list(files)
