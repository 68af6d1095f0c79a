"""The summary of a run: the report's own numbers, what was asked, and what could not be read."""

from __future__ import annotations

import re

import metaeval_example as rated
import pyarrow as pa
import report_example as example

from dialeval.corpora.contamination import IS_CONTROL
from dialeval.report.inputs import ReportInputs
from dialeval.report.leaderboard import build_boards
from dialeval.report.page import build_report
from dialeval.report.run_summary import MOST_BOARDS, leaders_of, summary_of
from dialeval.report.summary import summarise
from dialeval.tables.dialogbench import ACCURACY
from dialeval.tables.dialogues import MEMORIZATION, USAGE
from dialeval.tables.files import to_table
from dialeval.tables.measures import BATTLE_RATINGS, RATINGS
from dialeval.tables.robustness import ROBUSTNESS_AVERAGES


def usage(**other: object) -> pa.Table:
    row = {"model": "clerk", "protocol": "unieval", "requests": 9, "model_calls": 9, "cached": 0, "input_tokens": 1200}
    row |= {"output_tokens": 34, "failures": "", "remarks": "", "seconds": 1.0}
    return to_table(USAGE, [{**row, **other}])


def summary(run: ReportInputs, usage: pa.Table | None = None, **battles: pa.Table) -> str:
    return summary_of(run, usage, battles, "results/report/index.html")


def text_of_page(run: ReportInputs) -> str:
    """Return what a reader of the report sees, in one line."""
    page = re.sub(r"<(script|style)\b.*?</\1>", " ", build_report(run), flags=re.S)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page).replace("&nbsp;", " ").replace("\xa0", " "))


def test_every_number_of_the_summary_stands_in_the_report() -> None:
    run = example.inputs(tables={**example.inputs().tables, **rated.tables()}, rated=rated.sample())
    page, found = text_of_page(run), leaders_of(run, {})
    cells = [cell for one in found for row in one.table.rows for cell in row[1:] if cell != "–"]
    assert len(cells) > 10
    for cell in cells:
        number, _, interval = cell.replace("\xa0", " ").partition(" (")
        assert number in page
        assert interval.removesuffix(")") in page
    for one in found:
        assert one.answer.replace("\xa0", " ") in page, "the answer is the report's own sentence"


def test_rows_come_in_the_reports_order_with_the_deciding_measures_first() -> None:
    (first, *_) = leaders_of(example.inputs(), {})
    assert first.part == "botchat"
    assert first.table.columns[0] == "Model"
    assert [row[0] for row in first.table.rows][:2] == ["able", "weak"]
    assert all(set(row[1:]) != {"–"} for row in first.table.rows)  # who has no number has no row


def test_every_measure_of_a_leaderboard_is_in_the_summary() -> None:
    run = example.inputs()
    words = summary(run)
    for board in build_boards(run):
        for measure in board.measures:
            assert measure.label.replace("\N{NO-BREAK SPACE}", " ") in words


def test_boards_of_judges_are_correlations_and_more_than_a_part_shows_are_counted() -> None:
    run = example.inputs(tables=rated.tables(), rated=rated.sample(), chatbots=(), judges=(), protocols=())
    boards = [one for one in leaders_of(run, {}) if one.part == "metaeval"]
    assert boards
    assert all(column.endswith("(Pearson r)") for one in boards for column in one.table.columns[1:])
    more = re.search(r"(\d+) more leaderboards? of this part", summary(run))
    assert (int(more[1]) if more else 0) == max(len(boards) - MOST_BOARDS, 0)


def test_robustness_dialogbench_and_battles_have_rows_of_their_own() -> None:
    tables = {
        "robustness/averages": to_table(
            ROBUSTNESS_AVERAGES,
            [
                {"judge": judge, "method": "rating", "corpus": "made", "language": "en", "level": "turn"}
                | {
                    "average": value,
                    "ci_low": value - 0.1,
                    "ci_high": value + 0.1,
                    "n_cells": 8,
                    "n_missing": 0,
                    "n_clusters": 9,
                }
                for judge, value in (("dull", 0.25), ("keen", 0.75))
            ],
        ),
        "dialogbench/accuracy": to_table(
            ACCURACY,
            [
                {"source": "bundled", "model": model, "method": method, "language": "en", "scope": "overall"}
                | {"name": "Overall", "n_tasks": 12, "accuracy": value, "ci_low": value - 0.2, "ci_high": value + 0.2}
                | {"n": 48, "n_unparsed": unread, "n_clusters": 48, "chance": 0.25, "part": part}
                for model, method, value, unread, part in (
                    ("small", "letter", 0.3, 5, None),
                    ("large", "letter", 0.6, 0, "wrote"),
                    ("plain", "perplexity", 0.2, 7, None),
                )
            ],
        ),
    }
    ratings = to_table(
        BATTLE_RATINGS,
        [
            {"system": model, "elo": elo, "ci_low": elo - 5, "ci_high": elo + 5, "n_comparisons": 3}
            for model, elo in (("b", 990.0), ("a", 1010.0))
        ],
    )
    words = summary(example.inputs(tables=tables, chatbots=(), judges=(), protocols=()), chess=ratings)
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in words.splitlines() if line.startswith("| ")]
    assert ["keen (rating)", "75.0% (65.0–85.0%)"] in rows
    assert rows.index(["keen (rating)", "75.0% (65.0–85.0%)"]) < rows.index(["dull (rating)", "25.0% (15.0–35.0%)"])
    assert ["large (letter)", "60.0% (40.0–80.0%), wrote these items"] in rows
    assert "Chance is 25.0%." in words
    assert ["a", "1010.0 (1005.0–1015.0)"] in rows
    assert "small (letter): 5 answers to questions could not be parsed." in words
    assert "plain (perplexity): 7 questions have no answer, usually because two options were equally" in words


