"""What the figures of judges and examinees show: meta-evaluation, robustness, DialogBench and training."""

from __future__ import annotations

from math import nan

import metaeval_example as rated
import numpy as np
import pandas as pd
import pytest
import robustness_example as perturbed
import training_example
from drawn_figures import (
    NAMES,
    TASKS,
    accuracy,
    averages,
    domain_counts,
    domains,
    panels,
    plot,
    positions,
    rows,
    specification,
    styles,
    titles,
)

from dialeval.figures.metaeval_names import (
    averaged_groups,
    dimension_order,
    main_dimension,
    one_dimension,
    rated_otherwise,
)
from dialeval.figures.panels import HeatMap
from dialeval.figures.plot import Missing, Plot
from dialeval.tables.files import empty_table
from dialeval.tables.metaeval import AVERAGES, CORRELATIONS

THIRTY = tuple((f"my-lab/judge-{place:02}", "rating" if place % 2 else "yes_no") for place in range(30))
BEST_FIRST = ["gpt-x (rating)", "forest (yes_no)", "length (yes_no)", "gpt-4 (annotation)"]


def of_ratings(name: str, **replaced: pd.DataFrame) -> Plot:
    """The plot of a figure of meta-evaluation, with some tables replaced."""
    tables = {table: frame.to_pandas() for table, frame in rated.tables().items()}
    tables["metaeval/dimension_ensemble"] = rated.dimension_ensemble().to_pandas()
    tables["metaeval/ranking_agreement"] = rated.ranking_agreement().to_pandas()
    return plot(f"metaeval/{name}", tables | {f"metaeval/{table}": frame for table, frame in replaced.items()})


def headings(found: Plot) -> list[str]:
    return [section.title for section in found.sections]


def test_correlations_have_a_panel_per_dimension_and_judges_best_first() -> None:
    found = of_ratings("judges")
    assert titles(found) == ["Overall", *(name.capitalize() for name in rated.DIALOGUE), "Average"]
    assert headings(found) == [
        "many, turn level (mean over 2 languages; human ratings)", "one, dialogue level (en; human ratings)",
    ]  # fmt: skip
    assert all(rows(panel) == BEST_FIRST for panel in panels(found))
    assert "published" in found.caption


def test_a_judge_without_a_correlation_keeps_its_row_and_comes_last() -> None:
    table = rated.averages().to_pandas()
    table.loc[table["judge"] == "gpt-x", ["pearson", "pearson_ci_low", "pearson_ci_high"]] = nan
    panel = panels(of_ratings("judges", averages=table))[0]
    assert rows(panel)[-1] == "gpt-x (rating)"


def test_what_is_known_by_construction_has_a_section_without_any_average() -> None:
    built = rated.correlations(kind="construction").to_pandas()
    found = of_ratings("judges", averages=empty_table(AVERAGES).to_pandas(), correlations=built)
    assert len(panels(found)) == 5
    assert "small-talk, dialogue level (en; known by construction)" in found.caption


def test_averages_over_all_raters_stand_in_where_people_rated_nothing_and_follow_where_they_are_more() -> None:
    averages = rated.averages(languages=["en"]).to_pandas()
    full = averages.assign(raters="full")
    nothing = empty_table(CORRELATIONS).to_pandas()
    assert [group.title for group in averaged_groups(full, nothing)] == [
        "many, turn level (en; human ratings, else a model's)",
        "one, dialogue level (en; human ratings, else a model's)",
    ]
    same = pd.concat([averages, full])
    assert len(list(averaged_groups(same, nothing, also_full=True))) == 2
    more = pd.concat([averages, full.assign(n_averaged=3)])
    assert len(list(averaged_groups(more, nothing))) == 2
    assert len(list(averaged_groups(more, nothing, also_full=True))) == 4


