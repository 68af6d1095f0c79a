"""Who may be one of the best judges: names and tags, judges that are one model, and every way to be wrong."""

from __future__ import annotations

from typing import Any

import pytest

from dialeval.config import load_config
from dialeval.config.ensemble_pool import one_model, pool_of
from dialeval.errors import UserError

OPEN = {"tags": ["open"]}
JUDGES = ["forest", "length", "overlap", "gpt"]


def raw(pool: list[str] | None, **changes: Any) -> dict[str, Any]:
    parts: dict[str, Any] = {
        "models": {
            "forest": {"engine": "embedded", "method": "forest"} | OPEN,
            "length": {"engine": "embedded", "method": "length"} | OPEN,
            "overlap": {"engine": "embedded", "method": "overlap"} | OPEN,
            "gpt": {"engine": "openai", "model": "gpt"},
            "idle": {"engine": "openai", "model": "idle"} | OPEN,
        },
        "protocols": {"yes_no": {"judges": JUDGES}},
        "ensembles": {"both": ["forest", "length"]},
        "metaeval": {
            "corpora": {"mine": {"reader": "rated_jsonl", "path": "mine.jsonl"}},
            "score_files": {"metric": {"path": "m.csv"}},
            "ensemble_pool": pool,
        },
    }
    return parts | changes


def test_a_tag_stands_for_its_models_and_nothing_for_all() -> None:
    config = load_config(raw(["open", "metric"]), files_are_there=False)
    assert pool_of(config) == ["forest", "length", "overlap", "idle", "metric"]
    assert pool_of(load_config(raw(None), files_are_there=False)) is None


@pytest.mark.parametrize(
    ("pool", "words"),
    [
        (["opne", "length"], "'opne' is neither a model of this configuration nor a tag of any; did you mean 'open'?"),
        (["both"], "'both' is an ensemble, and none is a member of another; name its members, or a tag of theirs"),
        (["idle", "forest", "length"], "'idle' scores no rated items; let it judge under rating or yes_no"),
        (["forest", "metric"], "takes 3 models, and 2 of them score rated items (forest, metric); name more"),
        ([], "metaeval.ensemble_pool"),
        (["open", "open"], "open"),
    ],
)
def test_mistakes_are_told_with_their_remedy(pool: list[str], words: str) -> None:
    with pytest.raises(UserError) as caught:
        load_config(raw(pool), files_are_there=False)
    assert words in str(caught.value)


def test_judges_are_one_model_where_their_weights_are() -> None:
    models = raw(None)["models"] | {
        "gpt-probabilities": {"engine": "openai", "model": "gpt"},
        "elsewhere": {"engine": "openai", "model": "gpt", "base_url": "http://127.0.0.1:9/v1"},
        "early": {"engine": "vllm", "model": "pythia", "revision": "step1"},
        "late": {"engine": "vllm", "model": "pythia", "revision": "step2"},
        "tuned": {"engine": "vllm", "model": "pythia", "revision": "step2", "lora_path": "adapter"},
    }
    config = load_config(raw(None, models=models), files_are_there=False)
    assert one_model(config) == {"gpt": "gpt", "gpt-probabilities": "gpt"}


def test_a_model_under_two_names_fills_one_place_of_the_pool() -> None:
    models = raw(None)["models"] | {"gpt-too": {"engine": "openai", "model": "gpt"}}
    protocols = {"yes_no": {"judges": [*JUDGES, "gpt-too"]}}
    with pytest.raises(UserError, match=r"2 of them score rated items \(forest, gpt\)"):
        load_config(raw(["gpt", "gpt-too", "forest"], models=models, protocols=protocols), files_are_there=False)
