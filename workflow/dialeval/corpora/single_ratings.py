"""The lists of single ratings in files of data sets' own authors: a number per rater, or words that there is none."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

from dialeval.corpora.items import Rating
from dialeval.corpora.rated import PEOPLE, Scale, rating_value, repeated_ratings
from dialeval.corpora.rating_scales import Dimensions
from dialeval.errors import UserError, nearest

_NOT_APPLICABLE = re.compile(r"\s*n/?a\b.*", re.IGNORECASE | re.DOTALL)
"""As a whole or before the rater's reason, in parentheses."""


def ratings_of(
    item: tuple[str, str], annotations: Any, dimensions: Dimensions, place: str, notes: Counter[str]
) -> list[Rating]:
    """Returns everyone's ratings of an item, each singly, and their means.

    Args:
        item: corpus and id.
        annotations: dimension -> list with a number per rater; None for none.
        dimensions: what people rated.
        place: file and record, for messages.
        notes: counts the ratings that say N/A, and the items that nobody rated on a dimension.

    Raises:
        UserError: a dimension is not known, or a rating is neither a number on its scale nor N/A.
    """
    if annotations is None:
        return []
    if not isinstance(annotations, dict):
        raise UserError(f"{place}: the ratings must be an object of dimension -> list of ratings")
    ratings: list[Rating] = []
    for name, values in annotations.items():
        if name not in dimensions:
            raise UserError(
                f"{place}: '{name:.60}' is not rated in this data set ({nearest(f'{name:.60}', dimensions)}); rename "
                "it, or read the file as rated_jsonl, where every rating names its scale"
            )
        dimension, scale = dimensions[name]
        if not isinstance(values, list):
            raise UserError(f"{place}, '{name}': a list with a number per rater is needed, not {values!r:.60}")
        ratings += ratings_on((*item, dimension), values, scale, f"{place}, '{name}'", notes)
    return ratings


def ratings_on(
    item: tuple[str, str, str], values: Iterable[Any], scale: Scale, place: str, notes: Counter[str]
) -> list[Rating]:
    """Returns everyone's ratings of an item on one dimension, each singly, and their mean.

    Args:
        item: corpus, id and dimension.
        values: a number per rater, null or N/A where one gave none.
        scale: of the numbers.
        place: file, record and field, for messages.
        notes: as of `ratings_of`.

    Raises:
        UserError: a rating is neither a number on the scale nor N/A.
    """
    checked: list[float | None] = []
    for number, value in enumerate(values, start=1):
        if is_missing(value):
            notes["ratings that are missing or N/A"] += 1
            checked.append(None)
        else:
            checked.append(rating_value(value, scale, f"{place}, rater {number}"))
    ratings = repeated_ratings(item, ("human", PEOPLE), checked, scale)
    if not ratings:
        notes[f"items that nobody rated on {item[2]}"] += 1
    return ratings


def is_missing(value: Any) -> bool:
    """Returns whether a rater gave no number: null, or N/A with or without a reason."""
    return value is None or (isinstance(value, str) and _NOT_APPLICABLE.fullmatch(value) is not None)
