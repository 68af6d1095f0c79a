"""What was meant, or a word: repeated entries, absurd numbers, judges that nothing asks, all mistakes at once."""

from __future__ import annotations

import copy
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from config_example import BASE, changed
from pydantic import BaseModel

from dialeval.config import load_config
from dialeval.config.loading import RENAMED, RENAMED_VALUES
from dialeval.config.protocol_settings import Adaptive
from dialeval.errors import UserError
from dialeval.report.reference.configuration import SECTIONS


def mistakes(raw: dict[str, Any]) -> str:
    with pytest.raises(UserError) as caught:
        load_config(raw)
    return str(caught.value)


@pytest.mark.parametrize(
    ("path", "entry"),
    [
        ("chatbots", "gpt"),
        ("protocols.unieval.n_utterances", 4),
        ("protocols.failures.data.source", "selfchat"),
        ("criteria.warmth.translations.zh.scale", "好"),
        ("robustness.thresholds", 0.1),
        ("dialogbench.experts.simulated", "ann"),
    ],
)
def test_an_entry_that_is_there_twice_is_refused_in_every_list(path: str, entry: Any) -> None:
    assert f"{path}: {entry} is listed twice" in mistakes(changed(path, [entry, entry]))


@pytest.mark.parametrize(("path", "entry"), [("training.turns.domains.daily", "bundled"), ("ensembles.both", "forest")])
def test_an_entry_that_is_there_twice_is_refused_in_lists_by_name(path: str, entry: str) -> None:
    field, _, name = path.rpartition(".")
    assert f"{field}: {entry} is listed twice under {name}" in mistakes(changed(path, [entry, entry]))


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("models.gpt.shards", 1_000_000_000, ["models.gpt.shards: 1000000000", "less than or equal to 1000"]),
        ("models.gpt.concurrency", 10**12, ["models.gpt.concurrency: 1000000000000", "less than or equal to"]),
        ("models.local.concurrency", 10**12, ["models.local.concurrency", "less than or equal to"]),
        ("protocols.rating.repeats", 10**9, ["protocols.rating.repeats", "less than or equal to"]),
        ("elo.resamples", 10**9, ["elo.resamples", "less than or equal to"]),
        ("elo.shuffles", 10**9, ["elo.shuffles", "less than or equal to"]),
        ("seeds.limit", 10**30, ["seeds.limit", "less than or equal to"]),
        ("random_seed", 2**64, ["random_seed", "less than or equal to"]),
        ("models.gpt.shards", "1e9", ["models.gpt.shards: '1e9'", "integer"]),
        ("models.gpt.shards", True, ["models.gpt.shards: a number is needed", "reads this value as true"]),
        ("protocols.arena.n_utterances", [True], ["protocols.arena.n_utterances.0: a number is needed"]),
        ("selfchat.temperature", float("nan"), ["selfchat.temperature: nan", "finite"]),
        ("models.gpt.price_input", float("inf"), ["models.gpt.price_input: inf", "finite"]),
        ("models.gpt.extra_body", {"x": float("inf")}, ["models.gpt.extra_body", "JSON"]),
        ("models.gpt.extra_body", {"x": date(2024, 1, 1)}, ["models.gpt.extra_body", "no date"]),
        ("results_dir", "results/{model}", ["results_dir: 'results/{model}' contains braces", "rename"]),
        ("store_dir", "sto}re", ["store_dir", "braces"]),
        ("data_dir", "{data}", ["data_dir", "braces"]),
        ("results_dir", "a\nb", ["results_dir", "line break"]),
        ("results_dir", "-rf", ["results_dir", "hyphen"]),
        ("store_dir", "a\x00b", ["store_dir", "control character"]),
        ("store_dir", "~nobody-of-that-name/x", ["store_dir", "home folder"]),
        ("models.a/b", {"engine": "embedded", "method": "ngram"}, ["models.a/b: 'a/b' cannot be a name", "letters"]),
        ("models.-x", {"engine": "embedded", "method": "ngram"}, ["'-x' cannot be a name"]),
        ("corpora.a b", {"reader": "bundled"}, ["corpora.a b: 'a b' cannot be a name"]),
        ("corpora.Bundled", {"reader": "bundled"}, ["corpora: 'bundled' and 'Bundled' differ only in case"]),
        ("chatbots", [True], ["chatbots.0: YAML reads True as true or false", "quotes"]),
        ("chatbots", [date(2024, 1, 1)], ["chatbots.0: YAML reads", "as a date", "quotes"]),
        ("chatbots", [4.5], ["chatbots.0: YAML reads 4.5 as a number", "quotes"]),
        ("models.gpt.model", 4, ["models.gpt.model: YAML reads 4 as a number", "quotes"]),
        ("selfchat", None, ["selfchat: empty", "remove the field"]),
        ("judges", None, ["judges: empty"]),
        ("models.gpt.concurrency", "sk-proj-abcdefghij0123456789", ["models.gpt.concurrency", "not shown"]),
    ],
)
def test_one_clear_message(path: str, value: Any, words: list[str]) -> None:
    message = mistakes(changed(path, value))
    assert all(word in message for word in words), message
    assert "a mistake" in message
    assert len(message) < 500
    assert "abcdefghij0123456789" not in message


