"""DialogBench's published numbers: found by every name, and equal to the tables they were typed from."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from dialeval.dialogbench.tasks import ABBREVIATIONS
from dialeval.papers.dialogbench import (
    AVERAGE,
    OVERALL,
    published_ablation,
    published_accuracy,
    published_domain_accuracy,
    published_rows,
    published_size,
)


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def test_sixty_one_rows_have_all_tasks_and_an_overall() -> None:
    rows = [row for row in published_rows() if row.table in "234"]
    assert len(rows) == 61
    assert all(list(row.values) == [*ABBREVIATIONS, OVERALL] for row in rows)
    assert len([row for row in rows if row.model == AVERAGE]) == 4


def test_the_english_table_is_the_public_one(real_data: Path) -> None:
    printed = {row["model"] + row["type"]: row for row in rows_of(real_data / "paper-tables/dialogbench_table2_en.csv")}
    ours = [row for row in published_rows() if row.table == "2"]
    assert len(printed) == len(ours) == 29
    kinds = {"human": "Human", "pre-trained": "Pre-trained", "instruction-tuned": "Supervised Instruction-tuning"}
    for row in ours:
        public = printed[row.model + kinds[row.group]]
        assert all(float(public[column]) == value for column, value in row.values.items())


def test_the_domain_table_is_the_public_one(real_data: Path) -> None:
    printed = rows_of(real_data / "paper-tables" / "dialogbench_table7_daily.csv")
    ours = [row for row in published_rows() if row.table == "7" and row.group == "daily life"]
    for public, row in zip(printed, ours, strict=True):
        assert public["model"] == row.model
        assert float(public["Musics"]) == row.values["Music"]
        assert float(public["Avg"]) == row.values[AVERAGE]


def test_table_1_is_the_public_one(real_data: Path) -> None:
    for row in rows_of(real_data / "paper-tables" / "dialogbench_table1.csv"):
        assert published_size(row["abbr"], "items") == float(row["num"])
        assert published_size(row["abbr"], "turns") == float(row["turns"])


@pytest.mark.parametrize(
    ("model", "language", "column", "share"),
    [
        ("human", "en", OVERALL, 0.925),
        ("Human", "zh", "OD", 0.84),
        ("gpt-4-0314", "en", "SF", 0.9609),
        ("GPT-4", "zh", OVERALL, 0.8154),
        ("meta-llama/Llama-2-7b-chat-hf", "en", OVERALL, 0.6032),
        ("meta-llama/Llama-2-7b-chat-hf", "zh", OVERALL, 0.3942),
        ("Baichuan-13B-Chat", "zh", "SF", 0.7451),
        ("Qwen-7B", "zh", "NLI", 0.2206),
    ],
)
def test_an_accuracy_is_found_by_the_models_names(model: str, language: str, column: str, share: float) -> None:
    assert published_accuracy(model, language, column) == pytest.approx(share)


def test_what_was_not_published_is_none() -> None:
    assert published_accuracy("gpt-4o", "en", "SF") is None
    assert published_accuracy("GPT-4", "de", "SF") is None
    assert published_accuracy("", "en", "SF") is None
    assert published_domain_accuracy("GPT-4", "en", "Travel") is None
    assert published_ablation("-nothing", "SF") is None


def test_domains_and_ablations_are_found() -> None:
    assert published_domain_accuracy("Baichuan2-13B-Chat", "zh", "Music") == pytest.approx(0.5965)
    assert published_domain_accuracy("gpt-4-0314", "zh", "Medicine") == pytest.approx(0.8853)
    assert published_ablation("full", OVERALL) == published_accuracy("GPT-4", "zh", OVERALL)
    assert published_ablation("-filter", "ED") == pytest.approx(0.5514)


def test_the_domain_table_is_about_the_chinese_items() -> None:
    """The two groups of domains average to the overall accuracy in Chinese, and not to that in English."""
    groups = {row.group: row.values[AVERAGE] for row in published_rows() if row.table == "7" and row.model == "GPT-4"}
    assert sum(groups.values()) / 2 == pytest.approx(81.54, abs=0.02)
