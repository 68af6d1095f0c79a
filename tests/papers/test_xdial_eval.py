"""xDial-Eval's published numbers: those of its text and of the tables made of it, and in agreement with themselves."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import numpy as np
import pytest

from dialeval.papers import xdial_eval
from dialeval.papers.xdial_eval import LANGUAGES, Row

TEXT = Path(__file__).parents[2].parent / "shared" / "papers" / "xdial-eval-paper.txt"
OFF_ITS_MEAN = ("17", "LLaMA-7B + PoE", "turn")
"""The one row whose printed average is not the mean of its languages."""


def of_table(number: str) -> list[Row]:
    return [row for row in xdial_eval.rows() if row.table == number]


@pytest.mark.parametrize(("number", "name"), [("4", "xdial_table4_pearson"), ("5", "xdial_table5_pearson")])
def test_pearson_correlations_are_those_of_the_tables(real_data: Path, number: str, name: str) -> None:
    with (real_data / "paper-tables" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row, own in zip(rows, of_table(number), strict=True):
        assert (row["level"], row["model"]) == (own.level, own.system)
        printed = {language: float(row[language.upper()]) for language in LANGUAGES}
        assert printed | {"average": float(row["AVG"])} == dict(own.values)
        training = {"LLMs-Zeroshot": "", "": "English"}.get(row["category"], "multilingual")
        assert own.training == training


@pytest.mark.parametrize("number", ["4", "5", "15", "16", "17"])
def test_every_row_stands_in_the_papers_text(number: str) -> None:
    if not TEXT.exists():
        pytest.skip(f"the paper's text is not at {TEXT}")
    lines = [re.sub(r"\s*/\s*", "|", line) for line in TEXT.read_text(encoding="utf-8").splitlines()]
    printed = {tuple(re.findall(r"-?\d\.\d{3}", line)) for line in lines if line.count("|") > 4}
    if number == "15":
        printed = {part for cells in printed for part in (cells[::2], cells[1::2])}
    for row in of_table(number):
        assert tuple(f"{value:.3f}" for value in row.values.values()) in printed, row.label


def test_averages_are_the_means_of_their_rows() -> None:
    for row in xdial_eval.rows():
        average = row.values["average"]
        mean = np.mean([value for name, value in row.values.items() if name != "average"])
        if (row.table, row.system, row.level) == OFF_ITS_MEAN:
            assert (average, round(mean, 3)) == (0.439, 0.436)
        else:
            assert mean == pytest.approx(average, abs=0.001001), row


def test_tables_have_the_same_systems_in_both_statistics() -> None:
    assert [len(of_table(number)) for number in ("4", "16", "5", "17", "15")] == [10, 10, 48, 48, 44]
    for first, second in (("4", "16"), ("5", "17")):
        pearson, spearman = ({(row.level, row.label) for row in of_table(number)} for number in (first, second))
        assert pearson == spearman
        assert {row.statistic for row in of_table(first)} == {"pearson"}
        assert {row.statistic for row in of_table(second)} == {"spearman"}
        for number in (first, second):
            assert {tuple(row.values) for row in of_table(number)} == {(*LANGUAGES, "average")}
    by_statistic = {
        name: {row.label for row in of_table("15") if row.statistic == name} for name in ("pearson", "spearman")
    }
    assert by_statistic["pearson"] == by_statistic["spearman"] <= {row.label for row in of_table("5")}


def test_what_is_odd_in_the_paper_stands_as_printed() -> None:
    repeated = [
        xdial_eval.published_xdial(f"{name} (multilingual)", "dialogue", "average", "spearman")
        for name in ("LLaMA-7B", "LLaMA-2-7B")
    ]
    assert repeated == [0.2, 0.2]
    assert xdial_eval.published_xdial("Alpaca-7B (English)", "turn", "ko", "spearman") == 0.029
    assert xdial_eval.published_xdial("Alpaca-7B (English)", "turn", "ko", "pearson") == 0.221


def test_a_system_is_reported_from_the_same_model_after_other_training() -> None:
    found = {
        label: xdial_eval.published_xdial(label, "turn", "average", "pearson")
        for label in xdial_eval.labels()
        if label.startswith("LLaMA-2-7B")
    }
    assert found == {
        "LLaMA-2-7B (English)": 0.371,
        "LLaMA-2-7B": 0.064,
        "LLaMA-2-7B (multilingual)": 0.465,
        "LLaMA-2-7B + PoE": 0.489,
        "LLaMA-2-7B + FineD": None,
    }
    assert xdial_eval.published_xdial("LLaMA-2-7B + FineD", "dialogue", "average", "pearson") == 0.422
    assert [
        xdial_eval.published_xdial(f"PoE ({name})", "turn", "average", "pearson")
        for name in ("English", "multilingual")
    ] == [
        0.439,
        0.431,
    ]
    assert xdial_eval.published_xdial("PoE", "turn", "average", "pearson") is None


def test_natural_chinese_corpora_have_numbers_of_what_people_rated_in_them() -> None:
    find = xdial_eval.published_chinese
    assert find("llama-2-7b + poe", "turn", "hc-turn", "relevance", "spearman") == 0.462
    assert find("FineD (multilingual)", "dialogue", "LCCC-Dial", "coherence", "pearson") == 0.386
    assert find("Falcon-7B (multilingual)", "dialogue", "average", "coherence", "pearson") == 0.504
    assert find("Falcon-7B (multilingual)", "turn", "average", "overall", "pearson") is None
    assert find("Falcon-7B", "turn", "ECM-Turn", "relevance", "pearson") is None  # was not asked as it is
    assert xdial_eval.are_all_chinese("turn", ["ecm-turn", "HC-Turn", "lccc_turn"])
    assert not xdial_eval.are_all_chinese("turn", ["ecm-turn", "HC-Turn"])
    assert xdial_eval.is_chinese("lccc-dial")
    assert not xdial_eval.is_chinese("fed-dial")
