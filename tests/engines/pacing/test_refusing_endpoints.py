"""The engine at endpoints that refuse, hours of them in virtual time: what it gets, and what it is refused."""

from __future__ import annotations

import asyncio
import gc
import random
from collections.abc import Callable
from typing import Any

import pytest
from refusing_endpoint import (
    TOKENS,
    AtRandom,
    Bucket,
    Buckets,
    Endpoint,
    Outage,
    Window,
    a_latency,
    ask,
    engine_at,
    some_requests,
)
from virtual_time import run_in_virtual_time

from dialeval.engines.openai_api.engine import OpenAIEngine
from dialeval.engines.openai_api.retries import Fault

PER_MINUTE = 3000
PER_SECOND = PER_MINUTE / 60


def send_all(endpoint: Endpoint, seconds: float, *, jobs: int = 1, **fields: Any) -> list[OpenAIEngine]:
    """Asks an endpoint for so long, from several jobs that know nothing of each other."""
    random.seed(1)

    async def all_jobs() -> list[OpenAIEngine]:
        engines = [engine_at(endpoint, **fields) for _ in range(jobs)]
        many = 1_000_000
        await asyncio.gather(*(ask(one, some_requests(many, n * many), seconds) for n, one in enumerate(engines)))
        return engines

    engines = run_in_virtual_time(all_jobs())
    assert endpoint.early == 0  # nobody comes again before the end of its own Retry-After
    return engines


def requests_bucket(show: bool) -> Buckets:
    return Buckets(show, requests=Bucket(PER_MINUTE, PER_SECOND))


def tokens_bucket(show: bool) -> Buckets:
    wide = Bucket(10_000, 10_000 / 60)
    return Buckets(show, tokens=Bucket(PER_MINUTE * TOKENS, PER_SECOND * TOKENS, TOKENS), requests=wide)


@pytest.mark.parametrize(("bucket", "latency"), [(requests_bucket, 0.5), (tokens_bucket, 0.02)])
def test_announced_limits_are_used_without_a_refusal(bucket: Callable[[bool], Buckets], latency: float) -> None:
    endpoint = Endpoint(bucket(True), a_latency(latency))
    send_all(endpoint, 90)
    assert len(endpoint.taken_at) >= 0.9 * (PER_MINUTE + 90 * PER_SECOND)
    assert endpoint.refused_share <= 0.001


def test_few_announced_requests_a_minute_are_used_too() -> None:
    endpoint = Endpoint(Buckets(True, requests=Bucket(30, 0.5)), a_latency(2.0))
    send_all(endpoint, 1200)
    assert len(endpoint.taken_at) >= 0.9 * (30 + 0.5 * 1200)
    assert endpoint.refused_share <= 0.001


def test_an_announced_window_that_ends_is_used_up_each_time() -> None:
    endpoint = Endpoint(Window(1000, 60, show=True), a_latency(1.0))
    send_all(endpoint, 300)
    assert len(endpoint.taken_at) >= 0.9 * 5000
    assert endpoint.refused_share <= 0.02


@pytest.mark.parametrize(("bucket", "latency"), [(requests_bucket, 0.5), (tokens_bucket, 0.02)])
def test_an_unannounced_limit_is_found(bucket: Callable[[bool], Buckets], latency: float) -> None:
    endpoint = Endpoint(bucket(False), a_latency(latency))
    send_all(endpoint, 150)
    assert len(endpoint.taken_at) >= 0.9 * (PER_MINUTE + 150 * PER_SECOND)
    assert endpoint.refused_share <= 0.02


@pytest.mark.parametrize("factor", [0.4, 2.0])
def test_a_limit_that_changes_is_found_again(factor: float) -> None:
    bucket = Bucket(60, 20)
    rule = Buckets(requests=bucket)

    def changing(number: int, now: float) -> Any:
        bucket.per_second = 20 if now < 100 else 20 * factor
        return rule(number, now)

    endpoint = Endpoint(changing, a_latency(0.5))
    send_all(endpoint, 250)
    assert len(endpoint.taken_at) >= 0.85 * (60 + 20 * 100 + 20 * factor * 150)
    assert endpoint.refused_share <= 0.04


