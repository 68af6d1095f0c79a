"""Before anything runs: all that a run needs and has not is told at once."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from config_example import BASE
from wide_configuration import WIDE
from workspace import ROOT, SMALL

from dialeval.config import load_config
from dialeval.config.configuration import Config
from dialeval.corpora.robustness_sets import SETS
from dialeval.errors import UserError
from dialeval.planning.preflight import (
    NEEDS,
    RENAMED_TARGETS,
    Need,
    check_transcripts,
    checked_config,
    is_named,
    refuse_without_section,
    unread_labels,
    unused_templates,
)


def check(raw: dict[str, Any], *given: Path, asks: bool = True) -> str:
    with pytest.raises(UserError) as caught:
        checked_config(raw, given, asks=asks, reads=True, own_environments=False)
    return str(caught.value)


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "mine.yaml"
    path.write_text("models: {a: {}}\n", encoding="utf-8")
    return path


def test_all_that_is_wrong_and_all_that_is_not_there_in_one_message(mine: Path) -> None:
    (mine.parent / "taken").write_text("", encoding="utf-8")
    robustness = {"corpora": ["bundled"], "perturbations": ["order_shufle"]}
    raw = {**BASE, "random_seed": "x", "results_dir": "taken", "robustness": robustness}
    message = check(raw, mine)
    assert "the configuration in mine.yaml has 3 mistakes" in message
    for words in ("random_seed: 'x'", "results_dir: ", "robustness.perturbations: 'order_shufle' is not"):
        assert words in message
    assert "stands alone" not in message
    assert "OPENAI_API_KEY" not in message, "the key is demanded when the first request is to leave"


def test_a_rewriter_gets_the_strategies_that_a_model_applies(mine: Path) -> None:
    robustness = {"corpora": ["bundled"], "rewriter": "local", "rewritten": ["order_shuffle"]}
    assert "robustness.rewritten: a rewriter cannot make 'order_shuffle'" in check(
        {**BASE, "robustness": robustness}, mine
    )


def test_wordnet_that_is_not_there_is_reported_before_anything_runs(mine: Path) -> None:
    robustness = {"corpora": ["bundled"], "wordnet": "dict"}
    message = check({**BASE, "data_dir": str(mine.parent), "robustness": robustness}, mine)
    assert "robustness.wordnet: " in message
    assert "dict has no file index.noun" in message


def test_a_language_without_a_translator_is_reported_before_anything_runs(mine: Path) -> None:
    translate = {"bundled": {"into": ["es", "xx"], "translator": "gpt", "source": "englsh"}}
    message = check({**BASE, "translate": translate}, mine, asks=False)
    assert "translate.bundled.into: language 'xx' is not supported for translation" in message
    assert "translate.bundled.source: language 'englsh' is not supported for translation" in message
    assert "'es'" not in message


def test_a_file_with_missing_parts_is_reported_as_standing_alone(mine: Path) -> None:
    assert "replaces config.yaml" in check({"judges": ["forest"]}, mine)


def test_published_sets_that_are_not_whole_are_reported_before_anything_runs(mine: Path) -> None:
    folder = mine.parent / "sets"
    damaged, original = (folder / path for path in SETS["repetition"].files)
    damaged.parent.mkdir(parents=True)
    for published, strategies, words in (
        ([], None, "has none of the published sets"),
        ([damaged], None, "und/repetition-original_text.txt of repetition"),
        ([damaged, original], ["repetition", "dullness"], "int/dullness-perturbed_text.txt of dullness"),
    ):
        for path in published:
            path.write_text("r\tA\tB\n", encoding="utf-8")
        robustness = {"published": str(folder), "perturbations": strategies}
        message = check({**BASE, "robustness": robustness}, mine, asks=False)
        assert f"robustness.published: {folder}" in message
        assert words in message
    robustness = {"published": str(folder), "perturbations": ["repetition"]}
    checked_config({**BASE, "robustness": robustness}, [mine], asks=False, reads=True, own_environments=False)


def test_chatbots_in_another_order_are_the_same_run() -> None:
    """Every table, request and random draw of a run follows its configuration, which is the same one."""
    chatbots = [*BASE["chatbots"], *(["generic"] if "generic" not in BASE["chatbots"] else [])]
    models = {**BASE["models"], "generic": {"engine": "embedded", "method": "generic"}}
    first, again = (
        checked_config(
            {**BASE, "models": models, "chatbots": order}, [], asks=False, reads=True, own_environments=False
        )
        for order in (chatbots, chatbots[::-1])
    )
    assert len(first.chatbots) > 1
    assert first.model_dump_json() == again.model_dump_json()


def test_wrong_transcripts_are_reported_before_a_job_runs(tmp_path: Path) -> None:
    line = '{"dialogue_id": 1, "system": "a", "utterances": ["Hi.", "Hello."]}\n'
    (tmp_path / "good.jsonl").write_text(line, encoding="utf-8")
    (tmp_path / "twice.jsonl").write_text(line + line.replace("Hello", "Well"), encoding="utf-8")
    (tmp_path / "odd.jsonl").write_text('{"utterances": 3}', encoding="utf-8")
    names = ("good", "twice", "odd")
    transcripts = {name: {"path": str(tmp_path / f"{name}.jsonl")} for name in names}
    config = load_config(
        {
            "models": {"forest": {"engine": "embedded", "method": "forest"}},
            "judges": ["forest"],
            "transcripts": transcripts,
            "protocols": {"human_like": {"form": "locate", "data": {"source": list(names)}}},
        }
    )
    check_transcripts(config, ["good"])
    with pytest.raises(UserError) as caught:
        check_transcripts(config, names)
    twice, odd = str(caught.value).splitlines()
    assert twice.startswith("transcripts.twice: ")
    assert "line 1; line 2" in twice
    assert odd.startswith(f"transcripts.odd: {tmp_path / 'odd.jsonl'}, line 1: 'utterances' must be a list")


@pytest.mark.parametrize(
    ("systems", "opponent", "expected"),
    [
        (["a", "a"], "each_other", "protocols.better: a pair needs two systems, and talks has only a"),
        (["a", "b"], "each_other", "protocols.better: no dialogues can be compared in talks"),
        (["a", "b"], "human", "protocols.better.data.opponent: 'human' is no system of talks"),
    ],
)
def test_a_protocol_without_pairs_is_reported_before_a_job_runs(
    tmp_path: Path, systems: list[str], opponent: str, expected: str
) -> None:
    lines = [
        {"dialogue_id": name, "case_id": name, "system": system, "utterances": ["Hi.", "Hello."]}
        for name, system in zip("xy", systems, strict=True)
    ]
    (tmp_path / "talks.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    raw = {
        "models": {"gpt": {"engine": "openai", "model": "gpt", "base_url": "http://127.0.0.1:1/v1"}},
        "judges": ["gpt"],
        "transcripts": {"talks": {"path": str(tmp_path / "talks.jsonl")}},
        "protocols": {"better": {"form": "pair", "data": {"source": "talks", "opponent": opponent}}},
    }
    for names, planned in ((["talks"], []), ([], ["better"])):
        with pytest.raises(UserError, match=re.escape(expected)):
            check_transcripts(load_config(raw), names, planned)
    assert check_transcripts(load_config(raw), []) == {}


SCALE = {
    "form": "scale",
    "data": {"source": "support"},
    "criteria": ["overall"],
    "judges": ["gpt"],
    "template": "own.j2",
}


@pytest.mark.parametrize(
    ("template", "questions", "refused"),
    [
        ("How much does it help, 1 to 5?\n{{ render_dialogue(dialogue) }}\nWrite: overall - x", {}, True),
        (
            "How much does it help, 1 to 5?\n{{ render_dialogue(dialogue) }}\nWrite: overall - x",
            {"q": "Does it help?"},
            False,
        ),
        ("{{ criterion.meaning }}\n{{ render_dialogue(dialogue) }}\nWrite: overall - x", {}, False),
        ("{{ criterion.question }}\n{{ render_dialogue(dialogue) }}\nWrite: overall - x", {}, False),
    ],
)
def test_a_template_with_another_question_needs_the_annotators_question(
    mine: Path, template: str, questions: dict[str, str], refused: bool
) -> None:
    (mine.parent / "prompts").mkdir()
    (mine.parent / "prompts" / "own.j2").write_text(template, encoding="utf-8")
    (mine.parent / "s.jsonl").write_text("", encoding="utf-8")
    raw = {
        "models": {"gpt": {"engine": "openai", "model": "gpt"}},
        "judges": ["gpt"],
        "data_dir": str(mine.parent),
        "transcripts": {"support": {"path": "s.jsonl"}},
        "protocols": {"q": SCALE},
        "prompts": {"directory": str(mine.parent / "prompts")},
        "labels": {"path": "labels", "questions": questions},
    }
    if refused:
        message = check(raw, mine, asks=False)
        assert "labels.questions: protocol q uses its own template own.j2" in message
        assert "questions: {q: '...'}" in message
    else:
        checked_config(raw, [mine], asks=False, reads=True, own_environments=False)


@pytest.fixture
def prompted(mine: Path) -> dict[str, Any]:
    """A configuration whose folder of prompts has a protocol's template, a part of it and one in place of ours."""
    folder = mine.parent / "prompts"
    folder.mkdir()
    question = "{{ dialogue }} {{ criterion.question }} {{ criterion.answer }}"
    for file, template in {"own.j2": "{% include 'part.j2' %}", "part.j2": question, "gteval.j2": question}.items():
        (folder / file).write_text(template, encoding="utf-8")
    (mine.parent / "s.jsonl").write_text("", encoding="utf-8")
    return {
        "models": {"gpt": {"engine": "openai", "model": "gpt"}},
        "judges": ["gpt"],
        "data_dir": str(mine.parent),
        "transcripts": {"support": {"path": "s.jsonl"}},
        "protocols": {"q": SCALE},
        "prompts": {"directory": str(folder)},
    }


