"""DialogBench's figures on small tables: what they show, and that they show it for every shape of table."""

from __future__ import annotations

from collections.abc import Callable
from math import nan
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dialeval.figures.dialogbench import (
    CHANCE,
    PEOPLE_OF_PAPER,
    figure_averages,
    figure_domain_counts,
    figure_domains,
    figure_overall,
    figure_positions,
    figure_styles,
    figure_tasks,
)
from dialeval.figures.style import PAGE_WIDTH, save_figure
from dialeval.tables.catalogue import TABLES
from dialeval.tables.files import empty_table

TASKS = ("SF", "IC", "KRG", "CRG", "DI", "MRG", "PRG", "RC", "ED", "NLI", "DS", "OD")
DRAW: dict[str, Callable[[pd.DataFrame], Figure]] = {
    "accuracy": figure_tasks,
    "averages": figure_averages,
    "domains": figure_domains,
    "positions": figure_positions,
    "styles": figure_styles,
    "domain_counts": figure_domain_counts,
}


def accuracy(models: dict[str, float], tasks: tuple[str, ...] = TASKS, source: str = "bundled") -> pd.DataFrame:
    """Returns `dialogbench/accuracy` in which a model's accuracy is the same in every task, and people's is .9."""
    rows = []
    for model, value in {**models, "human": 0.9}.items():
        about: dict[str, Any] = {
            "chance": nan if model == "human" else 0.25,
            "low": nan if model == "human" else value - 0.1,
            "high": nan if model == "human" else value + 0.05,
            "kind": {"human": "people", "basic": "base"}.get(model, "chat"),
            "part": "filtered" if model == "filter" else None,
            "published": 0.9 if model == "human" else 0.6 if model == "known" else nan,
            "source": "paper" if model == "human" else source,
            "model": model,
            "method": "published" if model == "human" else "letter",
            "language": "en",
        }
        rows += [{**about, "scope": "task", "name": task, "accuracy": value, "n": 4} for task in tasks]
        rows.append({**about, "scope": "dimension", "name": "safety", "accuracy": value, "n": 4})
        rows.append({**about, "scope": "overall", "name": "Overall", "accuracy": value, "n": 48})
    return pd.DataFrame(rows)


def rows_of(panel: Axes) -> list[str]:
    return [label.get_text().replace("\n", "") for label in panel.get_yticklabels()]


def columns_of(panel: Axes) -> list[str]:
    return [label.get_text() for label in panel.get_xticklabels()]


def words_in(panel: Axes) -> list[str]:
    return [text.get_text() for text in panel.texts]


def caption_of(figure: Figure) -> str:
    return figure.get_supxlabel().replace("\n", " ")


@pytest.mark.parametrize("name", DRAW)
def test_an_empty_table_gives_a_figure_that_says_so(name: str, tmp_path: Path) -> None:
    figure = DRAW[name](empty_table(TABLES[f"dialogbench/{name}"]).to_pandas())
    save_figure(figure, tmp_path / "f.svg", tmp_path / "f.pdf")
    assert len(figure.texts) == 1
    assert figure.texts[0].get_text().startswith("No ")


@pytest.mark.parametrize("name", DRAW)
def test_a_table_without_a_needed_column_is_a_programmers_error(name: str) -> None:
    with pytest.raises(ValueError, match="no column"):
        DRAW[name](pd.DataFrame({"source": []}))


def test_tasks_are_columns_and_the_best_model_is_on_top_below_people() -> None:
    figure = figure_tasks(accuracy({"worse": 0.25, "better": 0.5, "none": nan}))
    panel = figure.axes[0]
    assert panel.get_title(loc="left") == "bundled items, English"
    assert rows_of(panel) == [PEOPLE_OF_PAPER, "better (letter)", "worse (letter)", "none (letter)", CHANCE]
    assert columns_of(panel) == ["Overall", "", *TASKS]
    assert words_in(panel).count("50") == 13
    assert words_in(panel).count("25") == 2 * 13  # the worse one's, and blind guessing's
    assert len(words_in(panel)) == 4 * 13
    assert "4 items in each task" in caption_of(figure)
    assert figure.get_figwidth() == PAGE_WIDTH


