"""Every kind of request, answered by the real engine."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from pathlib import Path

import pytest

from dialeval.config import VllmModel
from dialeval.engines.requests import AnswerFailure, Message, Request, Response, Sampling
from dialeval.engines.vllm_engine import VllmEngine

pytestmark = pytest.mark.vllm
HELLO = (Message("system", "You chat."), Message("user", "Hello, how are you?"))
GenerationRequest = Callable[..., Response]


def test_chat_gives_text_and_counts(engine: VllmEngine, ask: GenerationRequest) -> None:
    answer = ask(engine, "chat", HELLO, sampling=Sampling(max_tokens=10))
    assert answer.text
    assert answer.prompt_tokens == engine.count_tokens(HELLO)
    assert answer.finish_reason == ("length" if answer.completion_tokens == 10 else "stop")
    assert "<|im_" not in answer.text


def test_chat_stops_at_a_stop_text(engine: VllmEngine, ask: GenerationRequest) -> None:
    free = ask(engine, "chat", HELLO, sampling=Sampling(max_tokens=24)).text
    stopped = ask(engine, "chat", HELLO, sampling=Sampling(max_tokens=24, stop=(free[2:4],)))
    assert stopped.text == free[: free.index(free[2:4])]
    assert stopped.finish_reason == "stop"


def test_an_utterance_ends_with_the_mark_of_the_template(engine: VllmEngine, ask: GenerationRequest) -> None:
    answers = [
        ask(engine, "chat", HELLO, sampling=Sampling(temperature=2.0, max_tokens=900), repeat=repeat)
        for repeat in range(3)
    ]
    assert "stop" in {answer.finish_reason for answer in answers}
    assert all("<|im_" not in answer.text for answer in answers)


def test_sampling_differs_by_repeat_and_messages_and_is_repeatable(engine: VllmEngine, ask: GenerationRequest) -> None:
    def sample(messages: tuple[Message, ...], repeat: int, seed: int | None = 1) -> str:
        sampling = Sampling(temperature=1.0, max_tokens=12, seed=seed)
        return ask(engine, "chat", messages, sampling=sampling, repeat=repeat).text

    other = (*HELLO[:1], Message("user", "Hello, how are you!"))
    texts = [sample(HELLO, 0), sample(HELLO, 1), sample(other, 0), sample(HELLO, 0, seed=2), sample(HELLO, 0, None)]
    assert len(set(texts)) == 5
    assert sample(HELLO, 0) == texts[0]


def test_choice_gives_every_label_and_the_mass(engine: VllmEngine, ask: GenerationRequest) -> None:
    answer = ask(engine, "choice", HELLO, labels=("Yes", "No"))
    assert answer.label_logprobs is not None
    assert set(answer.label_logprobs) == {"Yes", "No"}
    assert answer.label_mass == pytest.approx(sum(map(math.exp, answer.label_logprobs.values())))
    assert 0 < answer.label_mass < 1
    assert answer.text == max(answer.label_logprobs, key=lambda label: answer.label_logprobs[label])  # type: ignore[index]


def test_loglikelihood_gives_a_sum_and_the_number_of_tokens(engine: VllmEngine, ask: GenerationRequest) -> None:
    answer = ask(engine, "loglikelihood", HELLO, continuation="I am fine.")
    assert answer.logprob is not None
    assert answer.logprob < 0
    assert answer.n_tokens is not None
    assert 3 <= answer.n_tokens <= 10


def test_prompts_beyond_the_window_are_neither_sent_nor_cut(engine: VllmEngine, ask: GenerationRequest) -> None:
    long = (Message("user", "word " * 2000),)
    before = engine.prompt_tokens, engine.too_long
    for kind, fields in (("chat", {}), ("choice", {"labels": ("Yes", "No")}), ("loglikelihood", {"continuation": "x"})):
        answer = ask(engine, kind, long, **fields)
        assert (answer.text, answer.finish_reason) == ("", "length")
        assert answer.label_logprobs is None
        assert answer.logprob is None
    room = 1024 - engine.count_tokens(HELLO)
    assert ask(engine, "chat", HELLO, sampling=Sampling(max_tokens=room + 1)).finish_reason == "length"
    assert (engine.prompt_tokens, engine.too_long) == (before[0], before[1] + 4)
    fits = ask(engine, "chat", HELLO, sampling=Sampling(max_tokens=room, stop=("a", "e", " ", "\n")))
    assert fits.finish_reason == "stop"
    engine.too_long = before[1]


def test_a_request_that_vllm_refuses_fails_alone(engine: VllmEngine, ask: GenerationRequest) -> None:
    with pytest.raises(AnswerFailure) as caught:
        ask(engine, "chat", HELLO, sampling=Sampling(max_tokens=4, top_p=7.0))
    assert caught.value.kind == "refused"
    assert ask(engine, "chat", HELLO, sampling=Sampling(max_tokens=4)).text


def test_a_cancelled_request_leaves_the_engine(engine: VllmEngine, ask: GenerationRequest) -> None:
    async def cancel() -> None:
        request = Request("test", "test", "chat", HELLO, Sampling(temperature=2.0, max_tokens=900))
        task = asyncio.create_task(engine.answer(request))
        while not engine.admission.in_hand:
            await asyncio.sleep(0.001)
        await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    assert ask(engine, "chat", HELLO, sampling=Sampling(max_tokens=4)).text
    assert engine.admission.in_hand == 0


def test_wrong_engine_arguments_are_a_clear_error(settings: Callable[..., VllmModel]) -> None:
    from dialeval.errors import UserError

    with pytest.raises(UserError, match=r"vLLM did not start.*no_such_argument"):
        VllmEngine(settings(engine_args={"no_such_argument": 1})).start()
    with pytest.raises(UserError, match=r"max_model_len: .* GB of KV cache for one request.*or lower max_model_len"):
        VllmEngine(settings(kv_cache_memory_bytes=1 << 17)).start()
    for missing in ("no/such-model", str(Path("no", "such", "folder", "here"))):
        with pytest.raises(UserError, match="there is no folder .*/no/such"):
            VllmEngine(settings(model=missing))