def test_all_dimensions_together_are_shown_only_where_they_say_something_new() -> None:
    averages = rated.averages().to_pandas()
    every = averages[averages["dimension"] == "overall"].assign(dimension="all", published_pearson=0.3)
    nothing = empty_table(CORRELATIONS).to_pandas()
    one, five = averaged_groups(pd.concat([averages, every]), nothing)
    assert dimension_order(one.rows["dimension"]) == ["overall"]
    assert one.rows["published_pearson"].tolist() == [0.3] * 4  # what the paper prints of all dimensions
    assert "all" not in set(five.rows["dimension"])
    relevance = {"dimension": "relevance", "rated": "relevance"}
    two = pd.concat([averages, every, averages[averages["level"] == "turn"].assign(**relevance)])
    one, _ = averaged_groups(two, nothing)
    assert dimension_order(one.rows["dimension"]) == ["relevance", "overall", "all"]
    found = of_ratings("judges", averages=two[two["level"] == "turn"], correlations=nothing)
    assert titles(found) == ["Relevance", "Overall", "All dimensions"]
    assert headings(of_ratings("judges_by_language", averages=two)) == [
        "many, turn level (all dimensions; human ratings)"
    ]


def test_only_what_differs_from_the_question_is_named_as_rated() -> None:
    about = pd.DataFrame({"dimension": ["relevance", "all"], "rated": ["relevance", "overall, relevance"]})
    assert rated_otherwise(about) == ""
    assert rated_otherwise(about.assign(rated="overall, relevance")) == "; rated: relevance, overall"
    turns = rated.averages().to_pandas().query("level == 'turn'").assign(dimension="relevance", rated="overall")
    assert headings(of_ratings("judges_by_language", averages=turns)) == [
        "many, turn level (relevance; human ratings; rated: overall)"
    ]
    coherence = rated.correlations().to_pandas().query("dimension == 'coherence'").assign(rated="overall")
    (panel,) = panels(of_ratings("judges_by_corpus", correlations=coherence))
    assert list(panel.values.columns) == ["small-talk (coherence; rated: overall)"]


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


def test_orders_are_the_papers() -> None:
    assert dimension_order(["average", "zest", "all", "overall", "diversity", "coherence"]) == [
        "coherence", "diversity", "overall", "zest", "all", "average",
    ]  # fmt: skip
    assert main_dimension(["relevance", "overall"]) == "overall"
    assert main_dimension(["specificity", "relevance"]) == "relevance"


def test_corpora_are_columns_that_name_another_dimension_and_rater() -> None:
    model = rated.correlations(kind="model", corpora=["a-corpus"]).to_pandas().query("dimension == 'diversity'")
    both = pd.concat([rated.correlations(corpora=["b-corpus"]).to_pandas(), model])
    (panel,) = panels(of_ratings("judges_by_corpus", correlations=both))
    assert list(panel.values.columns) == ["a-corpus (diversity, model)", "b-corpus"]
    assert list(panel.values.index) == BEST_FIRST


def test_languages_are_columns_with_english_first_and_their_average_last() -> None:
    (panel,) = panels(of_ratings("judges_by_language"))
    assert list(panel.values.columns) == ["en", "zh", "average"]


def test_square_maps_are_symmetric_without_a_diagonal_and_begin_with_the_ratings() -> None:
    found = of_ratings("dimensions")
    assert titles(found)[0] == "human ratings"
    assert len(panels(found)) == 5
    values = panels(found)[0].values
    assert list(values.index) == ["coherence", "engagingness", "diversity", "informativeness", "overall"]
    assert np.isnan(np.diag(values)).all()
    assert (values.to_numpy()[~np.eye(5, dtype=bool)] == 0.5).all()
    assert len(panels(of_ratings("languages"))) == 5
    (judges,) = panels(of_ratings("judges_among_themselves"))
    assert judges.values.index[0] == "human ratings"


def test_the_corpus_with_most_human_ratings_stands_for_its_level_and_of_equal_ones_the_papers() -> None:
    rich, poor = rated.matrices().to_pandas(), rated.matrices().to_pandas().assign(corpus="a-corpus")
    poor = poor[poor["scorer"] != "human ratings"]
    assert headings(of_ratings("dimensions", matrices=pd.concat([poor, rich]))) == ["small-talk, dialogue level"]
    many = pd.concat([rich.assign(corpus=name) for name in ("a", "xDial-FED-Dial", "b")])
    assert headings(of_ratings("languages", matrices=many)) == ["xDial-FED-Dial, dialogue level: overall"]
    shown = headings(of_ratings("judges_among_themselves", matrices=many))
    assert [title.split(",")[0] for title in shown] == ["xDial-FED-Dial", "a"]


