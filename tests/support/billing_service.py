"""A chat endpoint that bills every try by its own count of tokens, and goes wrong in every way that costs money."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Mapping
from typing import Any

from loopback_endpoint import Call, Reply, completion, refusal

PRICE = 1e6
"""Price of a million tokens: a token costs one."""
PATIENCE = 0.4
"""`timeout_seconds` for mixes, in which an answer may not come."""
FAULTS = (
    "empty", "usage 0", "usage missing", "usage negative", "usage absurd", "usage huge", "error 500", "error 502",
    "error 503", "timeout", "reset", "garbage", "cut off", "error in 200", "abort", "too many", "slow", "total only",
)  # fmt: skip
MOST_FAULTS = 3
"""After so many faults a request is answered, whatever the mix."""


def mix(seed: int) -> dict[str, float]:
    """Return faults and how likely each is; every third mix has all of them, the others a few that come often."""
    draw = random.Random(seed)
    chosen = FAULTS if seed % 3 == 0 else draw.sample(FAULTS, 4)
    return dict.fromkeys(chosen, 0.6 / len(chosen))


class BillingService:
    """A script for `LoopbackEndpoint`; what goes wrong depends on the seed, the request and the number of its asking.

    Args:
        faults: how likely each is.
        seed: of the faults and of the lengths of answers.
        delay: seconds that every answer takes.

    Attributes:
        bill: all that is to be paid.
        answered: how often each request got an answer that is one.
    """

    def __init__(self, faults: Mapping[str, float], seed: int = 0, *, delay: float = 0.0) -> None:
        self.faults, self.seed, self.delay = faults, seed, delay
        self.bill = 0.0
        self.tries: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self._lock = threading.Lock()

    def __call__(self, call: Call) -> Reply:
        draw = random.Random(f"{self.seed} {call.text} {call.number}")
        kinds = ["none", *self.faults]
        weights = [1 - sum(self.faults.values()), *self.faults.values()]
        kind = draw.choices(kinds, weights)[0] if call.number <= MOST_FAULTS else "none"
        most = call.body.get("max_completion_tokens") or call.body["max_tokens"]
        texts = [message["content"] for message in call.body["messages"]]
        n_input = sum(len(text.encode()) for text in texts) // draw.choice([1, 2, 4]) + 3
        n_output = draw.randint(1, most)
        with self._lock:
            self.tries[kind] += 1
            if kind != "too many":
                self.bill += n_input + n_output
            return self._reply(kind, call, n_input, n_output)

    def _reply(self, kind: str, call: Call, n_input: int, n_output: int) -> Reply:
        usage: Any = {"prompt_tokens": n_input, "completion_tokens": n_output, "total_tokens": n_input + n_output}
        text = f"reply to {call.text}"
        match kind:
            case "empty":
                return Reply(completion("", usage=usage), delay=self.delay)
            case "error 500" | "error 502" | "error 503":
                return Reply(refusal("it broke"), int(kind.split()[1]), delay=self.delay)
            case "timeout":
                return Reply(completion(text, usage=usage), delay=4 * PATIENCE)
            case "reset":
                return Reply(completion(text, usage=usage), cut=True, delay=self.delay)
            case "garbage":
                return Reply(b'{"choices": [{"mess', delay=self.delay)
            case "error in 200":
                return Reply(refusal("it broke", code=429), delay=self.delay)
            case "abort":
                return Reply(completion("half", finish="abort", usage=usage), delay=self.delay)
            case "too many":
                return Reply(refusal("too many"), 429, {"retry-after": "0.01"})
        self.answered[call.text] += 1
        match kind:
            case "usage 0":
                usage = dict.fromkeys(usage, 0)
            case "usage missing":
                usage = {}
            case "usage negative":
                usage = dict.fromkeys(usage, -5)
            case "usage absurd":
                usage = {"prompt_tokens": 10**20, "completion_tokens": 3 * 10**9}
            case "usage huge":
                usage |= {"prompt_tokens": "many", "completion_tokens": 1e300}
            case "total only":  # reasoning is left out of the answer's tokens, but not of the total
                usage |= {"completion_tokens": 1}
        delay = 5 * self.delay + 0.05 if kind == "slow" else self.delay
        return Reply(completion(text, finish="length" if kind == "cut off" else "stop", usage=usage), delay=delay)
