"""Time of Snakemake before the first job, with many models: a dry run, and a run with nothing to do.

Nobody is asked anything: all files of a finished run are made empty, and `--touch` writes down that they are up to
date. Figures are seconds of CPU (user and system, children included), which depend on what else the machine does; the
yardstick is the start of Snakemake itself. Takes 50 s.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from dialeval.provenance import source_statements
from dialeval.provenance.fingerprints import fingerprint
from dialeval.stages import STAGES, stage_function
from gates import ROOT, Gates, arguments

SNAKEMAKE = str(Path(sys.executable).parent / "snakemake")


def configuration(chatbots: int, judges: int, shards: int) -> dict[str, Any]:
    """Return a configuration with so many models behind an endpoint, each of whose work is split into shards."""
    names = {"chatbot": chatbots, "judge": judges}
    models = {kind: [f"{kind}-{number:02d}" for number in range(count)] for kind, count in names.items()}
    endpoint = {"engine": "openai", "base_url": "http://127.0.0.1:9/v1", "api_key_env": None, "shards": shards}
    return {
        "models": {name: {**endpoint, "model": name} for kind in models.values() for name in kind},
        "chatbots": models["chatbot"],
        "judges": models["judge"],
        "corpora": {"bundled": {"reader": "bundled", "language": "en"}},
        "seeds": {"corpus": "bundled", "arena_min_utterances": 4},
        "selfchat": {"n_utterances": 16},
        "protocols": {
            "unieval": {"n_utterances": [4, 8, 12, 16]},
            "arena": {"n_utterances": [8, 16]},
            **{name: {} for name in ("gteval", "failures", "rating", "yes_no")},
        },
        "metaeval": {
            "corpora": {"steps": {"reader": "severity_levels", "dialogues": "bundled", "steps": 4, "limit": 40}}
        },
    }


def snakemake(folder: Path, *arguments: str) -> tuple[float, str]:
    """Run Snakemake and return the seconds of CPU that it took, and what it wrote to its output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [SNAKEMAKE, "-s", str(ROOT / "Snakefile"), "--directory", str(folder), *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT / "workflow")}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def fingerprinting() -> float:
    """Return the seconds of CPU that the fingerprints of all stages take in a process that has made none."""
    before = time.process_time()
    for stages in STAGES.values():
        for stage in stages:
            fingerprint(stage_function(stage))
    return time.process_time() - before


def main() -> int:
    parser = arguments(__doc__)
    for name, count in (("chatbots", 60), ("judges", 5), ("shards", 8)):
        parser.add_argument(f"--{name}", type=int, default=count)
    options = parser.parse_args()
    gates = Gates(__file__, options)
    written = configuration(options.chatbots, options.judges, options.shards)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "large.yaml").write_text(json.dumps(written), encoding="utf-8")
        given = ("--configfile", str(folder / "large.yaml"))
        start, _ = snakemake(folder, "--version")

        def gate(what: str, seconds: float) -> None:
            what = f"{options.chatbots} chatbots, {options.judges} judges, {options.shards} shards each: {what}"
            gates.at_most(what, seconds, 6.0, unit="CPU s", note=f"{seconds / start:.1f} x the start of Snakemake")

        gate("first dry run", snakemake(folder, *given, "--dry-run", "--quiet", "all")[0])
        _, listed = snakemake(folder, *given, "--summary")
        for line in listed.splitlines()[1:]:
            path = folder / line.split("\t")[0]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        snakemake(folder, *given, "--touch", "--forceall", "--cores", "1", "--quiet", "all")
        gate("dry run with nothing to do", snakemake(folder, *given, "--dry-run")[0])
        gate("run with nothing to do", snakemake(folder, *given, "--cores", "1")[0])
    gates.at_most("fingerprints of all stages, their sources kept", fingerprinting(), 1.0, unit="CPU s")
    modules = list((ROOT / "workflow" / "dialeval").rglob("*.py"))
    before = time.process_time()
    for path in modules:
        source_statements._read(path.read_bytes(), path)
    gates.told(f"sources of {len(modules)} modules read anew", time.process_time() - before, unit="CPU s")
    return gates.finish()


if __name__ == "__main__":
    sys.exit(main())
