"""Whole runs: the default run, a second run with nothing to do, and BotChat's 547 seeds.

Each run starts from a fresh clone of the committed state, in the environment of the Python that runs this. The
yardstick is the start of Snakemake itself (`snakemake --version`), measured beside. Takes 5 min.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from gates import ROOT, Gates, arguments

SNAKEMAKE = str(Path(sys.executable).parent / "snakemake")


class Took(NamedTuple):
    """Seconds of the clock and of the processor, all jobs included."""

    wall: float
    cpu: float


def timed(folder: Path, *words: str) -> Took:
    environment = {**os.environ, "PYTHONPATH": str(folder / "workflow")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # else each job compiles the library: 19 CPU s of the default run
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([SNAKEMAKE, *words], cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Took(time.perf_counter() - start, cpu)


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="folder of the public data")
    parser.add_argument("--cores", default="2")
    options = parser.parse_args()
    gates = Gates(__file__, options)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "clone"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder)], check=True)
        start = timed(folder, "--version")
        default = timed(folder, "--cores", options.cores)
        gates.at_most("default run", default.wall, 60.0, unit="s")
        gates.at_most("default run", default.cpu, 90.0, unit="CPU s")
        gates.told("the same", default.cpu / start.cpu, unit="x", against="the start of Snakemake alone")
        nothing = timed(folder, "--cores", options.cores)
        note = f"{nothing.cpu / start.cpu:.1f} x the start of Snakemake alone"
        gates.at_most("the same, nothing to do", nothing.cpu, 6.0, unit="CPU s", note=note)
        if options.data.is_dir():
            words = ("--configfile", "configs/mutual.yaml", "--config", f"data_dir={options.data.resolve()}")
            real = timed(folder, "--cores", options.cores, *words)
            gates.at_most("BotChat's 547 real seeds", real.wall, 480.0, unit="s", note=f"{real.cpu:.0f} CPU s")
        else:
            print(f"     configs/mutual.yaml: skipped, {options.data} is not there")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    gates.at_most("largest process", peak, 2000.0, unit="MB")
    return gates.finish()


if __name__ == "__main__":
    sys.exit(main())
