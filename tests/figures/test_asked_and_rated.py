"""Titles of figures and leaderboards say what was rated where judges were asked about something else."""

from __future__ import annotations

import pandas as pd
import pytest
from dialeval.figures.metaeval_heat_maps import figure_judges_by_corpus, figure_judges_by_language
from matplotlib.figure import Figure
from matplotlib.text import Text
from metaeval_example import averages, correlations

from dialeval.figures.metaeval_names import averaged_groups, one_dimension, rated_otherwise
from dialeval.tables.files import empty_table
from dialeval.tables.metaeval import CORRELATIONS


def words_in(figure: Figure) -> str:
    figure.canvas.draw()
    return " ".join(text.get_text() for text in figure.findobj(Text)).replace("\n", " ")


def joined() -> pd.DataFrame:
    """Averages of turns in two languages, asked about relevance and rated overall."""
    rows = averages().to_pandas()
    return rows[rows["level"] == "turn"].assign(dimension="relevance", rated="overall, relevance")


def test_only_what_differs_is_said() -> None:
    rows = pd.DataFrame({"dimension": ["relevance", "all"], "rated": ["relevance", "overall, relevance"]})
    assert rated_otherwise(rows) == ""
    assert rated_otherwise(rows.assign(rated="overall, relevance")) == "; rated: relevance, overall"


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["relevance", "all"], "relevance"),
        (["relevance"], "relevance"),
        (["relevance", "overall", "all"], "all"),
        (["relevance", "overall"], "overall"),
    ],
)
def test_one_dimension_stands_for_all(names: list[str], expected: str) -> None:
    assert one_dimension(names) == expected


def test_titles_say_what_was_rated() -> None:
    (group,) = averaged_groups(joined(), empty_table(CORRELATIONS).to_pandas())
    assert group.title == "many, turn level (mean over 2 languages; people's ratings; rated: relevance, overall)"
    words = words_in(figure_judges_by_language(joined()))
    assert "relevance (people's ratings; rated: relevance, overall)" in words
    rows = correlations().to_pandas()
    by_corpus = figure_judges_by_corpus(rows[rows["dimension"] == "coherence"].assign(rated="overall"))
    assert "(coherence; rated: overall)" in words_in(by_corpus)
