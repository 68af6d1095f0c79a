"""Mistakes in the section `dialogbench` are found before anything runs, in words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dialeval.config import DOMAINS, DialogBench, load_config
from dialeval.config.dialogbench import BY_RULE, TASKS, parts_in_items
from dialeval.dialogbench.embedded_writer import CLOZE_TASKS
from dialeval.dialogbench.tasks import ABBREVIATIONS, DOMAIN_NAMES
from dialeval.errors import UserError

MODELS: dict[str, Any] = {
    "retrieval": {"engine": "embedded", "method": "retrieval"},
    "length": {"engine": "embedded", "method": "length"},
    "gpt": {"engine": "openai", "model": "gpt", "label_logprobs": "none"},
    "base": {"engine": "vllm", "model": "base"},
    "old": {"engine": "published"},
}


def with_section(**section: Any) -> dict[str, Any]:
    return {"models": MODELS, "dialogbench": section}


def test_the_section_stands_alone() -> None:
    config = load_config(
        with_section(
            bundled=["en"],
            written={"writer": "gpt", "filter": "retrieval"},
            examine={"letter": ["gpt"], "perplexity": ["base"]},
            classifier="gpt",
        )
    )
    assert config.models_in_use() == ["gpt", "retrieval", "base"]
    assert not config.talks()
    assert config.dialogbench is not None
    assert config.dialogbench.written is not None
    assert config.dialogbench.written.chosen_tasks == list(TASKS)
    assert config.dialogbench.examine.by_method() == {"letter": ["gpt"], "perplexity": ["base"]}


def test_items_by_rule_need_their_corpus_and_only_their_tasks() -> None:
    config = load_config(with_section(written={}) | {"corpora": {"bundled": {"reader": "bundled"}}})
    assert config.dialogbench is not None
    assert config.dialogbench.written is not None
    assert config.dialogbench.written.chosen_tasks == ["MRG", "DI"]
    assert config.used_corpora() == ["bundled"]
    assert config.models_in_use() == []


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ({}, ["dialogbench", "there are no items", "bundled"]),
        ({"bundled": ["fr"]}, ["dialogbench.bundled.0", "'fr'"]),
        ({"bundled": ["en", "en"]}, ["dialogbench.bundled", "listed twice"]),
        ({"bundeld": ["en"]}, ["dialogbench.bundeld", "did you mean 'bundled'"]),
        ({"written": {"tasks": ["MGR"]}}, ["dialogbench.written.tasks", "'MGR'", "did you mean 'MRG'"]),
        ({"written": {"domains": ["Sport"]}}, ["dialogbench.written.domains", "did you mean 'Sports'"]),
        ({"written": {"tasks": ["KRG"]}}, ["'KRG' cannot be made by rule", "MRG and DI", "writer"]),
        ({"written": {"ablations": ["styles"]}}, ["have no personalities"]),
        (
            {"written": {"ablations": ["domains"]}},
            ["given domain, so ablations cannot leave out domains", "cannot leave out domains"],
        ),
        (
            {"written": {"writer": "gpt", "ablations": ["domains"]}},
            [" the ablation domains needs a classifier", "set classifier to a model"],
        ),
        (
            {"written": {"writer": "gpt", "ablations": ["domains"], "temperature": 0}, "classifier": "gpt"},
            ["at temperature 0", "needed and missing", "raise temperature"],
        ),
        ({"written": {"ablations": ["filter"]}}, ["the ablation filter needs a filter"]),
        ({"written": {"writer": "gtp"}}, ["dialogbench.written.writer", "'gtp' is not a model", "'gpt'"]),
        (
            {"written": {"writer": "retrieval"}},
            [
                "dialogbench.written.writer",
                "writes no items",
                "remove the field, and items of MRG and DI are made by rule",
            ],
        ),
        ({"written": {"corpus": "bundle"}}, ["dialogbench.written.corpus", "is not a corpus", "'bundled'"]),
        ({"written": {"filter": "length"}}, ["dialogbench.written.filter", "'length'", "cannot choose", "retrieval"]),
        ({"bundled": ["en"], "examine": {"letter": ["old"]}}, ["dialogbench.examine.letter", "published model"]),
        ({"bundled": ["en"], "examine": {"letter": ["gpt", "gpt"]}}, ["dialogbench.examine.letter", "listed twice"]),
        (
            {"bundled": ["en"], "examine": {"perplexity": ["gpt"]}},
            ["'gpt'", "cannot score a given text", "prompt_logprobs"],
        ),
        ({"bundled": ["en"], "examine": {"choice": ["gpt"]}}, ["models.gpt.label_logprobs", "by letter"]),
        ({"bundled": ["en"], "classifier": "gpt"}, ["a classifier needs items by a writer"]),
        ({"written": {"writer": "gpt"}, "classifier": "retrieval"}, ["dialogbench.classifier", "neither style"]),
        ({"bundled": ["en"], "presence_penalty": 2.5}, ["dialogbench.presence_penalty", "2.5", "2"]),
        ({"written": {"frequency_penalty": True}}, ["dialogbench.written.frequency_penalty", "a number is needed"]),
        ({"published": {"bundled": {"path": "x"}}}, ["dialogbench.published", "choose another name"]),
        ({"published": {"mine": {"path": "x", "task": "KG"}}}, ["published.mine.task", "did you mean 'KRG'"]),
        ({"bundled": ["en"], "experts": {"answers": "a.csv"}}, ["dialogbench.experts.answers", "does not exist"]),
        ({"bundled": ["en"], "experts": {"per_task": 0}}, ["dialogbench.experts.per_task", "0"]),
        ({"published": {"mine": {"path": "none.json"}}}, ["dialogbench.published.mine.path", "does not exist"]),
    ],
)
def test_a_mistake_is_reported_with_field_value_and_remedy(section: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(UserError) as caught:
        load_config(with_section(**section))
    for word in words:
        assert word in str(caught.value)


def test_a_model_is_known_under_another_name_as_the_one_that_wrote_or_filtered() -> None:
    models = MODELS | {
        "gpt-again": {**MODELS["gpt"], "price_input": 1},
        "elsewhere": {"engine": "vllm", "model": "gpt"},
    }
    section = {
        "written": {"writer": "gpt", "filter": "retrieval"},
        "examine": {"letter": ["gpt-again", "retrieval", "elsewhere", "base"], "perplexity": ["base"]},
    }
    config = load_config({"models": models, "dialogbench": section})
    assert config.dialogbench is not None
    assert parts_in_items(config.dialogbench, config.models) == {"gpt-again": "wrote", "retrieval": "filtered"}
    both = {**section, "written": {"writer": "gpt", "filter": "gpt-again"}, "bundled": ["en"]}
    config = load_config({"models": models, "dialogbench": both})
    assert config.dialogbench is not None
    assert parts_in_items(config.dialogbench, config.models) == {"gpt-again": "wrote and filtered"}


def test_published_items_lie_in_the_data_folder(tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text("{}")
    config = load_config(with_section(published={"mine": {"path": "mine.json"}}) | {"data_dir": str(tmp_path)})
    assert config.item_path("mine") == tmp_path / "mine.json"


def test_the_names_are_those_of_the_library() -> None:
    assert TASKS == ABBREVIATIONS
    assert DOMAINS == DOMAIN_NAMES
    assert BY_RULE == CLOZE_TASKS
    assert DialogBench(bundled=["en"]).max_tokens == 256