def test_usage_is_shown_by_model_with_its_cost_where_there_are_prices() -> None:
    words = summary(example.inputs(), usage())
    assert "|     1,200 |" in words
    assert "Cost" not in words
    priced = summary(example.inputs(), usage(cost=0.5, spent=1.25))
    assert re.search(r"\| clerk +\| +9 \| +1,200 \| +34 \| +0.50 \| +1.25 \|", priced)


def test_what_differs_between_equal_runs_is_not_in_it() -> None:
    again = usage(model_calls=0, cached=9, seconds=99.0)
    assert summary(example.inputs(), usage()) == summary(example.inputs(), again)


def test_missing_and_unparsed_answers_are_reported() -> None:
    words = summary(example.inputs(), usage(failures="timeout: 3"))
    assert "clerk under UniEval: requests without a response (timeout: 3)." in words
    assert re.search(r"Judge clerk: .*could not be parsed\.", words)


def test_texts_that_the_judge_or_a_system_completes_verbatim_are_named() -> None:
    row = {
        "corpus": "published",
        "n": 40,
        "n_missing": 0,
        "n_too_short": 0,
        "ci_low": 0.2,
        "ci_high": 0.5,
        "chance": 0.0,
    }
    completions = [
        row | {"model": "clerk", "n_verbatim": 12, "estimate": 0.3, "control": 0.0, "p": 0.0001, "p_holm": 0.0003},
        row | {"model": "able", "n_verbatim": 0, "estimate": 0.0, "ci_low": 0.0, "ci_high": 0.1},
        row | {"model": "clerk", "corpus": "own", "n_verbatim": 0, "estimate": 0.0, "note": IS_CONTROL},
        row | {"model": "stranger", "n_verbatim": 40, "estimate": 1.0},
    ]
    run = example.inputs(tables={**example.inputs().tables, "memorization": to_table(MEMORIZATION, completions)})
    (board, *_) = build_boards(run)
    summary_text = " ".join(summarise(run, board).details)
    assert re.search(
        r"clerk completes 30.*of the texts of corpus published verbatim \(chance .*p = 0.0003", summary_text
    )
    assert "able completes 0" in summary_text
    assert "no evidence" in summary_text
    assert "stranger" not in summary_text
    assert "corpus own" not in summary_text


def test_a_run_without_embedded_models_says_nothing_about_a_baseline() -> None:
    assert "baseline" not in summary(example.inputs(embedded=frozenset()), usage())
    summary_text = summary(example.inputs(embedded=frozenset({"clerk", "never asked"})), usage())
    assert "clerk is an embedded model, a small classical baseline. The results do not apply to" in summary_text


def test_a_run_without_any_leaderboard_says_so() -> None:
    bare = example.inputs(tables={}, chatbots=(), judges=(), protocols=())
    assert "There is no leaderboard." in summary(bare)
    ranks = to_table(USAGE, [])
    rows = example.inputs().tables["botchat/utterance_lengths"]
    only = summary(example.inputs(tables={"failures/rates": rows, "arena/ranks": ranks}, chatbots=(), judges=()))
    assert "There is no leaderboard; the tables of failures have the results." in only


def test_a_leaderboard_is_headed_by_its_judge_and_the_answer() -> None:
    ratings = to_table(RATINGS, [example._rating("weak", 1020.0), example._rating("able", 980.0)])
    undecided = summary(example.inputs(tables={**example.inputs().tables, "arena/ratings": ratings}))
    assert "\n\n**Judge clerk.** weak comes first: 1020.0 by Arena Elo at N = 4. The order was not tested." in undecided


def test_each_of_two_judges_who_agree_on_everything_has_its_numbers() -> None:
    one = example.inputs()
    both = {
        name: pa.concat_tables([table, table.set_column(0, table.schema.field(0), pa.array(["usher"] * len(table)))])
        for name, table in one.tables.items()
        if table.column_names[0] == "judge"
    }
    found = leaders_of(example.inputs(tables={**one.tables, **both}, judges=("clerk", "usher")), {})
    assert [board.title for board in found] == ["Judge clerk", "Judge usher"]
    assert found[0].table == found[1].table
    assert found[0].table.rows
