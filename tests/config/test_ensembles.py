"""Named ensembles in a configuration: by which scores they judge, and every way to name them wrongly."""

from __future__ import annotations

from typing import Any

import pytest

from dialeval.config import load_config
from dialeval.config.ensembles import grouped, model_types, one_model, pool_of, tagged, unknown_in_group
from dialeval.errors import UserError
from dialeval.measures.design import design_of

RATED = {"metaeval": {"corpora": {"steps": {"reader": "severity_levels"}}}}

OF_MINE = {"form": "scale", "data": {"source": "mine"}, "criteria": ["overall"], "judges": ["length"]}


def raw(**changes: Any) -> dict[str, Any]:
    parts: dict[str, Any] = {
        "models": {
            "forest": {"engine": "embedded", "method": "forest"},
            "length": {"engine": "embedded", "method": "length"},
            "gpt": {"engine": "openai", "model": "gpt"},
            "theirs": {"engine": "published", "unieval": "x.tsv"},
        },
        "judges": ["forest", "length"],
        "protocols": {"yes_no": {}},
        "ensembles": {"both": ["forest", "length"]},
        **RATED,
    }
    return parts | changes


def methods(**changes: Any) -> dict[str, dict[str, list[str]]]:
    return load_config(raw(**changes)).ensemble_methods()["both"]


def with_file(members: list[str], **changes: Any) -> dict[str, Any]:
    metaeval = RATED["metaeval"] | {"score_files": {"metric": {"path": "m.csv"}, "other": {"path": "o.csv"}}}
    return {"ensembles": {"both": members}, "metaeval": metaeval, **changes}


def test_it_judges_under_every_protocol_under_which_all_members_do() -> None:
    assert methods() == {"yes_no": {"forest": ["yes_no"], "length": ["yes_no"]}}
    assert list(methods(protocols={"yes_no": {}, "rating": {}})) == ["rating", "yes_no"]
    # one of them has two methods, and is no two members
    assert list(methods(protocols={"yes_no": {}, "rating": {"judges": ["length"]}})) == ["yes_no"]


def test_members_of_different_protocols_meet_on_rated_items_a_probability_first() -> None:
    apart = {"yes_no": {"judges": ["forest"]}, "rating": {"judges": ["length", "gpt"]}}
    assert methods(protocols=apart) == {"ensemble": {"forest": ["yes_no"], "length": ["rating"]}}
    own = {"form": "probability", "data": {"source": "steps"}, "judges": ["length"], "criteria": ["coherence"]}
    found = methods(protocols={**apart, "asked": own})
    assert found == {"ensemble": {"forest": ["yes_no"], "length": ["asked", "rating"]}}


def test_ready_scores_count_under_each_protocol_about_rated_items() -> None:
    config = load_config(raw(**with_file(["forest", "metric"])), files_are_there=False)
    assert config.ensemble_methods() == {"both": {"yes_no": {"forest": ["yes_no"], "metric": ["file"]}}}
    assert config.ensembles_of("yes_no") == []  # no dialogues of systems are in the file
    config = load_config(raw(**with_file(["other", "metric"])), files_are_there=False)
    assert config.ensemble_methods() == {"both": {"ensemble": {"other": ["file"], "metric": ["file"]}}}


def test_it_has_no_published_name_unless_set() -> None:
    assert load_config(raw()).published_systems()["both"] == ""
    metaeval = RATED["metaeval"] | {"published_as": {"both": "LLaMA-2-7B + PoE"}}
    assert load_config(raw(metaeval=metaeval)).published_systems()["both"] == "LLaMA-2-7B + PoE"


