"""How jobs are stopped: by Ctrl-C, and with the run that started them.

An event loop that is stopping takes a second Ctrl-C wherever it happens to be, and may then wait for ever for a task
that is never woken. A process that ends at once loses no more than one that is killed: what is stored is whole.

Snakemake lets running jobs finish when it is terminated, and leaves them behind when it is killed. So the run
tells its jobs, by their environment, which process it is and where it leaves a mark when it is to end; a job looks
after both. A stage that someone starts by hand knows of no run and goes on whatever its parent does.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import NoReturn

from dialeval.jobs.run_lock import LOCK
from dialeval.paths import write_new

INTERRUPTED = 130


def exit_immediately(*_: object) -> NoReturn:
    """Ends this process at once, as a handler of signals."""
    name = Path(sys.argv[0]).stem
    words = f"error in {name}: ended at once; stored responses are kept, run the same command again to resume\n"
    os.write(2, words.encode())  # `print` may be what was interrupted
    os._exit(INTERRUPTED)


def is_stopping() -> bool:
    """Returns whether the first Ctrl-C has come, so that the next one ends this process."""
    return signal.getsignal(signal.SIGINT) is exit_immediately


@contextmanager
def next_signal_exits() -> Iterator[None]:
    """Keeps the effect of the first Ctrl-C in this context; the next one ends the process, also after it."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return

    came = False

    def first(number: int, frame: FrameType | None) -> None:
        nonlocal came
        if came:  # the next one interrupted this very function
            exit_immediately()
        came = True
        signal.signal(signal.SIGINT, exit_immediately)
        before(number, frame)

    signal.signal(signal.SIGINT, first)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) is first:
            signal.signal(signal.SIGINT, before)


# Jobs end with the run that started them

VARIABLE = "DIALEVAL_RUN"
SECONDS = 0.5
"""Between two looks."""
OWN_WAY = 2.0
"""Seconds in which a job that got the same Ctrl-C ends by itself; a second signal would disturb it there."""
MARK = ".run.stop"


def announce(results_dir: Path, environment: MutableMapping[str, str] = os.environ) -> None:
    """Passes the run to the jobs that this process starts."""
    about = {"pid": os.getpid(), "start": _start(os.getpid()), "where": _here(), "mark": str(_mark(results_dir))}
    environment[VARIABLE] = json.dumps(about)


def leave_alone(environment: MutableMapping[str, str] = os.environ) -> None:
    """Removes the run from the environment of jobs that are started from now on."""
    environment.pop(VARIABLE, None)


def mark_on_termination(results_dir: Path) -> None:
    """Has SIGTERM and SIGINT leave the mark that jobs look for, before they do what they did so far.

    Call it when no other run uses the results folder: it removes the mark of an earlier run.
    """
    mark = _mark(results_dir)
    mark.unlink(missing_ok=True)
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGTERM, signal.SIGINT):
            _mark_at(number, mark)


def _mark_at(number: signal.Signals, mark: Path) -> None:
    before = signal.getsignal(number)
    if before is signal.SIG_IGN:  # as a script starts what it leaves in the background
        return

    def terminated(_: int, frame: FrameType | None) -> None:
        try:
            write_new(mark, number.name)
        finally:
            if callable(before):
                before(number, frame)
            else:
                signal.signal(number, signal.SIG_DFL)
                os.kill(os.getpid(), number)

    signal.signal(number, terminated)


def run_id(environment: Mapping[str, str] = os.environ) -> str:
    """Returns the id of the run that started this process; empty without one."""
    try:
        mark = Path(json.loads(environment[VARIABLE])["mark"])
        began = mark.with_name(LOCK).stat().st_mtime_ns  # the lock is written when the run begins
    except (KeyError, ValueError, TypeError, OSError):
        return ""
    return f"{mark.parent} {began}"


def exit_with_run() -> None:
    """Has this process terminated as by SIGTERM, within about a second, when the run that started it ends.

    Without a run, or with one on another machine or in another container, nothing is watched.
    """
    try:
        about = json.loads(os.environ[VARIABLE])
        pid, start, where, mark = int(about["pid"]), about["start"], about["where"], Path(about["mark"])
    except (KeyError, ValueError, TypeError):
        return
    if where == _here():
        threading.Thread(target=_watch, args=(pid, start, mark), name="run watch", daemon=True).start()


def _watch(pid: int, start: str | None, mark: Path) -> None:
    while True:
        reason = "was stopped" if mark.exists() else "" if _is_running(pid, start) else "is gone"
        if reason:
            if _read(mark) == signal.SIGINT.name:
                time.sleep(OWN_WAY)
            print(f"the run that started this job (process {pid}) {reason}: stopping", file=sys.stderr, flush=True)
            main = threading.main_thread().ident
            assert main is not None
            signal.pthread_kill(main, signal.SIGTERM)
            return
        time.sleep(SECONDS)


def _read(mark: Path) -> str:
    try:
        return mark.read_text()
    except OSError:
        return ""


def _is_running(pid: int, start: str | None) -> bool:
    if start is not None:
        return _start(pid) == start
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _start(pid: int) -> str | None:
    """Returns when a process began, which tells it from a later one of the same number; None if it has ended.

    Where the system does not say, all processes that run now are None.
    """
    try:
        state, *fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if state in "ZX" else fields[18]


def _here() -> str:
    """Returns the namespace of process ids: this machine, or this container on it."""
    try:
        space = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        space = ""
    return f"{socket.gethostname()} {space}"


def _mark(results_dir: Path) -> Path:
    return results_dir.expanduser().absolute() / MARK
