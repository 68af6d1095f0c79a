"""Self-chat through the store, on the real engine."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from processes import wait_until_gone

from dialeval.corpora.dialogues import bundled_dialogues
from dialeval.engines.requests import Message, Sampling
from dialeval.engines.vllm_engine import VllmEngine
from dialeval.protocols.selfchat import rows

pytestmark = pytest.mark.vllm
SelfChat = Callable[..., Any]


def stored_keys(folder: Path) -> list[str]:
    """Return the keys of all whole lines."""
    lines = [line for path in folder.rglob("*.jsonl") for line in path.read_bytes().splitlines(keepends=True)]
    return [line[:32].decode() for line in lines if line.endswith(b"\n")]


def test_24_seeds(reference: Any) -> None:
    assert len(reference.texts) == 24
    assert all(len(turns) == 4 and all(turns) for turns in reference.texts.values())
    assert reference.answering.n_sent == 24 * 4
    assert len({tuple(turns) for turns in reference.texts.values()}) == 24


def test_dialogues_are_equal_whatever_the_number_in_flight(
    engine: VllmEngine, selfchat: SelfChat, reference: Any, tmp_path: Path
) -> None:
    first = bundled_dialogues("en").dialogues[:6]
    seeds = {dialogue.dialogue_id: tuple(part.text for part in dialogue.utterances[:2]) for dialogue in first}
    one = selfchat(engine, tmp_path / "one", concurrency=1, of=seeds)
    assert one.texts == {seed_id: reference.texts[seed_id] for seed_id in seeds}
    assert selfchat(engine, tmp_path / "five", concurrency=5).texts == reference.texts


def test_a_second_run_sends_no_request(engine: VllmEngine, selfchat: SelfChat, reference: Any, tmp_path: Path) -> None:
    selfchat(engine, tmp_path)
    again = selfchat(engine, tmp_path)
    assert again.answering.n_sent == 0
    assert again.texts == reference.texts


CHAT_IN_A_PROCESS = """
import json, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from conftest import run_selfchat
from dialeval.config import VllmModel
from dialeval.engines.vllm_engine import VllmEngine

engine = VllmEngine(VllmModel(**json.loads(sys.argv[2])))
print("pid", engine.start().pid, flush=True)
run_selfchat(engine, Path(sys.argv[3]), concurrency=4)
"""


@pytest.mark.slow
def test_a_killed_run_leaves_no_process_and_goes_on_without_asking_twice(
    engine: VllmEngine, selfchat: SelfChat, settings: Callable[..., Any], reference: Any, tmp_path: Path
) -> None:
    script, store = tmp_path / "chat.py", tmp_path / "store"
    script.write_text(CHAT_IN_A_PROCESS)
    arguments = [str(Path(__file__).parent), settings().model_dump_json(), str(store)]
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen([sys.executable, str(script), *arguments], stdout=subprocess.PIPE, stderr=log)
    assert process.stdout is not None
    computing = next(int(line.split()[1]) for line in process.stdout if line.startswith(b"pid "))
    deadline = time.monotonic() + 180
    while len(stored_keys(store)) < 20:
        assert process.poll() is None, (tmp_path / "log").read_text()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    wait_until_gone(computing)

    before = set(stored_keys(store))
    assert 20 <= len(before) < 24 * 4
    resumed = selfchat(engine, store)
    assert resumed.stored_before == len(before)
    assert resumed.answering.n_sent == 24 * 4 - len(before)
    assert len(stored_keys(store)) == len(set(stored_keys(store))) == 24 * 4
    assert resumed.texts == reference.texts


def test_an_overlong_history_loses_its_oldest_utterances_and_says_so(
    engine: VllmEngine, selfchat: SelfChat, tmp_path: Path
) -> None:
    words = 1
    while engine.count_tokens((Message("user", "one two " * words),)) < 500:
        words += 1
    long = {"long": ("one two " * words, "two one " * words), "short": ("Hello.", "Hi there.")}
    chats = selfchat(engine, tmp_path, of=long, sampling=Sampling(temperature=0.8, max_tokens=200), n_utterances=5)
    assert [turn.dropped for turn in chats.dialogues["short"]] == [0, 0, 0]
    dropped = [turn.dropped for turn in chats.dialogues["long"]]
    assert dropped[0] >= 1
    assert dropped == sorted(dropped)
    for turn in (turn for turns in chats.dialogues.values() for turn in turns):
        assert turn.response.prompt_tokens + 200 <= 1024
    table = list(rows("tiny", long, chats.dialogues))
    assert [row["dropped"] for row in table if row["seed_id"] == "long"] == [0, 0, *dropped]
