# Protocols whose pairs are asked about in rounds, until they are settled.

ADAPTIVE = [name for name, protocol in PROTOCOLS.items() if protocol.adaptive]


def adaptive_settings(wildcards):
    protocol = wildcards.protocol
    return settings(
        name=wildcards.judge,
        protocol=protocol,
        **stored_under(protocol),
        model=asked_model(wildcards.judge),
        question=question(protocol),
        adaptive=PROTOCOLS[protocol].adaptive,
    )


def rounds_of(protocol):
    """Returns the rounds of all judges that are asked; published answers are taken over whole."""
    return [
        f"{RESULTS}/rounds/{judge}/{protocol}.parquet"
        for judge in CONFIG.judges_of(protocol)
        if judge not in PUBLISHED
    ]


def rounds_tables():
    """Returns the tables of rounds, below `tables` and without suffix."""
    return [
        f"{protocol}/adaptive_rounds" for protocol in ADAPTIVE if rounds_of(protocol)
    ]
