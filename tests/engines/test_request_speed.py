"""What headers announce of limits: spellings, and garbage that must do no harm."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialeval.engines.request_speed import Reading, announced


def headers(reset: str | None, **more: str) -> dict[str, str]:
    shown = {"x-ratelimit-limit-requests": "60", "x-ratelimit-remaining-requests": "59"} | more
    return shown | ({} if reset is None else {"x-ratelimit-reset-requests": reset})


@pytest.mark.parametrize(
    ("reset", "seconds"),
    [
        ("1s", 1.0), ("6m0s", 360.0), ("20ms", 0.02), ("1h2m3.5s", 3723.5), ("1d", 86400.0), ("120us", 0.00012),
        ("7.66s", 7.66), ("30", 30.0), ("0", 0.0), ("0.5", 0.5), (None, None), ("", None), ("soon", None), ("-3", None),
        ("5 apples", None), ("3s3", None), ("nan", None), ("inf", None), ("1e400", None), ("9" * 100, None),
    ],
)  # fmt: skip
def test_a_reset_is_read_in_all_its_spellings(reset: str | None, seconds: float | None) -> None:
    reading = announced(headers(reset), "requests")
    assert reading is not None
    assert reading.full_in == (None if seconds is None else pytest.approx(seconds))


def test_a_reset_may_be_a_moment() -> None:
    moment = time.time() + 100
    spellings = (str(int(moment)), str(int(moment * 1000)), datetime.fromtimestamp(moment, UTC).isoformat())
    for reset in (*spellings, spellings[2].replace("+00:00", "Z")):
        reading = announced(headers(reset), "requests")
        assert reading is not None
        assert reading.full_in is not None
        assert 90 < reading.full_in <= 100


@pytest.mark.parametrize(
    ("shown", "kind", "reading"),
    [
        ({"x-ratelimit-limit-tokens": "150000", "x-ratelimit-remaining-tokens": "149984",
          "x-ratelimit-reset-tokens": "6ms"}, "tokens", Reading(150000, 149984, 0.006)),
        ({"anthropic-ratelimit-requests-limit": "50", "anthropic-ratelimit-requests-remaining": "49"},
         "requests", Reading(50, 49, None)),
        ({"anthropic-ratelimit-tokens-limit": "50", "anthropic-ratelimit-tokens-remaining": "0"},
         "tokens", Reading(50, 0, None)),
        ({"x-ratelimit-limit": "10", "x-ratelimit-remaining": "3", "x-ratelimit-reset": "2"},
         "requests", Reading(10, 3, 2)),
        ({"ratelimit-limit": "10", "ratelimit-remaining": "3", "ratelimit-reset": "2"}, "requests", Reading(10, 3, 2)),
        ({"x-ratelimit-limit": "10", "x-ratelimit-remaining": "3"}, "tokens", None),
        ({"x-ratelimit-remaining-requests": "3"}, "requests", None),
        ({"x-ratelimit-limit-requests": "3"}, "requests", None),
        ({"x-ratelimit-limit-requests": "x", "x-ratelimit-remaining-requests": "3"}, "requests", None),
        ({"x-ratelimit-limit-requests": "3", "x-ratelimit-remaining-requests": "-1"}, "requests", None),
        ({}, "requests", None),
    ],
)  # fmt: skip
def test_limits_are_read_in_the_spellings_that_are_in_use(
    shown: dict[str, str], kind: str, reading: Reading | None
) -> None:
    assert announced(shown, kind) == reading


@given(st.text(max_size=80), st.text(max_size=80), st.text(max_size=80))
def test_whatever_stands_there_is_read_or_left_alone(limit: str, remaining: str, reset: str) -> None:
    shown = {"x-ratelimit-limit-requests": limit, "x-ratelimit-remaining-requests": remaining}
    reading = announced(shown | {"x-ratelimit-reset-requests": reset}, "requests")
    if reading is not None:
        assert reading.limit >= 0
        assert reading.remaining >= 0
        assert reading.full_in is None or reading.full_in >= 0
