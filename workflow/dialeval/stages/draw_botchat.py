"""Draws BotChat's figures from its tables, all in one job: starting it costs more than drawing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure
from pydantic import BaseModel

from dialeval.errors import UserError, nearest
from dialeval.figures.botchat_arena import figure5_arena, figure_arena_ratings
from dialeval.figures.botchat_bias import figure_judge_bias
from dialeval.figures.botchat_lengths import figure2_seed_lengths, figure3_utterance_lengths
from dialeval.figures.botchat_rates import figure4_unieval, figure6_gteval, figure7_unieval_at_gt_length
from dialeval.figures.style import save_figure
from dialeval.schemas.botchat import (
    ARENA_ELO,
    ARENA_WIN_RATES,
    GTEVAL,
    JUDGE_BIAS,
    SEED_LENGTHS,
    UNIEVAL_AT_GT_LENGTH,
    UNIEVAL_PASS_RATES,
    UTTERANCE_TOKENS,
)
from dialeval.schemas.table import Table
from dialeval.stages.command import run
from dialeval.tables import read_provenance, read_table


class Settings(BaseModel):
    """Which figures to draw, by the name of their files; the lengths N are those of Arena."""

    figures: list[str]
    arena_min_utterances: int


def stage(settings: Settings, tables: list[Path], folder: Path) -> None:
    """Writes each figure into the folder, as SVG and PDF."""
    paths = {read_provenance(path).get("table", str(path)): path for path in tables}
    for name in settings.figures:
        table, draw = _drawing(name, settings)
        if table.name not in paths:
            raise UserError(f"figure {name} needs the table '{table.name}'; given: {', '.join(paths)}")
        figure = draw(read_table(paths[table.name], table).to_pandas())
        save_figure(figure, folder / f"{name}.svg", folder / f"{name}.pdf")


def _drawing(name: str, settings: Settings) -> tuple[Table, Callable[[pd.DataFrame], Figure]]:
    """Returns a figure's table, and what draws it."""
    prefix = "figure5_arena_n"
    if name.startswith(prefix):
        return ARENA_WIN_RATES, lambda rates: figure5_arena(rates, int(name.removeprefix(prefix)))
    drawings: dict[str, tuple[Table, Callable[[pd.DataFrame], Figure]]] = {
        "figure2_seed_lengths": (
            SEED_LENGTHS,
            lambda counts: figure2_seed_lengths(counts, settings.arena_min_utterances),
        ),
        "figure3_utterance_lengths": (
            UTTERANCE_TOKENS,
            lambda tokens: figure3_utterance_lengths(tokens, tokens["tokenizer"].iloc[0] if len(tokens) else ""),
        ),
        "figure4_unieval": (UNIEVAL_PASS_RATES, figure4_unieval),
        "figure6_gteval": (GTEVAL, figure6_gteval),
        "figure7_unieval_at_gt_length": (UNIEVAL_AT_GT_LENGTH, figure7_unieval_at_gt_length),
        "judge_bias": (JUDGE_BIAS, figure_judge_bias),
        "table2_arena_ratings": (ARENA_ELO, figure_arena_ratings),
    }
    if name not in drawings:
        raise UserError(f"there is no figure '{name}'; {nearest(name, drawings)}")
    return drawings[name]


if __name__ == "__main__":
    run(stage)
