"""Whatever stands in a configuration, it is taken or refused in words; no key can be misspelt in silence."""

from __future__ import annotations

import copy
import random
import re
from datetime import date
from typing import Any

import pytest
import yaml
from config_example import BASE
from configuration_mistakes import EVERY_SECTION, SHIPPED, Place, mistaken, part_at, places
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dialeval.config import Config, Protocols, load_config
from dialeval.config.consistency import asks_otherwise
from dialeval.config.criteria import joined_criteria, protocol_dimensions, protocol_sensitivities
from dialeval.config.ensembles import model_types, one_model, pool_of, tagged
from dialeval.config.labels import labelled_protocols, labelled_sheets, models_before_labels
from dialeval.config.loading import written
from dialeval.config.metaeval import partial_to
from dialeval.errors import UserError
from dialeval.measures.design import design_of
from dialeval.planning.preflight import checked_config
from dialeval.rules.judging import labelled_design

OPEN = ("chat_template_options", "engine_args", "extra_body", "headers", "headers_env", "names", "arena", "domains")
"""Dictionaries whose keys are the user's, whatever they are."""


def taken_or_refused(raw: dict[str, Any]) -> bool:
    """Return whether a configuration is taken, and all that rules ask of it is answered; else it is refused in words.

    It goes the way of a run: the checks before it, and what the rules evaluate of the configuration.
    """
    try:
        config = checked_config(raw, [], asks=False, reads=False, own_environments=False)
    except UserError as error:
        message = str(error)
        message.encode()
        assert len(message) < 40_000
        head, *lines = message.split("\n")
        assert re.fullmatch(r"the configuration has (a mistake|\d+ mistakes):", head)
        for line in lines:
            assert re.match(r"  \S.*: \S", line), line
            assert not re.search(r"constrained-str|<class|Traceback|\[key\]|dict\[|list\[", line), line
        return False
    evaluate(config)
    return True


def evaluate(config: Config) -> None:
    """Asks a configuration what the rules ask it while they are read."""
    for name, protocol in config.resolved_protocols().items():
        (
            config.criteria_of(name),
            config.protocol_criteria(name),
            config.judging(name),
            config.models_before_planning(name),
        )
        protocol_dimensions(config, protocol), protocol_sensitivities(config, protocol), design_of(config, name)
    for name in labelled_protocols(config):
        labelled_design(config, name)
    for ask in (
        Config.families, Config.ensemble_methods, Config.used_corpora, Config.models_in_use, Config.strategies_named,
        Config.published_systems, Config.made_training, labelled_sheets, models_before_labels, pool_of, one_model,
        partial_to,
        model_types, tagged, joined_criteria, asks_otherwise,
    ):  # fmt: skip
        ask(config)
    again = load_config(yaml.safe_load(written(config, {})), files_are_there=False)
    assert again == config, "what the run writes down is the same configuration"


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
ALL_PLACES = list(places(EVERY_SECTION))


def test_the_whole_is_right_and_has_every_section() -> None:
    assert set(EVERY_SECTION) >= Config.model_fields.keys() - {
        "data_dir", "public_corpora", "mirror", "results_dir", "store_dir", "random_seed"
    }  # fmt: skip
    assert taken_or_refused(copy.deepcopy(EVERY_SECTION))


@settings(suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(st.sampled_from(ALL_PLACES), values), min_size=1, max_size=3))
def test_any_value_anywhere_is_taken_or_refused_in_words(changes: list[tuple[Place, Any]]) -> None:
    raw = copy.deepcopy(EVERY_SECTION)
    for place, value in changes:
        try:
            part_at(raw, place[:-1])[place[-1]] = copy.deepcopy(value)
        except (KeyError, IndexError, TypeError):
            continue  # an earlier change has taken that part away
    taken_or_refused(raw)
    try:
        load_config(raw)
    except UserError as error:
        str(error).encode()


def test_a_name_with_lines_of_its_own_is_shown_in_one_line() -> None:
    raw = copy.deepcopy(EVERY_SECTION)
    raw["models"] = {"a\nb": None}
    assert not taken_or_refused(raw)


@settings(suppress_health_check=list(HealthCheck))
@given(st.dictionaries(st.sampled_from([*BASE, "battles", "elo", "x"]) | st.text(max_size=5), values, max_size=4))
def test_any_top_level(raw: dict[str, Any]) -> None:
    try:
        load_config(raw)
    except UserError as error:
        str(error).encode()


@pytest.mark.parametrize(
    ("seed", "n"), [(1, 150), *(pytest.param(seed, 2_000, marks=pytest.mark.slow) for seed in (2, 3, 4))]
)
def test_mistakes_as_people_make_them_end_in_words(seed: int, n: int) -> None:
    taken = 0
    for number in range(n):
        rng = random.Random(seed * 1_000_000 + number)
        raw = mistaken(rng)
        try:
            taken += taken_or_refused(raw)
        except BaseException as error:
            error.add_note(f"seed {seed}, number {number}")
            raise
    assert 0 < taken < n  # some changes are harmless, and are taken


NAMED = {"corpora", "models", "battles", "score_files", "published", "transcripts", "training", "ensembles"}
PAPERS = tuple(Protocols.model_fields)


def kind_of_place(raw: dict[str, Any], place: Place) -> tuple[Any, ...]:
    """Return a place with the kind of a model, corpus and so on in place of the name that a user gave it."""
    part = part_at(raw, place[:2])
    if place[0] not in NAMED or not isinstance(part, dict):
        return place
    return (place[0], *(part.get(field) for field in ("engine", "method", "reader")), *place[2:])


@pytest.mark.parametrize("name", sorted(SHIPPED))
def test_every_key_of_every_configuration_can_be_misspelt_once(name: str) -> None:
    one_of_each_kind = {kind_of_place(SHIPPED[name], place): place for place in places(SHIPPED[name])}
    for place in one_of_each_kind.values():
        key = place[-1]
        if not isinstance(key, str) or set(place[:-1]) & set(OPEN):
            continue
        raw = copy.deepcopy(SHIPPED[name])
        part = part_at(raw, place[:-1])
        wrong = f"{key}q"
        part[wrong] = part.pop(key)
        if len(place) < 4 and ((place[-2:-1] == ("protocols",) and key not in PAPERS) or set(place[-2:-1]) & NAMED):
            continue  # a name of the user's: right by itself, if nothing else says the old one
        if place[-2:-1] == ("domains",):
            continue
        with pytest.raises(UserError) as caught:
            load_config(raw, files_are_there=False)
        assert wrong in str(caught.value), (place, str(caught.value))
        if len(key) > 3:
            assert f"did you mean '{key}'?" in str(caught.value) or "is not an engine" in str(caught.value)