def test_people_stand_only_where_all_tasks_are_there_and_sources_have_a_map_each() -> None:
    both = pd.concat([accuracy({"m": 0.5}), accuracy({"m": 1.0}, ("MRG", "DI"), "written").query("source != 'paper'")])
    maps = figure_tasks(both).axes[:2]
    assert [panel.get_title(loc="left") for panel in maps] == ["bundled items, English", "written items, English"]
    assert rows_of(maps[0]) == [PEOPLE_OF_PAPER, "m (letter)", CHANCE]
    assert rows_of(maps[1]) == ["m (letter)", CHANCE]
    assert columns_of(maps[1]) == ["Overall", "", "MRG", "DI"]


def test_who_filtered_the_items_is_marked_and_what_the_mark_means_is_said() -> None:
    for draw in (figure_tasks, figure_overall):
        figure = draw(accuracy({"filter": 0.9, "other": 0.8}, source="written"))
        assert {"filter (letter) †", "other (letter)"} <= set(rows_of(figure.axes[0]))
        assert "had a part in these items (filter filtered) and is not to be compared" in caption_of(figure)
        assert "†" not in caption_of(draw(accuracy({"other": 0.8})))


def line_at(panel: Axes) -> list[float]:
    """Returns where the dashed lines of a panel stand."""
    return [float(line.get_xdata()[0]) for line in panel.lines if line.get_linestyle() == "--"]  # type: ignore[index]


def test_over_all_tasks_models_have_intervals_and_stand_beside_chance_and_people() -> None:
    figure = figure_overall(accuracy({"weak": 0.3, "known": 0.7, "basic": 0.5}), interval="90 % interval")
    (panel,) = figure.axes
    assert rows_of(panel) == [PEOPLE_OF_PAPER, "known (letter)", "basic (letter)", "weak (letter)"]
    assert line_at(panel) == [0.25]
    bars = {tuple(segment[0]) for bar in panel.containers for segment in bar[2][0].get_segments()}  # type: ignore[index]
    assert {round(x, 6) for x, _ in bars} == {0.6, 0.4, 0.2}  # the lower ends, one for each model
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend == ["base models", "chat models", "blind guessing", "published (the paper's items)"]
    assert "90 % interval" in caption_of(figure)
    assert figure_overall(accuracy({})).texts[0].get_text().startswith("No model was examined")


def test_averages_by_domain_stand_below_their_groups_mean_with_a_mark_for_each_kind() -> None:
    about = {"source": "s", "language": "zh", "n": 8, "chance": 0.3, "n_models": 2}
    names = [
        ("domain", "Film"),
        ("domains", "daily life"),
        ("domain", "Physics"),
        ("domains", "professional knowledge"),
    ]
    table = pd.DataFrame(
        [
            {**about, "group": group, "method": method, "scope": scope, "name": name, "accuracy": value,
             "low": value - 0.1, "high": value + 0.1, "published": 0.5 if group == "chat" else nan}
            for group, method, value in (("base", "perplexity", 0.4), ("chat", "letter", 0.7))
            for scope, name in [("overall", "Overall"), *names]
        ]
    )  # fmt: skip
    figure = figure_averages(table)
    (panel,) = figure.axes
    assert rows_of(panel) == ["daily life", "Film", "professional knowledge", "Physics"]
    assert line_at(panel) == [pytest.approx(0.3)]
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend == ["base, perplexity: 2 models", "chat, letter: 2 models", "blind guessing",
                      "published (the paper's models and items)"]  # fmt: skip
    assert "8 items in each domain" in caption_of(figure)
    only = figure_averages(table[table["scope"] == "overall"])
    assert only.texts[0].get_text().startswith("No item names a domain")


def test_domains_stand_by_group_behind_their_mean() -> None:
    about = {"source": "s", "model": "m", "method": "letter", "language": "zh", "n": 8, "kind": None, "part": None}
    rows = [("daily life", "Film", 1.0), ("daily life", "Music", 0.0), ("daily life", "mean", 0.5),
            ("professional knowledge", "Physics", 0.2), ("professional knowledge", "mean", 0.2),
            ("", "Weather", 0.7)]  # fmt: skip
    table = pd.DataFrame([{**about, "group": group, "domain": name, "accuracy": value} for group, name, value in rows])
    figure = figure_domains(table)
    assert columns_of(figure.axes[0]) == ["daily life (mean)", "Film", "Music", "", "professional (mean)", "Physics"]
    assert words_in(figure.axes[0]) == ["50", "100", "0", "20", "20"]
    few = figure_domains(table.assign(n=[2 if name == "Film" else 8 for name in table["domain"]]))
    assert words_in(few.axes[0]) == ["50", "0", "20", "20", "n=2"]
    assert "of fewer than 5 items only their number n is shown" in few.get_supxlabel().replace("\n", " ")
    only = figure_domains(table[table["group"] == ""])
    assert only.texts[0].get_text().startswith("No item names a domain")