@pytest.mark.parametrize("show", [True, False])
def test_jobs_that_share_a_limit_unseen_use_it_together(show: bool) -> None:
    endpoint = Endpoint(requests_bucket(show), a_latency(1.0))
    send_all(endpoint, 100, jobs=4)
    assert len(endpoint.taken_at) >= 0.9 * (PER_MINUTE + 100 * PER_SECOND)
    assert endpoint.refused_share <= (0.001 if show else 0.03)


@pytest.mark.parametrize(
    ("share", "status", "latency", "places", "seconds", "least"),
    [(0.1, 503, 1.0, 64, 60, 0.7), (0.1, 529, 0.5, 8, 60, 0.7), (0.1, 429, 0.02, 64, 3, 0.7),
     (0.03, 429, 1.0, 64, 120, 0.5), (0.2, 429, 1.0, 64, 120, 0.5)],
)  # fmt: skip
def test_random_refusals_delay_no_other_request(
    share: float, status: int, latency: float, places: int, seconds: float, least: float
) -> None:
    endpoint = Endpoint(AtRandom(share), a_latency(latency), status=status)
    send_all(endpoint, seconds, concurrency=places)
    assert len(endpoint.taken_at) >= least * seconds * places / latency
    assert max(endpoint.refusals.values()) == 1


def test_a_fifth_of_all_tries_refused_at_random_is_no_limit() -> None:
    draw = random.Random(3)  # draws many refusals in a row at the beginning
    endpoint = Endpoint(lambda number, now: (1.0 if draw.random() < 0.2 else None, {}), a_latency(1.0))
    send_all(endpoint, 250, concurrency=16)
    assert len(endpoint.taken_at) >= 0.5 * 16 * 250


@pytest.mark.parametrize(("share", "seed", "seconds"), [(0.33, 3, 120), (0.5, 1, 500)])
def test_an_overloaded_endpoint_gives_what_it_has(share: float, seed: int, seconds: float) -> None:
    """Whoever slows down for refusals that come at whatever speed slows down for ever; seed 1 begins with many."""
    endpoint = Endpoint(AtRandom(share, seed=seed, every_try=True), a_latency(1.0))
    send_all(endpoint, seconds)
    assert len(endpoint.taken_at) >= 0.5 * seconds * 64


def test_a_limit_of_few_requests_a_minute_is_not_taken_for_refusals_at_random() -> None:
    endpoint = Endpoint(Buckets(requests=Bucket(30, 0.5)), a_latency(3.0))
    send_all(endpoint, 1200)
    assert len(endpoint.taken_at) >= 0.9 * (30 + 0.5 * 1200)
    assert endpoint.refused_share <= 0.25


@pytest.mark.parametrize("silent", [False, True])
def test_an_endpoint_that_takes_nothing_for_a_while_is_left_alone(silent: bool) -> None:
    def rule(number: int, now: float) -> tuple[float | None, dict[str, str]]:
        return (20.0 if 30 <= now < 130 else None), {}

    endpoint = Endpoint(rule, a_latency(1.0), status=503, silent=silent)
    send_all(endpoint, 300, max_tries=50)
    # all that were under way or came before it was noticed, then a few more with each of five pauses
    assert len(endpoint.refused_at) <= 64 + 12 * 8
    assert max(endpoint.refusals.values()) <= 10
    assert sum(moment >= 130 for moment in endpoint.taken_at) >= (0.3 if silent else 0.6) * 64 * 170


@pytest.mark.parametrize(("share", "seed"), [(0.3, 1), (0.7, 2), (1.0, 1)])
def test_after_a_minute_in_which_a_server_was_half_down_all_goes_on_as_before(share: float, seed: int) -> None:
    """What was learned of its speed in that minute must not stay: it was no limit."""
    endpoint = Endpoint(Outage(share, 30, 90, seed), refusal_latency=0.05, status=503, silent=True)
    send_all(endpoint, 270, concurrency=32)
    assert sum(at >= 240 for at in endpoint.taken_at) >= 0.95 * 30 * 32


def test_many_places_may_all_be_refused_at_once() -> None:
    endpoint = Endpoint(lambda number, now: (1.0 if now < 3 else None, {}), a_latency(1.0))
    send_all(endpoint, 15, concurrency=1000)
    assert len(endpoint.taken_at) >= 0.1 * 1000 * 12


def test_places_that_are_too_many_are_found_out() -> None:
    endpoint = Endpoint(lambda number, now: (1.0 if endpoint.in_flight >= 8 else None, {}), a_latency(2.0))
    send_all(endpoint, 300)
    assert len(endpoint.taken_at) >= 0.6 * 300 * 8 / 2
    assert endpoint.refused_share <= 0.25


