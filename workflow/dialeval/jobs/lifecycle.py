"""A run from its lock to its end: one run at a time in a results folder, and jobs that end with it.

Snakemake's own lock outlives a killed run and then asks for `--unlock`; the default profile turns it off in favour of
this one.

Snakemake lets running jobs finish when it is terminated, and leaves them behind when it is killed. So a run passes its
process and the place of its stop mark to its jobs, in their environment, and each job watches both. A stage that is
started by hand has no run and does not end with its parent.

An event loop that is stopping takes a second Ctrl-C at any place, and may then wait for a task that never wakes. So the
second one ends the process at once, which loses no more than a kill does: stored responses are complete.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import NoReturn

from dialeval.errors import UserError
from dialeval.paths import open_no_link, write_new

LOCK = ".run.lock"
"""The lock of a results folder, written when a run begins."""
_locks: list[int] = []


def lock_results(results_dir: Path) -> None:
    """Take the lock of a results folder until this process ends.

    Raises:
        UserError: another run holds it.
    """
    path = results_dir / LOCK
    descriptor = open_no_link(path, os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise _locked_by_other_run(results_dir, descriptor) from None
    except OSError as error:  # a file system without locks
        print(f"note: {results_dir} has no file locks ({error.strerror}); make sure that only one run uses it")
    os.ftruncate(descriptor, 0)
    os.write(descriptor, f"{os.getpid()}\n".encode())
    _locks.append(descriptor)


def refuse_second_run(results_dir: Path) -> None:
    """Check that no run holds the lock of a results folder, without taking it.

    Raises:
        UserError: another run holds it.
    """
    try:
        descriptor = os.open(results_dir / LOCK, os.O_RDWR | os.O_NOFOLLOW)
    except OSError:  # no run has been here
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise _locked_by_other_run(results_dir, descriptor) from None
    except OSError:  # a file system without locks
        return
    finally:
        os.close(descriptor)


def _locked_by_other_run(results_dir: Path, descriptor: int) -> UserError:
    owner = os.read(descriptor, 20).decode().strip()
    return UserError(
        f"another run (process {owner}) uses {results_dir}; wait for it to end, or use another folder for this run, "
        f"for example with --config results_dir={results_dir}-2; progress: snakemake --cores 1 status"
    )


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Report a failed write in the folder of the results with its remedy.

    Raises:
        UserError: something could not be made or written there.
    """
    try:
        yield
    except OSError as error:
        raise UserError(
            f"the results folder {folder} cannot be written: {error.strerror or error}; correct `results_dir`, or "
            f"the permissions and free space of that disk"
        ) from error


