"""When an endpoint is given up."""

from __future__ import annotations

import time

import pytest

from dialeval.engines.pacing.breaker import CircuitBreaker, EndpointDead
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


def test_before_the_first_answer_an_endpoint_that_cannot_be_reached_has_a_third_of_the_patience() -> None:
    now = 0.0
    breaker = CircuitBreaker("the endpoint", patience=30.0, clock=lambda: now)
    for _ in range(10):
        breaker.failed("connection", "refused")
    now = 9.0
    breaker.failed("connection", "refused")
    now = 10.0
    with pytest.raises(EndpointDead, match="for 10 s, without one answer"):
        breaker.failed("connection", "refused")


def test_one_that_has_answered_has_all_of_it() -> None:
    now = 0.0
    breaker = CircuitBreaker("the endpoint", patience=30.0, clock=lambda: now)
    breaker.answered()
    for _ in range(10):
        breaker.failed("connection", "refused")
    now = 29.0
    breaker.failed("connection", "refused")
    now = 30.0
    with pytest.raises(EndpointDead):
        breaker.failed("connection", "refused")


def test_ten_answers_in_a_row_that_are_none_of_an_openai_endpoint_are_enough() -> None:
    breaker = CircuitBreaker("the endpoint", patience=100.0)
    for _ in range(9):
        breaker.failed("malformed", "a login page")
    with pytest.raises(EndpointDead, match="no login page"):
        breaker.failed("malformed", "a login page")


def test_while_an_endpoint_works_on_a_request_refusals_are_borne_as_long_as_an_answer_may_take() -> None:
    now = 0.0
    breaker = CircuitBreaker("it", patience=0.0, longest_refusal=20.0, longest_answer=300.0, clock=lambda: now)
    for _ in range(20):
        breaker.failed("rate_limit", "wait", works=lambda: True)
    now = 25.0
    breaker.failed("rate_limit", "wait", works=lambda: True)
    with pytest.raises(EndpointDead, match="raise max_total_seconds"):
        breaker.failed("rate_limit", "wait", works=lambda: False)


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
