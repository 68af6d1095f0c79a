"""Runs `python -m dialeval.stages ARGUMENT ...` in the job server, as its first argument, a socket, says."""

import os
import sys

from _signal import SIG_IGN, SIGINT, SIGTERM, signal
from _socket import AF_UNIX, SCM_RIGHTS, SHUT_WR, SOL_SOCKET, socket

address, *arguments = sys.argv[1:]
server = socket(AF_UNIX)
try:
    server.connect(address)
except OSError:
    os.execv(sys.executable, [sys.executable, "-u", "-m", "dialeval.stages", *arguments])
signal(SIGINT, SIG_IGN)
signal(SIGTERM, lambda *_: server.shutdown(SHUT_WR))
from _json import encode_basestring_ascii as text  # noqa: E402

environment = ",".join(f"{text(key)}:{text(value)}" for key, value in os.environ.items())
job = (
    f'{{"arguments":[{",".join(map(text, arguments))}],"folder":{text(os.getcwd())},"environment":{{{environment}}}}}\n'
).encode()
sent = server.sendmsg([job], [(SOL_SOCKET, SCM_RIGHTS, b"".join(n.to_bytes(4, sys.byteorder) for n in range(3)))])
while sent < len(job):
    sent += server.send(job[sent:])
status = server.recv(1)
os._exit(status[0] if status else 1)