GARBAGE = {
    "nothing is ever left": {"limit": "100", "remaining": "0", "reset": "1h0m0s"},
    "all is always left": {"limit": "100", "remaining": "100", "reset": "0s"},
    "no limit": {"limit": "0", "remaining": "0", "reset": "0"},
    "minus one": {"limit": "-1", "remaining": "-1", "reset": "-1"},
    "huge": {"limit": "1e300", "remaining": "1e299", "reset": "1e308"},
    "tiny": {"limit": "5e-324", "remaining": "0", "reset": "6m0s"},
    "words": {"limit": "unlimited", "remaining": "unlimited", "reset": "never"},
    "more is left than there is": {"limit": "5", "remaining": "500", "reset": "1s"},
    "never full": {"limit": "1000", "remaining": "999", "reset": "99999999"},
}


@pytest.mark.parametrize("values", GARBAGE.values(), ids=GARBAGE)
def test_headers_that_mean_nothing_do_no_harm(values: dict[str, str]) -> None:
    units = ("requests", "tokens")
    headers = {f"x-ratelimit-{name}-{kind}": value for name, value in values.items() for kind in units}
    endpoint = Endpoint(lambda number, now: (None, headers), a_latency(1.0))
    send_all(endpoint, 600, concurrency=8)
    assert len(endpoint.taken_at) >= 0.5 * 600 * 8


OLD_NUMBERS = {"requests": ("100", "1"), "tokens": ("30000", "200")}


@pytest.mark.parametrize("kind", OLD_NUMBERS)
def test_cached_headers_of_a_proxy_slow_no_request_down(kind: str) -> None:
    limit, remaining = OLD_NUMBERS[kind]
    values = {"limit": limit, "remaining": remaining, "reset": "1m0s"}
    headers = {f"x-ratelimit-{name}-{kind}": value for name, value in values.items()}
    endpoint = Endpoint(lambda number, now: (None, headers), a_latency(1.0))
    send_all(endpoint, 300, concurrency=8)
    assert len(endpoint.taken_at) >= 0.8 * 300 * 8


def test_an_endpoint_that_lets_nothing_through_ends_the_job() -> None:
    endpoint = Endpoint(lambda number, now: (30.0, {}))
    with pytest.raises(ExceptionGroup) as ended:
        send_all(endpoint, 20_000, max_total_seconds=600)
    message = str(ended.value.exceptions[0])
    assert "with no response in between; the last failure was rate_limit: status 429: too many" in message
    assert "raise max_total_seconds, and run the same command again" in message
    assert 600 <= endpoint.refused_at[-1] < 640


def test_what_an_endpoint_has_taken_is_waited_for_while_it_refuses_all_others() -> None:
    """Its answers are paid for, be the patience with refusals shorter than one of them takes."""
    endpoint = Endpoint(lambda number, now: (5.0 if endpoint.in_flight >= 8 else None, {}), a_latency(60.0))
    engine = engine_at(endpoint, max_total_seconds=30)
    failed = run_in_virtual_time(ask(engine, some_requests(100), 100_000))
    assert failed == 100 - len(endpoint.taken_at)
    assert len(endpoint.taken_at) > 8
    assert endpoint.in_flight == 0


def test_the_last_requests_of_a_job_may_be_refused_for_ever_without_ending_it() -> None:
    """As those are that are longer than what the account may send in a minute."""
    engine = engine_at(Endpoint(lambda number, now: (1.0, {})), max_total_seconds=60)
    assert run_in_virtual_time(ask(engine, some_requests(8), 1000)) == 8


def faults_there() -> list[Fault]:
    return [found for found in gc.get_objects() if type(found) is Fault]  # isinstance would load what is lazy


def test_failed_tries_leave_nothing_behind_that_only_a_search_for_garbage_finds() -> None:
    """A fault that holds itself by its traceback holds the prompt too, and a job looks for garbage seldom."""
    engine = engine_at(Endpoint(lambda number, now: (1.0 if number < 3 else None, {})))
    gc.collect()
    of_other_tests = faults_there()
    gc.disable()
    try:
        assert run_in_virtual_time(ask(engine, some_requests(20), 1000)) == 0
        assert len(faults_there()) <= len(of_other_tests)
    finally:
        gc.enable()
