# What the rules that look for failures read, and what they are told.

SAID_BEFORE = 1 if SCENARIOS else 2
WITH_FIGURES = [  # protocols whose measures are drawn one by one
    *([OF_FAILURES] if OF_FAILURES in PROTOCOLS else []),
    *CONFIG.protocols.own,
]


def people_of_failures():
    """Returns the tables of what people said, by which an utterance is too long."""
    return [f"{RESULTS}/corpora/{name}.parquet" for name in CONFIG.people_of_failures()]


def failure_settings():
    """Returns what the rules are told; nothing where failures are not looked for."""
    section = CONFIG.protocols.failures
    if section is None:
        return settings()
    return settings(
        protocol=OF_FAILURES,
        length_share=section.length_share,
        said_before=SAID_BEFORE,
    )


def failure_figures(suffix):
    """Returns the figures of failures."""
    folder = f"{RESULTS}/figures/{OF_FAILURES}/"
    return [path for path in measure_figures(suffix) if path.startswith(folder)]
