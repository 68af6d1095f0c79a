"""A process that has imported the libraries which jobs need, and becomes a job in a fork for each that is handed to it.

Most of the time of a small job is Python's start. Modules of ours are imported by the fork, from the folder that the
job would import them from, so that a workspace's changed code is what runs.

    python warm_start.py ADDRESS
"""

from __future__ import annotations

import importlib
import json
import os
import runpy
import socket
import sys
import traceback
from contextlib import suppress
from typing import Any

LIBRARIES = (
    "asyncio", "jinja2", "matplotlib.figure", "matplotlib.backends.backend_pdf", "matplotlib.backends.backend_svg",
    "numpy", "openai", "openpyxl", "pyarrow.compute", "pyarrow.csv", "pyarrow.parquet", "pydantic", "scipy.linalg",
    "scipy.optimize", "scipy.special", "scipy.stats", "tiktoken", "yaml",
)  # fmt: skip


def serve(address: str) -> None:
    """Becomes every job that is handed over, each in a fork."""
    for library in LIBRARIES:
        importlib.import_module(library)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen(64)
        print("ready", flush=True)
        while True:
            client, _ = listening.accept()
            keeper = os.fork()
            if keeper == 0:
                listening.close()
                _keep(client)
            client.close()
            with suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass


def _keep(client: socket.socket) -> None:
    """Runs the job in a fork and tells its client how it ended."""
    text, descriptors, _, _ = socket.recv_fds(client, 1 << 20, 3)
    while not text.endswith(b"\n"):
        text += client.recv(1 << 20)
    job = os.fork()
    if job == 0:
        client.close()
        _become(json.loads(text), descriptors)
    for descriptor in descriptors:
        os.close(descriptor)
    _, ended = os.waitpid(job, 0)
    client.sendall(str(os.waitstatus_to_exitcode(ended) % 256).encode())
    os._exit(0)


def _become(job: dict[str, Any], descriptors: list[int]) -> None:
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    os.environ.clear()
    os.environ.update(job["environment"])
    os.chdir(job["folder"])
    sys.path[:] = [job["folder"], *job["environment"].get("PYTHONPATH", "").split(os.pathsep), *sys.path[1:]]
    sys.argv = job["arguments"]
    status = 0
    try:
        runpy.run_module(job["arguments"][0], run_name="__main__", alter_sys=True)
    except SystemExit as ending:
        status = ending.code if isinstance(ending.code, int) else int(ending.code is not None)
        if isinstance(ending.code, str):
            print(ending.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
        status = 1
    with suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    serve(sys.argv[1])
