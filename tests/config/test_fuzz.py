"""Whatever stands in a configuration, it is taken or refused in words; no key can be misspelt in silence."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from config_example import BASE
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dialeval.config import Protocols, load_config, read_config_file
from dialeval.errors import UserError

ROOT = Path(__file__).parents[2]
SHIPPED = {path.name: read_config_file(path) for path in [ROOT / "config.yaml", *(ROOT / "configs").glob("*.yaml")]}
OPEN = ("chat_template_options", "engine_args", "extra_body", "headers", "headers_env", "names", "arena", "domains")
"""Dictionaries whose keys are the user's, whatever they are."""
Place = tuple[str | int, ...]


def places(part: Any, here: Place = ()) -> Iterator[Place]:
    """Yields the place of everything that a configuration holds."""
    entries = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
    for key, value in entries:
        yield (*here, key)
        yield from places(value, (*here, key))


def part_at(raw: Any, place: Place) -> Any:
    for key in place:
        raw = raw[key]
    return raw


scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([0, -1, 2**31, 2**63, 10**30]),
    st.floats(),
    st.text(max_size=12),
    st.sampled_from(["", "\ud800", "a\nb", "{x}", "../..", "x" * 5000, "retrieval", "forest", "bundled", "en", "~x/y"]),
    st.dates(date(1, 1, 1)),
    st.binary(max_size=4),
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(scalars, inner, max_size=4), max_leaves=8
)
whole = {
    **copy.deepcopy(BASE),
    "battles": {"mine": {"path": "x.csv"}},
    "elo": {"k": 32},
    "criteria": {
        "warm": {"scale": ["cold", "warm"], "levels": {"warm": "x"}, "words": {"zh": {"labels": ["冷", "暖"]}}},
        "apt": {"scale": [1, 7], "levels": {7: "x"}, "question": "Is it?", "aliases": ["fit"], "hurt_by": ["dullness"]},
    },
    "tokens": {"cl100k_file": None},
}
for _name, _field in {"gpt": "headers", "local": "engine_args"}.items():
    whole["models"][_name][_field] = {"a": "b"}
whole["models"] |= {
    "poe": {
        "engine": "encoder",
        "model": "m",
        "train": {"data": "turns", "adapter_size": 8, "epochs": 2, "learning_rate": 1e-4, "patience": 2},
    },
    "tuned": {"engine": "vllm", "model": "m", "lora": {"train": ["turns"], "rank": 4, "target_modules": ["q_proj"]}},
    "nllb": {"engine": "nllb", "beams": 2, "batch_tokens": 512},
}
whole["protocols"] |= {"rating": {"judges": ["gpt"]}, "yes_no": {"judges": ["gpt", "poe", "tuned"]}}
whole["training"] = {
    "turns": {
        "level": "turn",
        "domains": {"daily": ["bundled"]},
        "criteria": ["relevance"],
        "kinds": ["random"],
        "languages": ["en"],
        "development": 0.1,
    }
}
whole["ensembles"] = {"both": ["poe", "tuned"], "all": ["gpt", "poe", "tuned"]}
whole["translate"] = {"bundled": {"into": ["es"], "by": "nllb", "quality": {"back": "nllb", "judges": ["gpt"]}}}
whole["metaeval"]["published_as"] = {"poe": "PoE (English)"}
ALL_PLACES = list(places(whole))


def test_the_whole_is_right() -> None:
    load_config(whole, files_are_there=False)


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(st.sampled_from(ALL_PLACES), values), min_size=1, max_size=3))
def test_any_value_anywhere_is_taken_or_refused_in_words(changes: list[tuple[Place, Any]]) -> None:
    raw = copy.deepcopy(whole)
    for place, value in changes:
        try:
            part_at(raw, place[:-1])[place[-1]] = copy.deepcopy(value)
        except (KeyError, IndexError, TypeError):
            continue  # an earlier change has taken that part away
    for files_are_there in (False, True):
        try:
            load_config(raw, files_are_there=files_are_there)
        except UserError as error:
            message = str(error)
            assert "mistake" in message
            assert len(message) < 20_000
            message.encode()


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.dictionaries(st.sampled_from([*BASE, "battles", "elo", "x"]) | st.text(max_size=5), values, max_size=4))
def test_any_top_level(raw: dict[str, Any]) -> None:
    try:
        load_config(raw)
    except UserError as error:
        str(error).encode()


NAMED = {"corpora", "models", "battles", "score_files", "published", "transcripts", "training", "ensembles"}
PAPERS = tuple(Protocols.model_fields)


@pytest.mark.parametrize("name", sorted(SHIPPED))
def test_every_key_of_every_configuration_can_be_misspelt_once(name: str) -> None:
    for place in places(SHIPPED[name]):
        key = place[-1]
        if not isinstance(key, str) or set(place[:-1]) & set(OPEN):
            continue
        raw = copy.deepcopy(SHIPPED[name])
        part = part_at(raw, place[:-1])
        misspelt = f"{key}q"
        part[misspelt] = part.pop(key)
        if len(place) < 4 and ((place[-2:-1] == ("protocols",) and key not in PAPERS) or set(place[-2:-1]) & NAMED):
            continue  # a name of the user's: right by itself, if nothing else says the old one
        if place[-2:-1] == ("domains",):
            continue
        with pytest.raises(UserError) as caught:
            load_config(raw, files_are_there=False)
        assert misspelt in str(caught.value), (place, str(caught.value))
        if len(key) > 3:
            assert f"did you mean '{key}'?" in str(caught.value) or "is not an engine" in str(caught.value)
