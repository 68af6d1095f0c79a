"""A process that has imported what Snakemake and jobs need, and becomes either in a fork for each that is handed to it.

Most of the time of a small job is Python's start. Modules of ours are kept where a run's code is the copy that the
process read them from; a workspace with code of its own, changed maybe, has them imported anew by the fork. It is the
job server of the library, which becomes Snakemake too, serves all workspaces of a test run, and ends with it.

    python warm_start.py LIBRARY < FIFO 3< SOCKET
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import os
import re
import runpy
import shlex
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

LIBRARIES = (
    "asyncio", "jinja2", "matplotlib.figure", "matplotlib.backends.backend_pdf", "matplotlib.backends.backend_svg",
    "numpy", "openai", "openpyxl", "pyarrow.compute", "pyarrow.csv", "pyarrow.parquet", "pydantic", "scipy.linalg",
    "scipy.optimize", "scipy.special", "scipy.stats", "smart_open", "snakemake.cli", "snakemake.profiles",
    "snakemake.report.html_reporter", "tiktoken", "yaml",
)  # fmt: skip


HEAVY = ("accelerate", "peft", "torch", "transformers", "vllm")
"""What few jobs need, each of which imports it itself, and what no process that forks should have begun to use."""


class Refusing:
    """Finds that nothing heavy is installed."""

    def find_spec(self, name: str, *_: object) -> None:
        """Refuses to look for a module that is heavy, and leaves others to those who come after."""
        if name.partition(".")[0] in HEAVY:
            raise ModuleNotFoundError(f"{name} is left to the jobs that need it", name=name)


def begin(folder: Path, library: Path) -> None:
    """Start the process.

    Args:
        folder: is made; the process ends when no test process holds its file `users` open any more.
        library: the folder that modules of ours are imported from.
    """
    (folder / "socket").mkdir(parents=True)
    os.mkfifo(folder / "users")
    hold(folder)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / "socket" / "programs"))
        listener.listen(128)
        opened = (os.POSIX_SPAWN_OPEN, 0, str(folder / "users"), os.O_RDONLY, 0)
        passed = (os.POSIX_SPAWN_DUP2, listener.fileno(), 3)
        command = [sys.executable, "-u", __file__, str(library)]
        os.posix_spawn(sys.executable, command, os.environ, file_actions=[opened, passed])


def hold(folder: Path) -> None:
    """Keep the process of a folder running until this one ends."""
    os.open(folder / "users", os.O_RDWR)


def serve(library: str) -> None:
    """Becomes every program that is handed over, each in a fork."""
    for name in LIBRARIES:
        importlib.import_module(name)
    sys.path.insert(0, library)
    refusing = Refusing()
    sys.meta_path.insert(0, refusing)
    import_stages()
    import_what_rules_use(Path(library).parent)
    build_models()
    sys.path.remove(library)
    job_server = importlib.import_module("dialeval.stages.job_server")
    listener = socket.socket(fileno=3)
    job_server.become = partial(
        _become,
        library=library,
        refusing=refusing,
        client=shlex.join([sys.executable, "-IS", str(job_server.CLIENT), listener.getsockname()]),
        run_to_the_end=job_server.run_to_the_end,
    )
    gc.collect()
    join_pages()
    job_server.serve(listener, str(Path(listener.getsockname()).parent))


MADV_COLLAPSE = 25
HUGE_PAGE = 2 << 20


def join_pages() -> None:
    """Has Linux keep this process's memory in huge pages: a fork then takes half the time."""
    madvise = ctypes.CDLL(None).madvise
    madvise.argtypes = [ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int]
    for line in Path("/proc/self/maps").read_text().splitlines():
        addresses, access, _, _, _, *file = line.split()
        start, end = (int(address, 16) for address in addresses.split("-"))
        start, end = -(-start // HUGE_PAGE) * HUGE_PAGE, end // HUGE_PAGE * HUGE_PAGE
        if access == "rw-p" and file in ([], ["[heap]"]) and start < end:
            madvise(start, end - start, MADV_COLLAPSE)  # an older kernel refuses, and all stays as it is


def import_stages() -> None:
    """Import every stage that is not heavy, and reads the code of each as Snakemake does at its start."""
    stages = importlib.import_module("dialeval.stages")
    fingerprints = importlib.import_module("dialeval.provenance.fingerprints")
    for module, names in stages.STAGES.items():
        with suppress(ImportError):
            importlib.import_module(f"dialeval.stages.{module}")
        for name in names:
            fingerprints.fingerprint(stages.stage_function(name))


def import_what_rules_use(project: Path) -> None:
    """Import every module of ours that the project's rules import."""
    for path in [project / "Snakefile", *sorted((project / "rules").glob("*.smk"))]:
        for name in re.findall(r"^\s*from (dialeval[\w.]*) import", path.read_text(encoding="utf-8"), re.MULTILINE):
            importlib.import_module(name)


def build_models() -> None:
    """Build the validators of our models, which otherwise each process builds when it first uses them."""
    for model in _subclasses(importlib.import_module("pydantic").BaseModel):
        if model.__module__.startswith("dialeval."):
            model.model_rebuild()


def _subclasses(model: Any) -> Iterator[Any]:
    for subclass in model.__subclasses__():
        yield subclass
        yield from _subclasses(subclass)


def _become(
    job: dict[str, Any],
    streams: list[int],
    *,
    library: str,
    refusing: Refusing,
    client: str,
    run_to_the_end: Callable[[Callable[[], object]], NoReturn],
) -> None:
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    for output in (sys.stdout, sys.stderr):
        output.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    os.environ.clear()
    os.environ.update(job["environment"])
    os.chdir(job["folder"])
    sys.meta_path.remove(refusing)
    paths = job["environment"].get("PYTHONPATH", "").split(os.pathsep)
    if library not in paths:
        for name in [name for name in sys.modules if name.split(".")[0] == "dialeval"]:
            del sys.modules[name]
    program, *arguments = job["arguments"]
    is_script = program.endswith(("/snakemake", ".py"))
    sys.path[:] = [str(Path(program).parent) if is_script else job["folder"], *paths, *sys.path[1:]]
    if program.endswith("/snakemake") or arguments[:1] == ["snakemake"]:
        with suppress(ImportError):
            server: Any = importlib.import_module("dialeval.stages.job_server")
            server.pays, server.start = lambda _: True, lambda: client
    if is_script:
        sys.argv = [program, *arguments]
        run_to_the_end(partial(runpy.run_path, program, run_name="__main__"))
    sys.argv = arguments if program == "-m" else ["dialeval.stages", program, *arguments]
    run_to_the_end(partial(runpy.run_module, sys.argv[0], run_name="__main__", alter_sys=True))


if __name__ == "__main__":
    serve(*sys.argv[1:])
