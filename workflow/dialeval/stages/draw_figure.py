"""Draws one of BotChat's figures from its table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure
from pydantic import BaseModel

from dialeval.figures import botchat
from dialeval.figures.style import save_figure
from dialeval.stages.command import run
from dialeval.tables import read_table


class Settings(BaseModel):
    """Which figure; `n` is the length N of a figure that is drawn once per length."""

    figure: str
    n: int | None = None
    arena_min_utterances: int = 4


Draw = Callable[[pd.DataFrame, Settings], Figure]
FIGURES: dict[str, tuple[str, Draw]] = {
    "seed_lengths": ("botchat/seeds", lambda t, s: botchat.figure2_seed_lengths(t, s.arena_min_utterances)),
    "utterance_lengths": (
        "botchat/utterance_tokens",
        lambda t, s: botchat.figure3_utterance_lengths(t, t["tokenizer"].iloc[0]),
    ),
    "unieval": ("botchat/unieval_pass_rates", lambda t, s: botchat.figure4_unieval(t)),
    "arena": ("botchat/arena_win_rates", lambda t, s: botchat.figure5_arena(t, s.n or 0)),
    "gteval": ("botchat/gteval", lambda t, s: botchat.figure6_gteval(t)),
    "unieval_at_gt_length": (
        "botchat/unieval_at_gt_length",
        lambda t, s: botchat.figure7_unieval_at_gt_length(t),
    ),
    "arena_ratings": ("botchat/arena_elo", lambda t, s: botchat.figure_arena_ratings(t)),
}
"""Name of each figure -> the schema of its table, and how it is drawn."""


def stage(settings: Settings, table: Path, svg: Path, pdf: Path) -> None:
    """Writes the figure as SVG and PDF."""
    schema, draw = FIGURES[settings.figure]
    save_figure(draw(read_table(table, schema).to_pandas(), settings), svg, pdf)


if __name__ == "__main__":
    run(stage)