@pytest.mark.parametrize(
    ("old", "new"), [("mark.j2", "annotate.j2"), ("detect.j2", "locate.j2"), ("ask_again.j2", "retry_unparsed.j2")]
)
def test_an_earlier_name_of_a_template_is_refused_with_the_new_one(
    prompted: dict[str, Any], mine: Path, old: str, new: str
) -> None:
    path = mine.parent / "prompts" / old
    path.write_text("A prompt.", encoding="utf-8")
    message = check(prompted, mine, asks=False)
    assert f"prompts.directory: {path} has no effect: its prompt is {new} now; rename the file to {new}" in message
    path.rename(path.with_name("own.j2"))
    path.write_text("{{ dialogue }} {{ criterion.question }} {{ criterion.answer }}", encoding="utf-8")
    named = prompted | {"protocols": {"q": SCALE | {"template": old}}}
    checked_config(named, [mine], asks=False, reads=True, own_environments=False)  # a protocol may use the name


@pytest.mark.parametrize(("name", "meant"), [("arenas.j2", "arena.j2"), ("owm.j2", "own.j2")])
def test_a_template_without_effect_is_noticed_with_the_nearest_name(
    prompted: dict[str, Any], mine: Path, name: str, meant: str
) -> None:
    config = checked_config(prompted, [mine], asks=False, reads=True, own_environments=False)
    assert unused_templates(config) == []
    (mine.parent / "prompts" / name).write_text("A prompt.", encoding="utf-8")
    [notice] = unused_templates(config)
    assert f"prompts/{name} has no effect" in notice
    assert f"did you mean '{meant}'?" in notice


