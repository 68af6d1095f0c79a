"""The stage that lets chatbots talk, with a simulated user behind an endpoint that counts: killed, repeated, shared."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from loopback_endpoint import Call, LoopbackEndpoint, Reply, completion

from dialeval.corpora.dialogues import Scenario, scenario_table, seeds_of
from dialeval.measures.usage import read_usage
from dialeval.prompts.rendering import PromptSet, Templates
from dialeval.stages import selfchat
from dialeval.tables.dialogues import GENERATED, SCENARIOS, SEEDS
from dialeval.tables.files import read_table, write_table

N_UTTERANCES = 8
PLAYED = [
    Scenario(f"s{n}", "" if n == 2 else f"Hello from {n}.", f"person {n}", "END EARLY" if n == 1 else "company")
    for n in range(4)
]


class Talkers:
    """Answers for all models, and counts what each was asked, prompt by prompt."""

    def __init__(self, stuck_after: float) -> None:
        self.calls: Counter[tuple[str, str]] = Counter()
        self.stuck_after = stuck_after

    def __call__(self, call: Call) -> Reply:
        messages = call.body["messages"]
        model = call.body["model"]
        self.calls[model, json.dumps(messages)] += 1
        said = sum(message["role"] == "assistant" for message in messages)
        ends = model == "user" and "END EARLY" in messages[0]["content"] and said == 2
        text = "That is all. [END]" if ends else f"{model} says {len(messages)} to {call.text[-20:]}"
        return Reply(completion(text), delay=60.0 if self.of("bot") > self.stuck_after else 0.0)

    def of(self, model: str) -> int:
        return sum(count for (name, _), count in self.calls.items() if name == model)


@contextmanager
def endpoint(stuck_after: float = math.inf) -> Iterator[tuple[LoopbackEndpoint, Talkers]]:
    talkers = Talkers(stuck_after)
    with LoopbackEndpoint(talkers) as served:
        yield served, talkers


def model(url: str, name: str, **more: Any) -> dict[str, Any]:
    return {"engine": "openai", "model": name, "base_url": url, "api_key_env": None, "concurrency": 1} | more


def arguments(folder: Path, url: str, chatbot: str = "bot", **more: Any) -> dict[str, Any]:
    """Write the scenarios and return the stage's arguments."""
    write_table(folder / "scenarios.parquet", SCENARIOS, scenario_table(PLAYED))
    write_table(folder / "seeds.parquet", SEEDS, seeds_of(PLAYED))
    settings = {
        "name": chatbot,
        "model": model(url, chatbot),
        "partner": model(url, "user"),
        "selfchat": {"n_utterances": N_UTTERANCES, "partner": "user", "max_tokens": 20},
        "answering": {},
    }
    shard = more.get("shard", 1), more.get("shards", 1)
    name = f"{chatbot}-{shard[0]}-of-{shard[1]}"
    return {
        "settings": selfchat.SelfchatSettings.model_validate(settings | more),
        "seeds": folder / "seeds.parquet",
        "scenarios": [folder / "scenarios.parquet"],
        "learned": [],
        "partner_learned": [],
        "store": folder / "store",
        "generated": folder / "dialogues" / f"{name}.parquet",
        "usage": [folder / "usage" / chatbot / f"{name}.json", folder / "usage" / "user" / f"{name}.json"],
    }


def talk(
    folder: Path, url: str, chatbot: str = "bot", prompt_set: PromptSet = "ours", **more: Any
) -> dict[str, list[tuple[str, str]]]:
    given = arguments(folder, url, chatbot, **more)
    selfchat.selfchat(**given, templates=Templates(prompt_set=prompt_set))
    dialogues: dict[str, list[tuple[str, str]]] = {}
    for row in read_table(given["generated"], GENERATED).to_pylist():
        dialogues.setdefault(row["seed_id"], []).append((row["origin"], row["text"]))
    return dialogues


def test_a_self_chat_is_requested_once_and_written_for_both(tmp_path: Path) -> None:
    with endpoint() as (served, talkers):
        dialogues = talk(tmp_path, served.url)
        assert [origin for origin, _ in dialogues["s0"]] == ["seed", *["model", "partner"] * 3, "model"]
        assert [origin for origin, _ in dialogues["s2"]] == ["partner", "model"] * 4
        assert dialogues["s1"][-1] == ("partner", "That is all.")
        assert [len(said) for said in dialogues.values()] == [8, 5, 8, 8]
        own, partner = (read_usage(tmp_path / "usage" / name / "bot-1-of-1.json") for name in ("bot", "user"))
        assert (own.protocol, own.requests, own.asked) == ("selfchat", 4 + 2 + 4 + 4, talkers.of("bot"))
        assert (partner.protocol, partner.requests, partner.asked) == ("partner", 3 + 2 + 4 + 3, talkers.of("user"))
        assert own.input_tokens == 11 * own.asked
        before = dict(talkers.calls)
        assert talk(tmp_path, served.url) == dialogues
        assert talkers.calls == before
    assert set(before.values()) == {1}


