"""Thousands of requests against an endpoint that fails in every way, in known numbers."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from email.utils import formatdate
from pathlib import Path

from loopback_endpoint import Call, LoopbackEndpoint, Reply, completion, refusal

from dialeval.config import OpenAIModel
from dialeval.engines.answering import Answering
from dialeval.engines.cl100k import Tokenizer
from dialeval.engines.openai_api.engine import OpenAIEngine
from dialeval.engines.openai_api.retries import RetryPolicy
from dialeval.engines.requests import Message, Request, Response, Sampling
from dialeval.engines.store import ResponseStore
from dialeval.jobs.progress import Progress

MAX_TRIES = 4
TIMEOUT = 6.0  # long enough for a busy machine: a request answered in time must never be sent again
POLICY = RetryPolicy(max_tries=MAX_TRIES, max_total_seconds=120, first_wait=0.01, longest_wait=0.05)

# kind -> how many of 1,000 requests; the others are answered at once
SHARES = {
    "refused once": 12, "server error twice": 80, "cut twice": 40, "empty": 30, "not JSON": 10, "other JSON": 10,
    "malformed once": 20, "says no": 30, "filtered": 20, "too long": 10, "bad": 10, "always down": 5, "always cut": 5,
    "budget lost": 10,
}  # fmt: skip
KINDS = [kind for kind, count in SHARES.items() for _ in range(count)]
EXPECTED_FAILURES = {
    "empty": "empty", "not JSON": "malformed", "other JSON": "malformed", "filtered": "refusal",
    "too long": "context_length", "bad": "bad_request", "always down": "server", "always cut": "connection",
}  # fmt: skip
ONCE, TWICE = ("refused once", "slow once", "dated", "malformed once"), ("server error twice", "cut twice")
ALWAYS = ("always down", "always cut", "not JSON", "other JSON")
TRIES = dict.fromkeys(ONCE, 2) | dict.fromkeys(TWICE, 3) | dict.fromkeys(ALWAYS, MAX_TRIES)


def kind_of(text: str) -> str:
    number = int(text.split()[-1])
    if 100 <= number < 105:  # the first requests go alone, and after a pause eight: these must not be all of them
        return "slow once"
    if 105 <= number < 107:
        return "dated"
    place = number % 1000
    return KINDS[place] if place < len(KINDS) else "fine"


def script(call: Call) -> Reply:
    kind, first = kind_of(call.text), call.number == 1
    answer = Reply(completion(f"reply to {call.text}"), delay=random.uniform(0, 0.004))
    match kind:
        case "refused once" if first:
            return Reply(refusal("slow down"), 429, {"Retry-After": "0.02"})
        case "dated" if first:
            return Reply(refusal("slow down"), 429, {"Retry-After": formatdate(time.time() + 1, usegmt=True)})
        case "server error twice" if call.number <= 2:
            return Reply(refusal("oops"), 500 + 2 * (call.number - 1))
        case "cut twice" if call.number <= 2:
            return Reply(completion("cut"), status=200 + 300 * (call.number - 1), cut=True)
        case "slow once" if first:
            return Reply(completion("late"), delay=TIMEOUT + 1)
        case "malformed once" if first:
            return Reply(b'{"choices": [{"message"')
        case "always down":
            return Reply(b"<html>down</html>", 503)
        case "always cut":
            return Reply(completion("cut"), cut=True)
        case "empty":
            return Reply(completion(""))
        case "not JSON":
            return Reply(b"<html>hello</html>")
        case "other JSON":
            return Reply({"hello": []})
        case "says no":
            return Reply(completion(None, refusal="I cannot help with that."))
        case "filtered":
            return Reply(refusal("The response was filtered", code="content_filter"), 400)
        case "too long":
            return Reply(
                refusal("This model's maximum context length is 10 tokens", code="context_length_exceeded"), 400
            )
        case "bad":
            return Reply(refusal("unknown field 'x'"), 400)
        case "budget lost":
            return Reply(completion("", finish="length", reasoning_content="hm, hm"))
    return answer


def a_request(number: int) -> Request:
    sampling = Sampling(max_tokens=16)
    return Request(f"r/{number}", "unieval", "chat", (Message("user", f"question {number}"),), sampling)


def model(endpoint: LoopbackEndpoint) -> OpenAIModel:
    patient = 600.0  # what always fails is asked last, and must not pass for an endpoint that is dead
    return OpenAIModel(
        engine="openai", model="m", base_url=endpoint.url, api_key_env=None, timeout_seconds=TIMEOUT,
        patience_seconds=patient,
    )  # fmt: skip


def run(endpoint: LoopbackEndpoint, store: Path, numbers: list[int]) -> tuple[Answering, dict[int, Response]]:
    async def ask() -> None:
        try:
            await answering.ask_all(map(a_request, numbers))
        finally:
            await engine.close()

    engine = OpenAIEngine(
        model(endpoint), tokenizer=Tokenizer("letters", lambda texts: [*map(len, texts)]), retrying=POLICY
    )
    with ResponseStore(store, identity="same", name="m", protocol="unieval", sync_seconds=60) as kept:
        answering = Answering(engine, kept, Progress("test", None, "answers", every=1e9))
        answering.key = lambda request: f"{int(request.request_id[2:]):032x}"  # type: ignore[method-assign]
        asyncio.run(ask())
        found = {number: kept.get(f"{number:032x}") for number in numbers}
    return answering, {number: response for number, response in found.items() if response is not None}


def test_every_request_ends_in_one_outcome_and_no_success_is_sent_twice(tmp_path: Path) -> None:
    numbers = list(range(2000))
    n_of_kind = Counter(kind_of(f"question {number}") for number in numbers)
    with LoopbackEndpoint(script) as endpoint:
        answering, answers = run(endpoint, tmp_path / "first", numbers)
        wrong = {
            text: (kind_of(text), count)
            for text, count in endpoint.calls.items()
            if count != TRIES.get(kind_of(text), 1)
        }
        assert not wrong
        assert len(endpoint.log) == sum(TRIES.get(kind, 1) * count for kind, count in n_of_kind.items())
        # the endpoint counts those that we gave up on until their answers would have come
        assert endpoint.most_in_flight <= 64 + n_of_kind["slow once"]

        expected = Counter[str]()
        for kind, failure in EXPECTED_FAILURES.items():
            expected[failure] += n_of_kind[kind]
        assert answering.failures == expected
        assert answering.total == answering.n_sent == len(numbers) == len(answers) + sum(expected.values())
        for number, response in answers.items():
            kind = kind_of(f"question {number}")
            assert kind not in EXPECTED_FAILURES
            if kind == "says no":
                assert (response.text, response.finish_reason) == ("I cannot help with that.", "refusal")
            elif kind == "budget lost":
                assert (response.text, response.finish_reason, response.reasoning) == ("", "length", "hm, hm")
            else:
                assert (response.text, response.finish_reason) == (f"reply to question {number}", "stop")

        before = endpoint.calls.copy()
        # of an endpoint that seems to be down, requests are sent ever more rarely: see pacing
        some = [number for number in numbers if kind_of(f"question {number}") not in ("always down", "always cut")]
        again, same = run(endpoint, tmp_path / "first", some)
        assert same == answers
        assert again.n_sent == len(some) - len(answers)  # only what failed is asked again
        assert all(before[f"question {number}"] == endpoint.calls[f"question {number}"] for number in answers)


def test_the_order_of_arrival_changes_nothing(tmp_path: Path) -> None:
    numbers = [*range(100), *range(107, 500)]
    shuffled = random.Random(5).sample(numbers, len(numbers))
    outcomes = []
    for name, order in (("straight", numbers), ("shuffled", shuffled)):
        with LoopbackEndpoint(script) as endpoint:
            answering, answers = run(endpoint, tmp_path / name, order)
            outcomes.append((answers, dict(answering.failures), dict(endpoint.calls)))
    assert outcomes[0] == outcomes[1]
