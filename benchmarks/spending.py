"""Cost of the ledger: tries reserved and settled, with and without a budget, and reading it.

Takes 10 s.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from dialeval.engines.requests import Response
from dialeval.engines.spending.account import Account
from dialeval.engines.spending.entries import FOLDER, SUFFIX, Entry, Ledger, Sums, close_file
from dialeval.engines.spending.prices import Billed, Bound, ModelTerms, RunTerms, Terms
from dialeval.engines.store import ResponseStore
from gates import Gates, arguments

CONCURRENCY = 64


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def terms(budget: float | None) -> Terms:
    model = ModelTerms(name="m", price_input=1.0, price_output=4.0, budget=budget)
    return Terms("0" * 12, model, RunTerms(budget=budget, models={"0" * 12: model}))


async def spend(account: Account, n_tries: int) -> None:
    waiting = iter(range(n_tries))

    async def worker() -> None:
        for _ in waiting:
            reserved = await account.reserve(Bound(2000, 512))
            await asyncio.sleep(0)
            account.settle(reserved, Billed(500, 100))

    await asyncio.gather(*(worker() for _ in range(CONCURRENCY)))
    account.close()


def store_answers(folder: Path, n_tries: int) -> None:
    with ResponseStore(folder, identity="m", name="m", protocol="arena") as store:
        for number in range(n_tries):
            store.append(f"{number:032x}", Response("x" * 400, prompt_tokens=500, completion_tokens=100))


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--tries", type=int, default=100_000)
    options = parser.parse_args()
    n_tries = options.tries
    gates = Gates(__file__, options)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        stored = seconds(lambda: store_answers(folder / "answers", n_tries))
        for name, budget in (("no budget", None), ("a budget far away", 1e9), ("a budget that just suffices", 0.0)):
            enough = budget if budget != 0.0 else n_tries * (500 * 1.0 + 100 * 4.0) / 1e6 + 64 * 0.0041
            account = Account(folder / name, terms(enough), "arena")
            took = seconds(lambda account=account: asyncio.run(spend(account, n_tries)))
            what = f"{n_tries:,} tries, {CONCURRENCY} at once, {name}"
            gates.at_most(what, took / stored, 4.0, unit="x", against="storing their answers")
        for number in range(1000):
            close_file(folder / "many" / FOLDER / ("0" * 12) / f"{number}.{SUFFIX}", Entry("0" * 12, {}, Sums(1.0)))
        ledger = Ledger(folder / "many" / FOLDER)
        first, again = seconds(ledger.entries), seconds(ledger.entries)
        gates.at_most("a ledger of 1,000 jobs read", first / stored, 0.2, unit="x", against="the same")
        gates.at_most("looked at again", again / stored, 0.05, unit="x", against="the same")
    return gates.finish()


if __name__ == "__main__":
    sys.exit(main())
