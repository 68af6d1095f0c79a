"""BotChat, item by item, and its printed numbers.

The mean lengths are the paper's Table 1 and the Elo ratings its Table 2. The UniEval pass rates and GTEval's win+tie
rates, which the paper shows as figures only, are those of its public leaderboard, as shares in 0..1. Where the two
disagree, the paper's value is used, and the note has the other one.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from dialeval.criteria import FAILURES, NO_FAILURE
from dialeval.papers import OWN_WORDS, Item, Need, Paper, prompts

_CONFIG = "configs/botchat.yaml"
_PUBLISHED = "configs/botchat-published.yaml uses the authors' dialogues and responses."
_NEEDS: tuple[Need, ...] = ("keys", "weights", "workbook", "withdrawn")


def _made(number: str, shows: str, **more: Any) -> Item:
    """Returns an item that BotChat's evaluation makes."""
    return Item(number, shows, config=_CONFIG, target="botchat", needs=_NEEDS, **more)


def _failures(number: str, shows: str, **where: tuple[str, ...]) -> Item:
    """Returns an item about the types of failure."""
    return _made(
        number,
        shows,
        tables=("failures/rates", "failures/examples"),
        figures=("failures/rates",),
        defined_in=("docs/failures.md",),
        remark="Rules detect three kinds without a judge; a judge detects all kinds and names the utterances.",
        where=where,
    )


BOTCHAT = Paper(
    "BotChat",
    "BotChat: Evaluating LLMs' Capabilities of Having Multi-Turn Dialogues",
    "https://arxiv.org/abs/2310.13650",
    (
        _made(
            "Table 1",
            "mean length of the utterances that each chatbot writes, in cl100k tokens",
            tables=("botchat/utterance_lengths",),
            remark=_PUBLISHED,
        ),
        _made(
            "Table 2",
            "Bootstrap Elo of the chatbots in Arena at N = 8 and N = 16",
            tables=("arena/ratings",),
            figures=("botchat/table2_arena_ratings",),
            remark="Arena's verdicts are not public. Bradley-Terry and Davidson ratings are reported with Elo.",
        ),
        Item(
            "Figure 1",
            "the procedure: seeds, self-chat, verdicts",
            defined_in=("docs/protocols.md",),
            why_not="a diagram without measurements",
        ),
        Item(
            "Figure 2",
            "number of utterances of the human dialogues",
            tables=("botchat/seeds",),
            figures=("botchat/figure2_seed_lengths",),
            config="configs/mutual.yaml",
            target="botchat",
            needs=("workbook",),
        ),
        _made(
            "Figure 3",
            "distribution of utterance lengths by chatbot, in cl100k tokens",
            tables=("botchat/utterance_lengths",),
            figures=("botchat/figure3_utterance_lengths",),
            remark=_PUBLISHED,
        ),
        _made(
            "Figure 4",
            "UniEval: share of dialogues in which the judge detects no chatbot up to N",
            tables=("unieval/pass_rates",),
            figures=("botchat/figure4_unieval",),
            remark=_PUBLISHED,
        ),
        _made(
            "Figure 5",
            "Arena: shares of wins, and of wins and ties, for each pair of chatbots",
            tables=("arena/win_rates",),
            figures=("botchat/figure5_arena_n{n}",),
        ),
        _made(
            "Figure 6",
            "GTEval: wins, ties and losses of chatbots' dialogues against human ones",
            tables=("gteval/win_rates",),
            figures=("botchat/figure6_gteval",),
            remark=_PUBLISHED,
        ),
        _made(
            "Figure 7",
            "UniEval's pass rate, with each dialogue cut to the length of the human dialogue on its seed",
            tables=("unieval/pass_rates_at_gt_length",),
            figures=("botchat/figure7_unieval_at_gt_length",),
            remark=_PUBLISHED,
        ),
        _failures("Figure 8", "five kinds of failure", criterion=tuple(FAILURES)),
        _failures("Figure 9", "a good dialogue", criterion=(NO_FAILURE,)),
        Item(
            "Algorithm 1",
            "self-chat, utterance by utterance",
            defined_in=("workflow/dialeval/protocols/selfchat.py",),
        ),
        _made(
            "Appendix A",
            "median Elo rating over random orders of the comparisons",
            tables=("arena/ratings",),
            defined_in=("workflow/dialeval/stats/elo.py",),
        ),
        Item(
            "Appendix B",
            "the prompts of self-chat, UniEval, Arena and GTEval",
            defined_in=("docs/prompts.md", *prompts("selfchat", "unieval", "arena", "gteval")),
            remark=OWN_WORDS,
        ),
        _failures("Appendix C", "five kinds of failure, and good dialogues"),
        Item(
            "README, leaderboard",
            "share of verdicts against human dialogues that a chatbot wins or ties",
            tables=("gteval/win_rates",),
            config=_CONFIG,
            target="report",
            needs=_NEEDS,
            remark="Also in the report's leaderboard.",
        ),
    ),
)


# Printed numbers

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
    """Returns the published value of a model by measure, protocol and length, or None."""
    column = _MEASURED.get((protocol, measure, n))
    return published_value(model_name, column) if column else None


def published_value(model_name: str, column: str) -> float | None:
    """Returns one published number, or None where none was published for the model.

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
    """Returns the published results of a model, or None if the paper has no such model.

    Args:
        model_name: any of its names; only letters and digits count, and their case does not.
    """
    return _models_by_folded_name().get(_folded(model_name))


@cache
def published_models() -> tuple[PublishedModel, ...]:
    """Returns the fourteen models in the order of the paper's Table 2."""
    text = files("dialeval.papers").joinpath("botchat.csv").read_text(encoding="utf-8")
    return tuple(_model(row) for row in csv.DictReader(text.splitlines()))


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
