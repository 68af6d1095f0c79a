"""The overview: a card for each question, with its answer by an identified measure."""

from __future__ import annotations

import dataclasses
from typing import Any

import metaeval_example as rated
import report_example as example
import training_example as training
import transcripts_report as mine

from dialeval.report.inputs import ReportInputs
from dialeval.report.leaderboard import build_boards
from dialeval.report.overview import MOST_ROWS, Card, leaderboards, overview
from dialeval.report.page import build_report, tables_behind, window_title
from dialeval.tables.dialogbench import ACCURACY, DIALOGBENCH_DIFFERENCES
from dialeval.tables.files import empty_table, to_table
from dialeval.tables.labels import ESTIMATES
from dialeval.tables.measures import MEANS, PASS_RATES, RANKS, RATINGS
from dialeval.tables.robustness import ROBUSTNESS_AVERAGES, ROBUSTNESS_DIFFERENCES
from dialeval.tables.training import TRAINING_RECORD, TRANSLATED_CORPORA, TRANSLATION_QUALITY


def card(run: ReportInputs, part: str) -> Card:
    (found,) = [one for one in overview(leaderboards(run)) if one.part == part]
    return found


def averages(**judges: float | None) -> Any:
    about = {"method": "rating", "corpus": "made", "language": "en", "level": "turn", "n_cells": 8, "n_missing": 0}
    rows = [
        about | {"judge": judge, "average": value, "ci_low": value and value - 0.1, "ci_high": value and value + 0.1}
        for judge, value in judges.items()
    ]
    return to_table(ROBUSTNESS_AVERAGES, [row | {"n_clusters": 9} for row in rows])


def accuracy(**models: float) -> Any:
    about = {"source": "bundled", "method": "letter", "language": "en", "scope": "overall", "name": "Overall"}
    about |= {"n_tasks": 12, "n": 48, "n_unparsed": 0, "n_clusters": 48, "chance": 0.25, "ci_low": 0.1, "ci_high": 0.9}
    rows = [about | {"model": model.strip("_"), "accuracy": value} for model, value in models.items()]
    return to_table(ACCURACY, [row | {"part": "wrote" if row["model"] == "writer" else None} for row in rows])


def difference(system: str, opponent: str, p: float) -> dict[str, Any]:
    return {
        "table": "accuracy", "measure": "accuracy", "scope": "bundled, en, Overall", "system": f"{system} (letter)",
        "opponent": f"{opponent} (letter)", "difference": 0.1, "p": p, "p_holm": p, "q_bh": p, "family_size": 3,
        "n": 48, "n_clusters": 48,
    }  # fmt: skip


def detection(gain: float | None, p: float | None, *, turned: bool) -> dict[str, Any]:
    """Return the paired test of keen and random in a table of differences."""
    names = ("random (rating)", "keen (rating)") if turned else ("keen (rating)", "random (rating)")
    return {
        "table": "averages", "measure": "average", "scope": "made, en, turn", "system": names[0], "opponent": names[1],
        "difference": -gain if turned and gain else gain, "p": p, "p_holm": p, "q_bh": p, "family_size": 1,
        "n": 48, "n_clusters": 9,
    }  # fmt: skip


def of_tables(**tables: Any) -> ReportInputs:
    named = {name.replace("__", "/"): table for name, table in tables.items()}
    return example.inputs(tables=named, chatbots=(), judges=(), protocols=())


def test_a_card_has_answer_measure_and_the_first_rows_with_their_intervals() -> None:
    found = card(example.inputs(tables={**example.inputs().tables, **rated.tables()}, rated=rated.sample()), "metaeval")
    assert found.question == "How far can a judge be trusted?"
    assert found.answer == "gpt-x (rating) agrees best with human ratings: r = 0.800 on overall."
    assert found.measure == "Pearson’s r, overall"
    assert [(row.name, row.number, row.interval) for row in found.rows][:1] == [
        ("gpt-x (rating)", "0.800", "0.750–0.850")
    ]
    assert len(found.rows) <= MOST_ROWS + 1


def test_a_ranked_measure_comes_before_a_rating_that_is_not_identified() -> None:
    """Elo that still depends on its start has no interval and no rank: it orders no leaderboard beside one that has."""
    ratings = [
        example._rating(name, elo) | {"ci_low": None, "ci_high": None} for name, elo in (("weak", 1e3), ("able", 9e2))
    ]
    rates = [example._rate(name, 4, rate) for name, rate in (("able", 0.9), ("weak", 0.1))]
    ranks = [
        {
            "table": "pass_rates",
            "measure": "pass_rate",
            "judge": "clerk",
            "scope": "N = 4",
            "system": name,
            "estimate": 0.5,
        }
        | {"rank": rank, "rank_ci_low": rank, "rank_ci_high": rank, "n_better": 0, "n_worse": 0, "n_systems": 2}
        for rank, name in enumerate(("able", "weak"), start=1)
    ]
    tables = {"arena/ratings": to_table(RATINGS, ratings), "unieval/pass_rates": to_table(PASS_RATES, rates)}
    run = example.inputs(tables={**tables, "unieval/ranks": to_table(RANKS, ranks)})
    found = card(run, "botchat")
    assert found.answer.replace("\N{NO-BREAK SPACE}", " ") == (
        "able chats best, significantly ahead of all others: 90.0% by UniEval pass rate at N = 4."
    )
    assert [row.name for row in found.rows] == ["able", "weak"]