def test_files_in_the_folder_of_the_labels_that_are_not_read_are_noticed(tmp_path: Path) -> None:
    labels = {"path": str(tmp_path), "n": 1, "annotators": ["ann"]}
    config = Config.model_validate(BASE | {"labels": labels})
    (tmp_path / "ann.csv").touch()
    assert unread_labels(config) == []
    (tmp_path / "ben.txt").touch()
    (tmp_path / "returned").mkdir()
    [notice] = unread_labels(config)
    assert notice == f"not read in {tmp_path}: ben.txt, returned; label files end in .csv, .tsv, .xlsx, .json"


# Targets that are asked for without their section of the configuration say which one that is.

RULES = "\n".join(path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("rules/*.smk")))
BATTLES: dict[str, Any] = {"battles": {"mine": {"path": "mine.csv"}}}
BY_RULES: dict[str, Any] = {
    "transcripts": {"support": {"path": "support.jsonl"}},
    "protocols": {"failures": {"data": {"source": "support"}}},
}
WITHOUT = {"battles": SMALL}
"""Configurations that have no such section; for all other targets one of battles alone."""


@pytest.mark.parametrize("need", NEEDS, ids=lambda need: need.targets[0])
def test_every_target_says_what_it_needs(need: Need) -> None:
    without = Config.model_validate(WITHOUT.get(need.targets[0], BATTLES))
    for target in need.targets:
        assert re.search(rf"^(rule|use rule \w+ as) {target}( with)?:$", RULES, re.M)
        with pytest.raises(UserError, match=f"^{target}: the configuration "):
            refuse_without_section(without, target.__eq__)
    assert (ROOT / re.findall(r"docs/\w+\.md", need.words)[-1]).is_file()