def test_ensembles_have_panels_only_where_there_is_one_and_the_mean_comes_last() -> None:
    found = of_ratings("ensembles")
    assert titles(found) == ["Coherence", "Overall"]
    assert rows(panels(found)[0]) == ["a-corpus", "small-talk", "average"]
    assert list(found.key) == ["best on all corpora", "best on other corpora", "best member alone"]
    table = rated.model_ensemble().to_pandas()
    without = table["chosen_on"] == "other corpora"
    table.loc[without, ["pearson", "published_pearson", "n"]] = [nan, nan, 0]
    one = of_ratings("ensembles", model_ensemble=table)
    assert list(one.key) == ["best on all corpora", "best member alone"]
    assert not one.n.startswith("n = 0")  # counts behind no number
    none = {"metaeval/model_ensemble": rated.model_ensemble().to_pandas().assign(pearson=nan)}
    assert isinstance(specification("metaeval/ensembles", none), Missing)


def test_dimension_ensembles_are_shown_by_people_and_by_all_and_one_corpus_needs_no_mean() -> None:
    found = of_ratings("dimension_ensembles")
    assert headings(found) == [
        "one, dialogue level (en; human ratings)", "one, dialogue level (en; human ratings, else a model's)",
    ]  # fmt: skip
    assert rows(panels(found)[1]) == BEST_FIRST
    table = rated.dimension_ensemble().to_pandas()
    alone = table[table["corpus"] == "a-corpus"]
    assert headings(of_ratings("dimension_ensembles", dimension_ensemble=alone)) == [
        "a-corpus, dialogue level (en; a model's ratings)"
    ]
    built = pd.concat([alone.assign(corpus=name, rater_kind="construction") for name in ("steps", "more")])
    shown = headings(of_ratings("dimension_ensembles", dimension_ensemble=built))
    assert [title.split(",")[0] for title in shown] == ["more", "steps"]


def test_rankings_have_a_section_per_corpus_and_model() -> None:
    found = of_ratings("rankings")
    assert headings(found) == ["small-talk, dialogue level: human and gpt-4"]
    assert rows(panels(found)[0]) == list(rated.DIALOGUE)
    assert found.n == "n = 9 to 13 judges per ranking"


def test_annotators_have_a_section_per_rater() -> None:
    assert headings(of_ratings("annotators")) == [
        "small-talk: 3 ratings by people", "small-talk: 5 ratings by gpt-4 (a model)",
    ]  # fmt: skip


def test_ceilings_have_a_section_per_corpus_and_kind_of_rater_with_people_first() -> None:
    found = of_ratings("ceilings")
    assert headings(found) == [
        "small-talk, dialogue level (en; human ratings)", "small-talk, dialogue level (en; a model's ratings)",
    ]  # fmt: skip
    assert rows(panels(found)[0]) == BEST_FIRST
    table = panels(found)[0].table
    assert set(table.loc[table["series"] == "ceiling", "estimate"]) == {0.85}


def test_the_axis_of_correlations_holds_every_interval() -> None:
    table = rated.averages().to_pandas()
    table.loc[table["judge"] == "gpt-x", "pearson_ci_low"] = -0.7
    assert panels(of_ratings("judges", averages=table))[0].limits == (pytest.approx(-0.75), 1.02)


def of_pairs(name: str, judges: tuple[tuple[str, str], ...] = perturbed.JUDGES, **replaced: pd.DataFrame) -> Plot:
    """The plot of a figure of robustness, with some tables replaced."""
    tables = {table: frame.to_pandas() for table, frame in perturbed.tables(judges).items()}
    return plot(f"robustness/{name}", tables | {f"robustness/{table}": frame for table, frame in replaced.items()})


def test_ratios_have_a_section_per_level_a_panel_per_judge_and_rows_by_dimension() -> None:
    found = of_pairs("ratios")
    assert headings(found) == ["small-talk, turn level (en)", "small-talk, dialogue level (en)"]
    assert titles(found) == ["gpt-x (rating)", "gpt-x (yes_no)", "random (yes_no)"] * 2
    best = panels(found)[0]
    assert [(row.label, row.group) for row in best.rows] == [
        ("Random response", "Relevance"), ("Dullness", "Interestingness"), ("Dullness", "Specificity"),
    ]  # fmt: skip
    falls, rises = (best.table[best.table["series"] == series] for series in found.key)
    np.testing.assert_allclose(falls["estimate"], 0.8)
    np.testing.assert_allclose(falls["published"], 0.62)
    np.testing.assert_allclose(rises["estimate"], 0.1)
    unpublished = perturbed.robustness().to_pandas().assign(published_ratio=nan)
    assert "published" not in of_pairs("ratios", robustness=unpublished).caption


