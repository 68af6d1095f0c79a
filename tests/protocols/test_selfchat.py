"""Self-chat: roles, windows, resuming, and what happens when an utterance cannot be had."""

from __future__ import annotations

import asyncio
import io
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted import ScriptedEngine

from dialeval.engines.answering import Answering
from dialeval.engines.request import AnswerFailure, Dialogue, Request, Response, Sampling
from dialeval.engines.store import ResponseStore
from dialeval.progress import Progress
from dialeval.protocols.selfchat import Turn, chat_all, rows
from dialeval.protocols.voices import SELFCHAT, Talk, history
from dialeval.reasoning_marks import without_marks

SEEDS: dict[str, Dialogue] = {f"s{n}": (f"hello {n}", f"hi {n}") for n in range(6)}


def run(
    folder: Path, engine: ScriptedEngine, seeds: dict[str, Dialogue] = SEEDS, n: int = 6, max_tokens: int = 10
) -> tuple[dict[str, list[Turn]], Answering]:
    with ResponseStore(folder, identity=engine.identity, name="m", protocol="selfchat") as store:
        answering = Answering(engine, store, Progress("t", None, "u", stream=io.StringIO()))
        sampling = Sampling(max_tokens=max_tokens)
        talk = Talk.alone(engine, n_utterances=n, system="Chat.", sampling=sampling)
        dialogues = asyncio.run(chat_all(talk, {SELFCHAT: answering}, seeds))
    return dialogues, answering


@given(st.lists(st.text(min_size=1), min_size=1, max_size=20))
def test_the_last_utterance_is_the_users_and_roles_alternate(utterances: list[str]) -> None:
    messages = history("system", utterances)
    assert messages[0] == ("system", "system")
    shown = [without_marks(text) for text in utterances]
    assert messages[-1] == ("user", shown[-1])
    assert [message.content for message in messages[1:]] == shown
    roles = [message.role for message in messages[1:]]
    assert all(one != other for one, other in pairwise(roles))


def test_dialogues_grow_to_their_length(tmp_path: Path) -> None:
    engine = ScriptedEngine(lambda request: f" turn {len(request.messages)} of {request.subject[0][0]} ")
    dialogues, answering = run(tmp_path, engine)
    assert set(dialogues) == set(SEEDS)
    assert [turn.text for turn in dialogues["s1"]] == [f"turn {n} of hello 1" for n in (3, 4, 5, 6)]
    assert answering.asked == 6 * 4


def test_the_number_in_flight_changes_no_dialogue(tmp_path: Path) -> None:
    def texts(concurrency: int) -> dict[str, list[str]]:
        engine = ScriptedEngine(concurrency=concurrency, seconds=0.0005)
        dialogues, _ = run(tmp_path / str(concurrency), engine)
        return {seed_id: [turn.text for turn in turns] for seed_id, turns in sorted(dialogues.items())}

    assert texts(1) == texts(3) == texts(100)


def test_a_stopped_dialogue_goes_on_where_it_was(tmp_path: Path) -> None:
    broken = ScriptedEngine(
        lambda r: AnswerFailure("server", "500") if len(r.subject[0]) == 4 else f"t{len(r.subject[0])}"
    )
    dialogues, answering = run(tmp_path, broken)
    assert dialogues == {}
    assert answering.failures == {"server": 6}
    well = ScriptedEngine(lambda r: f"t{len(r.subject[0])}")
    dialogues, answering = run(tmp_path, well)
    assert [turn.text for turn in dialogues["s0"]] == ["t2", "t3", "t4", "t5"]
    assert answering.asked == 6 * 2


def test_the_oldest_utterances_give_way_to_the_window(tmp_path: Path) -> None:
    engine = ScriptedEngine(lambda request: "one two three", context_window=1 + 10 + 7)
    dialogues, _ = run(tmp_path, engine, {"s": ("a b", "c d")}, n=7)
    # room for seven words of history: 2+2, 2+2+3, then the oldest go
    assert [turn.dropped for turn in dialogues["s"]] == [0, 0, 2, 3, 4]
    assert [turn.text for turn in dialogues["s"]] == ["one two three"] * 5


def test_an_utterance_longer_than_the_window_fails_in_words(tmp_path: Path) -> None:
    engine = ScriptedEngine(context_window=12)
    dialogues, answering = run(tmp_path, engine, {"s": ("a", "b c d e f")})
    assert dialogues == {}
    assert answering.failures == {"context": 1}
    assert "does not fit a window of 12" in answering.first_message["context"]


def test_rows_follow_the_seeds(tmp_path: Path) -> None:
    dialogues, _ = run(tmp_path, ScriptedEngine(lambda request: "x"), n=3)
    del dialogues["s2"]
    table = list(rows("bot", SEEDS, dialogues))
    assert [(row["seed_id"], row["turn"], row["origin"]) for row in table][:4] == [
        ("s0", 0, "seed"), ("s0", 1, "seed"), ("s0", 2, "model"), ("s1", 0, "seed"),
    ]  # fmt: skip
    assert not [row for row in table if row["seed_id"] == "s2"]


def test_seeds_that_are_equal_are_asked_once(tmp_path: Path) -> None:
    def reply(request: Request) -> str:
        return f"t{len(request.subject[0])}"

    engine = ScriptedEngine(reply)
    dialogues, answering = run(tmp_path, engine, {"s": ("a", "b"), "twin": ("a", "b")})
    assert answering.asked == 4
    assert [turn.text for turn in dialogues["s"]] == [turn.text for turn in dialogues["twin"]]


@pytest.mark.parametrize("n", [2, 1])
def test_a_seed_as_long_as_the_dialogue_asks_nothing(tmp_path: Path, n: int) -> None:
    _, answering = run(tmp_path, ScriptedEngine(), n=n)
    assert answering.asked == 0


def test_an_answer_lost_to_the_budget_is_no_utterance(tmp_path: Path) -> None:
    class Thinker(ScriptedEngine):
        async def answer(self, request: Request) -> Response:
            return Response(text="", finish_reason="length", reasoning="thinking and thinking")

    dialogues, answering = run(tmp_path, Thinker(), {"s": ("a", "b")})
    assert dialogues == {}
    assert answering.failures == {"truncated": 1}
