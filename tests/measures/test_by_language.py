"""Tables in the shape of xDial-Eval's: this run's numbers from the averages, and every row that is printed."""

from __future__ import annotations

from typing import Any

import pytest

from dialeval.languages import PAPER_ORDER
from dialeval.measures.average_correlations import THIS_RUN, chinese_rows, language_rows
from dialeval.tables.files import to_table
from dialeval.tables.metaeval import BY_LANGUAGE, NATURAL_CHINESE

PAPERS_ROWS = 29
"""Systems of Tables 4 and 5 at each level: 5 tuned on English; 1 encoder, 9 untuned, 7 tuned and 7 ensembles."""


def average(language: str, pearson: float | None, **more: Any) -> dict[str, Any]:
    row = {"judge": "gpt", "method": "yes_no", "benchmark": "many", "level": "turn", "raters": "human"}
    row |= {
        "dimension": "relevance",
        "rated": "overall",
        "averaged_over": "languages" if language == "average" else "corpora",
    }
    return row | {"language": language, "pearson": pearson, "spearman": pearson and pearson / 2} | more


def correlation(corpus: str, pearson: float, **more: Any) -> dict[str, Any]:
    row = {"judge": "gpt", "method": "yes_no", "level": "turn", "corpus": corpus, "language": "zh"}
    row |= {"dimension": "relevance", "rated": "relevance", "rater_kind": "human"}
    return row | {"pearson": pearson, "spearman": pearson / 2} | more


def by_language(*rows: dict[str, Any]) -> list[dict[str, Any]]:
    return to_table(BY_LANGUAGE, list(language_rows(rows))).to_pylist()


def of_this_run(rows: list[dict[str, Any]], **where: Any) -> list[dict[str, Any]]:
    return [
        row for row in rows if row["source"] == THIS_RUN and all(row[name] == value for name, value in where.items())
    ]


def test_a_judges_averages_are_laid_out_by_language() -> None:
    rows = by_language(average("zh", 0.2), average("en", 0.4), average("it", 0.9), average("average", 0.5))
    (pearson,) = of_this_run(rows, statistic="pearson")
    (spearman,) = of_this_run(rows, statistic="spearman")
    assert [pearson[name] for name in ("en", "zh", "es", "average", "n_languages")] == [0.4, 0.2, None, 0.5, 3]
    assert [spearman[name] for name in ("en", "zh", "average")] == [0.2, 0.1, 0.25]
    assert (pearson["dimension"], pearson["rated"], pearson["benchmark"]) == ("relevance", "overall", "many")
    assert BY_LANGUAGE.schema.names[9:19] == list(PAPER_ORDER)


def test_every_row_that_the_paper_prints_at_the_level_stands_under_them() -> None:
    rows = by_language(average("en", 0.4), average("ko", 0.1))
    printed = [row for row in rows if row["source"] != THIS_RUN]
    assert {row["level"] for row in printed} == {"turn"}
    for statistic, tables in (("pearson", {"4", "5"}), ("spearman", {"16", "17"})):
        here = [row for row in printed if row["statistic"] == statistic]
        assert len(here) == PAPERS_ROWS
        assert {row["source"] for row in here} == {f"xDial-Eval, Table {table}" for table in tables}
    (ensemble,) = [row for row in printed if row["judge"] == "LLaMA-2-7B + PoE" and row["statistic"] == "pearson"]
    assert [ensemble[name] for name in ("training", "average", "n_languages")] == ["multilingual", 0.489, 10]
    sources = [row["source"] for row in rows if row["statistic"] == "pearson"]
    assert sources == [THIS_RUN] + ["xDial-Eval, Table 4"] * 5 + ["xDial-Eval, Table 5"] * 24


@pytest.mark.parametrize(
    ("rows", "shown"),
    [
        ([average("en", 0.4)], True),  # asked as the paper asks, in English alone
        ([average("es", 0.4)], True),
        ([average("en", 0.4, rated="relevance")], False),  # comp-analysis' own way
        ([average("en", 0.4, rated="relevance"), average("de", 0.4, rated="relevance")], True),
        ([average("it", 0.4, rated="overall")], False),
        ([average("en", 0.4, raters="full")], False),
        ([], False),
    ],
)
def test_it_is_empty_where_nothing_is_as_in_the_paper(rows: list[dict[str, Any]], shown: bool) -> None:
    assert bool(by_language(*rows)) is shown


def test_a_judge_of_another_criterion_has_numbers_on_all_rated_criteria() -> None:
    both = [average(language, 0.3) for language in ("en", "zh")]
    of_all = [average(language, 0.1, dimension="all") for language in ("en", "zh")]
    other = [average(language, 0.7, judge="metric", dimension="all") for language in ("en", "zh")]
    unasked = [average(language, 0.9, dimension="overall") for language in ("en", "zh")]
    rows = of_this_run(by_language(*both, *of_all, *other, *unasked), statistic="pearson")
    assert [(row["judge"], row["dimension"], row["en"]) for row in rows] == [
        ("gpt", "relevance", 0.3),
        ("metric", "all", 0.7),
    ]


def test_a_missing_correlation_stays_missing() -> None:
    (row,) = of_this_run(by_language(average("en", None), average("zh", 0.2)), statistic="pearson")
    assert (row["en"], row["zh"], row["average"]) == (None, 0.2, None)


def test_natural_chinese_corpora_stand_beside_the_papers() -> None:
    given = [correlation("ECM-Turn", 0.3), correlation("lccc_turn", 0.4), correlation("fed-turn", 0.9)]
    given += [correlation("HC-Turn", 0.9, language="en"), correlation("HC-Turn", 0.9, rated="overall")]
    rows = to_table(NATURAL_CHINESE, list(chinese_rows(given))).to_pylist()
    (ours,) = of_this_run(rows, statistic="pearson")
    assert [ours[name] for name in ("ecm_turn", "lccc_turn", "hc_turn", "average")] == [0.3, 0.4, None, None]
    printed = {row["judge"]: row for row in rows if row["source"] != THIS_RUN and row["statistic"] == "spearman"}
    assert len(printed) == 11
    assert [printed["PoE"][name] for name in ("ecm_turn", "lccc_turn", "hc_turn", "average")] == [
        0.570, 0.435, 0.351, 0.452,
    ]  # fmt: skip
    whole = list(chinese_rows([*given, correlation("HC-Turn", 0.8)]))
    assert of_this_run(whole, statistic="pearson")[0]["average"] == pytest.approx(0.5)
    assert list(chinese_rows([correlation("fed-turn", 0.9)])) == []
