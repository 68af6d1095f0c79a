"""Names of what judges learn from, who learns it, and who is asked for what: all mistakes end before the run."""

from __future__ import annotations

import copy
import importlib.util
from pathlib import Path
from typing import Any

import pytest

from dialeval.config import Config, EncoderModel, load_config
from dialeval.engines.availability import cannot_compute_here, unavailable
from dialeval.engines.encoder.metric import Metric
from dialeval.engines.installation import LEARNS_TO_ANSWER, missing_libraries, too_few_gpus
from dialeval.errors import UserError
from dialeval.training.running import micro_batch, steps_of

BASE: dict[str, Any] = {
    "models": {
        "poe": {"engine": "encoder", "model": "xlm-roberta-large", "train": {"data": "turns"}},
        "fined": {"engine": "encoder", "model": "xlm-roberta-base", "train": {"data": "dialogues"}},
        "llama-ft": {"engine": "vllm", "model": "llama", "lora": {"train": ["turns", "dialogues"]}},
        "forest": {"engine": "embedded", "method": "forest"},
        "gpt": {"engine": "openai", "model": "gpt"},
        "nllb": {"engine": "nllb"},
        "theirs": {"engine": "published", "unieval": "x.tsv"},
    },
    "judges": ["poe", "fined", "llama-ft"],
    "training": {
        "turns": {"level": "turn", "domains": {"daily": ["bundled"]}},
        "dialogues": {"level": "dialogue", "domains": {"daily": ["bundled"]}},
    },
    "protocols": {"yes_no": {}},
    "ensembles": {"llama-poe": ["llama-ft", "poe"]},
    "translate": {"bundled": {"into": ["es"], "translator": "nllb", "quality": {"back": "nllb", "judges": ["gpt"]}}},
    "metaeval": {
        "corpora": {
            "turn": {"reader": "comp_turn", "path": "t.txt"},
            "dial": {"reader": "comp_dialogue", "path": "d.txt"},
            "mine": {"reader": "xdial", "path": "x.csv", "languages": ["en", "zh"]},
        }
    },
}


def raw(**changes: Any) -> dict[str, Any]:
    """The configuration with changes at places such as `models.poe.train.data`, written with two underscores."""
    parts = copy.deepcopy(BASE)
    for path, value in changes.items():
        *parents, last = path.split("__")
        place = parts
        for parent in parents:
            place = place.setdefault(parent.replace("LLAMA", "llama-ft"), {})
        if value is None:
            del place[last]
        else:
            place[last] = value
    return parts


