"""BotChat's numbers for its fourteen models, found by any name under which a model is known.

The mean lengths are the paper's Table 1 and the Elo ratings its Table 2. The UniEval pass rates and GTEval's win+tie
rates, which the paper shows as figures only, are those of its public leaderboard, as shares in 0..1. Where the two
disagree the paper's value stands, and the note says what the other one is.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType

COLUMNS = ("mean_tokens", "elo_n8", "elo_n16", "unieval_n8", "unieval_n16", "win_or_tie")


_MEASURED = {
    ("unieval", "pass_rates", 8): "unieval_n8",
    ("unieval", "pass_rates", 16): "unieval_n16",
    ("arena", "ratings", 8): "elo_n8",
    ("arena", "ratings", 16): "elo_n16",
    ("gteval", "win_rates", None): "win_or_tie",
}
"""Protocol, measure and N -> the column that has what the paper measured."""


@dataclass(frozen=True)
class PublishedModel:
    """What was published about one model.

    Attributes:
        name: the model as the paper prints it.
        aliases: other names of the same model.
        values: the published numbers by column of `COLUMNS`; a number that was not published is absent.
        note: known disagreements between the paper and its public leaderboard; empty where there are none.
    """

    name: str
    aliases: tuple[str, ...]
    values: Mapping[str, float]
    note: str


@cache
def published_models() -> tuple[PublishedModel, ...]:
    """Returns the fourteen models in the order of the paper's Table 2."""
    text = files("dialeval.published").joinpath("botchat.csv").read_text(encoding="utf-8")
    return tuple(_model(row) for row in csv.DictReader(text.splitlines()))


def find_model(model_name: str) -> PublishedModel | None:
    """Returns what was published about a model, or None if the paper has no such model.

    Args:
        model_name: any of its names; only letters and digits count, and their case does not.
    """
    return _models_by_folded_name().get(_folded(model_name))


def published_value(model_name: str, column: str) -> float | None:
    """Returns one published number, or None where nothing was published for the model.

    Args:
        model_name: any of the model's names, as in `find_model`.
        column: one of `COLUMNS`.

    Raises:
        ValueError: there is no such column.
    """
    if column not in COLUMNS:
        raise ValueError(f"'{column}' is not a published column of BotChat; known: {', '.join(COLUMNS)}")
    model = find_model(model_name)
    return None if model is None else model.values.get(column)


def published_number(protocol: str, measure: str, model_name: str, n: int | None) -> float | None:
    """Returns what was published for a model by a measure under a protocol at a length; None for nothing."""
    column = _MEASURED.get((protocol, measure, n))
    return published_value(model_name, column) if column else None


def _model(row: Mapping[str, str]) -> PublishedModel:
    """Returns one row of the CSV file."""
    return PublishedModel(
        name=row["model"],
        aliases=tuple(alias for alias in row["aliases"].split(";") if alias),
        values=MappingProxyType({column: float(row[column]) for column in COLUMNS if row[column]}),
        note=row["note"],
    )


@cache
def _models_by_folded_name() -> Mapping[str, PublishedModel]:
    return {_folded(name): model for model in published_models() for name in (model.name, *model.aliases)}


def _folded(name: str) -> str:
    """Returns the letters and digits of a name in one case."""
    return "".join(character for character in name.casefold() if character.isalnum())
