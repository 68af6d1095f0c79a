"""Cost of identifying the user's files by their content: at the first read, and when it is stored.

One large file and 1,000 small ones are made up. The yardstick is reading the large one without a digest, in processor
time. Takes 10 s.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from dialeval.provenance.fingerprints import SETTLED, content_digest
from gates import Gates, arguments


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--megabytes", type=int, default=1024, help="size of the large file")
    options = parser.parse_args()
    megabytes = options.megabytes
    gates = Gates(__file__, options)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
        large = folder / "large"
        with large.open("wb") as file:
            for _ in range(megabytes):
                file.write(os.urandom(1 << 20))
        small = [folder / f"{number}.json" for number in range(1000)]
        for path in small:
            path.write_bytes(os.urandom(20_000))
        time.sleep(SETTLED + 1)
        bare = seconds(lambda: read(large))
        first, again = (seconds(lambda: content_digest([large])) for _ in range(2))
        what = f"the digest of a file of {megabytes} MB"
        gates.told(f"{what}, the first time", first / bare, unit="x", against="reading it", note=f"{first:.2f} CPU s")
        gates.at_most(f"{what}, once it is known", again, 0.01, unit="CPU s")
        gates.told("the digest of 1,000 files of 20 kB", seconds(lambda: content_digest(small)), unit="CPU s")
    return gates.finish()


def seconds(work: Callable[[], object]) -> float:
    """Return the processor time that some work takes."""
    before = time.process_time()
    work()
    return time.process_time() - before


def read(path: Path) -> int:
    """Read a file in pieces and return its size."""
    with path.open("rb") as file:
        return sum(len(part) for part in iter(lambda: file.read(1 << 18), b""))


if __name__ == "__main__":
    sys.exit(main())
