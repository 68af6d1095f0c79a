"""The ledger's file of one job at work, and whether its job still is."""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dialeval.engines.spending.entries import SUFFIX, Entry, close_file
from dialeval.errors import UserError

_as_line = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class Writer:
    """The file of one job. The ledger's lock must be held while it is made.

    Args:
        folder: the model's folder in the ledger.
        about: name, protocol.
    """

    def __init__(self, folder: Path, about: dict[str, str]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        host = "".join(letter if letter.isalnum() else "-" for letter in socket.gethostname())[:40]
        self.path = folder / f"{host}-{os.getpid()}-{secrets.token_hex(4)}.{SUFFIX}"
        self.entry = Entry(folder.name)
        self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o666)
        with no_locks_said(folder):
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self._number = 0
        self._write(about | _this_system() | {"pid": os.getpid(), "time": round(time.time())})

    def begin(self, most: float) -> int:
        """Writes down that a try is about to be sent which may cost so much, and returns its number."""
        self._number += 1
        self._write(["+", self._number, most])
        return self._number

    def end(self, number: int, cost: float, input_tokens: int, output_tokens: int, confirmed: bool) -> None:
        """Writes down what a try has cost."""
        self._write(["-", number, cost, input_tokens, output_tokens, int(confirmed)])

    def grant(self, to: float) -> None:
        """Writes down, safely, up to which sum this job may spend."""
        self._write(["to", to])
        os.fsync(self._file)

    def exceed(self, input_tokens: int, output_tokens: int) -> None:
        """Writes down by how much answers exceed what they could have at most."""
        self._write(["over", input_tokens, output_tokens])

    def close(self) -> None:
        """Replaces all lines by their sum; what is under way counts at its most."""
        self.entry.sums = self.entry.all_told
        self.entry.open.clear()
        close_file(self.path, self.entry)
        os.close(self._file)

    def _write(self, line: Any) -> None:
        rest = _as_line(line).encode() + b"\n"
        try:
            while rest:
                rest = rest[os.write(self._file, rest) :]
        except OSError as error:
            raise UserError(
                f"what a request costs could not be written down in {self.path}: {error.strerror or error}; free some "
                "space or choose another `store_dir`, then run the same command again: what is stored is kept"
            ) from error
        self.entry.read(line)


def is_alive(path: Path, about: dict[str, Any]) -> bool:
    """Returns whether the job that writes a file is still at work: it holds the file's lock."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # a file system without locks
        if not is_same_system(about):
            return True
        try:
            os.kill(int(about["pid"]), 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return True
    finally:
        os.close(descriptor)
    return False


def _this_system() -> dict[str, str]:
    """Names this machine since its last start."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        boot = ""
    return {"host": socket.gethostname(), "boot": boot}


def is_same_system(about: dict[str, Any]) -> bool:
    """Returns whether a job wrote on this machine since its last start, so that no line of its file can be lost."""
    return {name: about.get(name) for name in ("host", "boot")} == _this_system()


_said: set[Path] = set()


@contextmanager
def no_locks_said(folder: Path) -> Iterator[None]:
    """Goes on without a lock where the file system has none, and says so once."""
    try:
        yield
    except BlockingIOError:
        raise
    except OSError as error:
        if folder not in _said:
            _said.add(folder)
            print(f"note: {folder} has no file locks ({error.strerror}); jobs that run at once may exceed a budget")
