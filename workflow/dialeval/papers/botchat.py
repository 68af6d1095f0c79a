"""The printed numbers of BotChat.

The mean lengths are the paper's Table 1 and the Elo ratings its Table 2. The UniEval pass rates and GTEval's win+tie
rates, which the paper shows as figures only, are those of its public leaderboard, as shares in 0..1. Where the two
disagree, the paper's value is used, and the note has the other one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from dialeval.papers import letters, printed_rows

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
    """The published results of one model.

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


def published_number(protocol: str, measure: str, model_name: str, n: int | None) -> float | None:
    """Return the published value of a model by measure, protocol and length, or None."""
    column = _MEASURED.get((protocol, measure, n))
    return published_value(model_name, column) if column else None


def published_value(model_name: str, column: str) -> float | None:
    """Return one published number, or None where none was published for the model.

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


def find_model(model_name: str) -> PublishedModel | None:
    """Return the published results of a model, or None if the paper has no such model.

    Args:
        model_name: any of its names; only letters and digits count, and their case does not.
    """
    return _models_by_folded_name().get(letters(model_name))


@cache
def published_models() -> tuple[PublishedModel, ...]:
    """Return the fourteen models in the order of the paper's Table 2."""
    return tuple(_model(row) for row in printed_rows("botchat.csv"))


def _model(row: Mapping[str, str]) -> PublishedModel:
    """Return one row of the CSV file."""
    return PublishedModel(
        name=row["model"],
        aliases=tuple(alias for alias in row["aliases"].split(";") if alias),
        values=MappingProxyType({column: float(row[column]) for column in COLUMNS if row[column]}),
        note=row["note"],
    )


@cache
def _models_by_folded_name() -> Mapping[str, PublishedModel]:
    return {letters(name): model for model in published_models() for name in (model.name, *model.aliases)}
