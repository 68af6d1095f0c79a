# What is made of people's labels, by the configuration.


def labelled_judgements():
    """Returns the judgements that people's labels are held against."""
    return [path for name in labelled_protocols() for path in results_of(name)]


def partly_asked():
    """Returns what was planned under the protocols of which judges are not asked everything."""
    return [
        f"{RESULTS}/requests/{name}.parquet"
        for name in labelled_protocols()
        if name in ADAPTIVE
    ]


def correction_settings():
    """Returns how judges' numbers are corrected, and under which protocols."""
    section = CONFIG.labels
    if section is None:
        return settings()
    return settings(
        protocols=[labelled_design(CONFIG, name) for name in labelled_protocols()],
        target=section.target,
        panel=section.panel,
        confidence=section.confidence,
    )


def agreement_settings():
    """Returns how the intervals of annotators' agreement are made."""
    section = CONFIG.labels
    if section is None:
        return settings()
    return settings(
        resamples=CONFIG.elo.resamples,
        confidence=section.confidence,
        random_seed=CONFIG.random_seed,
    )


def label_tables():
    """Returns the tables that are made of people's labels, where there are any."""
    names = ("corrected", "differences", "ranks", "agreement", "annotators")
    return tables_in(f"{RESULTS}/tables/labels", names if has_labels() else ())


def label_figures(suffix):
    """Returns the figures that are drawn of them."""
    return figure_files("labels", suffix) if has_labels() else []
