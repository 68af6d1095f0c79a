"""The ratings in one line of the plain format: a mean, a list by rater, or an object that says more."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any, get_args

from dialeval.corpora.items import RaterKind, Rating
from dialeval.corpora.json_fields import optional_text
from dialeval.corpora.rated import PEOPLE, Scale, rating_value, repeated_ratings
from dialeval.criteria import DIMENSIONS, Level
from dialeval.errors import UserError, nearest

_KINDS: tuple[RaterKind, ...] = get_args(RaterKind)
_MOST_RATERS = 1_000_000
_FIELDS = ("value", "values", "scale", "n_raters", "rater", "rater_kind")


def ratings_of(
    corpus: str, item_id: str, about: tuple[Level, Collection[str]], ratings: Any, scale: Any, where: str
) -> list[Rating]:
    """Returns the ratings of one line.

    Args:
        corpus: name of the corpus.
        item_id: the item.
        about: level of the item, which says which dimensions there are, and the user's criteria that are rated besides.
        ratings: the line's field `ratings`; None for none.
        scale: the line's field `scale`, for ratings that do not have their own; None for none.
        where: file and line, for messages.

    Raises:
        UserError: a dimension is unknown, a scale missing, a rating off its scale, or a field not of its form.
    """
    if ratings is None:
        return []
    if not isinstance(ratings, dict):
        raise UserError(f"{where}: 'ratings' must be an object of dimension -> rating, not {ratings!r:.60}")
    level, own = about
    known = [*DIMENSIONS[level], *own]
    found: list[Rating] = []
    for dimension, value in ratings.items():
        if dimension not in known:
            remedy = (
                f"{nearest(f'{dimension:.60}', known)}; rename it or leave it out; a criterion of your own is defined "
                f"under criteria and named in metaeval.corpora.{corpus}.dimensions"
            )
            raise UserError(f"{where}: at {level} level there is no dimension '{dimension:.60}'; {remedy}")
        place = f"{where}, {dimension}"
        several = isinstance(value, list) and any(isinstance(part, dict) for part in value)
        for part in value if several else [value]:
            found += _one(corpus, item_id, dimension, part, scale, place)
    return found


def _one(corpus: str, item_id: str, dimension: str, rating: Any, scale: Any, place: str) -> list[Rating]:
    if not isinstance(rating, dict):
        rating = {"values" if isinstance(rating, list) else "value": rating}
    for name in rating:
        if name not in _FIELDS:
            raise UserError(f"{place}: a rating has no field '{name:.60}'; {nearest(f'{name:.60}', _FIELDS)}")
    if ("value" in rating) == ("values" in rating):
        raise UserError(f"{place}: a rating needs either 'value' (a mean) or 'values' (one per rater)")
    bounds = _scale(rating.get("scale", scale), place)
    kind, rater = _rater(rating, place)
    n_raters = rating.get("n_raters")
    if n_raters is not None and (type(n_raters) is not int or not 1 <= n_raters <= _MOST_RATERS):
        raise UserError(f"{place}: 'n_raters' is {n_raters!r:.40}; a whole number from 1 to {_MOST_RATERS} is needed")
    if "value" in rating:
        value = rating_value(rating["value"], bounds, place)
        return [Rating(corpus, item_id, dimension, kind, rater, None, value, n_raters, *bounds)]
    values = rating["values"]
    if not isinstance(values, list):
        raise UserError(f"{place}: 'values' must be a list with one number per rater, not {values!r:.60}")
    checked = [
        None if value is None else rating_value(value, bounds, f"{place}, rater {number}")
        for number, value in enumerate(values, start=1)
    ]
    given = sum(value is not None for value in checked)
    if n_raters is not None and n_raters != given:
        raise UserError(f"{place}: 'n_raters' is {n_raters}, but there are {given} values; leave 'n_raters' out")
    return repeated_ratings((corpus, item_id, dimension), (kind, rater), checked, bounds)


def _scale(scale: Any, place: str) -> Scale:
    if scale is None:
        raise UserError(
            f'{place}: the scale is missing; write "scale": [lowest, highest] in the rating or, for all ratings of the '
            "line, beside 'ratings'"
        )
    numbers = isinstance(scale, list) and all(type(bound) in (int, float) and math.isfinite(bound) for bound in scale)
    if not numbers or len(scale) != 2 or not scale[0] < scale[1]:
        raise UserError(f"{place}: the scale is {scale!r:.40}; it must be [lowest, highest]")
    return Scale(float(scale[0]), float(scale[1]))


def _rater(rating: dict[str, Any], place: str) -> tuple[RaterKind, str]:
    name = rating.get("rater_kind", "human")
    kind = next((kind for kind in _KINDS if kind == name), None)
    if kind is None:
        raise UserError(f"{place}: 'rater_kind' is {name!r:.40}; {nearest(f'{name!s:.40}', _KINDS)}")
    rater = optional_text(rating, "rater", place)
    if kind == "model" and not rater:
        raise UserError(f"{place}: a model's rating needs its name, in 'rater'")
    return kind, rater or (PEOPLE if kind == "human" else kind)
