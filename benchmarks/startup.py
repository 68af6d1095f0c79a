"""Start-up time of a job: each stage's imports, and the schema of its settings.

    python benchmarks/startup.py [--stages draw correlate] [--rounds 5] [--record]

A process of its own imports what a job of the workflow does, makes PyArrow's first array, which may load more, and
builds what reads its settings; the least processor time (user and system) of some rounds counts, since other work on
the machine only adds to it. The yardstick is the time that Python takes to import the libraries which every stage
needs. Takes 90 s.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys

from dialeval.stages import STAGES
from gates import Gates, arguments

LIBRARIES = "import argparse, numpy, pyarrow.parquet, pydantic"
JOB = """
import typing
import gc
gc.disable()
import pyarrow
from dialeval.jobs import process_setup as arrow_alone
from dialeval.stages import __main__, command, {module}
arrow_alone.skip_pandas()
pyarrow.array([])
settings = typing.get_type_hints({module}.{stage}).get("settings")
settings and settings.model_rebuild()
"""
MEDIAN, MOST = 0.4, 0.9


def seconds(code: str, rounds: int) -> float:
    """Return the least processor time of a process that runs some code."""
    taken = []
    for _ in range(rounds):
        process = subprocess.Popen([sys.executable, "-c", code], env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            sys.exit(f"this failed: {code}")
        taken.append(used.ru_utime + used.ru_stime)
    return min(taken)


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--stages", nargs="*", default=[one for stages in STAGES.values() for one in stages])
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    gates = Gates(__file__, options)
    bare = seconds(LIBRARIES, options.rounds)
    module_of = {stage: module for module, stages in STAGES.items() for stage in stages}
    each = {
        stage: seconds(JOB.format(module=module_of[stage], stage=stage), options.rounds) for stage in options.stages
    }
    for stage, taken in sorted(each.items(), key=lambda one: one[1]):
        print(f"     {taken:.2f} s {stage}")
    middle, slowest = statistics.median(each.values()), max(each, key=lambda stage: each[stage])
    gates.told("start of Python with numpy, pyarrow and pydantic", bare, unit="s of CPU")
    gates.at_most(
        "start of a stage, the median of all", middle, MEDIAN, unit="s of CPU",
        against="the libraries alone", note=f"{middle / bare:.2f} x"
    )  # fmt: skip
    gates.at_most(
        f"start of the stage that takes longest ({slowest})", each[slowest], MOST, unit="s of CPU",
        against="the libraries alone", note=f"{each[slowest] / bare:.2f} x",
    )  # fmt: skip
    return gates.finish()


if __name__ == "__main__":
    sys.exit(main())