def test_each_set_of_prompts_keeps_its_answers_and_switching_back_sends_no_request(tmp_path: Path) -> None:
    with endpoint() as (served, talkers):
        ours = talk(tmp_path, served.url)
        of_bot, of_user = talkers.of("bot"), talkers.of("user")
        talk(tmp_path, served.url, prompt_set="papers")
        assert talkers.of("bot") == 2 * of_bot, "the chatbot reads other words"
        assert talkers.of("user") == of_user, "the partner's prompt is no paper's"
        both = dict(talkers.calls)
        assert talk(tmp_path, served.url) == ours
        assert talkers.calls == both


def test_first_words_are_the_same_for_all_chatbots(tmp_path: Path) -> None:
    with endpoint() as (served, talkers):
        one = talk(tmp_path, served.url, "one")
        n_calls = talkers.of("user")
        other = talk(tmp_path, served.url, "other")
        assert one["s2"][0] == other["s2"][0]
        assert talkers.of("user") - n_calls == n_calls - 1, "only the first words are common"


def test_shards_together_are_the_whole(tmp_path: Path) -> None:
    with endpoint() as (served, _):
        whole = talk(tmp_path / "whole", served.url)
        parts = [talk(tmp_path / "parts", served.url, shard=shard, shards=3) for shard in (1, 2, 3)]
    assert {seed_id: said for part in parts for seed_id, said in part.items()} == whole


def test_a_chatbot_may_be_its_own_user(tmp_path: Path) -> None:
    with endpoint() as (served, talkers):
        dialogues = talk(tmp_path, served.url, "user")
        assert [origin for origin, _ in dialogues["s0"]] == ["seed", *["model", "partner"] * 3, "model"]
    folders = sorted(path.name for path in (tmp_path / "store").glob("*/*") if path.is_dir())
    assert folders == ["partner", "selfchat"]
    assert set(talkers.calls.values()) == {1}


def test_kill_9_sends_no_request_twice(tmp_path: Path) -> None:
    with endpoint() as (served, _):
        undisturbed = talk(tmp_path / "one", served.url)
    with endpoint(stuck_after=5) as (served, talkers):  # however busy the machine is, it is not over before the kill
        given = arguments(tmp_path / "two", served.url)
        settings = given.pop("settings").model_dump_json()
        command = [sys.executable, "-m", "dialeval.stages", "selfchat", "--settings", settings]
        for name, value in given.items():
            command += [f"--{name.replace('_', '-')}", *map(str, value if isinstance(value, list) else [value])]
        process = subprocess.Popen(
            command, start_new_session=True, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        )
        deadline = time.monotonic() + 60
        while talkers.of("bot") <= 5:
            assert process.poll() is None, "it was over before it was killed"
            assert time.monotonic() < deadline
            time.sleep(0.005)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        talkers.stuck_after = math.inf
        assert talk(tmp_path / "two", served.url) == undisturbed
    repeated = sum(count - 1 for count in talkers.calls.values())
    assert repeated <= 1, "only what was in flight"


@pytest.mark.parametrize(("limited", "budget"), [("bot", 900.0), ("user", 1300.0)])
def test_the_budget_of_either_holds(tmp_path: Path, limited: str, budget: float) -> None:
    prices = {"price_input": 1e6, "price_output": 1e6}
    with endpoint() as (served, talkers):
        priced = {"budget": budget, **prices}
        more = {"model": model(served.url, "bot", **(priced if limited == "bot" else {}))}
        more |= {"partner": model(served.url, "user", **(priced if limited == "user" else {}))}
        with pytest.raises(Exception, match="the budget is used up"):
            talk(tmp_path, served.url, **more)
        spent = 14 * talkers.of(limited)
        assert 0 < spent <= budget
        n_calls = talkers.of(limited)
        more[{"bot": "model", "user": "partner"}[limited]] = model(served.url, limited, budget=1e9, **prices)
        talk(tmp_path, served.url, **more)
        assert talkers.of(limited) > n_calls
    assert set(talkers.calls.values()) == {1}
