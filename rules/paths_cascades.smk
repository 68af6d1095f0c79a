# Protocols with two judges as one: the second is asked a random share, most where the first is least sure.

CASCADES = {
    name: protocol.cascade for name, protocol in PROTOCOLS.items() if protocol.cascade
}


def requests_to(judge, protocol):
    """Returns the requests that a judge gets under a protocol: all, or those drawn by another judge's answers."""
    cascade = CASCADES.get(protocol)
    if cascade and cascade.then == judge:
        return f"{RESULTS}/requests/cascades/{protocol}.parquet"
    return f"{RESULTS}/requests/{protocol}.parquet"


def judged_by(part, protocol):
    """Returns the judgements of a cascade's `first` or `then` alone."""
    return (
        f"{RESULTS}/judgements/{getattr(CASCADES[protocol], part)}/{protocol}.parquet"
    )
