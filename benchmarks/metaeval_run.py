"""The meta-evaluation of all public corpora, as a user runs it: the work in total and by stage.

    python benchmarks/metaeval_run.py --data FOLDER [--target metaeval] [--cores 2]

Runs configs/metaeval.yaml on the corpora under FOLDER (laid out as docs/rated-corpora.md says) in a folder of its own,
and adds up the processor time of every job by stage, looked at four times a second. Processor time is what tells on a
machine that others use, too: the wall-clock time of an idle one is at least its share by core.
Takes 10 min with the public data.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import psutil

from gates import ROOT, Gates, arguments

OTHER = "Snakemake and its shells"
SHOWN = 8
"""So many stages, those that take most, have a figure of their own."""


def stage_of(command: list[str]) -> str:
    """Return what a process of the run does: its stage and judge, or Snakemake's own work."""
    _, _, after = "\n".join(command).partition("\ndialeval.stages\n")
    return after.partition("\n")[0] or OTHER


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--target", default="metaeval")
    parser.add_argument("--cores", type=int, default=2)
    chosen = parser.parse_args()
    gates = Gates(__file__, chosen)
    spent: dict[tuple[int, float], tuple[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "snakemake", "--cores", str(chosen.cores), chosen.target]
        command += ["--configfile", "configs/metaeval.yaml", "--config", f"data_dir={chosen.data.resolve()}"]
        command += [f"results_dir={folder}/results", f"store_dir={folder}/store"]
        begun = time.perf_counter()
        run = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while run.poll() is None:
            look(run.pid, spent)
            time.sleep(0.25)
        wall = time.perf_counter() - begun
    if run.returncode:
        print(f"the run ended with status {run.returncode}; run the command by hand to see why: {' '.join(command)}")
        return run.returncode
    by_stage: Counter[str] = Counter()
    for stage, seconds in spent.values():
        by_stage[stage] += seconds
    total = sum(by_stage.values())
    share = f"{total / chosen.cores / 60:.1f} minutes on {chosen.cores} idle cores at best, {wall / 60:.1f} here"
    gates.at_most("all of it", total, 240 * chosen.cores, unit="CPU s", note=share)
    for stage, seconds in by_stage.most_common(SHOWN):
        gates.told(f"of that, `{stage}`" if stage != OTHER else f"of that, {OTHER}", seconds, unit="CPU s")
    return gates.finish()


def look(root: int, spent: dict[tuple[int, float], tuple[str, float]]) -> None:
    """Note the processor time that every living process of the run has taken so far."""
    for process in [psutil.Process(root), *psutil.Process(root).children(recursive=True)]:
        try:
            times = process.cpu_times()
            spent[process.pid, process.create_time()] = (stage_of(process.cmdline()), times.user + times.system)
        except psutil.Error:  # it has ended
            continue


if __name__ == "__main__":
    sys.exit(main())