def test_the_criterion_overall_orders_a_leaderboard_of_several() -> None:
    rows = [
        {
            "judge": "clerk",
            "criterion": criterion,
            "system": system,
            "estimate": value,
            "ci_low": 1.0,
            "ci_high": 5.0,
            "n": 3,
            "n_missing": 0,
        }
        for criterion, of in (("coherence", (4.0, 2.0)), ("overall", (2.0, 4.0)))
        for system, value in zip(("v1", "v2"), of, strict=True)
    ]
    run = mine.inputs()
    tables = {"felt/means": to_table(MEANS, rows)}
    (board,) = build_boards(dataclasses.replace(run, tables=tables))
    assert board.primary is not None
    assert board.primary.criterion == "overall"
    assert board.models == ("v2", "v1")


def test_detection_is_compared_with_the_best_baseline() -> None:
    run = dataclasses.replace(
        of_tables(robustness__averages=averages(random=0.3, keen=0.26)), baselines=frozenset({"random"})
    )
    for rate, gain, p, words in (
        (0.26, None, None, "26.0% of perturbations, fewer than {}."),
        (0.26, -0.04, 0.3, "26.0% of perturbations, fewer than {}; the difference is not significant."),
        (0.26, -0.04, 0.03, "26.0% of perturbations, significantly fewer than {}."),
        (0.26, 0.04, 0.03, "26.0% of perturbations, fewer than {}; the difference is not significant."),
        (0.3, 0.0, 1.0, "30.0% of perturbations, as many as {}."),
        (0.4, None, None, "40.0% of perturbations, more than {}."),
        (0.4, 0.1, 0.3, "40.0% of perturbations, not significantly more than {}."),
        (0.4, 0.1, 0.03, "40.0% of perturbations, significantly more than {}."),
    ):
        for turned in (False, True):
            tables = {"robustness/averages": averages(random=0.3, keen=rate)}
            tables["robustness/differences"] = to_table(ROBUSTNESS_DIFFERENCES, [detection(gain, p, turned=turned)])
            answer = card(dataclasses.replace(run, tables=tables), "robustness").answer
            assert answer == f"keen (rating) detects {words.format('the baseline random (rating), 30.0%')}"
    assert card(run, "robustness").answer.endswith("fewer than the baseline random (rating), 30.0%.")
    alone = dataclasses.replace(run, tables={"robustness/averages": averages(random=0.3)})
    assert card(alone, "robustness").answer == "The baseline random (rating) detects 30.0% of perturbations."
    none = dataclasses.replace(run, tables={"robustness/averages": averages(keen=None)})
    assert card(none, "robustness").answer == "No judge has a rate of detection."


def test_a_headline_names_the_column_that_it_is_about_if_there_are_several() -> None:
    turns, choices = averages(keen=0.4).to_pylist(), accuracy(large=0.6, small=0.3).to_pylist()
    dialogues = [row | {"level": "dialogue"} for row in turns]
    written = [row | {"source": "written"} for row in choices]
    run = of_tables(
        robustness__averages=to_table(ROBUSTNESS_AVERAGES, turns + dialogues),
        dialogbench__accuracy=to_table(ACCURACY, choices + written),
    )
    assert card(run, "robustness").answer == ("keen (rating) detects 40.0% of perturbations (turn level, made (en)).")
    assert card(run, "dialogbench").answer.startswith(
        "large (letter) has the highest accuracy on bundled items (en): 60.0%"
    )


def test_accuracy_names_significance_ties_and_no_model_that_wrote_the_items() -> None:
    tested = to_table(DIALOGBENCH_DIFFERENCES, [difference("large", "small", 0.01), difference("large", "plain", 0.6)])
    run = of_tables(
        dialogbench__accuracy=accuracy(writer=0.9, large=0.6, small=0.3, plain=0.5), dialogbench__differences=tested
    )
    assert card(run, "dialogbench").answer == (
        "large (letter) has the highest accuracy: 60.0%, not significantly above 1 other. Chance is 25.0%."
    )
    tied = of_tables(dialogbench__accuracy=accuracy(large=0.6, small=0.6))
    assert card(tied, "dialogbench").answer == (
        "large (letter) and small (letter) have the highest accuracy: 60.0%. Chance is 25.0%."
    )
    one = of_tables(dialogbench__accuracy=accuracy(large=0.6))
    assert card(one, "dialogbench").answer == (
        "large (letter) answers 60.0% of the questions correctly. Chance is 25.0%."
    )


