"""What the figures of systems show: rows, series, references and words of BotChat's and any protocol's figures."""

from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np
import pandas as pd
import pytest
from drawn_figures import (
    JUDGES,
    against_human,
    all_tables,
    battles,
    bias,
    corrected,
    frame,
    means,
    panels,
    pass_rates,
    plot,
    rates,
    ratings,
    rows,
    specification,
    titles,
    tokens,
    win_rates,
)

from dialeval.figures.panels import HeatMap, Lines
from dialeval.figures.plot import Missing, figure_of_plot
from dialeval.figures.row_panels import Forest
from dialeval.figures.style import text_width
from dialeval.figures.systems import groups_of

SYSTEMS = ["b", "a", "c"]
"""From the best to the worst."""


def test_the_seeds_of_the_arena_are_dark() -> None:
    found = plot("botchat/figure2_seed_lengths", all_tables(SYSTEMS), arena_min=30)
    (panel,) = panels(found)
    assert panel.dark == list(range(30, 40))
    assert found.n == "n = 45,600 dialogues, 12,000 of them for Arena and GTEval"


def test_utterance_lengths_begin_with_the_human_ones_and_name_the_unit() -> None:
    table = tokens(SYSTEMS)
    table.loc[table["model"] == "b", "tokens"] = 90
    (panel,) = panels(plot("botchat/figure3_utterance_lengths", {"botchat/utterance_tokens": table}))
    assert rows(panel)[:2] == ["human", "b"]
    assert panel.axis == "Utterance length (cl100k_base tokens)"
    words = table.assign(tokenizer="characters between blanks")
    (panel,) = panels(plot("botchat/figure3_utterance_lengths", {"botchat/utterance_tokens": words}))
    assert panel.axis == "Utterance length (characters between blanks)"


def test_pass_rates_are_lines_over_length_a_panel_per_judge() -> None:
    found = plot("botchat/figure4_unieval", {"unieval/pass_rates": pass_rates(SYSTEMS, JUDGES)})
    assert titles(found) == list(JUDGES)
    panel = panels(found)[0]
    assert isinstance(panel, Lines)
    assert set(panel.table["line"]) == {"human", *SYSTEMS}
    assert "human dialogues: 250 at N = 4" in found.n
    assert "unparsed: 32" in found.n
    assert "Diamonds are published numbers" in found.caption


def test_pass_rates_of_one_length_are_a_forest() -> None:
    (panel,) = panels(plot("measures/pass_rates", {"mine/pass_rates": pass_rates(SYSTEMS, JUDGES[:1], (4,))}))
    assert isinstance(panel, Forest)
    assert rows(panel) == ["human", *SYSTEMS]


def test_a_system_has_one_colour_whatever_a_figure_shows() -> None:
    lines = panels(plot("botchat/figure4_unieval", {"unieval/pass_rates": pass_rates(SYSTEMS, JUDGES)}, roster=SYSTEMS))
    forest = panels(plot("measures/means", {"mine/means": means(["c"], JUDGES[:1])}, roster=SYSTEMS))
    assert lines[0].marks["c"] == forest[0].marks["c"]
    assert len({lines[0].marks[name] for name in ["human", *SYSTEMS]}) == 4


def test_win_maps_sort_by_wins_and_half_the_ties_and_fill_in_the_other_direction() -> None:
    table = win_rates(["a", "b"], JUDGES[:1], 8).query("system == 'x' or opponent == 'x'")
    table.loc[table["opponent"] == "x", ["win", "tie", "lose"]] = [0.2, 0.1, 0.7]
    table.loc[table["system"] == "x", ["win", "tie", "lose"]] = [0.7, 0.1, 0.2]
    one_way = table[table["system"] == "x"]
    for shown in (table, one_way):
        found = plot("botchat/figure5_arena_n8", {"arena/win_rates": shown})
        win, win_or_tie = panels(found)
        assert titles(found) == ["Win", "Win or tie"]
        assert list(win.values.index) == ["x", "a", "b"]
        np.testing.assert_allclose(win.values.loc["x", ["a", "b"]], 0.7)
        np.testing.assert_allclose(win_or_tie.values.loc[["a", "b"], "x"], 0.3)
        assert np.isnan(win.values.loc["a", "b"])
    other = specification("botchat/figure5_arena_n8", {"arena/win_rates": table.assign(n_utterances=16)})
    assert other == Missing("The Arena has no comparisons at N = 8.")


