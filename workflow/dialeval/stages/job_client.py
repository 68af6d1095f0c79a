"""Runs a stage as a copy of the job server, whose socket is the first argument; the others are those of the stage.

Imports what Python's own start needs and no more: a job has one client, and a millisecond here is one of each job.
"""

import os
import sys
from _json import encode_basestring_ascii as quoted
from _signal import SIG_IGN, SIGINT, SIGTERM, signal  # type: ignore[import-not-found]
from _socket import AF_UNIX, SCM_RIGHTS, SHUT_WR, SOL_SOCKET, socket

address, *arguments = sys.argv[1:]
server = socket(AF_UNIX)
try:
    within, _, name = address.rpartition("/")
    server.connect(f"/proc/self/fd/{os.open(within, os.O_PATH)}/{name}")  # an address has at most 107 bytes
except OSError:  # it was killed
    os.execv(sys.executable, [sys.executable, "-u", "-m", "dialeval.stages", *arguments])
signal(SIGINT, SIG_IGN)  # the job gets the same one
signal(SIGTERM, lambda *_: server.shutdown(SHUT_WR))
environment = ",".join(f"{quoted(name)}:{quoted(value)}" for name, value in os.environ.items())
listed = ",".join(map(quoted, arguments))
folder = quoted(os.getcwd())  # noqa: PTH109 - pathlib takes as long as all of this
job = f'{{"arguments":[{listed}],"folder":{folder},"environment":{{{environment}}}}}\n'.encode()
streams = b"".join(stream.to_bytes(4, sys.byteorder) for stream in range(3))
sent = server.sendmsg([job], [(SOL_SOCKET, SCM_RIGHTS, streams)])
server.sendall(job[sent:])
status = server.recv(1)
if not status:
    os.write(
        2,
        b"error in job_server: the job was killed, perhaps for lack of memory. Run the same command again to resume\n",
    )
os._exit(status[0] if status else 1)