def check_writable(folder: Path) -> None:
    """Make a folder if need be and check that files can be made there.

    Raises:
        UserError: it cannot be made or written.
    """
    probe = folder / f".writable.{os.urandom(4).hex()}"
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        os.close(open_no_link(probe, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        probe.unlink()


# Snakemake takes an output older than its input for a fault of the job. Contents decide here which jobs run, so files
# from the future get the present time: only the stamp that Snakemake compares, never that of a link's target, which may
# belong to another user.

_OF_A_FOLDER = ".snakemake_timestamp"


def reset_future_timestamps(paths: Iterable[Path], clock: Path) -> str:
    """Give files whose time stamps lie in the future the present time; those that are missing are passed over.

    Args:
        paths: what jobs are to read.
        clock: a file that was written just now where jobs write: that file system's clock may differ from this
            machine's.

    Returns:
        A message about it; empty where all are of the past.

    Raises:
        UserError: a file is in the future and cannot be changed.
    """
    present = clock.stat()
    now = max(time.time(), present.st_mtime)
    ahead = sorted({one for path in paths if path.exists() and (one := _bearer(path)).lstat().st_mtime > now})
    for path in ahead:
        stamp = path.lstat()
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(stamp.st_mtime))
        try:
            # of another's file this is refused, whatever the rights to write it
            os.utime(path, ns=(stamp.st_atime_ns, present.st_mtime_ns), follow_symlinks=False)
        except OSError as error:
            raise UserError(
                f"{path} has a time stamp in the future, {when}, so its outputs would count as outdated. DialEval "
                f"cannot set it to the present time: {error.strerror}; set this machine's clock, or copy the file"
            ) from None
    if not ahead:
        return ""
    others = f" and {len(ahead) - 1} more" if len(ahead) > 1 else ""
    return f"note: {ahead[0]}{others} had time stamps in the future; DialEval set them to the present time"


def _bearer(path: Path) -> Path:
    """Return the file whose time stamp Snakemake takes for that of a path."""
    noted = path / _OF_A_FOLDER
    return noted if path.is_dir() and not path.is_symlink() and noted.exists() else path


# How jobs are stopped by Ctrl-C.

INTERRUPTED = 130


def exit_immediately(*_: object) -> NoReturn:
    """End this process at once, as a handler of signals."""
    name = Path(sys.argv[0]).stem
    words = f"error in {name}: ended at once; stored responses are kept, run the same command again to resume\n"
    os.write(2, words.encode())  # `print` may be what was interrupted
    os._exit(INTERRUPTED)


def is_stopping() -> bool:
    """Return whether the first Ctrl-C has come, so that the next one ends this process."""
    return signal.getsignal(signal.SIGINT) is exit_immediately


@contextmanager
def next_signal_exits() -> Iterator[None]:
    """Keep the effect of the first Ctrl-C in this context; the next one ends the process, also after it."""
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


# How jobs end with the run that started them.

RUN_VARIABLE = "DIALEVAL_RUN"
WATCH_SECONDS = 0.5
"""Between two looks."""
SECONDS_TO_END = 2.0
"""Seconds in which a job that got the same Ctrl-C ends by itself; a second signal would disturb it there."""
STOP_MARK = ".run.stop"


def announce_run(results_dir: Path, environment: MutableMapping[str, str] = os.environ) -> None:
    """Pass the run to the jobs that this process starts."""
    about = {
        "pid": os.getpid(),
        "start": _started(os.getpid()),
        "where": _process_namespace(),
        "mark": str(_mark(results_dir)),
    }
    environment[RUN_VARIABLE] = json.dumps(about)


def withdraw_run(environment: MutableMapping[str, str] = os.environ) -> None:
    """Remove the run from the environment of jobs that are started from now on."""
    environment.pop(RUN_VARIABLE, None)


def mark_on_termination(results_dir: Path) -> None:
    """Make SIGTERM and SIGINT leave a mark for jobs before their usual effect.

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
    """Return the id of the run that started this process; empty without one."""
    try:
        mark = Path(json.loads(environment[RUN_VARIABLE])["mark"])
        began = mark.with_name(LOCK).stat().st_mtime_ns  # the lock is written when the run begins
    except (KeyError, ValueError, TypeError, OSError):
        return ""
    return f"{mark.parent} {began}"


def exit_with_run() -> None:
    """Have this process terminated as by SIGTERM, within about a second, when the run that started it ends.

    Without a run, or with one on another machine or in another container, nothing is watched.
    """
    try:
        about = json.loads(os.environ[RUN_VARIABLE])
        pid, start, where, mark = int(about["pid"]), about["start"], about["where"], Path(about["mark"])
    except (KeyError, ValueError, TypeError):
        return
    if where == _process_namespace():
        threading.Thread(target=_watch, args=(pid, start, mark), name="run watch", daemon=True).start()


def _watch(pid: int, start: str | None, mark: Path) -> None:
    while True:
        reason = "was stopped" if mark.exists() else "" if _is_running(pid, start) else "is gone"
        if reason:
            if _signal_in(mark) == signal.SIGINT.name:
                time.sleep(SECONDS_TO_END)
            print(f"the run that started this job (process {pid}) {reason}: stopping", file=sys.stderr, flush=True)
            main = threading.main_thread().ident
            assert main is not None
            signal.pthread_kill(main, signal.SIGTERM)
            return
        time.sleep(WATCH_SECONDS)


def _signal_in(mark: Path) -> str:
    try:
        return mark.read_text()
    except OSError:
        return ""


def _is_running(pid: int, start: str | None) -> bool:
    if start is not None:
        return _started(pid) == start
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _started(pid: int) -> str | None:
    """Return the start time of a process, to distinguish reused numbers; None if it has ended.

    Where the system does not say, all processes that run now are None.
    """
    try:
        state, *fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if state in "ZX" else fields[18]


def _process_namespace() -> str:
    """Return the namespace of process ids: this machine, or this container on it."""
    try:
        space = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        space = ""
    return f"{socket.gethostname()} {space}"


def _mark(results_dir: Path) -> Path:
    return results_dir.expanduser().absolute() / STOP_MARK