def test_the_whole_is_right() -> None:
    config = load_config(raw(), files_are_there=False)
    assert config.judges_of("yes_no") == ["poe", "fined", "llama-ft"]
    assert config.ensembles_of("yes_no") == ["llama-poe"]
    assert config.used_training() == ["turns", "dialogues"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"models__LLAMA__lora__train": ["turn"]},
            ["models.llama-ft.lora.train: 'turn' is not a training set", "'turns'"],
        ),
        (
            {"models__poe__train__data": "turnz"},
            ["models.poe.train.data: 'turnz' is not a training set", "did you mean 'turns'?"],
        ),
        ({"models__poe__train__margin": 0.2}, ["models.poe.train.margin: margin applies to dialogues only"]),
        (
            {"models__fined__train__pooling": "parts"},
            ["models.fined.train.pooling: pooling: parts applies to turns only"],
        ),
        (
            {"training__more": {"level": "turn", "domains": {"daily": ["bundled"]}}},
            ["training.more: no judge learns from 'more'", "under judges, or remove the set"],
        ),
        (
            {"judges": ["poe", "forest"], "ensembles": {"both": ["poe", "forest"]}},
            ["training.dialogues: only fined, llama-ft would learn from 'dialogues', and no protocol uses it"],
        ),
        (
            {
                "metaeval__corpora": {"mine": {"reader": "xdial", "path": "x.csv", "dimensions": ["overall"]}},
                "translate": {},
            },
            [
                "models.poe.train.data: 'poe' learns relevance from 'turns', and scores a turn on overall",
                "models.fined.train.data: 'fined' learns coherence and engagingness and informativeness from",
                "under training.turns.criteria",
            ],
        ),
        (
            {"ensembles": {"both": ["poe", "fined"]}},
            ["ensembles.both: its members have no scores in common (poe learns relevance of a turn; fined learns"],
        ),
        ({"chatbots": ["nllb"]}, ["chatbots: 'nllb' is a translation model (nllb), which only translates"]),
        ({"judges": ["poe", "fined", "llama-ft", "nllb"]}, ["judges: 'nllb' is a translation model"]),
        (
            {"protocols__rating": {"judges": ["nllb"]}},
            [
                "protocols.rating.judges: 'nllb' is a translation model",
                "name it as `translator` of a corpus under translate",
            ],
        ),
        ({"selfchat": {"partner": "nllb"}}, ["selfchat.partner: 'nllb' is a translation model"]),
        (
            {"robustness": {"corpora": ["bundled"], "rewriter": "nllb"}},
            ["robustness.rewriter: 'nllb' is a translation model"],
        ),
        (
            {"dialogbench": {"bundled": ["en"], "examine": {"letter": ["nllb"], "choice": []}}},
            ["dialogbench.examine.letter: 'nllb' is a translation model"],
        ),
        ({"ensembles": {"both": ["poe", "nllb"]}}, ["ensembles.both: 'nllb' has no scores"]),
        (
            {"translate__bundeld": {"into": ["es"], "translator": "nllb"}},
            ["translate.bundeld: 'bundeld' is not a corpus", "did you mean 'bundled'?"],
        ),
        (
            {"translate__bundled__translator": "nlb"},
            ["translate.bundled.translator: 'nlb' is not a model", "did you mean 'nllb'?"],
        ),
        ({"translate__bundled__translator": "forest"}, ["translate.bundled.translator: 'forest' is an embedded model"]),
        (
            {"translate__bundled__translator": "poe"},
            ["translate.bundled.translator: 'poe' is a trained encoder, which writes no text"],
        ),
        ({"translate__bundled__translator": "theirs"}, ["translate.bundled.translator: 'theirs' is a published model"]),
        (
            {"translate__bundled__translator": "llama-ft"},
            ["translate.bundled.translator: 'llama-ft' has an adapter that learns to judge"],
        ),
        ({"translate__bundled__quality": {"back": "gtp"}}, ["translate.bundled.quality.back: 'gtp'", "'gpt'"]),
        (
            {"translate__bundled__quality": {"judges": ["nllb"]}},
            ["translate.bundled.quality.judges: 'nllb' translates, and cannot rate translations", "openai or vllm"],
        ),
        (
            {"translate__mine": {"into": ["zh", "fr"], "translator": "nllb"}},
            ["translate.mine.into: 'mine' is also read in zh"],
        ),
        (
            {"translate__mine": {"into": ["fr"], "translator": "nllb", "source": "de"}},
            ["translate.mine.source: 'mine' is not read in 'de', but in en, zh; choose from these"],
        ),
    ],
)
def test_a_mistake_is_reported(changes: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(UserError) as caught:
        load_config(raw(**changes), files_are_there=False)
    assert all(word in str(caught.value) for word in words), caught.value


@pytest.mark.parametrize(
    "changes",
    [
        {"metaeval__corpora": {"dial": BASE["metaeval"]["corpora"]["dial"]}},  # trained for its own sake
        {"metaeval__corpora__turn__dimensions": ["overall", "relevance"]},
        {"metaeval__corpora__turn__dimensions": ["overall"], "training__turns__criteria": ["relevance", "overall"]},
        {"metaeval__corpora__turn__dimensions": ["overall"], "robustness": {"corpora": ["bundled"]}},
    ],
)
def test_an_encoder_under_a_protocol_that_it_learned_is_valid(changes: dict[str, Any]) -> None:
    load_config(raw(**changes), files_are_there=False)


def test_one_mistake_is_reported_once() -> None:
    with pytest.raises(UserError, match="the configuration has a mistake:") as caught:
        load_config(
            raw(models__poe__train__data="turnz", training__turns__domains={"daily": ["bundled"]}),
            files_are_there=False,
        )
    assert str(caught.value).count("\n") <= 1


def test_a_plan_waits_for_translations_of_what_it_is_about_alone() -> None:
    config = load_config(raw(), files_are_there=False)  # no item is made of the corpus that is translated
    assert config.models_before_planning("yes_no") == []
    config = load_config(raw(translate__mine={"into": ["fr"], "translator": "nllb"}), files_are_there=False)
    assert config.models_before_planning("yes_no") == ["nllb"]


# What a configuration can ask of a model with an adapter that learns to judge.

TUNED: dict[str, Any] = {"engine": "vllm", "model": "some/model", "lora": {"train": ["turns"]}}
ADAPTERS_BASE: dict[str, Any] = {
    "corpora": {"bundled": {"reader": "bundled"}},
    "training": {"turns": {"level": "turn", "domains": {"daily": ["bundled"]}}},
    "models": {"tuned": TUNED, "plain": {"engine": "vllm", "model": "some/model"}},
    "judges": ["tuned"],
    "protocols": {"yes_no": {}},
    "metaeval": {"corpora": {"steps": {"reader": "severity_levels"}}},
}


def load(**changes: Any) -> Config:
    return load_config({**ADAPTERS_BASE, **changes})


def refused(**changes: Any) -> str:
    with pytest.raises(UserError) as error:
        load(**changes)
    return str(error.value)


def learning(**fields: Any) -> Any:
    model = load(models={"tuned": TUNED | {"lora": {"train": ["turns"], **fields}}}).models["tuned"]
    return model.lora  # type: ignore[union-attr]


def test_the_papers_settings_are_the_defaults() -> None:
    lora = learning()
    assert (lora.rank, lora.alpha, lora.dropout, lora.target_modules) == (8, 16, 0.05, ["q_proj", "k_proj"])
    assert (lora.learning_rate, lora.epochs, lora.batch_size, lora.cutoff) == (3e-4, 3, 128, 1024)
    assert micro_batch(lora) == (32, 4)  # "a batch size of 128 with 4 gradient accumulation steps"
    assert steps_of(lora, 200_000) == 3 * 1563


@pytest.mark.parametrize(
    ("fields", "at_once", "accumulated"),
    [
        ({"batch_size": 128, "micro_batch_size": 32, "gpus": 2}, 32, 2),
        ({"batch_size": 128, "micro_batch_size": 48, "gpus": 1}, 32, 4),
        ({"batch_size": 10, "micro_batch_size": 32, "gpus": 0}, 10, 1),
        ({"batch_size": 10, "micro_batch_size": 4, "gpus": 3}, 4, 1),
        ({"batch_size": 7, "micro_batch_size": 4, "gpus": 1}, 1, 7),
    ],
)
def test_the_batch_is_made_up_of_what_fits_at_once(fields: dict[str, Any], at_once: int, accumulated: int) -> None:
    assert micro_batch(learning(**fields)) == (at_once, accumulated)


def test_it_judges_and_does_nothing_else() -> None:
    assert load().judges == ["tuned"]
    words = refused(chatbots=["tuned", "plain"])
    assert "chatbots: 'tuned' has an adapter that learns only to judge dialogues" in words
    assert "without lora" in words
    assert "'plain'" not in words
    section = {"rewriter": "tuned", "corpora": ["steps"], "perturbations": ["contradiction"]}
    assert "robustness.rewriter: 'tuned' has an adapter" in refused(robustness=section)


def test_it_learns_the_yes_no_questions() -> None:
    criteria = {"warmth": {"level": "turn", "scale": [1, 7], "sensitive_to": ["contradiction"]}}
    training = {"turns": {**ADAPTERS_BASE["training"]["turns"], "criteria": ["warmth"]}}
    words = refused(criteria=criteria, training=training)
    assert "models.tuned.lora.train: 'turns' has the criterion warmth, which has no yes/no question" in words
    criteria["warmth"]["question"] = "Is the response warm?"
    assert load(criteria=criteria, training=training).own_criteria(["warmth"])


def test_missing_libraries_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    there = {"torch", "transformers", "safetensors", "accelerate"}
    monkeypatch.setattr("dialeval.engines.installation.find_spec", lambda name: name in there or None)
    assert missing_libraries("lora", LEARNS_TO_ANSWER) == (
        "lora needs peft, which is not installed: pip install 'dialeval[train]', or run snakemake --sdm conda, "
        "which creates an environment for these jobs"
    )
    monkeypatch.setattr("dialeval.engines.installation.find_spec", lambda name: importlib.util.find_spec("json"))
    assert missing_libraries("lora", LEARNS_TO_ANSWER) is None


def test_more_gpus_than_there_are_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dialeval.engines.installation.usable_gpus", lambda: 1)
    assert too_few_gpus(0, "lora.gpus") is None
    assert too_few_gpus(1, "lora.gpus") is None
    assert "lora.gpus: 4, and this machine has 1 NVIDIA GPU" in str(too_few_gpus(4, "lora.gpus"))
    monkeypatch.setattr("dialeval.engines.installation.usable_gpus", lambda: 0)
    assert "set lora.gpus: 0, the CPU, for a small model" in str(too_few_gpus(1, "lora.gpus"))
    monkeypatch.setattr("dialeval.engines.installation.usable_gpus", lambda: None)
    assert too_few_gpus(1, "lora.gpus") is None  # nobody knows


# What a configuration can ask of trained encoders.

ENCODERS_BASE: dict[str, Any] = {
    "corpora": {"bundled": {"reader": "bundled"}},
    "training": {
        "turns": {"level": "turn", "domains": {"daily": ["bundled"]}},
        "dialogues": {"level": "dialogue", "domains": {"daily": ["bundled"]}},
    },
    "models": {
        "poe": {"engine": "encoder", "model": "xlm-roberta-large", "train": {"data": "turns", "adapter_size": 64}},
        "fined": {"engine": "encoder", "model": "xlm-roberta-base", "train": {"data": "dialogues"}, "score": "own"},
        "forest": {"engine": "embedded", "method": "forest"},
    },
    "judges": ["poe", "fined", "forest"],
    "protocols": {"yes_no": {}, "rating": {}},
    "metaeval": {"corpora": {"steps": {"reader": "severity_levels"}}},
}


def encoders_load(**changes: Any) -> Config:
    return load_config({**ENCODERS_BASE, **changes})


def encoders_refused(**changes: Any) -> str:
    with pytest.raises(UserError) as error:
        encoders_load(**changes)
    return str(error.value)


def with_model(**fields: Any) -> dict[str, Any]:
    return {**ENCODERS_BASE["models"], "poe": {"engine": "encoder", **fields}}


def test_encoders_give_probabilities_and_never_ratings() -> None:
    config = encoders_load()
    assert config.judges_of("yes_no") == ["poe", "fined", "forest"]
    assert config.judges_of("rating") == ["forest"]


def test_the_users_protocol_reaches_encoders_by_its_form() -> None:
    own = {
        "felt": {
            "form": "probability",
            "data": {"source": "rated"},
            "criteria": ["coherence"],
            "judges": ["poe", "fined"],
        },
        "rated_well": {"form": "scale", "data": {"source": "rated"}, "criteria": ["coherence"]},
    }
    config = encoders_load(protocols={**ENCODERS_BASE["protocols"], **own})
    assert config.judges_of("felt") == ["poe", "fined"]
    assert config.judges_of("rated_well") == ["forest"]


@pytest.mark.parametrize("protocol", ["unieval", "arena", "gteval"])
def test_an_encoder_under_a_protocol_of_verdicts_is_refused(protocol: str) -> None:
    words = encoders_refused(
        models={**ENCODERS_BASE["models"], "retrieval": {"engine": "embedded", "method": "retrieval"},
                "random": {"engine": "embedded", "method": "random"}},
        chatbots=["retrieval", "random"], seeds={"corpus": "bundled"}, protocols={protocol: {}, "yes_no": {}},
    )  # fmt: skip
    assert "judges: 'poe' is a trained encoder, which gives no verdicts or ratings" in words
    assert "name it under protocols.yes_no.judges" in words


def test_an_encoder_that_is_named_for_ratings_is_refused() -> None:
    words = encoders_refused(protocols={"rating": {"judges": ["poe"]}, "yes_no": {}})
    assert "protocols.rating.judges: 'poe' is a trained encoder" in words


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"chatbots": ["poe"], "seeds": {"corpus": "bundled"}}, "chatbots"),
        ({"robustness": {"corpora": ["bundled"], "rewriter": "poe"}}, "robustness.rewriter"),
        ({"dialogbench": {"bundled": ["en"], "examine": {"choice": ["poe"]}}}, "dialogbench.examine.choice"),
    ],
)
def test_an_encoder_that_is_to_write_or_choose_is_refused(changes: dict[str, Any], field: str) -> None:
    assert f"{field}: 'poe' is a trained encoder, which writes no text and chooses no option" in encoders_refused(
        **changes
    )


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"model": "m"}, "set either train (to train it) or weights"),
        ({"model": "m", "train": {"data": "turns"}, "weights": "w"}, "set either train (to train it) or weights"),
        ({"train": {"data": "turns"}}, "the encoder to train, such as xlm-roberta-base"),
        (
            {"weights": "w", "model": "m", "max_tokens": 64},
            "which fixes max_tokens and model; remove max_tokens and model",
        ),
        ({"model": "m", "train": {"data": "turn"}}, "'turn' is not a training set; did you mean 'turns'?"),
        (
            {"model": "m", "train": {"data": "turns"}, "score": "own"},
            "whose heads belong to domains and not to criteria",
        ),
        (
            {"model": "m", "train": {"data": "turns", "batch_size": 30, "gpus": 4}},
            "batch_size 30 is no multiple of gpus 4",
        ),
        (
            {"model": "m", "train": {"data": "turns", "batch_size": 32, "micro_batch_size": 6, "gpus": 2}},
            "batch_size 32 is no multiple of micro_batch_size 6 x gpus 2",
        ),
        ({"model": "m", "train": {"data": "turns", "precision": "float16", "gpus": 0}}, "float16 needs a GPU"),
    ],
)
def test_an_encoder_that_cannot_be_had_is_refused(fields: dict[str, Any], words: str) -> None:
    assert words in encoders_refused(models=with_model(**fields))


