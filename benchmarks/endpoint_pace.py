"""Throughput at endpoints that refuse requests: share of the permitted rate, and number of refusals.

The engine asks simulated endpoints in virtual time: token buckets of requests and of tokens, with the headers that
announce them and without, one job or four that know nothing of each other; a window that ends; a tenth of first tries
refused at random (429, Retry-After 1), and a third and a half of all tries; a server that is half down for a minute.
Beside it, what masking an error text of a megabyte costs. Takes 10 s.
"""

from __future__ import annotations

import asyncio
import random
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests/support"))

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

from dialeval.engines.openai_api.retries import Redactor
from gates import Gates, arguments

PER_MINUTE = 3000
PER_SECOND = PER_MINUTE / 60
SECONDS = 180.0


def after(endpoint: Endpoint, seconds: float, jobs: int = 1, concurrency: int = 64) -> Endpoint:
    """Asks an endpoint for so long, from so many jobs, and returns it."""
    random.seed(1)

    async def all_jobs() -> None:
        engines = [engine_at(endpoint, concurrency=concurrency) for _ in range(jobs)]
        many = 1_000_000
        await asyncio.gather(*(ask(one, some_requests(many, n * many), seconds) for n, one in enumerate(engines)))

    run_in_virtual_time(all_jobs())
    return endpoint


def told(gates: Gates, what: str, endpoint: Endpoint, permitted: float, most_refused: float | None = 0.02) -> None:
    gates.at_least(f"{what}: share of the permitted", len(endpoint.taken_at) / permitted, 0.9)
    if most_refused is None:
        gates.told(f"{what}: share refused", endpoint.refused_share)
    else:
        gates.at_most(f"{what}: share refused", endpoint.refused_share, most_refused)


def main() -> int:
    gates = Gates(__file__, arguments(__doc__).parse_args())
    permitted = PER_MINUTE + SECONDS * PER_SECOND
    for show in (True, False):
        words = "announced" if show else "not announced"
        for latency in (0.5, 0.02):
            rule = Buckets(show, requests=Bucket(PER_MINUTE, PER_SECOND))
            endpoint = after(Endpoint(rule, a_latency(latency)), SECONDS)
            told(gates, f"3,000 requests a minute, {words}, {latency:g} s an answer", endpoint, permitted)
        rule = Buckets(show, tokens=Bucket(PER_MINUTE * TOKENS, PER_SECOND * TOKENS, TOKENS))
        told(gates, f"300,000 tokens a minute, {words}", after(Endpoint(rule, a_latency(0.5)), SECONDS), permitted)
        rule = Buckets(show, requests=Bucket(PER_MINUTE, PER_SECOND))
        endpoint = after(Endpoint(rule, a_latency(1.0)), SECONDS, jobs=4)
        told(gates, f"3,000 requests a minute for four jobs, {words}", endpoint, permitted)
        endpoint = after(Endpoint(Buckets(show, requests=Bucket(30, 0.5)), a_latency(2.0)), 1200)
        told(gates, f"30 requests a minute, {words}", endpoint, 630, 0.02 if show else None)
        endpoint = after(Endpoint(Window(1000, 60, show), a_latency(1.0)), 300)
        told(gates, f"1,000 requests in each minute of the clock, {words}", endpoint, 5000)
    for status, latency, places, seconds in ((429, 1.0, 64, 120), (503, 1.0, 64, 120), (429, 0.02, 64, 4)):
        endpoint = after(Endpoint(AtRandom(0.1), a_latency(latency), status=status), seconds, concurrency=places)
        what = f"a tenth refused at random ({status}), {places} at once, {latency:g} s an answer"
        gates.at_least(f"{what}: of the rate without", len(endpoint.taken_at) * latency / (seconds * places), 0.5)
        gates.at_most(f"{what}: most refusals of one request", max(endpoint.refusals.values()), 1)
    for share, least in ((1 / 3, 0.3), (1 / 2, 0.2)):
        endpoint = after(Endpoint(AtRandom(share, every_try=True), a_latency(1.0)), 120)
        what = f"{share:.0%} of all tries refused at random, 64 at once, 1 s an answer: of the rate without"
        gates.at_least(what, len(endpoint.taken_at) / (120 * 64), least)
    endpoint = after(Endpoint(Outage(0.7, 30, 90), refusal_latency=0.05, status=503, silent=True), 300)
    what = "two and a half minutes after one in which 70% of all tries were refused (503): of the rate without"
    gates.at_least(what, sum(at >= 240 for at in endpoint.taken_at) / (60 * 64), 0.9)
    redactor = Redactor(["no-key-at-all-0123456789-abcdef"])
    text = "".join(random.Random(1).choices("abcdefghij klmnop", k=1_000_000))
    start = time.process_time()
    redactor.mask(text)
    gates.at_most("masking an error text of a megabyte", 1000 * (time.process_time() - start), 10, unit="ms of CPU")
    return gates.finish()


if __name__ == "__main__":
    sys.exit(main())