def test_under_a_protocol_about_systems_it_is_a_judge_of_its_measures() -> None:
    asked = {"data": {"source": "mine"}, "criteria": ["coherence"]}
    protocols = {
        "yes_no": {},
        "likely": {"form": "probability", **asked},
        "rated-by": {"form": "scale", "answers": "free", **asked},
        "better": {"form": "pair", "data": {"source": "mine"}, "judges": ["gpt"]},
    }
    changes = {"protocols": protocols, "transcripts": {"mine": {"path": "m.jsonl"}}}
    config = load_config(raw(**changes), files_are_there=False)
    assert [config.ensembles_of(name) for name in protocols] == [["both"], ["both"], ["both"], []]
    assert design_of(config, "likely").judges == ["forest", "length", "both"]
    assert (design_of(config, "likely").of_answers().judges, design_of(config, "rated-by").of_answers().judges) == (
        ["forest", "length", "both"],
        ["forest", "length"],
    )
    assert design_of(config, "better").judges == ["gpt"]
    assert config.models_in_use() == ["forest", "length", "gpt"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"ensembles": {"both": ["forest", "lenght"]}}, ["ensembles.both: 'lenght'", "did you mean 'length'?"]),
        ({"ensembles": {"both": ["forest"]}}, ["ensembles.both: a mean needs at least 2 members, and there are 1"]),
        ({"ensembles": {"both": []}}, ["ensembles.both: a mean needs at least 2 members, and there are 0"]),
        ({"ensembles": {"both": ["forest", "forest"]}}, ["ensembles: forest is listed twice under both"]),
        (
            {"ensembles": {"both": ["forest", "length"], "more": ["both", "forest"]}},
            ["ensembles.more: 'both' is itself an ensemble", "name its members"],
        ),
        ({"ensembles": {"gpt": ["forest", "length"]}}, ["ensembles.gpt: 'gpt' is also a name under models"]),
        ({"ensembles": {"Gpt": ["forest", "length"]}}, ["ensembles.Gpt: 'gpt' is also a name under models"]),
        (
            {"ensembles": {"human": ["forest", "length"]}},
            ["ensembles.human: 'human' is the name of the human annotators"],
        ),
        (
            {"ensembles": {"both": ["forest", "length"], "Both": ["forest", "length"]}},
            ["ensembles.both: 'Both' and 'both' differ only in case"],
        ),
        ({"ensembles": {"both": ["forest", "theirs"]}}, ["'theirs' is a published model", "metaeval.score_files"]),
        ({"ensembles": {"both": ["forest", "gpt"]}}, ["ensembles.both: 'gpt' has no scores", "yes_no or rating"]),
        (
            {"judges": ["forest", "length", "both"]},
            ["judges: 'both' is an ensemble: it judges under every protocol of all its members", "remove it"],
        ),
        (
            {"protocols": {"yes_no": {"judges": ["forest", "length", "both"]}}, "judges": []},
            ["protocols.yes_no.judges: 'both' is an ensemble"],
        ),
        (
            with_file(["forest", "metric"], ensembles={"metric": ["forest", "length"]}),
            ["ensembles.metric: 'metric' is also a name under metaeval.score_files"],
        ),
        (
            {"protocols": {"yes_no": {}, "ensemble": {"form": "scale", "data": {"source": "rated"}}}},
            ["protocols.ensemble: 'ensemble' is the method of ensembles"],
        ),
        (
            {
                "transcripts": {"mine": {"path": "m.jsonl"}},
                "protocols": {
                    "yes_no": {"judges": ["forest"]},
                    "of-mine": OF_MINE,
                },
            },
            ["ensembles.both: its members share no protocol (forest under yes_no; length"],
        ),
        (
            {"protocols": {"yes_no": {}, "gteval": {}}, "metaeval": None, "chatbots": ["gpt"]},
            ["ensembles.both: 'forest' has no scores"],
        ),
    ],
)
def test_a_mistake_is_reported(changes: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(UserError) as caught:
        load_config({key: value for key, value in raw(**changes).items() if value is not None}, files_are_there=False)
    assert all(word in str(caught.value) for word in words), caught.value


# Who may be one of the best judges: names and tags, judges that are one model, and every way to be wrong.

OPEN = {"tags": ["open"]}
JUDGES = ["forest", "length", "overlap", "gpt"]


def ensemble_pool_raw(pool: list[str] | None, **changes: Any) -> dict[str, Any]:
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
    config = load_config(ensemble_pool_raw(["open", "metric"]), files_are_there=False)
    assert pool_of(config) == ["forest", "length", "overlap", "idle", "metric"]
    assert pool_of(load_config(ensemble_pool_raw(None), files_are_there=False)) is None


@pytest.mark.parametrize(
    ("pool", "words"),
    [
        (["opne", "length"], "'opne' is neither a model of this configuration nor a tag of any; did you mean 'open'?"),
        (["both"], "'both' is an ensemble, and an ensemble cannot be a member; name its members, or one of their tags"),
        (["idle", "forest", "length"], "'idle' scores no rated items; let it judge under rating or yes_no"),
        (["forest", "metric"], "needs 3 models, and 2 of them score rated items (forest, metric); name more"),
        ([], "metaeval.ensemble_pool"),
        (["open", "open"], "open"),
    ],
)
def test_mistakes_are_reported_with_their_remedy(pool: list[str], words: str) -> None:
    with pytest.raises(UserError) as caught:
        load_config(ensemble_pool_raw(pool), files_are_there=False)
    assert words in str(caught.value)


def test_judges_are_one_model_where_their_weights_are() -> None:
    models = ensemble_pool_raw(None)["models"] | {
        "gpt-probabilities": {"engine": "openai", "model": "gpt"},
        "elsewhere": {"engine": "openai", "model": "gpt", "base_url": "http://127.0.0.1:9/v1"},
        "early": {"engine": "vllm", "model": "pythia", "revision": "step1"},
        "late": {"engine": "vllm", "model": "pythia", "revision": "step2"},
        "tuned": {"engine": "vllm", "model": "pythia", "revision": "step2", "lora_path": "adapter"},
    }
    config = load_config(ensemble_pool_raw(None, models=models), files_are_there=False)
    assert one_model(config) == {"gpt": "gpt", "gpt-probabilities": "gpt"}


def test_a_model_under_two_names_fills_one_place_of_the_pool() -> None:
    models = ensemble_pool_raw(None)["models"] | {"gpt-too": {"engine": "openai", "model": "gpt"}}
    protocols = {"yes_no": {"judges": [*JUDGES, "gpt-too"]}}
    with pytest.raises(UserError, match=r"2 of them score rated items \(forest, gpt\)"):
        load_config(
            ensemble_pool_raw(["gpt", "gpt-too", "forest"], models=models, protocols=protocols), files_are_there=False
        )


# Kinds and tags of models: what they group, and that they change no settings.


def with_models(**models: dict[str, Any]) -> dict[str, Any]:
    return {
        "models": {name: {"engine": "embedded", "method": "generic", **model} for name, model in models.items()},
        "chatbots": [*models],
        "corpora": {"bundled": {"reader": "bundled"}},
        "seeds": {"corpus": "bundled"},
    }


def test_types_and_tags_group_models_in_the_order_of_the_configuration() -> None:
    config = load_config(
        with_models(
            b={"kind": "base", "tags": ["open", "small"]}, plain={}, a={"kind": "chat", "tags": ["closed", "open"]}
        )
    )
    assert model_types(config) == {"b": "base", "a": "chat"}
    assert tagged(config) == {"open": ["b", "a"], "small": ["b"], "closed": ["a"]}
    assert grouped(config, ["plain", "open"]) == ["plain", "b", "a"]
    assert grouped(config, ["a", "open", "ready"]) == ["a", "b", "ready"]
    assert [entry for entry, _ in unknown_in_group(config, ["opne", "a", "small", "ready"], ["ready"])] == ["opne"]
    assert "did you mean 'open'" in dict(unknown_in_group(config, ["opne"]))["opne"]


def test_neither_is_part_of_any_settings() -> None:
    config = load_config(with_models(plain={}, said={"kind": "chat", "tags": ["open"]}))
    assert config.models["plain"].canonical() == config.models["said"].canonical()


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (
            {"tags": ["other"]},
            ["models.one.tags", "'other' is both a tag and a name under models", "choose another tag"],
        ),
        ({"tags": ["open", "open"]}, ["models.one.tags", "open is listed twice"]),
        ({"tags": ["open source"]}, ["models.one.tags", "open source"]),
        ({"tags": "open"}, ["models.one.tags"]),
        ({"kind": "instruct"}, ["models.one.kind", "known: base, chat"]),
    ],
)
def test_groups_a_mistake_is_reported(model: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(UserError) as caught:
        load_config(with_models(one=model, other={}))
    for word in words:
        assert word in str(caught.value)