def test_judges_are_sorted_by_what_they_detect_beyond_noise() -> None:
    table = perturbed.robustness().to_pandas()
    table.loc[table["method"] == "rating", "increase_ratio"] = 0.75  # its ratio is the highest, but worth .05
    table.loc[table["judge"] == "random", ["ratio", "increase_ratio"]] = nan
    assert titles(of_pairs("ratios", robustness=table))[:3] == ["gpt-x (yes_no)", "gpt-x (rating)", "random (yes_no)"]


def test_more_than_eight_judges_are_rows_of_a_heat_map() -> None:
    turn, dialogue = panels(of_pairs("ratios", THIRTY))
    assert isinstance(turn, HeatMap)
    assert list(turn.values.index[:2]) == ["my-lab/judge-00 (yes_no)", "my-lab/judge-01 (rating)"]
    assert list(turn.values.columns) == ["Random response", "Dullness", "Dullness"]
    assert dialogue.values.shape == (30, 2)
    assert len(panels(of_pairs("ratios", THIRTY[:8]))) == 16


def test_one_language_of_each_corpus_is_shown() -> None:
    table = perturbed.robustness(languages=("zh", "en"), corpora=("b", "a")).to_pandas()
    found = of_pairs("ratios", robustness=table)
    assert headings(found) == [
        "a, turn level (en)", "b, turn level (en)", "a, dialogue level (en)", "b, dialogue level (en)",
    ]  # fmt: skip
    assert "One language of each corpus" in found.caption
    assert "One language" not in of_pairs("ratios").caption


def test_boxes_have_the_threshold_of_their_row_and_an_axis_for_every_whisker() -> None:
    found = of_pairs("score_drops")
    assert panels(found)[0].table["threshold"].tolist() == [0.3, 0.2, 0.2]
    wide = perturbed.drops().to_pandas().assign(p05=-0.9, p95=0.2)
    low, high = panels(of_pairs("score_drops", score_drops=wide))[0].limits
    assert low < -0.9
    assert 0.5 < high < 0.6


def test_a_strategy_that_the_ratios_lack_has_a_row() -> None:
    drops = perturbed.drops().to_pandas()
    own = drops[drops["level"] == "turn"].assign(perturbation="typing_errors", dimension="relevance").iloc[:1]
    labels = rows(panels(of_pairs("score_drops", score_drops=pd.concat([own, drops])))[0])
    assert sorted(labels) == ["Dullness", "Dullness", "Random response", "Typing errors"]


def test_ladders_show_both_shares() -> None:
    found = of_pairs("severity_levels")
    assert headings(found) == ["small-talk (en)"]
    table = panels(found)[0].table
    np.testing.assert_allclose(table["estimate"], [0.8, 0.9])


def test_tasks_are_columns_with_the_best_model_on_top_and_chance_and_people_below() -> None:
    first, second = panels(plot("dialogbench/tasks", {"dialogbench/accuracy": accuracy(["best", "worst"])}))
    assert list(first.values.index) == ["best (letter)", "worst (letter)", "chance", "human (paper)"]
    assert list(first.values.columns[:3]) == ["Overall", "", "Slot filling"]
    assert first.texts.loc["best (letter)", "Overall"] == "90"
    assert second.texts.loc["best (letter)", "Slot filling"] == "7/8"
    some = accuracy(["best"], TASKS[:2])
    assert "human (paper)" not in panels(plot("dialogbench/tasks", {"dialogbench/accuracy": some}))[0].values.index


def test_a_model_that_helped_to_make_the_items_is_marked() -> None:
    table = accuracy(["best", "filter"])
    table.loc[table["model"] == "filter", "part"] = "filtered"
    for name in ("tasks", "overall"):
        found = plot(f"dialogbench/{name}", {"dialogbench/accuracy": table})
        assert "† not comparable: the model helped to make the items (filter filtered)" in found.caption
    assert rows(panels(found)[0]) == ["best (letter)", "filter (letter) †"]


