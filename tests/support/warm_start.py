"""A process that has imported what Snakemake and jobs need, and becomes either in a fork for each that is handed to it.

Most of the time of a small job is Python's start. Modules of ours are kept where a run's code is the copy that the
process read them from; a workspace with code of its own, changed maybe, has them imported anew by the fork.

    python warm_start.py ADDRESS LIBRARY
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import re
import runpy
import socket
import sys
import traceback
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

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


def serve(address: str, library: str) -> None:
    """Becomes every program that is handed over, each in a fork."""
    for name in LIBRARIES:
        importlib.import_module(name)
    sys.path.insert(0, library)
    import_ours()
    import_what_rules_use(Path(library).parent)
    build_models()
    sys.path.remove(library)
    gc.freeze()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen(64)
        print("ready", flush=True)
        while True:
            client, _ = listening.accept()
            keeper = os.fork()
            if keeper == 0:
                listening.close()
                _keep(client, library)
            client.close()
            with suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass


def import_ours() -> None:
    """Imports every stage that is not heavy, and reads the code of each as Snakemake does at its start."""
    stages = importlib.import_module("dialeval.stages")
    fingerprints = importlib.import_module("dialeval.provenance.fingerprints")
    sys.meta_path.insert(0, Refusing())
    for module, names in stages.STAGES.items():
        with suppress(ImportError):
            importlib.import_module(f"dialeval.stages.{module}")
        for name in names:
            fingerprints.fingerprint(stages.stage_function(name))
    del sys.meta_path[0]


def import_what_rules_use(project: Path) -> None:
    """Imports every module of ours that the project's rules import."""
    for path in [project / "Snakefile", *sorted((project / "rules").glob("*.smk"))]:
        for name in re.findall(r"^\s*from (dialeval[\w.]*) import", path.read_text(encoding="utf-8"), re.MULTILINE):
            importlib.import_module(name)


def build_models() -> None:
    """Builds the validators of our models, which otherwise each process builds when it first uses them."""
    for model in _subclasses(importlib.import_module("pydantic").BaseModel):
        if model.__module__.startswith("dialeval."):
            model.model_rebuild()


def _subclasses(model: Any) -> Iterator[Any]:
    for subclass in model.__subclasses__():
        yield subclass
        yield from _subclasses(subclass)


def _keep(client: socket.socket, library: str) -> None:
    """Runs the program in a fork and tells its client how it ended."""
    text, descriptors, _, _ = socket.recv_fds(client, 1 << 20, 3)
    while not text.endswith(b"\n"):
        text += client.recv(1 << 20)
    program = os.fork()
    if program == 0:
        client.close()
        _become(json.loads(text), descriptors, library)
    for descriptor in descriptors:
        os.close(descriptor)
    _, ended = os.waitpid(program, 0)
    client.sendall(str(os.waitstatus_to_exitcode(ended) % 256).encode())
    os._exit(0)


def _become(job: dict[str, Any], descriptors: list[int], library: str) -> None:
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    os.environ.clear()
    os.environ.update(job["environment"])
    os.chdir(job["folder"])
    paths = job["environment"].get("PYTHONPATH", "").split(os.pathsep)
    if library not in paths:
        for name in [name for name in sys.modules if name.split(".")[0] == "dialeval"]:
            del sys.modules[name]
    program, *arguments = job["arguments"]
    sys.path[:] = [job["folder"] if program == "-m" else str(Path(program).parent), *paths, *sys.path[1:]]
    if arguments[:1] != ["dialeval.stages"]:  # Snakemake: its jobs are forks of this process already
        with suppress(ImportError):
            importlib.import_module("dialeval.stages.job_server").pays = lambda _: False  # type: ignore[attr-defined]
    status = 0
    try:
        if program == "-m":
            sys.argv = arguments
            runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)
        else:
            sys.argv = job["arguments"]
            runpy.run_path(program, run_name="__main__")
    except SystemExit as ending:
        status = ending.code if isinstance(ending.code, int) else int(ending.code is not None)
        if isinstance(ending.code, str):
            print(ending.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
        status = 1
    atexit._run_exitfuncs()  # which the end of a fork leaves out
    with suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    serve(*sys.argv[1:])