def position_rows(model: str, shares: tuple[float, ...], right: tuple[float, ...], p: float) -> list[dict[str, object]]:
    about = {"source": "s", "model": model, "method": "letter", "language": "en", "n_options": len(shares), "n": 8,
             "orders": 1}  # fmt: skip
    return [
        {**about, "letter": letter, "accuracy": accuracy, "share_chosen": share, "p_uniform": p}
        for letter, share, accuracy in zip("ABCD", shares, right, strict=False)
    ]


def test_who_prefers_a_letter_is_on_top_and_fewer_options_do_not_count() -> None:
    table = pd.DataFrame(
        [
            *position_rows("even", (0.25, 0.25, 0.25, 0.25), (0.5, 0.5, 0.5, 0.5), 1.0),
            *position_rows("even", (1.0, 0.0), (1.0, 0.0), 0.5),
            *position_rows("mute", (nan, nan, nan, nan), (0.0, 0.0, 0.0, 0.0), nan),
            *position_rows("biased", (0.0, 1.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0), 1e-9),
        ]
    )
    figure = figure_positions(table)
    panel = figure.axes[0]
    assert rows_of(panel) == ["biased (letter)", "even (letter)", "mute (letter)"]
    assert columns_of(panel) == [*"ABCD", "", *"ABCD"]
    assert [words for words in words_in(panel) if words.startswith("p")] == ["p < 0.001", "p = 1.000"]
    assert words_in(panel)[:8] == ["0", "100", "0", "0", "0", "100", "0", "0"]
    assert "8 items each" in caption_of(figure)


def styles(variants: tuple[str, ...]) -> pd.DataFrame:
    shares = {"friendly": 0.5, "neutral": 0.47, "unfriendly": 0.03}
    return pd.DataFrame(
        [
            {"variant": variant, "judge": "j", "language": "en", "speaker": speaker, "style": style, "n": 100 * share,
             "share": share, "n_unparsed": 2}
            for variant in variants
            for speaker in (1, 2)
            for style, share in shares.items()
        ]
    )  # fmt: skip


def test_styles_stand_by_speaker_and_variant() -> None:
    figure = figure_styles(styles(("full", "-styles")))
    (panel,) = figure.axes
    assert rows_of(panel) == [
        "speaker 1, full procedure",
        "speaker 2, full procedure",
        "speaker 1, without personalities",
        "speaker 2, without personalities",
    ]
    assert words_in(panel) == ["50", "47"] * 4  # the narrow bars have no number
    assert "100 dialogues, 8 could not be read" in caption_of(figure)
    assert len(rows_of(figure_styles(styles(("full",))).axes[0])) == 2


def test_domain_counts_stand_side_by_side() -> None:
    table = pd.DataFrame(
        [
            {
                "variant": variant,
                "judge": "j",
                "language": "en",
                "domain": name,
                "n": n,
                "share": n / 4,
                "low": n / 8,
                "high": n / 4,
                "n_unparsed": 0,
            }
            for variant, counts in (("full", (2, 2, 0)), ("-styles", (4, 0, 0)), ("-domains", (1, 1, 2)))
            for name, n in zip(("Film", "Music", "other"), counts, strict=True)
        ]
    )
    figure = figure_domain_counts(table)
    (panel,) = figure.axes
    assert rows_of(panel) == ["Film", "Music", "other"]
    widths = [bar.get_width() for container in panel.containers for bar in container]  # type: ignore[attr-defined]
    assert widths == [50, 50, 0, 100, 0, 0, 25, 25, 50]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "full procedure",
        "without personalities",
        "basic prompt",
    ]
    (chance,) = [line for line in panel.lines if line.get_linestyle() == "--"]
    assert set(chance.get_xdata()) == {5.0}
    assert "gives neither domain nor personalities" in caption_of(figure)
    pair = figure_domain_counts(table[table["variant"] != "-domains"])
    assert "basic" not in caption_of(pair)
