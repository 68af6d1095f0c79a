"""A process that has imported the library and starts this machine's jobs as its copies: imports are a third of a job.

`start` runs it beside Snakemake. A job's command is `job_client.py`, which passes its arguments, environment, folder
and standard streams through a socket, and ends with the job's exit status; without a server it becomes the job itself.
Ctrl-C reaches jobs as it reaches the client, since all are in one process group. A client that is terminated has its
job terminated. The server ends with the process that started it, however that ends, and jobs watch the run themselves.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import select
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from runpy import run_module
from typing import Any, NoReturn

from dialeval.errors import UserError
from dialeval.stages import stage_functions

CLIENT = Path(__file__).with_name("job_client.py")
STAGES = "dialeval.stages"
_FEWEST_JOBS = 4
"""The server's start takes as long as the imports of three jobs."""
_PATIENCE = 10.0
"""Seconds in which a client must have sent its job."""


def pays(n_jobs: int) -> bool:
    """Return whether a server takes less time than it saves; on macOS a process with loaded libraries cannot fork."""
    return n_jobs >= _FEWEST_JOBS and sys.platform == "linux"


def start() -> str:
    """Start the server and return the beginning of jobs' commands."""
    folder = tempfile.mkdtemp(prefix="dialeval-")  # only this user can enter it; the server removes it
    alive, held = os.pipe()  # `held` closes when this process ends, however it ends
    place = os.open(folder, os.O_PATH)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"/proc/self/fd/{place}/jobs")  # an address has at most 107 bytes, and TMPDIR can be longer
        listener.listen(128)
        server = subprocess.Popen(
            [sys.executable, "-u", "-m", __name__, str(listener.fileno()), folder],
            stdin=alive,
            pass_fds=[listener.fileno()],
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        )
    os.close(alive)
    os.close(place)
    atexit.register(_stop, server, held, folder)
    return shlex.join([sys.executable, "-IS", str(CLIENT), f"{folder}/jobs"])


def _stop(server: subprocess.Popen[bytes], held: int, folder: str) -> None:
    """End the server, and wait, so that this process's times count those of its jobs."""
    os.close(held)
    server.wait()
    shutil.rmtree(folder, ignore_errors=True)  # a server that was killed has left it


def serve(listener: socket.socket, folder: str) -> None:
    """Start a job for each connection, until the process at the other end of standard input has ended.

    Args:
        listener: the socket.
        folder: the socket's folder, which is removed at the end.
    """
    woken, waker = os.pipe()
    os.set_blocking(waker, False)
    signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    on_interrupt = signal.signal(signal.SIGINT, signal.SIG_IGN)
    jobs: dict[int, socket.socket] = {}
    watched: dict[socket.socket, int] = {}
    _load(f"{STAGES}.command")
    while True:
        readable: list[Any] = [0, listener, woken, *watched]
        ready = set(select.select(readable, [], [])[0])
        if 0 in ready:
            shutil.rmtree(folder, ignore_errors=True)
            return
        for client in watched.keys() & ready:  # it was terminated
            os.kill(watched.pop(client), signal.SIGTERM)
        if woken in ready:
            os.read(woken, 1000)
            _report_ended(jobs, watched)
        if listener in ready:
            client, _ = listener.accept()
            try:
                job, streams = _received(client)
            except (OSError, ValueError):  # it was stopped or killed before it had sent its job
                client.close()
                continue
            _load(*(function.partition(":")[0] for function in _functions(job["arguments"])))
            if pid := os.fork():
                jobs[pid], watched[client] = client, pid
                for stream in streams:
                    os.close(stream)
                continue
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGINT, on_interrupt)
            for one in (listener, client, *jobs.values()):
                one.close()
            for end in (woken, waker):
                os.close(end)
            become(job, streams)


def _received(client: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """Return a job and its standard streams.

    Raises:
        OSError: the client sends nothing for too long.
        ValueError: it has ended before it had sent all.
    """
    client.settimeout(_PATIENCE)
    message, streams, _, _ = socket.recv_fds(client, 1 << 20, 3)
    while not message.endswith(b"\n"):
        if not (more := client.recv(1 << 20)):
            break
        message += more
    client.settimeout(None)
    return json.loads(message), streams


def _report_ended(jobs: dict[int, socket.socket], watched: dict[socket.socket, int]) -> None:
    for pid in list(jobs):
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            client = jobs.pop(pid)
            watched.pop(client, None)
            code = os.waitstatus_to_exitcode(status)
            with suppress(OSError), client:
                client.send(bytes([code if code >= 0 else 128 - code]))


def become(job: dict[str, Any], streams: list[int]) -> None:
    """Make this process the job: its streams, folder, environment and arguments; end with the job."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(job["folder"])
    os.environ.clear()
    os.environ.update(job["environment"])
    sys.argv = ["stages", *job["arguments"]]
    run_to_the_end(partial(run_module, STAGES, run_name="__main__", alter_sys=True))


def run_to_the_end(program: Callable[[], object]) -> NoReturn:
    """Run a program in a copy of the server and end the process as Python would.

    Python's own end would release all that the server has imported, object by object, and copy its memory for that.
    """
    status = 1
    try:
        program()
        status = 0
    except SystemExit as ending:
        if isinstance(ending.code, str):
            print(ending.code, file=sys.stderr)
        else:
            status = ending.code or 0
    except BaseException:
        traceback.print_exc()
    threading._shutdown()  # type: ignore[attr-defined]  # waits for threads, as Python's own end does first
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(status)


def _functions(arguments: list[str]) -> list[str]:
    try:
        return stage_functions("".join(arguments[:1]))
    except UserError:  # the job reports it
        return []


def _load(*modules: str) -> None:
    """Import modules once for all jobs; a job itself reports a failing import."""
    gc.disable()
    for module in modules:
        with suppress(Exception):
            import_module(module)
    gc.freeze()
    gc.enable()


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])), sys.argv[2])
