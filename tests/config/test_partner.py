"""What a configuration with a simulated user must say, and what it need not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dialeval.config import load_config
from dialeval.errors import UserError
from dialeval.measures.design import design_of
from dialeval.planning.preflight import checked_config

VLLM = {"engine": "vllm", "model": "some/model"}
RAW: dict[str, Any] = {
    "models": {
        "bot": {"engine": "openai", "model": "m", "base_url": "http://127.0.0.1:1/v1", "api_key_env": None},
        "user": {"engine": "embedded", "method": "retrieval"},
        "forest": {"engine": "embedded", "method": "forest"},
        "paper": {"engine": "published", "dialogues": "d.tsv"},
        "one": VLLM,
        "same": VLLM,
        "other": {**VLLM, "model": "another/model"},
        "small": {**VLLM, "model": "small/model", "gpus": 0},
    },
    "chatbots": ["bot"],
    "judges": ["forest"],
}


def raw(chatbots: list[str] | None = None, **selfchat: Any) -> dict[str, Any]:
    return {**RAW, "chatbots": ["bot"] if chatbots is None else chatbots, "selfchat": selfchat}


def scenarios(folder: Path, text: str = '{"scenario_id": "a", "opening": "Hi."}') -> dict[str, str]:
    (folder / "s.jsonl").write_text(text, encoding="utf-8")
    return {"path": str(folder / "s.jsonl")}


def test_scenarios_stand_in_place_of_seeds_and_of_people(tmp_path: Path) -> None:
    config = load_config(raw(partner="user", scenarios=scenarios(tmp_path)))
    assert config.seeds.corpus == "bundled"
    assert config.protocols.unieval
    assert config.protocols.arena
    assert config.protocols.gteval is None
    assert "pass_rates_at_gt_length" not in config.resolved_protocols()["unieval"].measured()
    assert design_of(config, "unieval").systems == ["bot"]
    assert "user" in config.models_in_use()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (raw(partner="usr"), "selfchat.partner: 'usr' is not a model of this configuration; did you mean 'user'"),
        (
            raw(partner="forest"),
            "embedded model of method 'forest', which this protocol cannot use (selfchat)",
        ),
        (raw(partner="paper"), "selfchat.partner: 'paper' is a published model, which cannot respond to new requests"),
        (
            raw(["paper"], partner="user"),
            "chatbots: 'paper' is a published model, whose dialogues already exist",
        ),
        (raw([], partner="user"), "selfchat.partner: no chatbot talks with 'user'; add chatbots"),
        (raw(["one"], partner="other"), "two vLLM engines on the same GPU memory in one job"),
        (raw(scenarios={"path": "s.jsonl"}), "selfchat.scenarios: scenarios need a simulated user"),
        (
            raw(partner="user", scenarios={"path": "nowhere.jsonl"}),
            "selfchat.scenarios.path: data/nowhere.jsonl",
        ),
        (
            {**raw(partner="user", scenarios={"path": "s.jsonl"}), "protocols": {"gteval": {}}},
            "protocols.gteval: it compares systems with human dialogues, which scenarios do not have",
        ),
    ],
)
def test_what_cannot_be_is_reported(given: dict[str, Any], words: str) -> None:
    seeds = {"corpora": {"bundled": {"reader": "bundled"}}, "seeds": {"corpus": "bundled"}}
    with pytest.raises(UserError) as caught:
        load_config({**seeds, **given})
    assert words in str(caught.value), str(caught.value)


@pytest.mark.parametrize(("chatbot", "partner"), [("one", "same"), ("one", "one"), ("one", "small"), ("bot", "one")])
def test_one_vllm_in_a_job_can_be(chatbot: str, partner: str, tmp_path: Path) -> None:
    assert load_config(raw([chatbot], partner=partner, scenarios=scenarios(tmp_path))).selfchat.partner == partner


def test_a_bad_scenario_is_reported_before_any_job(tmp_path: Path) -> None:
    bad = '{"scenario_id": "a", "goal": "company"}'
    given = raw(partner="user", scenarios=scenarios(tmp_path, bad)) | {"results_dir": str(tmp_path / "results")}
    with pytest.raises(UserError, match="selfchat.scenarios: .*line 1: scenario 'a' has no 'opening'"):
        checked_config(given, [], asks=False, reads=True, own_environments=False)
