"""A line is written with its end, in one piece."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

PROGRAM = """
import sys
from dialeval.processes.whole_lines import write_whole_lines
write_whole_lines()
for stream in (sys.stdout, sys.stderr):
    print("what one job says", 1, file=stream, flush=True)
    print("and what it says next", file=stream)
sys.stdout.write("no end")
"""


def test_a_line_and_its_end_are_one_piece() -> None:
    """A socket of packets keeps what is written at once apart from what is written next."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        subprocess.run(
            [sys.executable, "-u", "-c", PROGRAM],
            stdout=theirs, stderr=theirs, env={**os.environ, "PYTHONUNBUFFERED": "1"}, check=True, timeout=60,
        )  # fmt: skip
        theirs.shutdown(socket.SHUT_WR)
        pieces = list(iter(lambda: ours.recv(1000), b""))
    said = [b"what one job says 1\n", b"and what it says next\n"]
    assert pieces == [*said, *said, b"no end"]


def test_without_the_call_they_are_two_pieces() -> None:
    """What the call is for: should Python mend it, the call may go."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        subprocess.run([sys.executable, "-u", "-c", "print('words')"], stdout=theirs, check=True, timeout=60)
        theirs.shutdown(socket.SHUT_WR)
        assert list(iter(lambda: ours.recv(1000), b"")) == [b"words", b"\n"]
