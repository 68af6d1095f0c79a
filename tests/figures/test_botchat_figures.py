"""BotChat's figures on small tables: what they show, and that they show it for every shape of table."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import pairwise
from math import inf, nan
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from scipy.stats import gaussian_kde

from dialeval.figures.botchat import (
    _density,
    figure2_seed_lengths,
    figure3_utterance_lengths,
    figure4_unieval,
    figure5_arena,
    figure6_gteval,
    figure7_unieval_at_gt_length,
    figure_arena_ratings,
)
from dialeval.figures.style import PAGE_WIDTH, save_figure

if TYPE_CHECKING:
    from conftest import BotChatTables

    Missing = Callable[[pd.DataFrame, str], pd.DataFrame]

DRAW: dict[str, Callable[[BotChatTables], Figure]] = {
    "figure3": lambda tables: figure3_utterance_lengths(tables.utterance_tokens()),
    "figure4": lambda tables: figure4_unieval(tables.unieval_pass_rates()),
    "figure5": lambda tables: figure5_arena(tables.arena_win_rates(), 16),
    "figure6": lambda tables: figure6_gteval(tables.gteval()),
    "figure7": lambda tables: figure7_unieval_at_gt_length(tables.unieval_at_gt_length()),
    "ratings": lambda tables: figure_arena_ratings(tables.arena_elo()),
}
EMPTY: dict[str, tuple[str, Callable[[pd.DataFrame], Figure]]] = {
    "figure2": ("botchat/seeds", figure2_seed_lengths),
    "figure3": ("botchat/utterance_tokens", figure3_utterance_lengths),
    "figure4": ("measures/pass_rates", figure4_unieval),
    "figure5": ("measures/win_rates", lambda table: figure5_arena(table, 8)),
    "figure6": ("measures/win_rates", figure6_gteval),
    "figure7": ("measures/pass_rates_at_gt_length", figure7_unieval_at_gt_length),
    "ratings": ("measures/ratings", figure_arena_ratings),
}


def saved(figure: Figure, folder: Path) -> tuple[str, bytes]:
    save_figure(figure, folder / "f.svg", folder / "f.pdf")
    return (folder / "f.svg").read_text(), (folder / "f.pdf").read_bytes()


def texts_of(svg: str) -> list[str]:
    return [re.sub(r"<[^>]+>", "", text).strip() for text in re.findall(r"<text.*?</text>", svg, flags=re.S)]


def rows_of(panel: Axes) -> list[str]:
    return [label.get_text().replace("\n", "") for label in panel.get_yticklabels()]


def words_in(panel: Axes) -> list[str]:
    return [text.get_text() for text in panel.texts]


def legend_of(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


def caption_of(figure: Figure) -> str:
    return figure.get_supxlabel().replace("\n", " ")


def bars_in(panel: Axes) -> list[Rectangle]:
    return [bar for container in panel.containers for bar in container if isinstance(bar, Rectangle)]


def assert_nothing_is_cut(figure: Figure) -> None:
    box = figure.get_tightbbox()
    assert box.x0 >= 0
    assert box.y0 >= 0
    assert box.x1 <= PAGE_WIDTH
    assert box.y1 <= figure.get_figheight()


def assert_rows_do_not_overlap(panel: Axes) -> None:
    boxes = [label.get_window_extent() for label in panel.get_yticklabels() if label.get_text()]
    ordered = sorted(boxes, key=lambda box: float(box.y0))
    assert all(below.y1 <= above.y0 + 0.5 for below, above in pairwise(ordered))


@pytest.mark.parametrize("name", DRAW)
@pytest.mark.parametrize("models", ["two_models", "fifteen_models"])
def test_a_figure_is_the_same_bytes_each_time_and_names_its_models(
    name: str, models: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    tables = request.getfixturevalue(models)
    figure = DRAW[name](tables)
    first, second = saved(figure, tmp_path), saved(DRAW[name](tables), tmp_path)
    assert first == second
    shown = "".join(texts_of(first[0]))
    assert [model for model in tables.models if model not in shown] == []
    assert_nothing_is_cut(figure)


@pytest.mark.parametrize("name", [name for name in DRAW if name != "figure5"])
def test_fifteen_names_stand_apart(name: str, fifteen_models: BotChatTables) -> None:
    figure = DRAW[name](fifteen_models)
    figure.draw_without_rendering()
    assert_rows_do_not_overlap(figure.axes[0])


@pytest.mark.parametrize("name", DRAW)
def test_one_model_is_drawn(name: str, one_model: BotChatTables, tmp_path: Path) -> None:
    svg, _ = saved(DRAW[name](one_model), tmp_path)
    assert ("retrieval" in texts_of(svg)) is (name != "figure5")
    assert ("no comparisons at N = 16" in svg) is (name == "figure5")


@pytest.mark.parametrize("name", EMPTY)
def test_an_empty_table_gives_one_sentence(name: str, no_rows: Callable[[str], pd.DataFrame], tmp_path: Path) -> None:
    schema, draw = EMPTY[name]
    figure = draw(no_rows(schema))
    assert figure.axes == []
    (sentence,) = figure.texts
    assert re.fullmatch(r"[A-Z].*\bno\b.*\.", sentence.get_text(), flags=re.S)
    saved(figure, tmp_path)


@pytest.mark.parametrize("name", EMPTY)
def test_a_table_without_a_column_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="the table has no column"):
        EMPTY[name][1](pd.DataFrame({"other": []}))


@pytest.mark.parametrize("name", ["figure4", "figure6", "figure7", "ratings"])
def test_a_model_without_values_keeps_its_row(
    name: str, fifteen_models: BotChatTables, missing_values: Missing
) -> None:
    inputs = {
        "figure4": fifteen_models.unieval_pass_rates,
        "figure6": fifteen_models.gteval,
        "figure7": fifteen_models.unieval_at_gt_length,
        "ratings": fifteen_models.arena_elo,
    }
    figure = EMPTY[name][1](missing_values(inputs[name](), "GPT-4"))
    assert rows_of(figure.axes[0])[-1] == "GPT-4"
    assert words_in(figure.axes[0]).count("no value") == 1
    figure.draw_without_rendering()


@pytest.mark.parametrize("name", ["figure4", "figure6", "figure7", "ratings"])
def test_a_table_without_any_value_is_drawn(name: str, two_models: BotChatTables) -> None:
    inputs = {
        "figure4": two_models.unieval_pass_rates,
        "figure6": two_models.gteval,
        "figure7": two_models.unieval_at_gt_length,
        "ratings": two_models.arena_elo,
    }
    table = inputs[name]()
    table[table.select_dtypes("float").columns] = nan
    figure = EMPTY[name][1](table)
    assert words_in(figure.axes[0]).count("no value") == len(rows_of(figure.axes[0]))
    figure.draw_without_rendering()


@pytest.mark.parametrize("name", ["figure4", "figure6", "figure7", "ratings"])
def test_each_judge_has_a_panel(name: str, two_judges: BotChatTables) -> None:
    figure = DRAW[name](two_judges)
    titles = [panel.get_title(loc="left").replace("\n", "") for panel in figure.axes]
    for judge in two_judges.judges:
        assert sum(title.endswith(judge) for title in titles) == (2 if name == "ratings" else 1)
    figure.draw_without_rendering()
    assert_nothing_is_cut(figure)


def test_figure2_marks_the_seeds_of_the_arena(two_models: BotChatTables) -> None:
    figure = figure2_seed_lengths(two_models.seeds(), arena_min=4)
    bars = bars_in(figure.axes[0])
    colours = {round(bar.get_x() + bar.get_width() / 2): to_hex(bar.get_facecolor()) for bar in bars}
    assert colours[3] != colours[4]
    assert len({colour for length, colour in colours.items() if length >= 4}) == 1
    assert legend_of(figure) == [
        "serve Arena and GTEval (at least 4 utterances): 222 of 547 dialogues",
        "serve UniEval only: 325",
    ]


def test_figure3_survives_constant_lengths_and_a_single_utterance(tmp_path: Path) -> None:
    tokens = {"constant": [7] * 50, "single": [12], "zeros": [0, 0], "long": [0, 3, 20, 5000]}
    rows = [{"model": model, "tokens": count, "tokenizer": "t"} for model, counts in tokens.items() for count in counts]
    figure = figure3_utterance_lengths(pd.DataFrame(rows))
    svg, _ = saved(figure, tmp_path)
    assert rows_of(figure.axes[0]) == ["zeros", "constant", "single", "long"]
    assert {"0.0", "7.0", "12.0", "1,255.8", "50"} <= set(texts_of(svg))


@pytest.mark.parametrize("logarithmic", [False, True])
def test_the_density_of_lengths_is_that_of_scipy(logarithmic: bool) -> None:
    lengths = np.random.default_rng(5).poisson(12.0, 300).astype(np.float64)
    places, density = _density(lengths, logarithmic)
    shown = np.log1p if logarithmic else np.asarray
    values, counts = np.unique(shown(lengths), return_counts=True)
    kernel = gaussian_kde(values, bw_method=300**-0.2, weights=counts)
    assert len(places) == 160
    np.testing.assert_allclose(density, kernel(shown(places)), rtol=1e-9)


def test_figure3_is_logarithmic_only_where_lengths_differ_widely() -> None:
    near = pd.DataFrame({"model": "a", "tokenizer": "t", "tokens": np.arange(10, 40)})
    far = pd.DataFrame({"model": "a", "tokenizer": "t", "tokens": [*range(10, 40), 4000]})
    assert "logarithmic" not in figure3_utterance_lengths(near).axes[0].get_xlabel()
    assert "logarithmic" in figure3_utterance_lengths(far).axes[0].get_xlabel()


def test_figure3_puts_the_human_dialogues_first(two_models: BotChatTables) -> None:
    figure = figure3_utterance_lengths(two_models.utterance_tokens())
    assert rows_of(figure.axes[0])[0] == "human"
    assert figure.axes[0].get_yticklabels()[0].get_fontweight() == "bold"
    assert figure.axes[0].get_xlabel().startswith("Utterance length in cl100k_base tokens")


def test_figure3_names_a_unit_that_is_no_token() -> None:
    words = "words and marks (cl100k_base is not at hand)"
    lengths = pd.DataFrame({"model": "a", "tokenizer": words, "tokens": [3, 4, 5]})
    assert figure3_utterance_lengths(lengths).axes[0].get_xlabel() == f"Utterance length in {words}; n: utterances"


def test_figure4_without_an_order_sorts_by_the_largest_n_below_people(two_models: BotChatTables) -> None:
    table = two_models.unieval_pass_rates()
    shortest, longest = table["n_utterances"] == 4, table["n_utterances"] == 16
    table.loc[shortest & (table["system"] == "ngram"), "estimate"] = 1.0
    assert rows_of(figure4_unieval(table).axes[0]) == ["human", "retrieval", "ngram"]
    table.loc[longest & (table["system"] == "ngram"), "estimate"] = 1.0
    assert rows_of(figure4_unieval(table).axes[0]) == ["human", "ngram", "retrieval"]


def test_figure4_counts_peoples_shorter_dialogues_apart(two_models: BotChatTables) -> None:
    table = two_models.unieval_pass_rates()
    of_people = table["system"] == "human"
    table.loc[of_people & (table["n_utterances"] == 12), "n"] = 23
    table.loc[of_people & (table["n_utterances"] == 16), ["n", "estimate", "low", "high"]] = [0, nan, nan, nan]
    figure = figure4_unieval(table)
    assert caption_of(figure) == (
        "UniEval pass rate (% of 547 dialogues per model) bars: 95 % interval (clustered by seed) people's dialogues "
        "that are so long: 547 at N = 4, 547 at N = 8, 23 at N = 12, none at N = 16"
    )
    assert rows_of(figure.axes[0])[0] == "human"
    assert "no value" not in words_in(figure.axes[0])


def test_figure4_marks_no_length_as_it_marks_published_numbers(fifteen_models: BotChatTables) -> None:
    figure = figure4_unieval(fifteen_models.unieval_pass_rates())
    shapes = [handle.get_marker() for handle in figure.legends[0].legend_handles]
    assert len(set(shapes)) == len(shapes) == 5


def test_figure4_states_n_the_interval_and_published_numbers(fifteen_models: BotChatTables) -> None:
    figure = figure4_unieval(fifteen_models.unieval_pass_rates())
    assert caption_of(figure) == (
        "UniEval pass rate (% of 547 dialogues per model) bars: 95 % interval (clustered by seed)"
    )
    assert legend_of(figure) == ["N = 4", "N = 8", "N = 12", "N = 16", "published"]


def test_unparsed_verdicts_stand_beside_the_rates(one_model: BotChatTables, two_models: BotChatTables) -> None:
    assert words_in(figure4_unieval(one_model.unieval_pass_rates()).axes[0]) == ["unparsed", "3"]
    assert words_in(figure4_unieval(two_models.unieval_pass_rates()).axes[0]) == []


def test_figure5_shows_every_cell_of_few_models(two_models: BotChatTables) -> None:
    table = two_models.arena_win_rates()
    win, both = figure5_arena(table, 16).axes[:2]
    expected = table[(table["n_utterances"] == 16) & (table["system"] == "retrieval")].iloc[0]
    assert words_in(win)[0] == f"{100 * expected['win']:.0f}"
    assert words_in(both)[0] == f"{100 * (expected['win'] + expected['tie']):.0f}"


def test_figure5_writes_numbers_into_the_cells_of_many_models(fifteen_models: BotChatTables) -> None:
    figure = figure5_arena(fifteen_models.arena_win_rates(), 16)
    figure.draw_without_rendering()
    win, both = figure.axes[:2]
    assert len(words_in(win)) == len(words_in(both)) == 15 * 14
    width = win.get_window_extent().width / 15
    assert max(text.get_window_extent().width for text in win.texts) < width


def test_figure5_fills_in_the_other_direction_of_a_pair(two_models: BotChatTables) -> None:
    table = two_models.arena_win_rates()
    one_way = table[table["system"] == "ngram"]
    for half, whole in zip(figure5_arena(one_way, 8).axes[:2], figure5_arena(table, 8).axes[:2], strict=True):
        np.testing.assert_allclose(matrix_in(half), matrix_in(whole))


def matrix_in(panel: Axes) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    return np.ma.filled(panel.images[0].get_array(), nan)


def test_figure5_leaves_missing_rates_blank(fifteen_models: BotChatTables, tmp_path: Path) -> None:
    table = fifteen_models.arena_win_rates()
    table.loc[table["system"] == "GPT-4", ["win", "tie", "lose", "unparsed"]] = nan
    figure = figure5_arena(table, 16)
    assert rows_of(figure.axes[0])[-1] == "GPT-4"
    assert np.isnan(matrix_in(figure.axes[0])[-1]).all()
    saved(figure, tmp_path)


def test_figure5_of_another_length_says_so(two_models: BotChatTables) -> None:
    (sentence,) = figure5_arena(two_models.arena_win_rates(), 12).texts
    assert "N = 12" in sentence.get_text()


def test_figure6_stacks_to_the_whole(fifteen_models: BotChatTables) -> None:
    figure = figure6_gteval(fifteen_models.gteval())
    widths: dict[int, float] = {}
    for bar in bars_in(figure.axes[0]):
        row = round(bar.get_y() + bar.get_height() / 2)
        widths[row] = widths.get(row, 0.0) + bar.get_width()
    assert widths == pytest.approx(dict.fromkeys(range(15), 1.0))
    assert rows_of(figure.axes[0]) == list(fifteen_models.models)
    assert legend_of(figure)[1:] == ["tie", "lose", "unparsed verdict", "published win + tie"]


def test_figure6_names_unparsed_verdicts_only_where_there_are_some(two_models: BotChatTables) -> None:
    table = two_models.gteval().assign(unparsed=0.0)
    assert "unparsed verdict" not in legend_of(figure6_gteval(table))


def test_figure6_writes_every_share_and_names_only_what_occurs(two_models: BotChatTables) -> None:
    table = two_models.gteval().assign(win=[0.02, 0.01], tie=0.0, lose=[0.98, 0.99], unparsed=0.0)
    figure = figure6_gteval(table.assign(win_or_tie=[0.02, 0.01]))
    assert legend_of(figure) == ["win (the human one is taken for AI)", "lose"]
    assert words_in(figure.axes[0]) == ["win", "2", "1", "lose", "98", "99"]


@pytest.mark.parametrize("name", ["figure3", "figure4", "figure5", "figure6", "figure7", "ratings"])
def test_every_figure_keeps_a_given_order_below_people(name: str, fifteen_models: BotChatTables) -> None:
    order = sorted(fifteen_models.models)
    draw = {
        "figure3": lambda: figure3_utterance_lengths(fifteen_models.utterance_tokens(), order),
        "figure4": lambda: figure4_unieval(fifteen_models.unieval_pass_rates(), order=order),
        "figure5": lambda: figure5_arena(fifteen_models.arena_win_rates(), 8, order),
        "figure6": lambda: figure6_gteval(fifteen_models.gteval(), order=order),
        "figure7": lambda: figure7_unieval_at_gt_length(fifteen_models.unieval_at_gt_length(), order=order),
        "ratings": lambda: figure_arena_ratings(fifteen_models.arena_elo(), order=order),
    }[name]
    rows = rows_of(draw().axes[0])
    assert [row for row in rows if row != "human"] == order
    assert "human" not in rows[1:]


def test_figure7_gives_the_range_of_n(two_models: BotChatTables) -> None:
    table = two_models.unieval_at_gt_length()
    table.loc[0, "n"] = 220
    assert "% of 220 to 222 dialogues" in caption_of(figure7_unieval_at_gt_length(table))


def test_figure7_draws_the_human_dialogues_in_grey(two_models: BotChatTables) -> None:
    panel = figure7_unieval_at_gt_length(two_models.unieval_at_gt_length()).axes[0]
    colours = [to_hex(bar.get_facecolor()) for bar in bars_in(panel)]
    assert dict(zip(rows_of(panel), colours, strict=True))["human"] == "#666666"


def test_ratings_without_other_methods_show_elo_alone(two_models: BotChatTables) -> None:
    table = two_models.arena_elo()
    others = [column for column in table.columns if column.startswith(("bradley", "davidson"))]
    assert legend_of(figure_arena_ratings(table)) == ["Elo (bootstrap)", "Bradley-Terry", "Davidson"]
    assert legend_of(figure_arena_ratings(table.assign(**dict.fromkeys(others, nan)))) == ["Elo (bootstrap)"]


def test_a_rating_without_limit_stands_at_the_edge(fifteen_models: BotChatTables, tmp_path: Path) -> None:
    table = fifteen_models.arena_elo()
    best, worst = (table["system"] == table["system"].iloc[i] for i in (0, -1))
    table.loc[best, ["bradley_terry", "bradley_terry_high"]] = [2900.0, inf]
    table.loc[worst, ["davidson", "davidson_low"]] = [-700.0, -inf]
    table.loc[best | worst, "note"] = "the data set no limit"
    figure = figure_arena_ratings(table)
    assert {"2,900 →", " ← -700", "5 *"} <= set(words_in(figure.axes[0]))
    assert figure.axes[0].get_xlim()[1] < 1500
    assert caption_of(figure).endswith("*: see the table's note")
    saved(figure, tmp_path)


@pytest.mark.parametrize("name", DRAW)
def test_drawing_does_not_change_its_table(name: str, two_models: BotChatTables) -> None:
    drawn = {
        "figure3": "utterance_tokens", "figure4": "unieval_pass_rates", "figure5": "arena_win_rates",
        "figure6": "gteval", "figure7": "unieval_at_gt_length", "ratings": "arena_elo",
    }  # fmt: skip
    table = getattr(two_models, drawn[name])()
    before = table.copy()
    draw = EMPTY[name][1]
    draw(table)
    pd.testing.assert_frame_equal(table, before)


def test_the_order_of_rows_does_not_change_a_figure(fifteen_models: BotChatTables, tmp_path: Path) -> None:
    def shuffled(tables: Iterable[pd.DataFrame]) -> list[pd.DataFrame]:
        return [table.sample(frac=1, random_state=1) for table in tables]

    tables = [fifteen_models.unieval_pass_rates(), fifteen_models.gteval(), fifteen_models.arena_elo()]
    draws = [figure4_unieval, figure6_gteval, figure_arena_ratings]
    for draw, table, other in zip(draws, tables, shuffled(tables), strict=True):
        assert saved(draw(table), tmp_path) == saved(draw(other), tmp_path)