def test_outcomes_add_up_and_name_unparsed_verdicts_only_if_there_are_some() -> None:
    table = against_human(SYSTEMS, JUDGES[:1])
    (panel,) = panels(plot("botchat/figure6_gteval", {"gteval/win_rates": table}))
    np.testing.assert_allclose(panel.shares.sum(axis=1), 1.0)
    assert list(panel.key()) == ["win", "tie", "unparsed", "lose"]
    (panel,) = panels(plot("botchat/figure6_gteval", {"gteval/win_rates": table.assign(unparsed=0.0)}))
    assert list(panel.key()) == ["win", "tie", "lose"]


def test_at_the_human_length_people_are_a_reference() -> None:
    table = pass_rates(SYSTEMS, JUDGES[:1], (8,))
    (panel,) = panels(plot("botchat/figure7_unieval_at_gt_length", {"unieval/pass_rates_at_gt_length": table}))
    assert rows(panel) == SYSTEMS
    assert [one.label for one in panel.references] == ["human"]


def test_ratings_have_a_series_per_method_and_an_axis_for_the_identifiable_ones() -> None:
    found = plot("botchat/table2_arena_ratings", {"arena/ratings": ratings(SYSTEMS, JUDGES[:1])})
    assert titles(found) == ["N = 8", "N = 16"]
    panel = panels(found)[0]
    assert rows(panel) == SYSTEMS
    assert list(panel.series) == ["Elo (bootstrap)", "Bradley–Terry", "Davidson"]
    low, high = panel.limits
    assert 0 < low < 860
    assert high > 1400
    elo = ratings(SYSTEMS, JUDGES[:1]).assign(bradley_terry=np.nan, davidson=np.nan)
    assert list(plot("measures/ratings", {"mine/ratings": elo}).key) == ["Elo (bootstrap)"]


def test_an_interval_far_beyond_the_others_does_not_stretch_the_axis() -> None:
    table = ratings(SYSTEMS, JUDGES[:1])
    table.loc[table["system"] == "b", "davidson_ci_high"] = 9e6
    assert panels(plot("measures/ratings", {"mine/ratings": table}))[0].limits[1] < 3000


def test_ticks_of_narrow_axes_do_not_touch() -> None:
    table = ratings(["Harbour 2 (large)", *SYSTEMS], JUDGES[:2]).query("n_utterances == 8")
    numbers = {"estimate": [1521.0, 1143.0, 724.0, 612.0] * 2, "ci_low": 282.0, "ci_high": 1832.0}
    wide = table.assign(**numbers, bradley_terry=np.nan, davidson=np.nan)
    found = plot("measures/ratings", {"mine/ratings": wide})
    figure = figure_of_plot(found)
    figure.draw_without_rendering()
    for axes in figure.axes:
        shown = [tick.label1.get_window_extent() for tick in axes.xaxis._update_ticks() if tick.label1.get_text()]
        assert len(shown) > 1
        assert all(after.x0 - before.x1 > 2 for before, after in pairwise(shown))


def test_numbers_of_rows_stand_at_the_right_of_arabic_names() -> None:
    arabic = "\u0646\u0645\u0648\u0630\u062c"
    found = plot("measures/win_rates", {"mine/win_rates": win_rates([arabic, "able", "sad"], JUDGES[:1], None)})
    labels = [label.get_text() for label in figure_of_plot(found).axes[0].get_yticklabels()]
    numbered = [(label.replace("\u200e", "|"), n + 1) for n, label in enumerate(labels)]
    assert all(label == f"|{arabic}|  {n}" if arabic in label else label.endswith(f"  {n}") for label, n in numbered)
    assert any(arabic in label for label in labels)
    assert not any("|" in label for label, _ in numbered if arabic not in label)
    assert text_width(f"\u200e{arabic}\u200e  1") == pytest.approx(text_width(f"{arabic}  1")), "marks have no width"


def test_battles_are_ratings_best_first() -> None:
    found = plot("battles/battles", {"battles/battles": battles(SYSTEMS).sample(frac=1, random_state=0)})
    assert rows(panels(found)[0]) == SYSTEMS
    assert "90% confidence interval" in found.caption
    assert found.n.startswith("n = 500 comparisons per system")


def test_means_have_a_panel_per_criterion_and_a_series_per_judge() -> None:
    found = plot("measures/means", {"mine/means": means(SYSTEMS, JUDGES)})
    assert titles(found) == ["empathy", "goal reached"]
    assert rows(panels(found)[0]) == SYSTEMS
    assert set(found.key) == set(JUDGES)
    assert found.n.endswith("unparsed: 12")
    assert not plot("measures/means", {"mine/means": means(SYSTEMS, JUDGES[:1])}).key


