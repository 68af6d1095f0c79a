"""Which rated items are good enough to be damaged: those that people rated highly (comp-analysis, appendix C)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dialeval.corpora.items import Item
from dialeval.errors import UserError

OVERALL = "overall"


def well_rated(items: Sequence[Item], ratings: Iterable[Mapping[str, Any]], at_least: float | None) -> list[Item]:
    """Returns the items whose mean rating by people, on a scale from 0 to 1, is high enough.

    What counts is `overall` where people rated it, and the mean over all that they rated elsewhere. An item that nobody
    rated is left out.

    Args:
        items: of rated corpora.
        ratings: rows of the table `ratings`; those by models do not count.
        at_least: the lowest mean, 0 to 1; None for all items.

    Raises:
        UserError: there are items, and none is rated so highly.
    """
    if at_least is None:
        return list(items)
    found: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in ratings:
        if row["rater_kind"] == "human":
            share = (row["value"] - row["scale_min"]) / (row["scale_max"] - row["scale_min"])
            found[row["corpus"], row["item_id"]][row["dimension"]] += [share] * (row["n_raters"] or 1)
    quality = [_quality(found.get((item.corpus, item.item_id), {})) for item in items]
    if items and max(quality) < at_least:
        best = f"the best has {max(quality):.2f}" if max(quality) >= 0 else "people rated none of them"
        raise UserError(
            f"no item is rated {at_least:g} or more by people, as robustness.min_quality asks for ({best}); lower it, "
            "or name corpora that people rated under robustness.corpora"
        )
    return [item for item, value in zip(items, quality, strict=True) if value >= at_least]


def _quality(by_dimension: Mapping[str, Sequence[float]]) -> float:
    """Returns an item's mean rating, each dimension counting alike; below 0 where nobody rated it."""
    counted = [by_dimension[OVERALL]] if OVERALL in by_dimension else list(by_dimension.values())
    return sum(sum(values) / len(values) for values in counted) / len(counted) if counted else -1.0
