"""What all benchmarks share: figures beside what is to be reached, printed and, on request, kept for the README.

A benchmark reads its options with `arguments`, makes its `Gates` before it begins, tells them every figure, and ends
with `finish`. With `--record` that writes `figures/SCRIPT.json`: the figures, and how busy the machine was meanwhile.
`python benchmarks/compose.py` makes the tables of `benchmarks/*.md` from these files.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shlex
import sys
import time
from pathlib import Path
from typing import Any

import psutil

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data"
"""Where the public data is, if it lies beside the project."""
FIGURES = ROOT / "benchmarks" / "figures"


def arguments(doc: str | None) -> argparse.ArgumentParser:
    """Return a parser that shows a script's docstring as its help, and knows `--record`."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true", help="keep the figures in benchmarks/figures")
    return parser


def shown(value: float) -> str:
    """Return a number as it is printed and written into tables: three digits, or whole thousands."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


class Gates:
    """Prints each figure beside what is to be reached, remembers whether all were, and keeps them.

    Args:
        script: `__file__` of the benchmark.
        options: what `arguments` read.
        part: names figures of one script that are kept apart, such as those of a GPU: `figures/SCRIPT.PART.json`.
    """

    def __init__(self, script: str, options: argparse.Namespace, *, part: str = "") -> None:
        self.name = ".".join(filter(None, (Path(script).stem, part)))
        self.record: bool = options.record
        self.figures: list[dict[str, Any]] = []
        self._machine = _Machine()

    def at_most(
        self, what: str, value: float, limit: float, *, unit: str = "", against: str = "", note: str = ""
    ) -> None:
        """A figure that is to be small: what it is, its unit, the yardstick that it was held against, what to know."""
        self._figure(what, value, unit, f"<= {shown(limit)}", value <= limit, against, note)

    def at_least(
        self, what: str, value: float, limit: float, *, unit: str = "", against: str = "", note: str = ""
    ) -> None:
        """A figure that is to be large."""
        self._figure(what, value, unit, f">= {shown(limit)}", value >= limit, against, note)

    def told(self, what: str, value: float, *, unit: str = "", against: str = "", note: str = "") -> None:
        """A figure with nothing that it has to reach."""
        self._figure(what, value, unit, "", True, against, note)

    def _figure(self, what: str, value: float, unit: str, reach: str, reached: bool, against: str, note: str) -> None:
        line = f"{'ok  ' if reached else 'MISS'} {what}: {shown(value)} {unit}".rstrip()
        aside = "; ".join(filter(None, (reach and f"to reach: {reach}", against and f"against {against}", note)))
        print(f"{line} ({aside})" if aside else line, flush=True)
        kept = {"what": what, "value": float(f"{value:.4g}"), "unit": unit, "reach": reach, "reached": bool(reached)}
        self.figures.append(kept | {"against": against, "note": note})

    def finish(self) -> int:
        """Says how busy the machine was, keeps the figures if asked to, and returns the status: 1 if one is missed."""
        conditions = self._machine.conditions()
        print(f"     {said(conditions)}")
        if self.record:
            command = [f"{self.name.partition('.')[0]}.py"]
            command += [word for word in sys.argv[1:] if word != "--record"]
            kept = {"command": shlex.join(command), "conditions": conditions, "figures": self.figures}
            FIGURES.mkdir(exist_ok=True)
            path = FIGURES / f"{self.name}.json"
            path.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
            print(f"     kept in figures/{path.name}; `python benchmarks/compose.py` brings them into the tables")
        return int(not all(figure["reached"] for figure in self.figures))


class _Machine:
    """How busy a machine is while a benchmark runs: its load, and what processes other than ours take."""

    def __init__(self) -> None:
        self._load = os.getloadavg()[0]
        self._begin = time.perf_counter(), _busy(), _own()

    def conditions(self) -> dict[str, Any]:
        now = time.perf_counter(), _busy(), _own()
        wall, busy, own = (end - begin for begin, end in zip(self._begin, now, strict=True))
        cores = psutil.cpu_count() or 1
        return {
            "cores": cores,
            "machine": platform.machine(),
            "python": platform.python_version(),
            "load": [round(self._load, 1), round(os.getloadavg()[0], 1)],
            "seconds": round(wall, 1),
            "others": round(min(max(busy - own, 0.0) / (wall * cores), 1.0), 2),  # clocks tick in hundredths
        }


def _busy() -> float:
    """Return the processor seconds that the whole machine has worked."""
    times = psutil.cpu_times()
    return float(sum(times)) - times.idle - getattr(times, "iowait", 0.0)


def _own() -> float:
    """Return those of this process and of the children that it has waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def said(conditions: dict[str, Any]) -> str:
    """Return in words what the conditions of a run were."""
    if note := conditions.get("note"):
        return str(note)
    cores, machine, python = (conditions[name] for name in ("cores", "machine", "python"))
    begin, end = conditions["load"]
    return (
        f"{cores} cores, {machine}, Python {python}; {shown(conditions['seconds'])} s, load {begin} to {end}, "
        f"other work took {conditions['others']:.0%} of the processors"
    )