def test_shares_name_their_label_and_a_system_without_one_keeps_its_row() -> None:
    table = rates(SYSTEMS, JUDGES[:1])
    lacks = table[(table["system"] != "a") | (table["label"] != "rude")]
    friendly, rude = panels(plot("measures/rates", {"mine/rates": lacks}))
    assert (friendly.title, rude.title) == ("tone, friendly", "tone, rude")
    assert rows(rude) == rows(friendly)
    assert "a" not in set(rude.table["row"])
    assert rude.limits == (0.0, 1.0)


def test_win_rates_against_one_opponent_are_a_forest() -> None:
    pairs = [
        {"judge": "j", "system": a, "opponent": b, "estimate": 0.5, "ci_low": 0.4, "ci_high": 0.6, "n": 30, "win": 0.4,
         "tie": 0.2, "lose": 0.3, "unparsed": 0.1, "n_clusters": 30}
        for a, b in permutations(SYSTEMS, 2)
    ]  # fmt: skip
    table = frame("measures/win_rates", pairs)
    assert isinstance(panels(plot("measures/win_rates", {"mine/win_rates": table}))[0], HeatMap)
    against = table[table["opponent"] == "c"]
    found = plot("measures/win_rates", {"mine/win_rates": against})
    assert rows(panels(found)[0]) == ["a", "b"]
    assert "comparisons with c" in found.caption


def test_bias_has_a_panel_per_measure_with_values_and_one_of_agreement() -> None:
    table = bias(("gpt", "qwen", "yi"))
    table.loc[table["measure"] == "retest_inconsistency", ["estimate", "ci_low", "ci_high"]] = np.nan
    table.loc[(table["measure"] == "order_inconsistency") & (table["judge"] == "gpt"), "estimate"] = np.nan
    table.loc[table["measure"] == "unparsed", "estimate"] = 0.0
    found = plot("botchat/bias_mine", {"mine/bias": table})
    assert [title.split(" (")[0] for title in titles(found)] == [
        "Order inconsistency", "First position wins", "Longer dialogue wins", "Length slope", "Self-preference",
        "Agreement: Cohen's kappa, Krippendorff's alpha",
    ]  # fmt: skip
    flips, agreement = panels(found)[0], panels(found)[-1]
    assert rows(flips) == ["gpt", "qwen", "yi"]
    assert "gpt" not in set(flips.table["row"])
    assert rows(agreement) == ["all judges", "gpt & qwen", "gpt & yi", "qwen & yi"]
    assert list(found.key) == ["N = 8", "N = 16"]
    assert "Not available: changed verdicts in a retest" in found.caption
    assert isinstance(specification("botchat/bias_mine", {"mine/bias": table.assign(estimate=np.nan)}), Missing)


def test_human_corrected_estimates_have_three_series_and_leave_pairs_to_the_table() -> None:
    found = plot("labels/estimates", {"labels/estimates": corrected(SYSTEMS, JUDGES[:1])})
    assert titles(found) == ["felt, warm", "felt"]
    assert list(found.key) == ["judge only", "human labels only", "human-corrected"]
    assert rows(panels(found)[0]) == SYSTEMS
    assert panels(found)[1].axis == "Win rate (%)"
    several = corrected(SYSTEMS, (*JUDGES, "panel"))
    assert titles(plot("labels/estimates", {"labels/estimates": several})) == [
        "felt, warm, judge: panel", "felt, judge: panel",
    ]  # fmt: skip
    simulated = corrected(SYSTEMS, JUDGES[:1]).assign(annotators="simulated")
    assert "simulated annotators" in plot("labels/estimates", {"labels/estimates": simulated}).caption


def test_more_panels_than_a_page_holds_are_counted() -> None:
    table = pd.concat(means(SYSTEMS, JUDGES[:1]).assign(criterion=f"criterion {n}") for n in range(30))
    found = plot("measures/means", {"mine/means": table.drop_duplicates(["criterion", "system"])})
    assert len(panels(found)) == 24
    assert "6 more panels are in the table" in found.caption


@pytest.mark.parametrize("name", ["measures/means", "measures/rates", "botchat/figure4_unieval", "measures/win_rates"])
def test_a_table_without_values_is_missing(name: str) -> None:
    tables = {
        table: frame.assign(estimate=np.nan, n=0) for table, frame in all_tables(SYSTEMS).items() if "estimate" in frame
    }
    assert isinstance(specification(name, tables), Missing)


def test_what_a_number_is_of_parts_the_rows() -> None:
    table = means(["a"], ["gpt", "qwen"])[["judge", "criterion", "n_utterances", "system", "estimate"]]
    assert [title for title, _ in groups_of(table, "judge")] == ["empathy", "goal reached"]
    assert [title for title, _ in groups_of(table)][:2] == ["gpt, empathy", "gpt, goal reached"]
