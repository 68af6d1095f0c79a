"""What it costs to know the user's files by their content: read the first time, and looked up from then on.

`python benchmarks/content.py [--megabytes 1024]` makes up one large file and 1,000 small ones. The yardstick is reading
the large one without a digest. Processor time, in seconds. Takes 10 s.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from dialeval.content import SETTLED, content_digest


def main() -> None:
    """Prints one line for each way."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=1024, help="size of the large file")
    megabytes = parser.parse_args().megabytes
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
        print(f"reading {megabytes} MB: {bare:.3f}")
        for what in ("the first time", "once it is known"):
            took = seconds(lambda: content_digest([large]))
            print(f"its digest {what}: {took:.4f} ({took / bare:.3g} x reading)")
        print(f"the digest of 1,000 files of 20 kB: {seconds(lambda: content_digest(small)):.3f}")


def seconds(work: Callable[[], object]) -> float:
    """Returns the processor time that some work takes."""
    before = time.process_time()
    work()
    return time.process_time() - before


def read(path: Path) -> int:
    """Reads a file in pieces and returns its size."""
    with path.open("rb") as file:
        return sum(len(part) for part in iter(lambda: file.read(1 << 18), b""))


if __name__ == "__main__":
    main()
