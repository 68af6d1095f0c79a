"""Whatever stands in a configuration, it is taken or refused in words; no key can be misspelt in silence."""

from __future__ import annotations

import copy
import random
import re
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml
from config_example import BASE
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dialeval.aggregation.labels.design import labelled_design
from dialeval.aggregation.measures.design import design_of
from dialeval.config import Config, Protocols, load_config, read_config_file
from dialeval.config.asked_criteria import asked_dimensions, asked_hurt
from dialeval.config.ensemble_pool import one_model, pool_of
from dialeval.config.fill import partial_to
from dialeval.config.groups import kinds, tagged
from dialeval.config.joined_criteria import joined_criteria
from dialeval.config.labelling import asked_to_label, labelled_protocols, labelled_sheets
from dialeval.config.printed import asks_otherwise
from dialeval.config.written import written
from dialeval.errors import UserError
from dialeval.readiness.preflight import checked_config

ROOT = Path(__file__).parents[2]
SHIPPED = {path.name: read_config_file(path) for path in [ROOT / "config.yaml", *(ROOT / "configs").glob("*.yaml")]}
EVERY_SECTION = read_config_file(ROOT / "tests" / "support" / "every_section.yaml")
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


def taken_or_refused(raw: dict[str, Any]) -> bool:
    """Returns whether a configuration is taken, and all that rules ask of it is answered; else it is refused in words.

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
        config.criteria_of(name), config.asked_criteria(name), config.judging(name), config.asked_before(name)
        asked_dimensions(config, protocol), asked_hurt(config, protocol), design_of(config, name)
    for name in labelled_protocols(config):
        labelled_design(config, name)
    for ask in (
        Config.families, Config.ensemble_methods, Config.used_corpora, Config.models_in_use, Config.strategies_named,
        Config.published_systems, Config.made_training, labelled_sheets, asked_to_label, pool_of, one_model, partial_to,
        kinds, tagged, joined_criteria, asks_otherwise,
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


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
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


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.dictionaries(st.sampled_from([*BASE, "battles", "elo", "x"]) | st.text(max_size=5), values, max_size=4))
def test_any_top_level(raw: dict[str, Any]) -> None:
    try:
        load_config(raw)
    except UserError as error:
        str(error).encode()


ODD_TEXTS = (
    "", "a\nb", "{x}", "../..", "x" * 5000, "~x/y", "-x", "名", "a b", "\u202e", "=x", "a/b", ".", "con", "all", "*",
    "selfchat", "rated", "damaged", "human", "each_other", "null", "ensemble", "rule", "bundled", "GT", "rating", "zh",
)  # fmt: skip
ODD_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2, 0.5, -0.5, 1e30, 10**30, 2**63, float("nan"), float("inf"), [], {}, [None], [[]],
    {"a": 1}, {1: 2}, "x", [1, 1], ["x", "x"], [{}], b"x", date(2020, 1, 1),
)  # fmt: skip


def mutated(base: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """Returns a configuration with one to three mistakes as people make them, or odd things in odd places."""
    raw = copy.deepcopy(base)
    for _ in range(rng.choice([1, 1, 2, 3])):
        there = list(places(raw))
        if not there:
            break
        *parents, key = rng.choice(there)
        part = part_at(raw, tuple(parents))
        rng.choice(MUTATIONS)(rng, raw, part, key, there)
    return raw


def deleted(_: random.Random, __: Any, part: Any, key: Any, ___: Any) -> None:
    del part[key]


def misspelt(rng: random.Random, _: Any, part: Any, key: Any, __: Any) -> None:
    if isinstance(part, dict):
        part[str(key)[:-1] if rng.random() < 0.5 else f"{key}q"] = part.pop(key)
    elif isinstance(part[key], str):
        part[key] = f"{part[key]}z"


def odd(rng: random.Random, _: Any, part: Any, key: Any, __: Any) -> None:
    part[key] = copy.deepcopy(rng.choice([*ODD_TEXTS, *ODD_VALUES]))


def emptied(rng: random.Random, _: Any, part: Any, key: Any, __: Any) -> None:
    kind = type(part[key])
    part[key] = kind() if kind in (list, dict) and rng.random() < 0.5 else None


def doubled(_: random.Random, __: Any, part: Any, key: Any, ___: Any) -> None:
    if isinstance(part[key], list) and part[key]:
        part[key].append(copy.deepcopy(part[key][0]))


def another_number(rng: random.Random, _: Any, part: Any, key: Any, __: Any) -> None:
    if isinstance(part[key], (int, float)):
        part[key] = rng.choice([-part[key], part[key] * 1000, part[key] + 1, 0, part[key] / 3])


def elsewhere(rng: random.Random, raw: Any, part: Any, key: Any, there: list[Place]) -> None:
    """Puts another part of the configuration there."""
    part[key] = copy.deepcopy(part_at(raw, rng.choice(there)))


def named_otherwise(rng: random.Random, raw: Any, part: Any, key: Any, there: list[Place]) -> None:
    """Puts a name that stands elsewhere in the place of a name, or beside others."""
    name = rng.choice(
        [str(place[-1]) for place in there] + [x for x in (part_at(raw, p) for p in there) if type(x) is str]
    )
    if isinstance(part[key], list):
        part[key].append(name)
    elif isinstance(part[key], dict):
        part[key][name] = copy.deepcopy(rng.choice([{}, *ODD_VALUES]))
    else:
        part[key] = name


MUTATIONS: tuple[Callable[[random.Random, Any, Any, Any, list[Place]], None], ...] = (
    deleted, misspelt, odd, emptied, doubled, another_number, elsewhere, named_otherwise
)  # fmt: skip


@pytest.mark.parametrize(
    ("seed", "n"), [(1, 250), *(pytest.param(seed, 2_000, marks=pytest.mark.slow) for seed in (2, 3, 4))]
)
def test_mistakes_as_people_make_them_end_in_words(seed: int, n: int) -> None:
    taken = 0
    for number in range(n):
        rng = random.Random(seed * 1_000_000 + number)
        base = EVERY_SECTION if rng.random() < 0.6 else rng.choice([*SHIPPED.values()])
        raw = mutated(base, rng)
        try:
            taken += taken_or_refused(raw)
        except BaseException as error:
            error.add_note(f"seed {seed}, number {number}")
            raise
    assert 0 < taken < n  # some changes are harmless, and are taken


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
