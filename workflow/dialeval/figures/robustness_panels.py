"""The blocks of robustness' figures: a corpus each, with a row per strategy and a panel per judge."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pandas as pd

from dialeval.figures.judge_blocks import Block
from dialeval.figures.metaeval_names import level_order, main_language, scorer_names
from dialeval.figures.panels import check_columns

ONE_LANGUAGE = "one language of each corpus: English if it has it"
"""What the caption says where a corpus has more languages than the figure shows."""


def blocks_of(table: pd.DataFrame, robustness: pd.DataFrame) -> list[Block]:
    """Returns the blocks of a table, the smaller level first, each in one language of its corpus.

    Args:
        table: judge, method, corpus, language, strategy and dimension; `level` where it has one.
        robustness: `robustness/robustness`: its order is that of the strategies, and its ratios that of the judges.
    """
    check_columns(table, "judge", "method", "corpus", "language", "strategy", "dimension")
    check_columns(robustness, "judge", "method", "strategy", "dimension", "title", "theta", "ratio", "rises")
    titles = dict(zip(robustness["strategy"], robustness["title"], strict=True))
    targets = list(dict.fromkeys(zip(robustness["strategy"], robustness["dimension"], strict=True)))
    order = _best_first(robustness)
    blocks = []
    levels = level_order(table["level"]) if "level" in table else [""]
    for level in levels:
        of_level = table[table["level"] == level] if level else table
        for corpus in sorted(set(of_level["corpus"])):
            rows = of_level[of_level["corpus"] == corpus]
            language = main_language(rows["language"])
            rows = rows[rows["language"] == language]
            pairs = list(zip(rows["strategy"], rows["dimension"], strict=True))
            named = {pair: f"{titles.get(pair[0], pair[0])}, {pair[1]}" for pair in [*targets, *pairs]}
            names = [named[pair] for pair in named if pair in set(pairs)]
            rows = rows.assign(row=[named[pair] for pair in pairs], scorer=scorer_names(rows))
            scorers = sorted(set(rows["scorer"]), key=lambda name: (order.get(name, math.inf), name))
            title = f"{corpus}, {level} level ({language})" if level else f"{corpus} ({language})"
            blocks.append(Block(title, rows, names, scorers))
    return blocks


def has_several_languages(table: pd.DataFrame) -> bool:
    """Returns whether any corpus of a table has more than one language."""
    return bool((table.groupby("corpus")["language"].nunique() > 1).any())


def _best_first(robustness: pd.DataFrame) -> Mapping[str, int]:
    """Returns the place of each judge: by its mean ratio less what its noise gives, the largest first."""
    surplus = (robustness["ratio"] - robustness["rises"]).astype(float)
    means = surplus.groupby(scorer_names(robustness)).mean().to_dict()
    names = sorted(means, key=lambda name: (math.isnan(means[name]), -means[name], name))
    return {str(name): place for place, name in enumerate(names)}