WITHOUT_TURNS = {"dialogues": ENCODERS_BASE["training"]["dialogues"]}


def test_a_metric_of_an_earlier_run_needs_no_training() -> None:
    model = encoders_load(models=with_model(weights="old/poe"), training=WITHOUT_TURNS).models["poe"]
    assert isinstance(model, EncoderModel)
    assert model.train is None
    assert EncoderModel.model_validate(model.model_dump(mode="json")) == model, "as a job is told of it"


def test_missing_requirements_of_an_encoder_are_reported_before_anything_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    from dialeval.engines import installation

    model = encoders_load(models=with_model(model="m", train={"data": "turns", "gpus": 2}, gpus=1)).models["poe"]
    monkeypatch.setattr(installation, "find_spec", lambda name: None if name == "accelerate" else 1)
    assert "needs accelerate, which is not installed: pip install 'dialeval[train]'" in str(unavailable(model))
    assert unavailable(model, own_environment=True) is None
    for there, words in (
        (0, "this machine has no NVIDIA GPU"),
        (1, "this machine has 1 NVIDIA GPU;"),
        (2, None),
        (None, None),
    ):
        monkeypatch.setattr(installation, "usable_gpus", lambda there=there: there)
        reason = cannot_compute_here(model)
        assert reason is None if words is None else words in str(reason)
    on_cpu = encoders_load(
        models=with_model(model="m", train={"data": "turns", "gpus": 0}, gpus=0, precision="float16")
    )
    assert "float16 needs a GPU" in str(unavailable(on_cpu.models["poe"], own_environment=True))


def test_a_folder_that_holds_no_metric_is_reported_before_anything_runs(tmp_path: Path) -> None:
    model = encoders_load(models=with_model(weights=str(tmp_path)), training=WITHOUT_TURNS).models["poe"]
    assert "weights: " in str(unavailable(model, own_environment=True))
    assert "test_a_folder_that_holds_no_me0 has no trained metric" in str(unavailable(model, own_environment=True))
    (tmp_path / "metric.json").write_text(Metric("turn", ("relevance",), ("daily",), 64).to_json(), encoding="utf-8")
    assert unavailable(model, own_environment=True) is None