@pytest.mark.parametrize("name", [True, 8, date(2024, 1, 1)])
def test_a_name_that_yaml_reads_as_something_else(name: object) -> None:
    raw = copy.deepcopy(BASE)
    raw["models"][name] = {"engine": "embedded", "method": "ngram"}
    message = mistakes(raw)
    assert "put it in quotes" in message
    assert "a mistake" in message


def test_all_mistakes_come_in_one_message_whatever_their_kind() -> None:
    raw = changed("elo.kk", 3)
    raw["random_seed"] = "x"
    raw["models"]["gpt"]["temprature"] = 1
    raw["models"]["broken"] = {"engine": "embedded"}
    raw["chatbots"] = ["retrieval", "gpt", "broken", "nobody"]
    raw["judges"] = ["retrieval"]
    raw["seeds"] = {"corpus": "mine"}
    raw["corpora"]["mine"] = {"reader": "jsonl", "path": "no.jsonl"}
    message = mistakes(raw)
    for words in (
        "elo.kk", "random_seed: 'x'", "models.gpt.temprature", "models.broken.method: this field is needed",
        "chatbots: 'nobody' is not a model", "judges: 'retrieval' is an embedded model", "no.jsonl does not exist",
    ):  # fmt: skip
        assert words in message, message
    assert "'broken' is not a model" not in message, "that follows from its own mistake"


def test_what_follows_from_another_mistake_is_not_reported() -> None:
    message = mistakes(changed("protocols.rating", {"repeats": 5, "temperature": "hot"}))
    assert "a mistake" in message
    assert "protocols.rating.temperature: 'hot'" in message


def test_botchats_protocols_are_the_default_where_chatbots_and_judges_are_named() -> None:
    raw = {key: BASE[key] for key in ("models", "chatbots", "judges", "corpora", "seeds")}
    asked = load_config(raw).protocols.model_dump(exclude_none=True)
    assert set(asked) == {"unieval", "arena", "gteval"}
    assert asked["unieval"]["n_utterances"] == [4, 8, 12, 16]
    assert asked["arena"]["n_utterances"] == [8, 16]
    short = load_config(raw | {"selfchat": {"n_utterances": 6}}).protocols.model_dump()
    assert (short["unieval"]["n_utterances"], short["arena"]["n_utterances"]) == ([4], [6])
    assert load_config({**raw, "judges": []}).protocols.unieval is None


@pytest.mark.parametrize(
    "changes",
    [
        {"protocols": {}},
        {"protocols": {"rating": {}}, "metaeval": None, "robustness": None},
        {"protocols": {"rating": {"judges": ["gpt"]}}},
        {"protocols": {"arena": {}}, "chatbots": ["gpt"], "metaeval": None, "robustness": None},
    ],
)
def test_a_judge_without_a_protocol_is_an_error(changes: dict[str, Any]) -> None:
    message = mistakes({**BASE, **changes})
    assert "judges: 'forest' has no protocol; add one under protocols: unieval" in message


def test_home_is_where_the_shell_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/somebody")
    assert load_config(changed("results_dir", "~/results")).results_dir == Path("/home/somebody/results")


def test_entries_of_a_list_are_judged_one_by_one() -> None:
    message = mistakes(changed("chatbots", [True, "gpt", 5, "nobody", "a/b"]))
    for words in ("chatbots.0: YAML", "chatbots.2: YAML", "chatbots.4: 'a/b' cannot", "4 mistakes", "'nobody' is not"):
        assert words in message


def test_a_budget_of_the_run_needs_prices_of_every_model_that_costs() -> None:
    found = mistakes(changed("budget", 3.0))
    assert "models.gpt.price_input: the run's budget needs prices" in found
    assert "models.gpt.price_output" in found
    assert "local" not in found
    for value in (0, -1, float("inf"), float("nan")):
        assert "budget" in mistakes(changed("budget", value))


@pytest.mark.parametrize("place", ["[key]", "elo.[key]", "models.[key]", "models.gpt.[key]"])
def test_a_field_that_is_called_as_pydantic_marks_names(place: str) -> None:
    assert f"{place}: " in mistakes(changed(place, None))


@pytest.mark.parametrize(
    ("section", "written_as"),
    [("protocols", "protocls"), ("models", "modls"), ("judges", "judgs"), ("seeds", "seds"), ("metaeval", "metaevl")],
)
def test_a_misspelt_section_is_the_only_mistake_that_is_reported(section: str, written_as: str) -> None:
    raw = {key: value for key, value in BASE.items() if key != section} | {written_as: BASE[section]}
    with pytest.raises(UserError) as caught:
        load_config(raw, files_are_there=False)
    words = f"{written_as}: there is no such field; did you mean '{section}'?"
    assert str(caught.value) == f"the configuration has a mistake:\n  {words}"


