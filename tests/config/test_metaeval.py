"""Mistakes in the parts that examine judges are told with the field, the value and the remedy."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from dialeval.config import load_config
from dialeval.config.criteria import imputable, joined_criteria, protocol_dimensions
from dialeval.config.metaeval import partial_to
from dialeval.corpora.download import public_corpora
from dialeval.errors import UserError
from dialeval.papers.xdial_eval import CHINESE
from dialeval.perturbations.registry import find_strategy

ROOT = Path(__file__).parents[2]


def raw(**changes: Any) -> dict[str, Any]:
    parts: dict[str, Any] = {
        "models": {
            "forest": {"engine": "embedded", "method": "forest"},
            "length": {"engine": "embedded", "method": "length"},
            "theirs": {"engine": "published", "unieval": "x.tsv"},
        },
        "judges": ["forest"],
        "protocols": {"yes_no": {}},
        "metaeval": {"corpora": {"steps": {"reader": "severity_levels"}}},
    }
    return parts | changes


def test_meta_evaluation_needs_no_chatbots() -> None:
    config = load_config(raw())
    assert config.judges_of("yes_no") == ["forest"]
    assert config.judges_of("rating") == []
    assert not config.talks()
    assert config.used_corpora() == ["bundled"]


def test_a_protocols_own_judges_come_before_the_judges_of_all() -> None:
    config = load_config(raw(protocols={"yes_no": {"judges": ["length"]}, "rating": {}}))
    assert (config.judges_of("yes_no"), config.judges_of("rating")) == (["length"], ["forest"])
    assert config.models_in_use() == ["forest", "length"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"protocols": {}}, ["metaeval: no judge scores the items", "yes_no"]),
        ({"protocols": {"yes_no": {"judges": ["forst"]}}}, ["protocols.yes_no.judges", "did you mean 'forest'"]),
        ({"protocols": {"yes_no": {"judges": ["theirs"]}}}, ["'theirs' is a published model", "score_files"]),
        ({"judges": ["length"], "protocols": {"unieval": {}, "yes_no": {}}}, ["judges: 'length'", "unieval", "forest"]),
        ({"protocols": {"rating": {"repeats": 5}}}, ["protocols.rating", "temperature 0", "such as 0.7"]),
        ({"metaeval": {"corpora": {"mine": {"reader": "xdial"}}}}, ["metaeval.corpora.mine", "needs a path"]),
        ({"metaeval": {"corpora": {"mine": {"reader": "xdal", "path": "x"}}}}, ["did you mean 'xdial'"]),
        (
            {"metaeval": {"corpora": {"mine": {"reader": "severity_levels", "dialogues": "bundeld"}}}},
            ["metaeval.corpora.mine.dialogues", "'bundeld' is not a corpus", "did you mean 'bundled'"],
        ),
        (
            {"metaeval": {"corpora": {"bundled": {"reader": "severity_levels"}}}},
            ["'bundled' is also a name under corpora"],
        ),
        (
            {"metaeval": {"corpora": {"selfchat": {"reader": "severity_levels"}}}},
            ["'selfchat' is the name of the chatbots' dialogues"],
        ),
        ({"metaeval": {"corpora": {}}}, ["metaeval.corpora", "at least 1"]),
        (
            {"metaeval": {"corpora": {"s": {"reader": "severity_levels", "stps": 3}}}},
            ["metaeval.corpora.s.stps", "'steps'"],
        ),
        ({"robustness": {}}, ["robustness: there are no items to perturb"]),
        ({"robustness": {"corpora": ["steps", "nowhere"]}}, ["robustness.corpora: 'nowhere' is not a corpus"]),
        ({"robustness": {"corpora": ["bundled"], "rewriter": "gpt"}}, ["robustness.rewriter: 'gpt' is not a model"]),
        (
            {"robustness": {"corpora": ["bundled"], "rewritten": ["contradiction"]}},
            ["robustness.rewritten: there is no rewriter"],
        ),
        (
            {"robustness": {"corpora": ["bundled"], "min_quality": 0.7}},
            ["robustness.min_quality: robustness.corpora has no rated corpus"],
        ),
        ({"robustness": {"corpora": ["bundled"], "min_quality": 7}}, ["robustness.min_quality", "7"]),
        ({"robustness": {"corpora": ["bundled"], "thresholds": [1.5]}}, ["robustness.thresholds", "1.5"]),
        (
            {"robustness": {"corpora": ["bundled"], "severity_levels": {"step": 3}}},
            ["robustness.severity_levels.step", "'steps'"],
        ),
        (
            {
                "data_dir": "nowhere",
                "public_corpora": ["comp-analysis"],
                "robustness": {"published": "comp-analysis/robustness_data"},
            },
            ["robustness.published", "does not exist", "`snakemake --cores 1 download`", "comp-analysis"],
        ),
    ],
)
def test_a_mistake_is_reported(changes: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(UserError) as caught:
        load_config(raw(**changes))
    assert all(word in str(caught.value) for word in words), caught.value


def test_files_need_not_be_there_before_a_download() -> None:
    changes = raw(data_dir="nowhere", robustness={"published": "x"})
    assert load_config(changes, files_are_there=False).published_perturbations() == Path("nowhere/x")


def test_named_perturbations_can_be_checked_before_anything_runs() -> None:
    config = load_config(raw(robustness={"corpora": ["bundled"], "perturbations": ["order_shuffle"]}))
    named = config.strategies_named()
    assert named["robustness.perturbations"] == ["order_shuffle"]
    every = [name for names in named.values() for name in names]
    assert all(find_strategy(name).name == name for name in every)
    assert set(named) == {
        "robustness.perturbations",
        "robustness.rewritten",
        "robustness.severity_levels.perturbations",
        "metaeval.corpora.steps.perturbations",
    }
    with pytest.raises(UserError, match="a.field: 'order_shufle' is not a perturbation; did you mean 'order_shuffle"):
        find_strategy("order_shufle", "a.field")


def test_every_public_set_that_is_offered_is_one_that_download_fetches() -> None:
    text = (ROOT / "configs" / "metaeval.yaml").read_text(encoding="utf-8")
    offered = re.sub(r"^    # (?=[A-Za-z0-9-]+: \{reader)", "    ", text, flags=re.MULTILINE)
    section = load_config(yaml.safe_load(offered), files_are_there=False).metaeval
    assert section is not None
    assert len(section.corpora) == 29
    fetched = {Path(file.local_path) for files in public_corpora().values() for file in files}
    assert {corpus.path for corpus in section.corpora.values()} <= fetched


def scored(**published_as: str) -> dict[str, Any]:
    """Judges of every kind, some of which repeat systems of the papers."""
    files = {"metric": {"path": "metric.csv"}}
    learned = {"level": "turn", "domains": {"ours": ["bundled"]}}
    return raw(
        models={
            "forest": {"engine": "embedded", "method": "forest"},
            "length": {"engine": "embedded", "method": "length"},
            "LLaMA-2-7B": {"engine": "vllm", "model": "meta-llama/Llama-2-7b-hf"},
            "Alpaca-7B": {"engine": "vllm", "model": "huggyllama/llama-7b", "lora_path": "adapter"},
            "ft-en": {"engine": "vllm", "model": "meta-llama/Llama-2-7b-hf", "lora": {"train": ["en"]}},
            "ft-ten": {"engine": "vllm", "model": "meta-llama/Llama-2-7b-hf", "lora": {"train": ["en", "zh"]}},
            "ft-any": {"engine": "vllm", "model": "meta-llama/Llama-2-7b-hf", "lora": {"train": ["any"]}},
            "poe": {"engine": "encoder", "model": "xlm-roberta-large", "train": {"data": "en"}},
            "given": {"engine": "encoder", "weights": "metric"},
        },
        corpora={"bundled": {"reader": "bundled"}, "chinese": {"reader": "bundled", "language": "zh"}},
        training={
            "en": {**learned, "languages": ["en"]},
            "zh": {**learned, "domains": {"ours": ["chinese"]}, "languages": ["zh"]},
            "any": learned,
        },
        ensembles={"both": ["forest", "length"]},
        judges=["forest", "length", "ft-en", "ft-ten", "ft-any", "poe"],
        metaeval={
            "corpora": {"steps": {"reader": "severity_levels"}},
            "score_files": files,
            "published_as": published_as,
        },
    )


def test_only_an_untrained_model_has_its_own_name() -> None:
    nameless = dict.fromkeys(("Alpaca-7B", "ft-en", "ft-ten", "ft-any", "poe", "given", "both", "metric"), "")
    assert load_config(scored(), files_are_there=False).published_systems() == nameless
    published_as = {
        "metric": "FineD (English)",
        "forest": "PoE (multilingual)",
        "Alpaca-7B": "Alpaca-7B",
        "ft-en": "LLaMA-2-7B (English)",
        "ft-ten": "llama-2-7b (multilingual)",
        "ft-any": "LLaMA-2-7B (multilingual)",
        "poe": "PoE (English)",
        "given": "PoE (multilingual)",
        "both": "LLaMA-2-7B + PoE",
        "LLaMA-2-7B": "LLaMA-2-7B (multilingual)",  # its weights may be merged with an adapter's
    }
    config = load_config(scored(**published_as), files_are_there=False)
    assert config.published_systems() == {**nameless, **published_as}
    without = load_config(raw(metaeval=None, robustness={"corpora": ["bundled"]}))
    assert without.published_systems() == {}


@pytest.mark.parametrize(
    ("published_as", "words"),
    [
        (
            {"metrik": "PoE (English)"},
            [
                "metaeval.published_as",
                "'metrik' is not a model, ensemble or score file of this configuration",
                "did you mean 'metric'",
            ],
        ),
        ({"metric": "PoE"}, ["metaeval.published_as.metric", "'PoE' is not a system of", "PoE (English)"]),
        ({"metric": "LLaMA-2-7B (english, mine)"}, ["is not a system of", "did you mean 'LLaMA-2-7B (English)'"]),
        ({"ft-en": "LLaMA-2-7B"}, ["published_as.ft-en", "is untrained in the papers, and 'ft-en' is trained"]),
        ({"ft-any": "gpt-4"}, ["'GPT-4' is untrained in the papers"]),
        ({"ft-en": "LLaMA-2-7B (multilingual)"}, ["learned from ten languages, and 'ft-en' from en only"]),
        ({"ft-ten": "LLaMA-2-7B (English)"}, ["learned from English only, and 'ft-ten' from en, zh"]),
        ({"poe": "LLaMA-2-7B + PoE"}, ["published_as.poe", "an ensemble of two models, and 'poe' is one model"]),
        ({"both": "PoE (English)"}, ["published_as.both", "'both' is an ensemble", "LLaMA-2-7B + PoE"]),
    ],
)
def test_systems_that_a_judge_cannot_be_are_refused(published_as: dict[str, str], words: list[str]) -> None:
    with pytest.raises(UserError) as error:
        load_config(scored(**published_as), files_are_there=False)
    for word in words:
        assert word in str(error.value)


def test_a_trained_model_does_not_have_the_published_name_of_an_untrained_one() -> None:
    parts = scored()
    models = parts["models"] | {"Tulu-13B": parts["models"]["ft-en"]}
    ensembles = parts["ensembles"] | {"ChatGPT": ["forest", "length"]}
    with pytest.raises(UserError) as error:
        load_config(parts | {"models": models, "ensembles": ensembles}, files_are_there=False)
    for words in (
        "models.Tulu-13B: 'Tulu-13B' is an untrained model of the papers",
        "ensembles.ChatGPT",
        "'ChatGPT-mine'",
    ):
        assert words in str(error.value)


def shown(page: str, first_line: str) -> dict[str, Any]:
    """Return the part of a configuration that a page of the docs shows."""
    blocks = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs" / page).read_text(encoding="utf-8"), re.DOTALL)
    (found,) = [block for block in blocks if first_line in block]
    part: dict[str, Any] = yaml.safe_load(found)
    return part


def test_what_the_docs_show_of_the_papers_systems_is_right() -> None:
    published_as = shown("metaeval.md", "published_as:")["metaeval"]["published_as"]
    models = {name: {"engine": "vllm", "model": "x"} for name in published_as if name != "llama2-and-poe"}
    metaeval = {"corpora": {"steps": {"reader": "severity_levels"}}, "published_as": published_as}
    ensembles = {"llama2-and-poe": ["llama2-ten", "my-poe"]}
    config = load_config(raw(models=models, judges=list(models), ensembles=ensembles, metaeval=metaeval))
    assert config.published_systems() == published_as


def test_the_chinese_corpora_in_the_docs_are_those_of_the_papers_table() -> None:
    corpora = shown("rated-corpora.md", "dstc11_json")["metaeval"]["corpora"]
    config = load_config(raw(metaeval={"corpora": corpora}), files_are_there=False)
    assert config.metaeval
    assert {*corpora} == {name for names in CHINESE.values() for name in names}
    assert {one.benchmark for one in config.metaeval.corpora.values()} == {"chinese"}


def joining(asks: dict[str, str], **more: Any) -> dict[str, Any]:
    corpus = {"reader": "comp_turn", "path": "fed-turn_text.txt", "criterion_map": asks} | more
    return raw(data_dir="nowhere", metaeval={"corpora": {"mine": corpus}})


def test_joined_criteria_are_judged_beside_named_ones() -> None:
    config = load_config(joining({"relevance": "overall"}, dimensions=["overall"]), files_are_there=False)
    assert config.metaeval is not None
    corpus = config.metaeval.corpora["mine"]
    assert (corpus.judged_criteria, corpus.joined) == (["overall", "relevance"], {"relevance": "overall"})
    assert protocol_dimensions(config, config.resolved_protocols()["yes_no"]) == {"mine": ["overall", "relevance"]}
    assert joined_criteria(config) == {"mine": {"relevance": "overall"}}
    assert imputable(corpus) == ["overall"]
    alone = load_config(joining({"relevance": "relevance"}), files_are_there=False).metaeval
    assert alone is not None
    assert (alone.corpora["mine"].judged_criteria, alone.corpora["mine"].joined) == (["relevance"], {})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            joining({"relevence": "overall"}),
            ["metaeval.corpora.mine.criterion_map: 'relevence'", "did you mean 'relevance'"],
        ),
        (joining({"coherence": "overall"}), ["metaeval.corpora.mine.criterion_map", "'coherence' is not a criterion"]),
        (joining({"relevance": ""}), ["metaeval.corpora.mine.criterion_map.relevance"]),
        (
            raw(
                metaeval={
                    "corpora": {"steps": {"reader": "severity_levels", "criterion_map": {"coherence": "overall"}}}
                }
            ),
            ["metaeval.corpora.steps.criterion_map", "severity_levels"],
        ),
    ],
)
def test_unsupported_questions_are_reported(changes: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(UserError) as caught:
        load_config(changes, files_are_there=False)
    assert all(word in str(caught.value) for word in words), caught.value


# Who fills in what nobody rated: every way to name it wrongly, found before anything runs.

REPEATED = {"repeats": 5, "temperature": 0.7}


def fill_raw(fill: str | None = "gpt", **changes: Any) -> dict[str, Any]:
    metaeval = {
        "corpora": {"mine": {"reader": "rated_jsonl", "path": "mine.jsonl"}},
        "score_files": {"metric": {"path": "m.csv"}},
        "imputer": fill,
    }
    parts: dict[str, Any] = {
        "models": {
            "gpt": {"engine": "openai", "model": "gpt"},
            "length": {"engine": "embedded", "method": "length"},
        },
        "judges": ["gpt", "length"],
        "protocols": {"rating": REPEATED},
        "metaeval": metaeval,
    }
    return parts | changes


def test_the_judge_and_the_ensembles_that_it_is_in_are_partial() -> None:
    ensembles = {"both": ["gpt", "length"], "without": ["length", "metric"]}
    assert partial_to(load_config(fill_raw(ensembles=ensembles), files_are_there=False)) == ["gpt", "both"]
    assert partial_to(load_config(fill_raw(None), files_are_there=False)) == []


@pytest.mark.parametrize(
    ("fill", "changes", "words"),
    [
        ("gtp", {}, "metaeval.imputer: 'gtp' is not a model of this configuration; did you mean 'gpt'?"),
        ("metric", {}, "'metric' is a file of ready scores, which has no repeats"),
        ("both", {"ensembles": {"both": ["gpt", "length"]}}, "'both' is an ensemble, which has no repeats"),
        ("gpt", {"protocols": {"yes_no": {}}}, "rating: {judges: [gpt], repeats: 5, temperature: 0.7}"),
        (
            "gpt",
            {"protocols": {"rating": REPEATED | {"judges": ["length"]}}},
            "'gpt' does not rate; put it under protocols.rating.judges (length)",
        ),
        ("gpt", {"protocols": {"rating": {}}}, "set protocols.rating.repeats to 2 or more"),
        (
            "gpt",
            {"metaeval": {"corpora": {"steps": {"reader": "severity_levels"}}, "imputer": "gpt"}},
            "every corpus has the reader severity_levels, whose reference is known",
        ),
    ],
)
def test_mistakes_are_reported_with_their_remedy(fill: str, changes: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError) as refused:
        load_config(fill_raw(fill, **changes), files_are_there=False)
    assert words in str(refused.value)
