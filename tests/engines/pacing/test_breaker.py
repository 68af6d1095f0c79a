"""When an endpoint is given up."""

from __future__ import annotations

import time

import pytest

from dialeval.engines.pacing.breaker import CircuitBreaker
from dialeval.errors import UserError


def test_the_breaker_needs_failures_in_a_row() -> None:
    breaker = CircuitBreaker("the endpoint", patience=0.0)
    for _ in range(9):
        breaker.failed("authentication", "no")
    breaker.answered()
    for _ in range(9):
        breaker.failed("authentication", "no")
    breaker.check()
    with pytest.raises(UserError, match="the endpoint failed 10 times in a row"):
        breaker.failed("authentication", "no")
    with pytest.raises(UserError):
        breaker.check()


def test_the_breaker_waits_for_who_may_recover() -> None:
    breaker = CircuitBreaker("the endpoint", patience=0.2)
    for _ in range(50):
        breaker.failed("connection", "refused")
    time.sleep(0.25)
    with pytest.raises(UserError, match="connection: refused"):
        breaker.failed("connection", "refused")


def test_who_refuses_a_request_is_alive() -> None:
    breaker = CircuitBreaker("the endpoint", patience=0.0)
    for _ in range(100):
        breaker.failed("bad_request", "no")
        breaker.failed("timeout", "late")
        breaker.failed("rate_limit", "wait")
    breaker.check()
