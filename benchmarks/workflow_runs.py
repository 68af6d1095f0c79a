"""Whole runs: the default one, a second one that has nothing to do, and BotChat's real 547 seeds.

    python benchmarks/workflow_runs.py [--data-dir ../shared/data] [--cores 8]

Each run starts from a fresh clone of the committed state, in the environment of the Python that runs this. The
yardstick is the start of Snakemake itself (`snakemake --version`), measured beside. Takes 5 min.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
SNAKEMAKE = str(Path(sys.executable).parent / "snakemake")


def timed(folder: Path, *arguments: str) -> float:
    environment = {**os.environ, "PYTHONPATH": str(folder / "workflow")}
    start = time.perf_counter()
    done = subprocess.run(
        [SNAKEMAKE, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data-dir", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--cores", default="8")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "clone"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder)], check=True)
        start = timed(folder, "--version")
        print(f"snakemake --version     {start:6.1f} s")
        print(f"default run             {timed(folder, '--cores', options.cores):6.1f} s")
        print(f"the same, nothing to do {timed(folder, '--cores', options.cores):6.1f} s")
        if not options.data_dir.is_dir():
            print(f"configs/mutual.yaml: skipped, {options.data_dir} is not there")
            return
        arguments = ("--configfile", "configs/mutual.yaml", "--config", f"data_dir={options.data_dir.resolve()}")
        print(f"configs/mutual.yaml     {timed(folder, '--cores', options.cores, *arguments):6.1f} s")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"largest process         {peak:6.0f} MB")


if __name__ == "__main__":
    main()
