"""Figures of meta-evaluation on small tables: what they show, and that they show it for every shape of table."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import nan
from pathlib import Path

import metaeval_example as example
import pandas as pd
import pytest
from dialeval.figures.metaeval_correlations import correlation_limits, figure_ceilings, figure_judges
from dialeval.figures.metaeval_ensembles import (
    figure_annotators,
    figure_dimension_ensembles,
    figure_ensembles,
    figure_rankings,
)
from dialeval.figures.metaeval_heat_maps import (
    _shape,
    figure_dimensions,
    figure_judges_among_themselves,
    figure_judges_by_corpus,
    figure_judges_by_language,
    figure_languages,
    plain,
)
from dialeval.figures.row_order import best_judges
from drawn_figures import by_name, settings
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dialeval.errors import UserError
from dialeval.figures import registry
from dialeval.figures.metaeval_names import averaged_groups, dimension_order, main_dimension
from dialeval.figures.style import PAGE_WIDTH, save_figure
from dialeval.stages.figures import draw as stage
from dialeval.tables.catalogue import TABLES
from dialeval.tables.files import empty_table, to_table, write_table
from dialeval.tables.metaeval import AVERAGES, CORRELATIONS

DRAWINGS = by_name(registry.METAEVAL)
THIRTY = tuple((f"my-lab/judge-{place:02}", "rating" if place % 2 else "yes_no") for place in range(30))


def drawn(name: str, judges: tuple[tuple[str, str], ...] = example.JUDGES) -> Figure:
    averages, correlations = example.averages(judges).to_pandas(), example.correlations(judges).to_pandas()
    matrices = example.matrices(judges).to_pandas()
    drawings: dict[str, Callable[[], Figure]] = {
        "judges": lambda: figure_judges(averages, correlations),
        "judges_by_corpus": lambda: figure_judges_by_corpus(correlations),
        "judges_by_language": lambda: figure_judges_by_language(averages),
        "dimensions": lambda: figure_dimensions(matrices),
        "languages": lambda: figure_languages(matrices),
        "judges_among_themselves": lambda: figure_judges_among_themselves(matrices),
        "ensembles": lambda: figure_ensembles(example.model_ensemble().to_pandas()),
        "dimension_ensembles": lambda: figure_dimension_ensembles(example.dimension_ensemble(judges).to_pandas()),
        "rankings": lambda: figure_rankings(example.ranking_agreement().to_pandas()),
        "annotators": lambda: figure_annotators(example.annotator_agreement().to_pandas()),
        "ceilings": lambda: figure_ceilings(example.ceilings(judges).to_pandas()),
    }
    return drawings[name]()


def panels(figure: Figure) -> list[Axes]:
    """The panels that have a title, in order: not the scale of colours."""
    return [panel for panel in figure.axes if panel.get_title(loc="left")]


def titles(figure: Figure) -> list[str]:
    return [panel.get_title(loc="left").replace("\n", " ") for panel in panels(figure)]


def rows_of(panel: Axes) -> list[str]:
    return [label.get_text().replace("\n", "") for label in panel.get_yticklabels()]


def words_in(panel: Axes) -> list[str]:
    return [text.get_text() for text in panel.texts]


def assert_nothing_is_cut(figure: Figure) -> None:
    box = figure.get_tightbbox()
    assert min(box.x0, box.y0) >= 0
    assert box.x1 <= PAGE_WIDTH
    assert box.y1 <= figure.get_figheight()


@pytest.mark.parametrize("name", DRAWINGS)
def test_a_figure_is_the_same_bytes_each_time(name: str, tmp_path: Path) -> None:
    contents = []
    for _ in range(2):
        figure = drawn(name)
        save_figure(figure, tmp_path / "f.svg", tmp_path / "f.pdf")
        contents.append((tmp_path / "f.svg").read_bytes() + (tmp_path / "f.pdf").read_bytes())
    assert contents[0] == contents[1]
    assert_nothing_is_cut(figure)


@pytest.mark.parametrize("name", ["judges", "judges_by_corpus", "dimensions", "judges_among_themselves", "ceilings"])
def test_thirty_judges_have_room(name: str) -> None:
    figure = drawn(name, THIRTY)
    figure.draw_without_rendering()
    assert_nothing_is_cut(figure)
    boxes = [label.get_window_extent() for label in panels(figure)[0].get_yticklabels()]
    assert all(above.y0 >= below.y1 - 0.5 for above, below in pairwise(boxes))


@pytest.mark.parametrize("name", ["judges", "judges_by_corpus"])
def test_names_of_two_lines_stand_apart(name: str) -> None:
    figure = drawn(name, tuple((f"my-lab/judge-with-a-long-name-{place}", "rating") for place in range(4)))
    figure.draw_without_rendering()
    boxes = [label.get_window_extent() for label in panels(figure)[0].get_yticklabels()]
    assert all(above.y0 >= below.y1 - 0.5 for above, below in pairwise(boxes))


@pytest.mark.parametrize("name", DRAWINGS)
def test_an_empty_table_gives_one_sentence(name: str) -> None:
    draw, tables = DRAWINGS[name]
    figure = draw(*(empty_table(table).to_pandas() for table in tables))
    assert figure.axes == []
    (sentence,) = figure.texts
    assert sentence.get_text().replace("\n", " ").startswith(("No ", "There is only one judge"))


@pytest.mark.parametrize("name", DRAWINGS)
def test_a_table_without_a_column_is_refused(name: str) -> None:
    draw, tables = DRAWINGS[name]
    with pytest.raises(ValueError, match="the table has no column"):
        draw(*(pd.DataFrame({"other": []}) for _ in tables))


def test_the_forest_has_a_panel_per_dimension_and_judges_best_first() -> None:
    figure = drawn("judges")
    many, *dialogue = panels(figure)
    assert titles(figure) == ["overall", *example.DIALOGUE, "average"]
    assert [part._suptitle.get_text() for part in figure.subfigs] == [  # type: ignore[attr-defined]
        "many, turn level (mean over 2 languages; people's ratings)",
        "one, dialogue level (en; people's ratings)",
    ]
    best_first = ["gpt-x (rating)", "forest (yes_no)", "length (yes_no)", "gpt-4 (annotation)"]
    assert rows_of(many) == best_first
    assert rows_of(dialogue[0]) == best_first
    assert "published" in figure.legends[0].get_texts()[-1].get_text()


def test_a_judge_without_a_correlation_keeps_its_row_and_comes_last() -> None:
    averages = example.averages().to_pandas()
    averages.loc[averages["judge"] == "gpt-x", ["pearson", "pearson_low", "pearson_high"]] = nan
    (panel, *_) = panels(figure_judges(averages, empty_table(CORRELATIONS).to_pandas()))
    assert rows_of(panel)[-1] == "gpt-x (rating)"
    assert words_in(panel) == ["no value"]


def test_what_is_known_by_construction_has_a_block_without_any_average() -> None:
    built = example.correlations(kind="construction").to_pandas()
    figure = figure_judges(empty_table(AVERAGES).to_pandas(), built)
    (part,) = figure.subfigs
    assert part._suptitle.get_text() == "small-talk, dialogue level (en; known by construction)"  # type: ignore[union-attr]
    assert len(panels(figure)) == 5


def test_averages_over_all_raters_stand_in_where_people_rated_nothing_and_follow_where_they_are_more() -> None:
    averages = example.averages(languages=["en"]).to_pandas()
    full = averages.assign(raters="full")
    nothing = empty_table(CORRELATIONS).to_pandas()
    assert [group.title for group in averaged_groups(full, nothing)] == [
        "many, turn level (en; people's ratings, or else a model's)",
        "one, dialogue level (en; people's ratings, or else a model's)",
    ]
    same = pd.concat([averages, full])
    assert len(list(averaged_groups(same, nothing, also_full=True))) == 2
    more = pd.concat([averages, full.assign(n_averaged=3)])
    assert len(list(averaged_groups(more, nothing))) == 2
    assert len(list(averaged_groups(more, nothing, also_full=True))) == 4


def test_all_dimensions_together_are_shown_only_where_they_say_something_new() -> None:
    averages = example.averages().to_pandas()
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
    figure = figure_judges(two[two["level"] == "turn"], nothing)
    assert titles(figure) == ["relevance", "overall", "all dimensions"]
    (panel,) = panels(figure_judges_by_language(two))
    assert panel.get_title(loc="left") == "many, turn level: all dimensions (people's ratings)"


def test_corpora_are_columns_that_say_what_was_rated_and_by_whom() -> None:
    people = example.correlations(corpora=["b-corpus"])
    model = example.correlations(kind="model", corpora=["a-corpus"]).to_pandas()
    both = pd.concat([people.to_pandas(), model[model["dimension"] == "diversity"]])
    (panel,) = panels(figure_judges_by_corpus(both))
    headings = [label.get_text() for label in panel.get_xticklabels()]
    assert headings == ["a-corpus\n(diversity, a model's ratings)", "b-corpus"]
    assert words_in(panel)[:2] == [".80", ".80"]


def test_languages_are_columns_with_english_first_and_their_average_last() -> None:
    (panel,) = panels(drawn("judges_by_language"))
    assert [label.get_text() for label in panel.get_xticklabels()] == ["en", "zh", "average"]
    assert len(words_in(panel)) == 4 * 3


def test_dimension_matrices_begin_with_people_and_name_their_mean() -> None:
    figure = drawn("dimensions")
    assert titles(figure)[0] == "human ratings mean .50"
    assert len(panels(figure)) == 5
    first = panels(figure)[0]
    assert rows_of(first) == ["coh", "eng", "div", "inf", "ovr"]
    assert words_in(first) == [".50"] * 20  # both triangles, no diagonal


def test_language_matrices_have_a_panel_per_scorer() -> None:
    figure = drawn("languages")
    assert len(panels(figure)) == 5
    assert words_in(panels(figure)[0]) == [".25", ".25"]


def test_judges_among_themselves_have_numbers_for_columns() -> None:
    (panel,) = panels(drawn("judges_among_themselves"))
    assert panel.get_title(loc="left") == "small-talk: overall\nmean -.25"
    assert rows_of(panel)[0] == "human ratings  1"
    assert [label.get_text() for label in panel.get_xticklabels()] == ["1", "2", "3", "4", "5"]


def test_the_corpus_with_people_on_most_dimensions_stands_for_its_level() -> None:
    rich, poor = example.matrices().to_pandas(), example.matrices().to_pandas().assign(corpus="a-corpus")
    poor = poor[poor["scorer"] != "human ratings"]
    figure = figure_dimensions(pd.concat([poor, rich]))
    (part,) = figure.subfigs
    assert part._suptitle.get_text() == "small-talk, dialogue level"  # type: ignore[union-attr]


def test_of_equal_corpora_those_of_the_papers_figures_are_shown() -> None:
    one = example.matrices().to_pandas()
    many = pd.concat([one.assign(corpus=name, n=n) for name, n in (("a", 900), ("xDial-FED-Dial", 9), ("b", 900))])
    (part,) = figure_languages(many).subfigs
    assert part._suptitle.get_text().startswith("xDial-FED-Dial, dialogue level")  # type: ignore[union-attr]
    shown = [panel.get_title(loc="left").partition(":")[0] for panel in panels(figure_judges_among_themselves(many))]
    assert shown == ["xDial-FED-Dial", "a"]


def test_ensembles_have_panels_only_where_there_is_one_and_the_mean_comes_last() -> None:
    figure = drawn("ensembles")
    assert titles(figure) == ["coherence 1 2 3", "overall 1 2 3"]
    assert rows_of(panels(figure)[0]) == ["a-corpus", "small-talk", "average"]
    assert "members: 1 a, 2 b, 3 c;" in figure.get_supxlabel().replace("\n", " ")


def test_members_that_differ_from_the_titles_stand_beside_their_rows() -> None:
    table = example.model_ensemble().to_pandas()
    others = (table["chosen_on"] == "other corpora") & (table["corpus"] == "a-corpus")
    table.loc[others & (table["dimension"] == "overall"), "members"] = "b, d, a"
    figure = figure_ensembles(table, order=["d", "c", "b", "a"])
    assert "members: 1 d, 2 c, 3 b, 4 a;" in figure.get_supxlabel().replace("\n", " ")
    assert titles(figure) == ["coherence 2 3 4", "overall 2 3 4"]
    coherence, overall = panels(figure)
    assert words_in(coherence) == []
    (beside,) = [text for text in overall.texts if text.get_text()]
    assert beside.get_text() == "1 3 4"
    assert beside.xy[1] == rows_of(coherence).index("a-corpus")  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["judges", "judges_by_corpus", "judges_by_language", "ceilings"])
def test_rows_of_judges_keep_a_given_order(name: str) -> None:
    order = ["length (yes_no)", "gpt-4 (annotation)", "forest (yes_no)", "gpt-x (rating)"]
    drawing = DRAWINGS[name]
    found = {table.name: getattr(example, table.name.partition("/")[2])().to_pandas() for table in drawing.tables}
    figure = drawing.draw(*found.values(), order=order)
    for panel in panels(figure):
        assert rows_of(panel) == [judge for judge in order if judge in rows_of(panel)]


def test_one_order_of_judges_is_by_what_decides_in_every_block() -> None:
    averages, correlations = example.averages().to_pandas(), example.correlations().to_pandas()
    tables = {"metaeval/averages": averages, "metaeval/correlations": correlations}
    assert best_judges(tables) == ["gpt-x (rating)", "forest (yes_no)", "length (yes_no)", "gpt-4 (annotation)"]
    averages.loc[averages["judge"] == "length", "pearson"] = 1.0
    assert best_judges(tables)[0] == "length (yes_no)"
    assert best_judges({"metaeval/matrices": example.matrices().to_pandas()}) == []


def test_panels_stand_in_even_lines() -> None:
    assert [_shape(n, 5) for n in (1, 4, 5, 6, 7, 11)] == [(1, 1), (1, 4), (1, 5), (2, 3), (2, 4), (3, 4)]


def test_ensembles_of_too_few_judges_are_one_sentence() -> None:
    none = example.model_ensemble().to_pandas().assign(pearson=nan)
    assert "no ensembles" in figure_ensembles(none).texts[0].get_text()


def test_dimension_ensembles_are_shown_by_people_and_by_all() -> None:
    figure = drawn("dimension_ensembles")
    assert titles(figure) == [
        "one, dialogue level (en; people's ratings)",
        "one, dialogue level (en; people's ratings, or else a model's)",
    ]
    assert rows_of(panels(figure)[1]) == [f"{judge} ({method})" for judge, method in example.JUDGES]
    named = figure_dimension_ensembles(
        example.dimension_ensemble().to_pandas(), order=["length (yes_no)", "gpt-4 (annotation)"]
    )
    assert [row.partition(" ")[0] for row in rows_of(panels(named)[0])] == ["length", "gpt-4", "gpt-x", "forest"]


def test_dimension_ensembles_of_one_corpus_need_no_mean() -> None:
    table = example.dimension_ensemble().to_pandas()
    alone = table[table["corpus"] == "a-corpus"]
    assert titles(figure_dimension_ensembles(alone)) == ["a-corpus, dialogue level (en; a model's ratings)"]
    built = pd.concat([alone.assign(corpus=name, rater_kind="construction") for name in ("steps", "more")])
    assert [title.split(",")[0] for title in titles(figure_dimension_ensembles(built))] == ["more", "steps"]
    assert "overall" in figure_dimension_ensembles(alone.assign(ensemble=nan, direct=nan)).texts[0].get_text()


def test_rankings_have_a_panel_per_corpus_and_model_and_mark_what_is_missing() -> None:
    figure = drawn("rankings")
    (panel,) = panels(figure)
    assert titles(figure) == ["small-talk, dialogue level: people and gpt-4, 9 to 13 judges"]
    assert rows_of(panel) == list(example.DIALOGUE)
    assert words_in(panel) == ["no value"]
    none = example.ranking_agreement().to_pandas().assign(spearman=nan)
    assert "no rankings to compare" in " ".join(figure_rankings(none).texts[0].get_text().split())


def test_annotators_have_a_panel_per_rater() -> None:
    assert titles(drawn("annotators")) == [
        "small-talk: 3 ratings by people",
        "small-talk: 5 ratings by gpt-4 (a model)",
    ]


def test_ceilings_have_a_block_per_corpus_and_kind_of_rater_with_people_first() -> None:
    figure = drawn("ceilings")
    assert [part._suptitle.get_text() for part in figure.subfigs] == [  # type: ignore[attr-defined]
        "small-talk, dialogue level (en; people's ratings)",
        "small-talk, dialogue level (en; a model's ratings)",
    ]
    people, model = panels(figure)[0], panels(figure)[5]
    assert rows_of(people) == [f"{judge} ({method})" for judge, method in example.JUDGES]
    assert words_in(people) == ["no value"]
    for panel, low, ceiling in ((people, 0.8, 0.85), (model, 0.92, 0.97)):
        assert {round(bar.get_x(), 3) for bar in panel.patches} == {low}  # type: ignore[attr-defined]
        (lines,) = panel.collections[:1]
        assert {round(float(path.vertices[0][0]), 3) for path in lines.get_paths()} == {ceiling}  # type: ignore[index]


def test_corpora_that_keep_means_alone_have_no_ceiling_to_draw() -> None:
    none = example.ceilings().to_pandas().assign(ceiling=nan)
    assert "no ceilings" in figure_ceilings(none).texts[0].get_text()


def test_orders_are_the_papers() -> None:
    assert dimension_order(["average", "zest", "all", "overall", "diversity", "coherence"]) == [
        "coherence", "diversity", "overall", "zest", "all", "average",
    ]  # fmt: skip
    assert main_dimension(["relevance", "overall"]) == "overall"
    assert main_dimension(["specificity", "relevance"]) == "relevance"


@pytest.mark.parametrize(
    ("value", "text"), [(0.5, ".50"), (-0.126, "-.13"), (1.0, "1.00"), (0.004, "0"), (-0.004, "0"), (-1.0, "-1.00")]
)
def test_correlations_are_written_as_papers_do(value: float, text: str) -> None:
    assert plain(value) == text


def test_the_axis_of_correlations_holds_every_interval() -> None:
    low = pd.DataFrame({"pearson": [-0.5, 0.9], "pearson_low": [-0.7, nan], "pearson_high": [-0.2, 1.0]})
    assert correlation_limits(low) == (pytest.approx(-0.75), 1.02)
    assert correlation_limits(low.iloc[1:]) == (-0.1, 1.02)


def test_the_stage_writes_every_figure_and_names_a_missing_table(tmp_path: Path) -> None:
    paths = []
    for name, table in example.tables().items():
        paths.append(tmp_path / f"{name}.parquet")
        write_table(paths[-1], TABLES[name], table)
    stage(settings(registry.METAEVAL, "judges", "annotators"), paths, [], tmp_path / "figures")
    assert sorted(path.name for path in (tmp_path / "figures").iterdir()) == [
        "annotators.pdf", "annotators.svg", "judges.pdf", "judges.svg",
    ]  # fmt: skip
    assert "90 % interval" in (tmp_path / "figures" / "judges.svg").read_text()
    with pytest.raises(UserError, match="figure languages needs the table 'metaeval/matrices'"):
        stage(settings(registry.METAEVAL, "languages"), paths[:2], [], tmp_path)


def test_a_single_judge_and_corpus_is_drawn() -> None:
    row = {"judge": "a", "method": "file", "level": "turn", "corpus": "c", "language": "de", "dimension": "relevance"}
    table = to_table(
        CORRELATIONS,
        [row | {"rater_kind": "human", "pearson": 0.1, "n": 3, "n_missing": 0, "n_clusters": 3}],
    ).to_pandas()
    (panel,) = panels(figure_judges_by_corpus(table))
    assert [label.get_text() for label in panel.get_xticklabels()] == ["c\n(relevance)"]