def test_a_misspelt_protocol_is_reported_once() -> None:
    with pytest.raises(UserError) as caught:
        load_config(changed("protocols", {"unievl": {}, "yes_no": {}}), files_are_there=False)
    assert str(caught.value).splitlines()[0] == "the configuration has a mistake:"
    assert "did you mean 'unieval'?" in str(caught.value)


def test_what_else_is_wrong_is_reported_beside_a_misspelt_section() -> None:
    raw = {key: value for key, value in BASE.items() if key != "protocols"} | {"protocls": BASE["protocols"]}
    raw |= {"random_seed": "x", "chatbots": ["retrival", "gpt"]}
    with pytest.raises(UserError) as caught:
        load_config(raw, files_are_there=False)
    assert [line.split(":")[0].strip() for line in str(caught.value).splitlines()[1:]] == [
        "protocls", "random_seed", "chatbots",
    ]  # fmt: skip


def test_a_misspelt_field_that_is_there_beside_the_right_one_replaces_nothing() -> None:
    raw = {**BASE, "judgs": ["retrieval"]}
    with pytest.raises(UserError) as caught:
        load_config(raw, files_are_there=False)
    assert str(caught.value).splitlines()[1:] == ["  judgs: there is no such field; did you mean 'judges'?"]


TURNS = {"level": "turn", "domains": {"daily": ["bundled"]}}
OWN = {"form": "pair", "data": {"source": "selfchat"}, "judges": ["gpt"]}


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("protocols.mine", {"form": "pair", "of": {"source": "selfchat"}}, "of: this field has a new name; write data"),
        ("protocols.failures", {"of": {"source": "selfchat"}}, "failures.of: this field has a new name; write data"),
        ("protocols.mine", OWN | {"form": "detect"}, "mine.form: 'detect' has a new name; write locate"),
        ("protocols.failures", {"kinds": ["rude"]}, "failures.kinds: this field has a new name; write criteria"),
        (
            "training.turns",
            TURNS | {"kinds": ["random"]},
            "turns.kinds: this field has a new name; write perturbations",
        ),
        ("training.turns", TURNS | {"held_back": 0.1}, "turns.held_back: this field has a new name; write held_out"),
        ("criteria.a.translations.zh", {"labels": ["冷", "暖"]}, "zh.labels: this field has a new name; write scale"),
        ("translate.bundled", {"into": ["es"], "by": "gpt"}, "by: this field has a new name; write translator"),
        ("labels", {"path": "a", "by": "cases"}, "labels.by: this field has a new name; write sampling_design"),
        ("labels", {"path": "a", "target": "these"}, "labels.target: 'these' has a new name; write given_cases"),
        (
            "metaeval",
            {"corpora": {"steps": {"reader": "ladder"}}, "fill": "gpt"},
            "metaeval.fill: this field has a new name; write imputer",
        ),
        (
            "metaeval.corpora.steps",
            {"reader": "ladder"},
            "steps.reader: 'ladder' has a new name; write severity_levels",
        ),
    ],
)
def test_an_earlier_name_is_refused_with_the_new_one(path: str, value: Any, words: str) -> None:
    with pytest.raises(UserError) as caught:
        load_config(changed(path, value), files_are_there=False)
    lines = str(caught.value).splitlines()[1:]
    assert [line.endswith(words) for line in lines].count(True) == 1
    assert not any("missing" in line or "did you mean" in line for line in lines)


def test_every_new_name_is_a_field() -> None:
    sections: list[type[BaseModel]] = [Adaptive, *(section for _, section in SECTIONS)]
    fields = {name for section in sections for name in section.model_fields}
    assert {new for names in RENAMED.values() for new in names} | RENAMED_VALUES.keys() <= fields


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("criteria.a", {"question": 5}, "criteria.a.question: YAML reads 5 as a number"),
        ("criteria.a", {"question": {"turnn": "x"}}, "criteria.a.question.turnn: 'turnn' is not allowed; did you mean"),
        (
            "labels",
            {"path": "x", "questions": {"arena": {"a": 5}}},
            "labels.questions.arena.a: YAML reads 5 as a number",
        ),
        ("transcripts.a", {"path": 5}, "transcripts.a.path: 5 is not a path"),
    ],
)
def test_a_text_or_names_with_texts_is_one_field_with_one_mistake(path: str, value: object, words: str) -> None:
    with pytest.raises(UserError) as caught:
        load_config(changed(path, value), files_are_there=False)
    (line,) = [line for line in str(caught.value).splitlines() if path in line]
    assert line.startswith(f"  {words}")


def test_an_invalid_criterion_is_reported_with_labels_too() -> None:
    quality = {"form": "scale", "data": {"source": "selfchat"}, "criteria": ["coherense"], "judges": ["gpt"]}
    raw = changed("protocols.quality", quality) | {"labels": {"path": "labels"}}
    with pytest.raises(UserError) as caught:
        load_config(raw, files_are_there=False)
    assert "protocols.quality.criteria: 'coherense' is not a criterion; did you mean 'coherence'?" in str(caught.value)
    assert str(caught.value).startswith("the configuration has a mistake:")
