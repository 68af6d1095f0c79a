"""The part "Papers": it says of every item what the run has of it, and leads there."""

from __future__ import annotations

import re
from typing import Any

import report_example as example

from dialeval.papers.registry import PAPERS
from dialeval.report.inputs import Figure, ReportInputs
from dialeval.report.page import ItemOnPage, build_report, papers_on_page
from dialeval.tables.files import to_table
from dialeval.tables.metaeval import AVERAGES, BY_LANGUAGE, MATRICES, RANKING_AGREEMENT
from dialeval.tables.training import TRAINING_RUNS


def item_of(inputs: ReportInputs, paper: str, number: str) -> ItemOnPage:
    (found,) = [
        one for about in papers_on_page(inputs) if about.paper.name == paper for one in about.items
        if one.item.number == number
    ]  # fmt: skip
    return found


def average(**about: Any) -> dict[str, Any]:
    row = {"judge": "clerk", "method": "yes_no", "level": "turn", "averaged_over": "corpora", "language": "en"}
    return {**row, "dimension": "overall", "pearson": 0.4, "n_averaged": 2, **about}


def test_what_the_run_made_leads_to_where_it_is() -> None:
    figures = tuple(Figure(f"N = {n}", "", example.SVG, file=f"figure5_arena_n{n}") for n in (8, 16))
    tables = {**example.inputs().tables, "arena/win_rates": example.inputs().tables["gteval/win_rates"]}
    inputs = example.inputs(tables=tables, figures=figures)
    made = item_of(inputs, "BotChat", "Figure 5")
    assert made.is_reproduced
    page = build_report(inputs)
    for place in made.places:
        assert f'href="#{place.address}"' in page
        assert len(re.findall(rf'id="{place.address}"', page)) == 1
    assert [place.label for place in made.places] == ["N = 8", "N = 16", "arena: Win rates"]


def test_what_the_run_did_not_make_says_what_does() -> None:
    inputs = example.inputs()
    other = item_of(inputs, "DialogBench", "Table 2")
    assert not other.is_reproduced
    assert other.item.config in other.instead
    drawing = item_of(inputs, "BotChat", "Figure 1")
    assert drawing.instead.startswith("Not made: ")
    prompt = item_of(inputs, "BotChat", "Appendix B")
    assert not prompt.instead
    assert [place.label for place in prompt.places] == list(prompt.item.defined_in)


def test_a_table_counts_where_it_has_rows_of_the_papers_kind() -> None:
    def made(*rows: dict[str, Any], number: str, paper: str = "comp-analysis") -> bool:
        tables = {**example.inputs().tables, "metaeval/averages": to_table(AVERAGES, list(rows))}
        return item_of(example.inputs(tables=tables), paper, number).is_reproduced

    people, filled = (average(benchmark="comp-analysis", raters=raters) for raters in ("human", "full"))
    elsewhere = average(benchmark="mine", raters="human")
    assert not made(elsewhere, number="Table 5")
    assert made(elsewhere, filled, number="Table 5")
    assert not made(elsewhere, filled, number="Table 6"), "no single row is both the paper's and people's"
    assert made(people, number="Table 6")
    assert not made(people, number="Table 5", paper="xDial-Eval")
    assert not made(number="Table 5")


def test_any_value_is_one_that_is_there() -> None:
    about = {"level": "turn", "corpus": "FED-Turn", "language": "en", "dimension": "overall", "n_judges": 3}
    row = {**about, "first_rater": "human", "second_rater": "gpt-4", "reason": None}
    for spearman in (None, 0.5):
        table = to_table(RANKING_AGREEMENT, [{**row, "spearman": spearman}])
        inputs = example.inputs(tables={**example.inputs().tables, "metaeval/ranking_agreement": table})
        assert item_of(inputs, "comp-analysis", "Table 7").is_reproduced is (spearman is not None)


def test_judges_that_were_trained_are_those_of_a_run_that_trained() -> None:
    row = {"level": "turn", "statistic": "pearson", "source": "this run", "judge": "clerk", "dimension": "relevance"}
    tables = {**example.inputs().tables, "metaeval/by_language": to_table(BY_LANGUAGE, [{**row, "n_languages": 2}])}
    counts = dict.fromkeys(("n_examples", "steps", "best_step", "parameters", "trained_parameters"), 9)
    speeds = dict.fromkeys(("epochs", "seconds", "examples_per_second", "tokens_per_second"), 1.0)
    about = {"judge": "clerk", "model": "m", "training": "turns", "device": "cpu", "precision": "float32"}
    trained = to_table(TRAINING_RUNS, [{**about, **counts, **speeds}])
    assert item_of(example.inputs(tables=tables), "xDial-Eval", "Table 5").is_reproduced
    assert not item_of(example.inputs(tables=tables), "xDial-Eval", "Table 4").is_reproduced
    assert item_of(example.inputs(tables={**tables, "training/runs": trained}), "xDial-Eval", "Table 4").is_reproduced


def test_a_figure_of_one_corpus_is_not_made_by_another() -> None:
    row = {"kind": "dimensions", "level": "dialogue", "first": "overall", "second": "coherence", "pearson": 0.5, "n": 9}
    for corpus in ("steps", "FED-Dial"):
        tables = {**example.inputs().tables, "metaeval/matrices": to_table(MATRICES, [{**row, "corpus": corpus}])}
        found = item_of(example.inputs(tables=tables), "comp-analysis", "Figure 1")
        assert found.is_reproduced is (corpus == "FED-Dial")


def test_a_table_that_the_page_does_not_show_is_named_as_a_file() -> None:
    row = {"kind": "dimensions", "level": "turn", "corpus": "FED-Turn", "first": "overall", "second": "relevance"}
    tables = {**example.inputs().tables, "metaeval/matrices": to_table(MATRICES, [{**row, "pearson": 0.5, "n": 9}])}
    inputs = example.inputs(tables=tables)
    assert [(place.label, place.address) for place in item_of(inputs, "comp-analysis", "Figure 2").places] == [
        ("tables/metaeval/matrices.csv", "")
    ]
    assert not item_of(inputs, "comp-analysis", "Figure 1").is_reproduced, "it is about dialogues"


def test_a_page_of_other_results_has_no_such_part() -> None:
    assert papers_on_page(example.inputs(tables={}, figures=())) == ()
    assert 'id="papers"' not in build_report(example.inputs(tables={}, figures=()))


def test_the_page_lists_every_item() -> None:
    page = build_report(example.inputs())
    part = page[page.index('<section class="part" id="papers">') :]
    assert '<a href="#papers">Papers</a>' in page
    for paper in PAPERS:
        assert part.count(f"<summary>{paper.name} ") == 1
    assert part.count('<th scope="row">') == sum(len(paper.items) for paper in PAPERS)
