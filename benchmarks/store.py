"""The response store: loading 100,000 responses of 1 kB, for the first time and again, and appending them.

The yardsticks, in the same run: reading the same bytes and parsing each line with `json`, and writing the same lines
with plain `os.write`. Takes 10 s.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
import time
from pathlib import Path

from dialeval.engines.requests import Response
from dialeval.engines.store import ResponseStore
from dialeval.engines.store.response_store import StoredAnswers
from gates import Gates, arguments

N = 100_000


def opened(folder: Path) -> ResponseStore:
    return ResponseStore(folder, identity="benchmark", name="benchmark", protocol="arena")


def opened_for_another_protocol(folder: Path) -> StoredAnswers:
    return StoredAnswers(folder, identity="benchmark", protocol="unieval")


def main() -> int:
    gates = Gates(__file__, arguments(__doc__).parse_args())
    response = Response("x" * 900, prompt_tokens=431, completion_tokens=200)
    keys = [f"{number:032x}" for number in range(N)]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        with opened(folder) as store:
            start = time.perf_counter()
            for key in keys:
                store.append(key, response)
            appending = time.perf_counter() - start
        (path,) = folder.rglob("*.jsonl")
        lines = path.read_bytes().splitlines(keepends=True)

        start = time.perf_counter()
        descriptor = os.open(folder / "plain", os.O_WRONLY | os.O_CREAT)
        for line in lines:
            os.write(descriptor, line)
        os.close(descriptor)
        plain_writing = time.perf_counter() - start

        start = time.perf_counter()
        for line in (folder / "plain").open("rb"):
            json.loads(line[42:])
        plain_reading = time.perf_counter() - start

        start = time.perf_counter()
        with opened(folder) as store:
            assert len(store) == N
            loading = time.perf_counter() - start
            start = time.perf_counter()
            for key in keys:
                assert store.get(key) is not None
            getting = time.perf_counter() - start

        start = time.perf_counter()
        with opened_for_another_protocol(folder) as other:
            assert keys[0] in other
            again = time.perf_counter() - start

    gates.at_least("answers appended a second", N / appending, 10_000)
    gates.told("the same, time", appending / plain_writing, unit="x", against="writing each line with os.write")
    gates.at_most("100,000 answers of 1 kB loaded", loading, 2.0, unit="s")
    parsing = "reading and parsing every line"
    gates.told("the same, time", loading / plain_reading, unit="x", against=parsing)
    gates.told("loaded again, for another protocol", again, unit="s")
    gates.told("all looked up, each checked, time", getting / plain_reading, unit="x", against=parsing)
    gates.told("memory at most", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, unit="MB")
    return gates.finish()


if __name__ == "__main__":
    sys.exit(main())