def test_other_judges_with_another_leader_are_named_and_estimates_have_no_second_card() -> None:
    run = mine.inputs()
    row = {
        "protocol": "felt", "criterion": "empathy", "measure": "mean", "judge": "clerk", "annotators": "people",
        "target": "new", "n_labelled": 30, "n_labelled_seeds": 30, "n_total": 222,
    }  # fmt: skip
    rows = [row | {"system": system, "estimate": value} for system, value in (("v1", 5.0), ("v2", 4.0))]
    labelled = dataclasses.replace(run, tables={**run.tables, "labels/estimates": to_table(ESTIMATES, rows)})
    cards = overview(leaderboards(labelled))
    assert [one.part for one in cards] == ["of-support"]
    assert (cards[0].measure, cards[0].by) == ("Human-corrected felt (empathy)", "")


def test_a_run_without_numbers_has_no_card_with_rows() -> None:
    bare = example.inputs(tables={"unieval/pass_rates": empty_table(PASS_RATES)}, judges=())
    assert [one.rows for one in overview(leaderboards(bare))] == [()]
    assert "No judge ran" in build_report(bare)


def test_the_window_names_systems_judges_and_folder() -> None:
    assert window_title(example.inputs()) == "weak, able by clerk · results · A run of <two> & more"
    many = example.inputs(chatbots=tuple("abcdefg"), judges=(), title="DialEval", results_dir="runs/x")
    assert window_title(many) == "a, b and 5 others · runs/x · DialEval"


def test_figures_lead_to_the_tables_with_their_numbers() -> None:
    figure = example.inputs().figures[0]
    names = {
        ("botchat", "figure5_arena_n16"): ("arena/win_rates",),
        ("botchat", "bias_arena"): ("arena/bias",),
        ("quality", "means"): ("quality/means",),
        ("robustness", "severity_levels"): ("robustness/severity_levels", "robustness/robustness"),
        ("elsewhere", "own"): (),
    }
    for (part, file), tables in names.items():
        assert tables_behind(dataclasses.replace(figure, part=part, file=file)) == tables
    drawn = dataclasses.replace(figure, part="botchat", file="figure4_unieval")
    page = build_report(example.inputs(figures=(drawn,)))
    assert 'Numbers with their intervals: <a href="#table-unieval-pass_rates">' in page


def test_the_card_of_training_counts_judges_whose_gain_is_above_zero() -> None:
    found = card(of_tables(**{"training__record": training.tables()[TRAINING_RECORD.name]}), "training")
    assert found.question == "Did the trained judges learn?"
    assert found.answer == "2 of 2 judges learned: the interval of the gain is above zero for poe and fined."
    assert found.measure == "Held-out pairs, AUC"
    after = [row for row in training.tables()[TRAINING_RECORD.name].to_pylist() if row["moment"] == "after"]
    whole = {row["judge"]: row["auc"] for row in after if {row["kind"], row["criterion"], row["language"]} == {"all"}}
    assert {row.name: row.number for row in found.rows} == {name: f"{auc:.1%}" for name, auc in whole.items()}
    unknown = [row | {"gain": None, "gain_ci_low": None, "gain_ci_high": None} for row in after]
    none = card(of_tables(training__record=to_table(TRAINING_RECORD, unknown)), "training")
    assert none.answer.startswith("No trained judge has an AUC before and after")


def test_the_card_of_translations_is_about_people_or_else_the_next_metric() -> None:
    def quality(metric: str, **values: float | None) -> list[dict[str, Any]]:
        about = {"corpus": "all", "metric": metric, "produced_by": "clerk", "n": 9, "signature": ""}
        ends = {name: value and value - 1 for name, value in values.items()}
        return [
            about | {"language": name, "value": value, "ci_low": ends[name], "ci_high": value, "reason": None}
            for name, value in values.items()
        ]

    corpora = [
        {"corpus": "one", "language": "de", "translated_by": "m", "status": status, "n": n, "share": n / 20}
        | {"n_dialogues": 5, "n_left_out": 1}
        for status, n in (("ok", 19), ("empty", 1))
    ]
    tables: dict[str, Any] = {"translation__corpora": to_table(TRANSLATED_CORPORA, corpora)}
    found = card(of_tables(**tables), "translation")
    assert (found.question, found.measure) == (
        "Can the translations be trusted?", "Quality of translations, usable translations"
    )  # fmt: skip
    assert found.answer == "de: 95.0% usable translations."
    tables["translation__quality"] = to_table(
        TRANSLATION_QUALITY, [*quality("chrf", de=50.0, zh=40.0), *quality("adequacy", de=4.0, zh=4.5)]
    )
    found = card(of_tables(**tables), "translation")
    assert found.measure == "Quality of translations, adequacy by clerk"
    assert [(row.name, row.number, row.interval) for row in found.rows] == [
        ("zh", "4.5", "3.5–4.5"), ("de", "4.0", "3.0–4.0")
    ]  # fmt: skip
    assert found.answer == "zh has the highest adequacy by clerk, 4.5, and de the lowest, 4.0."
    tables["translation__quality"] = to_table(TRANSLATION_QUALITY, quality("people", de=None))
    assert card(of_tables(**tables), "translation").answer == "No language has a value of ratings by people."
