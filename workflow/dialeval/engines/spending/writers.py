"""The ledger's file of one job at work, and whether its job still is."""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from dialeval.engines.spending.entries import SUFFIX, Entry, close_file
from dialeval.engines.turn_writes import TurnWrites
from dialeval.errors import UserError
from dialeval.whole_files import refuse_links

_as_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class Writer:
    """The file of one job. The ledger's lock must be held while it is made.

    Args:
        folder: the model's folder in the ledger.
        about: name, protocol.
    """

    def __init__(self, folder: Path, about: dict[str, str]) -> None:
        refuse_links(folder / SUFFIX, folder.parent.parent)
        folder.mkdir(parents=True, exist_ok=True)
        host = "".join(letter if letter.isalnum() else "-" for letter in socket.gethostname())[:40]
        self.path = folder / f"{host}-{os.getpid()}-{secrets.token_hex(4)}.{SUFFIX}"
        self.entry = Entry(folder.name)
        self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o666)
        with no_locks_said(folder):
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self._number = 0
        self._lines = TurnWrites(self._write)
        self._say(about | _this_system() | {"pid": os.getpid(), "time": round(time.time())})

    def begin(self, most: float) -> int:
        """Writes down what a try may cost, which is to be sent when that is `written`, and returns its number."""
        self._number += 1
        self._lines.add(f'["+",{self._number},{most!r}]\n'.encode())
        self.entry.begin(self._number, most)
        return self._number

    async def written(self) -> None:
        """Waits until the operating system has what was written down.

        Raises:
            UserError: it could not be written.
        """
        await self._lines.written()

    def end(self, number: int, cost: float, input_tokens: int, output_tokens: int, confirmed: bool) -> None:
        """Writes down what a try has cost."""
        self.entry.end(number, cost, input_tokens, output_tokens, confirmed)
        self._say_this_turn(f'["-",{number},{cost!r},{input_tokens},{output_tokens},{confirmed:d}]\n'.encode())

    def grant(self, to: float) -> None:
        """Writes down, safely, up to which sum this job may spend."""
        self._say(["to", to])
        os.fsync(self._file)

    def exceed(self, input_tokens: int, output_tokens: int) -> None:
        """Writes down by how much answers exceed what they could have at most."""
        self.entry.over = (input_tokens, output_tokens)
        self._say_this_turn(_line(["over", input_tokens, output_tokens]))

    def close(self) -> None:
        """Replaces all lines by their sum; what is under way counts at its most."""
        with suppress(UserError):  # the sum holds what these lines say
            self._lines.flush()
        self.entry.sums = self.entry.all_told
        self.entry.open.clear()
        close_file(self.path, self.entry)
        os.close(self._file)

    def _say(self, line: Any) -> None:
        """Writes a line at once."""
        self._write(_line(line))
        self.entry.read(line)

    def _say_this_turn(self, line: bytes) -> None:
        """Writes a line of what ended, with all others of this turn of the event loop.

        If it cannot, the file has the try at its most, and whoever begins another is told: what came is not lost.
        """
        with suppress(UserError):
            self._lines.add(line)

    def _write(self, rest: bytes) -> None:
        try:
            while rest:
                rest = rest[os.write(self._file, rest) :]
        except OSError as error:
            raise UserError(
                f"what a request costs could not be written down in {self.path}: {error.strerror or error}; free some "
                "space or choose another `store_dir`, then run the same command again: what is stored is kept"
            ) from error


def _line(content: Any) -> bytes:
    return f"{_as_json(content)}\n".encode()


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
