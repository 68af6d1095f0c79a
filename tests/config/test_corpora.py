"""Transcripts in the configuration: alone, with mistakes, and under names that others have."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import pytest
from config_example import BASE
from pydantic import ValidationError

from dialeval.config import Transcripts, load_config, read_config_file
from dialeval.config.corpora import (
    READERS_OF,
    Reader,
    TranslationQuality,
    absence_in_words,
    absent_corpora,
    without_absent,
)
from dialeval.errors import UserError

ALONE: dict[str, Any] = {
    "models": {"forest": {"engine": "embedded", "method": "forest"}},
    "judges": ["forest"],
    "transcripts": {"support": {"path": "support.jsonl"}},
    "protocols": {"human_like": {"form": "locate", "data": {"source": "support"}}},
}


def load(changes: dict[str, Any], *, there: bool = False) -> Any:
    return load_config(ALONE | changes, files_are_there=there)


def test_transcripts_need_neither_chatbots_nor_seeds_nor_corpora() -> None:
    config = load({})
    assert not config.talks()
    assert config.transcripts_path("support") == Path("data/support.jsonl")
    assert config.used_corpora() == ["bundled"]  # what the judge learns from


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"transcripts": {"support": {}}}, ["transcripts.support.path", "needed and missing"]),
        ({"transcripts": {"support": {"path": "a", "reader": "xml"}}}, ["transcripts.support.reader", "sharegpt"]),
        (
            {"transcripts": {"support": {"path": "a", "reader": "Twitter"}}},
            ["'Twitter' is not allowed; did you mean 'tweets'?"],
        ),
        ({"transcripts": {"support": {"path": "a", "reader": "instagramm"}}}, ["did you mean 'messenger'?"]),
        ({"transcripts": {"support": {"path": "a", "show": {"tools": True}}}}, ["transcripts.support.show.tools"]),
        (
            {"transcripts": {"support": {"path": "a", "reader": "slack", "columns": {"text": "t"}}}},
            ["transcripts.support", "files of reader slack have no columns", "set reader: csv"],
        ),
        ({"transcripts": {"support": {"path": "a", "limit": 0}}}, ["transcripts.support.limit"]),
        (
            {"transcripts": {name: {"path": "a"} for name in ("support", "other")}},
            ["transcripts.other: no judge scores 'other'", "{form: scale, data: {source: other}"],
        ),
        (
            {"transcripts": {name: {"path": "a"} for name in ("support", "Support")}},
            ["'support' and 'Support' differ only in case"],
        ),
        (
            {
                "transcripts": {"selfchat": {"path": "a"}},
                "protocols": {"one": {"form": "locate", "data": {"source": "selfchat"}}},
            },
            ["'selfchat' is the name of the chatbots' dialogues"],
        ),
    ],
)
def test_a_mistake_is_reported_with_its_field(changes: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(UserError) as caught:
        load(changes)
    for word in words:
        assert word in str(caught.value), str(caught.value)


def test_other_names_of_formats_lead_to_readers() -> None:
    readers = set(get_args(Reader))
    assert set(READERS_OF.values()) <= readers
    assert readers.isdisjoint(READERS_OF)


def test_names_of_corpora_are_taken() -> None:
    one = {"form": "scale", "data": {"source": "steps"}, "criteria": ["overall"], "judges": ["gpt"]}
    changes = {"protocols": {"one": one}, "transcripts": {"steps": {"path": "a"}}}
    with pytest.raises(UserError, match="'steps' is also a name under metaeval.corpora"):
        load_config(BASE | changes, files_are_there=False)


def test_a_file_that_is_not_there_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"transcripts.support.path: .*nowhere.jsonl does not exist"):
        load({"transcripts": {"support": {"path": str(tmp_path / "nowhere.jsonl")}}}, there=True)


def test_what_is_shown_is_by_kind() -> None:
    shown = Transcripts.model_validate({"path": "a", "show": {"tool_calls": True}}).options()
    assert shown["shown"] == ["tool_call", "tool_result"]
    assert shown["columns"] == {}
    assert "path" not in shown


# What the configuration of translations refuses, in words.


def test_a_metric_has_what_it_compares_with() -> None:
    assert TranslationQuality(metrics=["bertscore"], back="m").metrics == ["bertscore"]
    assert TranslationQuality(metrics=["cometkiwi22"]).back is None
    with pytest.raises(ValidationError, match="bertscore compares the source with its back-translation; name a"):
        TranslationQuality(metrics=["bertscore"])


def test_a_metric_is_either_computed_or_read() -> None:
    raw = {"metrics": ["cometkiwi22"], "scores": {"cometkiwi22": "comet.csv"}}
    with pytest.raises(ValidationError, match=r"cometkiwi22: named under both metrics .* and scores"):
        TranslationQuality.model_validate(raw)


# Rated corpora that may be absent, and the configurations that are shipped.

ROOT = Path(__file__).parents[2]
CONFIGS = sorted((ROOT / "configs").glob("*.yaml"))


def raw(folder: Path, **changes: Any) -> dict[str, Any]:
    (folder / "here.jsonl").touch()
    corpora = {
        name: {"reader": "rated_jsonl", "path": f"{name}.jsonl", "optional": True} for name in ("here", "gone", "away")
    }
    parts: dict[str, Any] = {
        "data_dir": str(folder),
        "models": {"forest": {"engine": "embedded", "method": "forest"}},
        "judges": ["forest"],
        "protocols": {"yes_no": {}},
        "metaeval": {"corpora": corpora},
    }
    return parts | changes


def test_what_is_absent_is_left_out_and_reported(tmp_path: Path) -> None:
    whole = load_config(raw(tmp_path))
    config = without_absent(whole)
    assert config.metaeval is not None
    assert list(config.metaeval.corpora) == ["here"]
    first, second = absence_in_words(config, whole)
    assert first.startswith(
        f"note: metaeval.corpora.gone is skipped: {tmp_path / 'gone.jsonl'} does not exist; correct"
    )
    assert "metaeval.corpora.away" in second
    assert without_absent(config) is config
    assert list(absence_in_words(config, config)) == []


def test_the_remedy_for_public_corpora_is_the_download(tmp_path: Path) -> None:
    whole = load_config(raw(tmp_path, public_corpora=["comp-analysis"]))
    assert all("`snakemake --cores 1 download`" in line for line in absence_in_words(without_absent(whole), whole))


def test_a_corpus_that_is_needed_must_be_there(tmp_path: Path) -> None:
    corpora = raw(tmp_path)["metaeval"]["corpora"] | {"needed": {"reader": "rated_jsonl", "path": "needed.jsonl"}}
    with pytest.raises(UserError, match=r"metaeval.corpora.needed.path: .*needed.jsonl does not exist"):
        load_config(raw(tmp_path, metaeval={"corpora": corpora}))


def test_a_corpus_that_a_protocol_names_is_needed_though_it_is_optional(tmp_path: Path) -> None:
    protocols = {"yes_no": {}, "felt": {"form": "probability", "data": {"source": "gone"}, "criteria": ["overall"]}}
    with pytest.raises(UserError, match=r"metaeval.corpora.gone.path: .* does not exist") as caught:
        load_config(raw(tmp_path, protocols=protocols))
    assert "away" not in str(caught.value)


def test_something_must_be_left(tmp_path: Path) -> None:
    corpora = {"gone": {"reader": "rated_jsonl", "path": "gone.jsonl", "optional": True}}
    config = load_config(raw(tmp_path, metaeval={"corpora": corpora}))
    with pytest.raises(UserError, match=r"metaeval.corpora: none of the files exists; correct its path or `data_dir`"):
        without_absent(config)


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_a_shipped_configuration_loads(path: Path) -> None:
    config = load_config(read_config_file(path), files_are_there=False)
    assert config.models or config.battles


def test_the_configurations_of_the_papers_models_say_what_kind_each_is() -> None:
    for name in ("botchat", "botchat-today", "dialogbench-models", "comp-analysis-models", "xdial-models"):
        config = load_config(read_config_file(ROOT / "configs" / f"{name}.yaml"), files_are_there=False)
        assert [model for model, one in config.models.items() if one.kind is None] == []


@pytest.mark.parametrize(("name", "corpora"), [("metaeval", 29), ("comp-analysis-models", 12), ("xdial-models", 19)])
def test_absent_public_corpora_are_left_out(name: str, corpora: int, real_data: Path) -> None:
    raw = read_config_file(ROOT / "configs" / f"{name}.yaml") | {"data_dir": str(real_data)}
    config = load_config(raw, files_are_there=False)
    assert config.metaeval is not None
    assert len(config.metaeval.corpora) == corpora
    assert 0 < len(absent_corpora(config)) < corpora


# Memorization and target differences

CHAT = {"models": {**ALONE["models"], "gpt": {"engine": "openai", "model": "gpt"}}}


def completing(**changes: Any) -> dict[str, Any]:
    return CHAT | {"memorization": {"models": ["gpt"], "corpora": ["bundled"]} | changes}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (completing(models=["forest"]), ["memorization.models: 'forest' has engine embedded", "openai or vllm"]),
        (completing(models=["gtp"]), ["memorization.models: 'gtp' is not a model", "did you mean 'gpt'"]),
        (completing(corpora=["bundle"]), ["memorization.corpora: 'bundle' is not a corpus", "did you mean 'bundled'"]),
        (completing(control=["bundled"]), ["bundled: both under corpora and under control"]),
        (completing(n=0), ["memorization.n"]),
        (completing(corpora=[]), ["memorization.corpora"]),
        ({"target_differences": {"human": 0.1}}, ["target_differences: 'human' is not a protocol", "'human_like'"]),
        ({"target_differences": {"human_like": 0}}, ["target_differences.human_like: 0", "greater than 0"]),
    ],
)
def test_mistakes_in_memorization_and_target_differences_are_named(changes: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(UserError) as caught:
        load(changes)
    for text in words:
        assert text in str(caught.value)


def test_own_texts_that_nobody_judges_may_be_a_control() -> None:
    transcripts = {name: {"path": f"{name}.jsonl"} for name in ("support", "unpublished")}
    config = load(completing(control=["unpublished"]) | {"transcripts": transcripts})
    assert config.memorization is not None
    assert "gpt" in config.models_in_use()
    assert load({"target_differences": {"human_like": 0.1}}).target_differences == {"human_like": 0.1}
