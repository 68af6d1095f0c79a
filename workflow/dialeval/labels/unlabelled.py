"""Parts of a draw of which nothing has a label yet: people's numbers know nothing of these."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from dialeval.labels.asked_protocol import AskedProtocol

_MOST_NAMED = 5


def unlabelled_parts(asked: AskedProtocol, labelled: Collection[str]) -> str:
    """Returns in words which strata of a draw have no label at all; empty where each has one, or none has.

    Args:
        asked: the protocol, with its draw.
        labelled: keys of what has a label.
    """
    entries = asked.ledger.entries
    sizes = Counter(entries[key].stratum for key in asked.units)
    told = {entries[key].stratum for key in labelled if key in entries}
    empty = [stratum for stratum in sizes if stratum not in told]
    if not told or not empty:
        return ""
    named = ", ".join(f"'{stratum}'" for stratum in empty[:_MOST_NAMED])
    more = f" and {len(empty) - _MOST_NAMED} more" if len(empty) > _MOST_NAMED else ""
    return (
        f"{asked.question.name}: nothing is labelled yet of {sum(sizes[one] for one in empty)} of {sizes.total()} that "
        f"could be drawn ({named}{more}), and what people would say is said of the others alone"
    )
