"""A copy of the workflow that a test may run, kill, edit and run again."""

from __future__ import annotations

import fnmatch
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
WARM_START = Path(__file__).parent / "warm_start"
SNAKEMAKE = Path(sys.executable).parent / "snakemake"
STAND_INS = "stand-ins"
SMALL: dict[str, Any] = {
    "models": {
        "random": {"engine": "embedded", "method": "random", "folds": 3},
        "generic": {"engine": "embedded", "method": "generic", "folds": 3},
        "forest": {"engine": "embedded", "method": "forest", "folds": 3},
    },
    "chatbots": ["random", "generic"],
    "judges": ["forest"],
    "corpora": {"bundled": {"reader": "bundled", "language": "en"}},
    "seeds": {"corpus": "bundled", "limit": 12},
    "selfchat": {"n_utterances": 8},
    "protocols": {"unieval": {"n_utterances": [4, 8]}, "arena": {"n_utterances": [4, 8]}, "gteval": {}},
    "elo": {"shuffles": 50, "repeats": 2, "resamples": 50},
    "tokens": {"fetch": False},
}


@dataclass
class Workspace:
    """A folder with the workflow's files, a configuration, and what runs leave there."""

    folder: Path

    def configure(self, **changes: Any) -> None:
        """Write the small configuration with changes of its top-level fields."""
        text = yaml.safe_dump({**SMALL, **changes}, sort_keys=False)
        (self.folder / "config.yaml").write_text(text, encoding="utf-8")

    def start(self, *arguments: str, cores: int | None = 2, warm: bool = False) -> subprocess.Popen[str]:
        """Start snakemake in a process group of its own.

        Args:
            arguments: what is typed behind `snakemake`.
            cores: how many jobs may run at once; None where the folder's profile says it.
            warm: whether it and its jobs are forks of a process that has imported what they need; signals do not reach
                them.
        """
        bound = [] if cores is None else ["--cores", str(cores)]
        return subprocess.Popen(
            [str(SNAKEMAKE), *bound, *arguments],
            cwd=self.folder,
            env=self._environment(warm),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def _environment(self, warm: bool) -> dict[str, str]:
        folders = [*([WARM_START] if warm else []), (self.folder / "workflow").resolve(), self.folder / STAND_INS]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, folders)), "TIKTOKEN_CACHE_DIR": ""}
        return environment | {
            "XDG_CACHE_HOME": str(self.folder / "cache"),
            "PWD": str(self.folder),
        }  # as a shell has it

    def outcome(self, *words: str) -> tuple[int, str]:
        """Run `snakemake ...`, `python -m MODULE ...` or `python SCRIPT ...` warm; return its status and output."""
        client = [sys.executable, "-IS", os.environ["WARM_CLIENT"], os.environ["WARM_START"]]
        program = [str(SNAKEMAKE)] if words[0] == "snakemake" else []
        keys = {"OPENAI_API_KEY": "none", "ANTHROPIC_API_KEY": "none"}
        done = subprocess.run(
            [*client, *program, *words[1:]],
            cwd=self.folder,
            env=self._environment(warm=True) | keys,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
        return done.returncode, done.stdout

    def pretend_models_can_run(self) -> None:
        """Put stand-ins in the place of the libraries that models need."""
        (self.folder / STAND_INS).mkdir()
        for name in ("accelerate", "peft", "safetensors", "tokenizers", "torch", "transformers", "vllm"):
            (self.folder / STAND_INS / f"{name}.py").touch()

    def run(self, *arguments: str, cores: int = 2, ok: bool = True, warm: bool = True) -> str:
        """Run snakemake to its end and return what it printed."""
        process = self.start(*arguments, cores=cores, warm=warm)
        try:
            output, _ = process.communicate()  # a test's own time limit ends it
        except BaseException:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            raise
        assert (process.returncode == 0) is ok, output
        return output

    def would_run(self, *targets: str) -> Counter[str]:
        """Return the jobs that a dry run lists, by rule."""
        output = self.run("--dry-run", *targets)
        counts: Counter[str] = Counter()
        for line in output.split("Job stats:")[-1].splitlines() if "Job stats:" in output else []:
            words = line.split()
            if len(words) == 2 and words[1].isdigit() and words[0] != "total":
                counts[words[0]] = int(words[1])
        return counts

    def interrupt_when(self, ready: Callable[[], bool], sign: signal.Signals, *arguments: str) -> str:
        """Start a run and send a signal to all its processes as soon as `ready` says so."""
        process = self.start(*arguments)
        try:
            while not ready():
                if process.poll() is not None:
                    raise AssertionError("the run ended before it could be interrupted:\n" + process.communicate()[0])
                time.sleep(0.01)
            os.killpg(process.pid, sign)
            output, _ = process.communicate()
        except BaseException:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            raise
        return output

    def stored(self, pattern: str) -> list[str]:
        """Return the keys of stored answers, repeats included, by model and protocol: `forest/arena`, `*/*`."""
        model, protocol = pattern.split("/")
        named = [
            path.parent
            for path in sorted(self.folder.glob("store/*/names.txt"))
            if fnmatch.filter(path.read_text(encoding="utf-8").splitlines(), model)
        ]
        lines = [line for of in named for path in of.glob(f"{protocol}/*.jsonl") for line in path.open("rb")]
        return [line[:32].decode() for line in lines if line.endswith(b"\n")]

    def tables(self) -> dict[str, bytes]:
        """Return the content of every table and figure that two runs must agree on, by path below the results."""
        results = self.folder / "results"
        suffixes = (".parquet", ".csv", ".svg", ".pdf")
        return {
            str(path.relative_to(results)): path.read_bytes()
            for path in results.rglob("*")
            if path.suffix in suffixes
            and path.stem not in ("usage", "estimate")  # these tell of one run
            and not path.is_relative_to(results / ".kept")
        }

    def own_library(self) -> Path:
        """Return the folder of the library, from now on a copy that may be changed."""
        path = self.folder / "workflow"
        if path.is_symlink():
            library = path.resolve()
            path.unlink()
            shutil.copytree(library, path)
        return path

    def edit(self, file: str, old: str, new: str) -> None:
        """Replace a text in one of the workflow's files."""
        self.own_library()
        path = self.folder / file
        text = path.read_text(encoding="utf-8")
        assert old in text, file
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

    def copy(self, folder: Path) -> Workspace:
        """Return a copy with everything that runs left, time stamps included."""
        shutil.copytree(self.folder, folder, symlinks=True)
        return Workspace(folder)


def copy_project(folder: Path) -> None:
    """Copy what workspaces are made of: what is edited while tests run is then none of them in part."""
    half_written = ("*.pyc.*", "*.json.*")  # by another process that imports it at this moment
    for name in ("rules", "workflow", "profiles", "envs"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("*.egg-info", *half_written))
    for name in ("Snakefile", "pyproject.toml"):
        shutil.copy2(ROOT / name, folder / name)


def new_workspace(folder: Path) -> Workspace:
    """Return a workspace in a new folder, with the small configuration, in which nothing has run."""
    project = Path(os.environ["WORKSPACE_PROJECT"])
    folder.mkdir(parents=True)
    for name in ("rules", "profiles", "envs"):
        shutil.copytree(project / name, folder / name)
    for name in ("Snakefile", "pyproject.toml"):
        shutil.copy2(project / name, folder / name)
    (folder / "workflow").symlink_to(project / "workflow")
    workspace = Workspace(folder)
    workspace.configure()
    return workspace
