"""Figures of BotChat: lengths of dialogues and utterances, UniEval, Arena and GTEval."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from dialeval.figures import systems
from dialeval.figures.panels import Histogram
from dialeval.figures.plot import Missing, Plot, Section
from dialeval.figures.row_panels import Forest, Reference, StackedBars, Violins, by_value, rows_of
from dialeval.figures.style import COLUMN, PAGE, PERCENT, Unit, per, published_note, system_marks
from dialeval.tables.files import HUMAN


def seed_lengths(seeds: pd.DataFrame, arena_min: int = 4) -> Plot | Missing:
    """Return how many human dialogues have how many utterances (BotChat, Figure 2)."""
    counts = seeds.groupby("n_utterances")["n_dialogues"].sum()
    if counts.sum() == 0:
        return Missing("The run has no seeds.")
    dark = [int(n) for n in counts.index if n >= arena_min]
    return Plot(
        [Section([Histogram(counts=counts, dark=dark, axis="Utterances in the human dialogue", title="Dialogues")])],
        title="Human dialogues by length",
        caption="Number of human dialogues by length. Arena and GTEval use those of at least "
        f"{arena_min} utterances (dark).",
        n=f"n = {counts.sum():,} dialogues, {counts.loc[dark].sum():,} of them for Arena and GTEval",
    )


def utterance_lengths(tokens: pd.DataFrame, roster: Sequence[str]) -> Plot | Missing:
    """Return the distribution of utterance lengths of every system (BotChat, Figure 3)."""
    if tokens.empty:
        return Missing("The run has no utterances.")
    samples = {str(name): rows["tokens"].to_numpy(np.float64) for name, rows in tokens.groupby("model")}
    names = sorted(samples, key=lambda name: (name != HUMAN, -samples[name].mean()))
    unit = str(tokens["tokenizer"].iloc[0])
    panel = Violins(samples=samples, rows=rows_of(names), marks=system_marks(roster, names), unit=Unit(1.0, 1),
                    axis=f"Utterance length ({unit if ' ' in unit else f'{unit} tokens'})")  # fmt: skip
    return Plot(
        [Section([panel])],
        title="Utterance lengths",
        caption="Density of utterance lengths with median (line) and mean (dot, number). The axis ends at the 99.5th "
        "percentile of the longest system.",
        n=per(tokens.groupby("model").size(), "utterance", "system"),
    )


def unieval(pass_rates: pd.DataFrame, roster: Sequence[str]) -> Plot | Missing:
    """Return UniEval's pass rate over the length N, a line per system (BotChat, Figure 4)."""
    caption = "Share of dialogues in which the judge finds no AI-written turn among the first N utterances"
    return systems.over_length(pass_rates, "UniEval pass rate by length", caption, roster)


def arena_wins(win_rates: pd.DataFrame, n: int) -> Plot | Missing:
    """Return win rates and win-or-tie rates of each system against each other one (BotChat, Figure 5)."""
    table = win_rates[win_rates["n_utterances"] == n]
    if table.empty:
        return Missing(f"The Arena has no comparisons at N = {n}.")
    return systems.win_maps(table, f"Arena win rates, N = {n}", f"Dialogues are cut to {n} utterances")


def arena_ratings(ratings: pd.DataFrame) -> Plot | Missing:
    """Return the ratings of the systems by three methods, a panel per judge and length (BotChat, Table 2)."""
    return systems.ratings(ratings, "Arena", "95% confidence interval (seeds resampled)")


def gteval(win_rates: pd.DataFrame) -> Plot | Missing:
    """Return the outcomes of every system against the human dialogue (BotChat, Figure 6)."""
    if win_rates.empty:
        return Missing("GTEval has no verdicts.")
    names = by_value(win_rates, "win_or_tie", "system")
    parts = {"win": 0.95, "tie": 0.5, "unparsed": 0.25, "lose": 0.0}
    shown = {part: tone for part, tone in parts.items() if win_rates[part].gt(0).any()}
    held = win_rates.rename(columns={"system": "row"}).assign(
        estimate=win_rates["win_or_tie"], ci_low=win_rates["win_or_tie_ci_low"], ci_high=win_rates["win_or_tie_ci_high"]
    )
    panels = [
        StackedBars(shares=rows.set_index("row")[list(shown)], first=rows, shades=shown, rows=rows_of(names),
                    unit=PERCENT, title=judge, axis="Comparisons (%)")
        for judge, rows in _by_judge(held)
    ]  # fmt: skip
    return Plot(
        [Section(panels, columns=2)],
        title="GTEval: systems against the human dialogue",
        caption="A system wins if the judge takes its dialogue for the human one. Numbers and bars at the right are "
        f"win or tie with 95% confidence intervals clustered by seed{published_note(win_rates)}.",
        n=per(win_rates["n"], "comparison", "system"),
        width=COLUMN if len(panels) == 1 else PAGE,
        key=panels[0].key(),
    )


def unieval_at_human_length(pass_rates: pd.DataFrame, roster: Sequence[str]) -> Plot | Missing:
    """Return the pass rates of dialogues cut to the human one's length (BotChat, Figure 7)."""
    table = pass_rates.rename(columns={"system": "row"})
    chatbots, human = table[table["row"] != HUMAN], table[table["row"] == HUMAN]
    if chatbots.empty:
        return Missing("UniEval has no verdicts at the length of the human dialogues.")
    panels = [
        Forest(table=rows, rows=rows_of(by_value(chatbots)), marks=system_marks(roster, rows["row"]), unit=PERCENT,
               title=judge, axis="Pass rate (%)", limits=(0.0, 1.0), numbers=True,
               references=[Reference(one, HUMAN) for one in human[human["judge"].isin(rows["judge"])]["estimate"]])
        for judge, rows in _by_judge(chatbots)
    ]  # fmt: skip
    return Plot(
        [Section(panels)],
        title="UniEval pass rate at the human length",
        caption="Pass rate with each dialogue cut to the length of the human dialogue on its seed, with 95% confidence "
        "intervals clustered by seed.",
        n=per(table["n"], "dialogue", "system") + systems.unparsed_note(table),
    )


def _by_judge(table: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """Return the rows of each judge with a title, which is empty where there is one judge."""
    groups = [(str(judge), rows) for judge, rows in table.groupby("judge")]
    return groups if len(groups) > 1 else [("", rows) for _, rows in groups]