def test_over_all_tasks_chance_and_people_are_references() -> None:
    found = plot("dialogbench/overall", {"dialogbench/accuracy": accuracy(["best"])})
    assert [(one.label, one.value) for one in panels(found)[0].references] == [("chance", 0.25), ("human", 0.95)]


def test_averages_by_domain_follow_the_mean_of_their_group() -> None:
    found = plot("dialogbench/averages", {"dialogbench/averages": averages(["a", "b"])})
    assert [(row.label, row.group) for row in panels(found)[0].rows] == [
        ("mean", "Daily life"), ("Film", "Daily life"), ("Music", "Daily life"), ("mean", "Professional knowledge"),
        ("Physics", "Professional knowledge"),
    ]  # fmt: skip
    assert list(found.key) == ["base, letter (2)", "chat, letter (2)"]


def test_domains_follow_the_mean_of_their_group_and_those_of_few_items_are_grey() -> None:
    table = domains(["a"])
    found = plot("dialogbench/domains", {"dialogbench/domains": table})
    values = panels(found)[0].values
    assert list(values.columns) == ["Daily life", "Film", "Music", "", "Professional knowledge", "Physics"]
    assert np.isnan(values["Music"]).all()
    assert "Grey cells have fewer than 5 items" in found.caption
    none = {"dialogbench/domains": table.assign(group="")}
    assert specification("dialogbench/domains", none) == Missing("No item has a domain of DialogBench.")


def test_the_model_with_the_most_uneven_letters_is_on_top_and_fewer_options_do_not_count() -> None:
    table = pd.concat(
        [
            positions(["even"], (0.25, 0.25, 0.25, 0.25)).assign(p_uniform=1.0),
            positions(["even"], (1.0, 0.0)),
            positions(["mute"], (nan, nan, nan, nan)).assign(p_uniform=nan),
            positions(["biased"], (0.0, 1.0, 0.0, 0.0)),
        ]
    )
    chosen, right = panels(plot("dialogbench/positions", {"dialogbench/positions": table}))
    first, *others = chosen.values.index
    assert first == "biased (letter), p < .001"
    assert sorted(others) == ["even (letter), p = 1.000", "mute (letter), p –"]
    assert list(right.values.columns) == list("ABCD")


def test_styles_are_by_speaker_and_variant_and_domain_counts_side_by_side() -> None:
    found = plot("dialogbench/styles", {"dialogbench/styles": styles(["j"])})
    assert [(row.label, row.group) for row in panels(found)[0].rows] == [
        ("speaker 1", "full procedure"), ("speaker 2", "full procedure"),
        ("speaker 1", "without personalities"), ("speaker 2", "without personalities"),
    ]  # fmt: skip
    assert found.n == "n = 30 dialogues per variant; unparsed: 8"
    counts = plot("dialogbench/domain_counts", {"dialogbench/domain_counts": domain_counts(["j"])})
    assert rows(panels(counts)[0]) == ["Film", "Music", "other"]
    assert list(counts.key) == ["full procedure", "without personalities", "basic prompt"]


def test_the_training_record_shows_both_moments_by_criterion_and_kind() -> None:
    tables = {name: table.to_pandas() for name, table in training_example.tables().items()}
    found = plot("training/record", tables)
    assert headings(found) == ["Trained on dialogues", "Trained on turns"]
    dialogues, turns = panels(found)
    assert [(row.label, row.group) for row in turns.rows] == [
        ("all", ""), ("random", "Relevance"), ("shuffled", "Relevance"),
    ]  # fmt: skip
    assert [row.label for row in dialogues.rows][:4] == ["all", "all", "generic utterance", "order"]
    assert set(turns.table["series"]) == {"before", "after"}


def test_the_training_curve_has_losses_and_auc_and_the_step_that_was_kept() -> None:
    tables = {name: table.to_pandas() for name, table in training_example.tables(NAMES[:1]).items()}
    losses, aucs = panels(plot("training/curve", tables))
    assert losses.at == aucs.at == 70.0
    assert set(losses.table["line"]) == {"training", "development"}
    assert losses.limits[0] == 0.0
    assert set(aucs.table["line"]) == {"development"}
