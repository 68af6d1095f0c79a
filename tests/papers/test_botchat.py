"""BotChat's published numbers: found by every name, and equal to the public files they were typed from."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from dialeval.papers.botchat import COLUMNS, find_model, published_models, published_value

DATA = Path(__file__).parents[2].parent / "shared" / "data"
TABLES = DATA / "paper-tables" / "botchat_table1_table2.csv"
LEADERBOARD = DATA / "botchat" / "lb.csv"
LAST_SEVEN = {"InternLM-7B", "GPT-3.5-Turbo", "ChatGLM2-6B", "Claude-2", "LLaMA2-7B", "LLaMA2-70B", "LLaMA2-13B"}


def rows_of(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        pytest.skip(f"the public file {path.name} is not here; it is expected in {path.parent.name}/ of shared/data")
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def value_of(name: str, column: str) -> float:
    value = published_value(name, column)
    assert value is not None, f"{name} has no published {column}"
    return value


def test_there_are_fourteen_models_with_every_number() -> None:
    models = published_models()
    assert len(models) == 14
    assert all(set(model.values) == set(COLUMNS) for model in models)
    rates = [value for model in models for name, value in model.values.items() if name.startswith(("unieval", "win"))]
    assert all(0 <= rate <= 1 for rate in rates)


@pytest.mark.parametrize(
    ("name", "paper_name"),
    [
        ("GPT-4", "GPT-4"),
        ("gpt-4-0613", "GPT-4"),
        ("gpt4", "GPT-4"),
        ("vicuna-13b-v1.5", "Vicuna-13B"),
        ("lmsys/vicuna-7b-v1.5", "Vicuna-7B"),
        ("Qwen-14B-Chat", "Qwen-14B"),
        ("qwen_14b_chat", "Qwen-14B"),
        ("gpt35", "GPT-3.5-Turbo"),
        ("gpt-35-turbo", "GPT-3.5-Turbo"),
        ("claude2", "Claude-2"),
        ("meta-llama/Llama-2-7b-chat-hf", "LLaMA2-7B"),
        ("chatglm2-6b", "ChatGLM2-6B"),
        ("baichuan2-13b", "Baichuan2-13B"),
    ],
)
def test_a_model_is_found_by_its_names(name: str, paper_name: str) -> None:
    model = find_model(name)
    assert model is not None
    assert model.name == paper_name


@pytest.mark.parametrize(
    "name",
    [
        "",
        "human",
        "GT",
        "gpt-4o",
        "gpt-4-turbo",
        "claude-2.1",
        "Qwen1.5-7B-Chat",
        "internlm2-chat-7b",
        "vicuna-7b-v1.3",
    ],
)
def test_another_model_has_no_published_number(name: str) -> None:
    assert find_model(name) is None
    assert published_value(name, "elo_n16") is None


def test_no_name_belongs_to_two_models() -> None:
    owners = {
        (model.name, "".join(c for c in name.casefold() if c.isalnum()))
        for model in published_models()
        for name in (model.name, *model.aliases)
    }
    assert max(Counter(name for _, name in owners).values()) == 1


def test_an_unknown_column_is_refused() -> None:
    with pytest.raises(ValueError, match=r"elo_n32.*elo_n16"):
        published_value("GPT-4", "elo_n32")


def test_numbers_are_those_of_the_papers_tables() -> None:
    rows = rows_of(TABLES)
    assert [row["model"] for row in rows] == [model.name for model in published_models()]
    for row in rows:
        assert value_of(row["model"], "mean_tokens") == float(row["avg_tokens"])
        assert value_of(row["model"], "elo_n8") == float(row["elo_n8"])
        assert value_of(row["model"], "elo_n16") == float(row["elo_n16"])


def test_numbers_are_those_of_the_public_leaderboard() -> None:
    for row in rows_of(LEADERBOARD):
        name = row["Model"]
        assert value_of(name, "mean_tokens") == float(row["Length"])
        assert value_of(name, "elo_n8") == float(row["ELO_8"])
        assert value_of(name, "unieval_n8") == pytest.approx(float(row["Uni_Eval_8"]) / 100, abs=1e-12)
        assert value_of(name, "unieval_n16") == pytest.approx(float(row["Uni_Eval_16"]) / 100, abs=1e-12)
        assert value_of(name, "win_or_tie") == pytest.approx(float(row["Win_Tie_Rate"]) / 100, abs=1e-12)


def test_a_note_stands_exactly_where_paper_and_leaderboard_disagree() -> None:
    rows = rows_of(LEADERBOARD)
    assert {model.name for model in published_models() if model.note} == LAST_SEVEN
    for row in rows:
        _check_note(row)


def _check_note(row: Mapping[str, str]) -> None:
    model = find_model(row["Model"])
    assert model is not None
    agrees = model.values["elo_n16"] == float(row["ELO_16"])
    assert agrees is (model.note == "")
    assert agrees or f"gives {row['ELO_16']} " in model.note


def test_the_leaderboards_links_are_names_of_its_models() -> None:
    for row in rows_of(LEADERBOARD):
        if "huggingface.co/" not in row["Link"]:
            continue
        by_link, by_name = find_model(row["Link"].split("huggingface.co/")[1]), find_model(row["Model"])
        assert by_link is not None
        assert by_link == by_name
