# Of which protocols it is said how far their judges can be trusted, and by what.

TRUSTED = [
    name
    for name, protocol in CONFIG.resolved_protocols().items()
    if protocol.form in ("scale", "probability")
    and not {"rated", "damaged"}.issuperset(protocol.of.source)
]


def trust_settings(protocol):
    """Returns whose trust a table is about; scores under the protocol itself come before those under others."""
    protocols = CONFIG.resolved_protocols()
    form = protocols[protocol].form
    others = [name for name, other in protocols.items() if other.form == form]
    return {
        "judges": CONFIG.judging(protocol),
        "criteria": protocols[protocol].criteria,
        "methods": list(dict.fromkeys([protocol, *others])),
        "language": CONFIG.corpora[CONFIG.seeds.corpus].language,
    }


def trust_tables():
    """Returns the tables that say it."""
    return tables_in(f"{RESULTS}/tables", [f"{name}/trust" for name in TRUSTED])