def test_configured_addresses_are_allowed() -> None:
    translate = {"steps": {"translator": "large", "into": ["zh"], "quality": {"back": "large"}}}
    training = {"turns": {"level": "turn", "domains": {"daily": ["bundled"]}}}
    everything = Config.model_validate({**WIDE, "translate": translate, "training": training} | BATTLES)
    refuse_without_section(everything, lambda target: target not in RENAMED_TARGETS)
    for small, targets in (
        (SMALL, {"all", "report", "status", "botchat"}),
        (BATTLES, {"all", "battles", "clean"}),
        (BY_RULES, {"all", "report", "status"}),
    ):
        refuse_without_section(Config.model_validate(small), targets.__contains__)


@pytest.mark.parametrize(("old", "new"), RENAMED_TARGETS.items())
def test_an_earlier_name_of_a_target_is_refused_with_the_new_one(old: str, new: str) -> None:
    assert re.search(rf"^(rule|use rule \w+ as) {new}( with)?:$", RULES, re.M)
    with pytest.raises(UserError, match=f"^{old}: this target has a new name; run the command with {new}$"):
        refuse_without_section(Config.model_validate(SMALL), old.__eq__)


def test_folders_and_profiles_may_be_called_as_targets_are() -> None:
    assert is_named("label", ["snakemake", "--cores", "2", "label"])
    assert is_named("label", ["snakemake", "-d", "label", "label"])
    assert is_named("label", ["snakemake", "--until", "label"])
    assert not is_named("label", ["snakemake", "--directory", "label", "battles"])
    assert not is_named("label", ["snakemake", "--omit-from", "label", "--config", "labels=label"])


def test_a_completion_template_without_the_text_is_refused(mine: Path) -> None:
    (mine.parent / "prompts").mkdir()
    (mine.parent / "prompts/complete.j2").write_text("Continue.", encoding="utf-8")
    section = {"models": ["gpt"], "corpora": ["bundled"]}
    gpt = {"engine": "openai", "model": "gpt"}
    raw = {**BASE, "models": {**BASE["models"], "gpt": gpt}, "memorization": section}
    message = check(raw | {"prompts": {"directory": "prompts"}}, mine, asks=False)
    assert "complete.j2: the template lacks the text to complete; write {{ text }} in its place" in message
