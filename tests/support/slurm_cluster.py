"""A Slurm cluster of one node on this machine: controller, node and munge, in a folder of its own, as root.

    python tests/support/slurm_cluster.py FOLDER          starts one and waits for Ctrl-C

Steps of jobs find the cluster by `/etc/slurm/slurm.conf` alone, so that there can be one at a time, and none where
that file is somebody else's.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

CONFIGURATION = Path("/etc/slurm/slurm.conf")
MARK = "# a cluster of DialEval's tests"
PARTITION = "main"
NEEDED = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scontrol", "sinfo")
BEGINS_AGAIN = 30
"""Seconds before a job that is begun again may begin; Slurm has 120 of itself."""
TEXT = """{mark}
ClusterName=tests
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge.socket,cred_expire={begins_again}
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
MpiDefault=none
SwitchType=switch/none
ReturnToService=2
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=2,sched_min_interval=0
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
MinJobAge=600
KillWait=2
NodeName={host} NodeAddr=127.0.0.1 CPUs={cores} RealMemory={memory} State=UNKNOWN
PartitionName={partition} Nodes={host} Default=YES MaxTime=7-00:00:00 State=UP
"""


def why_not() -> str | None:
    """Return why no cluster can be had here, or nothing."""
    missing = [name for name in NEEDED if not shutil.which(name)]
    if missing:
        return f"Slurm is not installed ({', '.join(missing)}; on Debian: slurm-wlm and munge)"
    if find_spec("snakemake_executor_plugin_slurm") is None:
        return "snakemake-executor-plugin-slurm is not installed: pip install -e '.[slurm]'"
    if os.geteuid() != 0:
        return "Slurm's own processes are started as root"
    if CONFIGURATION.exists() and not _is_ours():
        return f"{CONFIGURATION} is there: this machine belongs to another cluster"
    return None


@contextmanager
def cluster(folder: Path) -> Iterator[None]:
    """Run a cluster; one of another process of these tests is used as it is."""
    if _is_ours() and _idle():
        yield
        return
    processes = _start(folder)
    try:
        _wait_until_idle(folder)
        yield
    finally:
        subprocess.run(["scancel", "--user=root"], capture_output=True, check=False)
        time.sleep(0.5)
        for process in reversed(processes):
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
        CONFIGURATION.unlink(missing_ok=True)


def _start(folder: Path) -> list[subprocess.Popen[bytes]]:
    folder = folder.resolve()
    for name in ("state", "spool", "seed"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    key = folder / "munge.key"
    key.write_bytes(os.urandom(1024))
    for path in (folder, key):
        path.chmod(0o700)
    memory = int(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**20 * 0.9)
    text = TEXT.format(
        mark=MARK, host=socket.gethostname().split(".")[0], ports=_free_ports(), folder=folder, partition=PARTITION,
        cores=os.cpu_count(), memory=memory, begins_again=BEGINS_AGAIN,
    )  # fmt: skip
    (folder / "slurm.conf").write_text(text)
    CONFIGURATION.parent.mkdir(exist_ok=True)
    CONFIGURATION.unlink(missing_ok=True)  # of a cluster that was killed
    CONFIGURATION.symlink_to(folder / "slurm.conf")
    munge = [
        "munged", "--foreground", "--force", "--num-threads=2", f"--key-file={key}", f"--socket={folder}/munge.socket",
        f"--pid-file={folder}/munge.pid", f"--log-file={folder}/munge.log", f"--seed-file={folder}/seed/seed",
    ]  # fmt: skip
    commands = [munge, ["slurmctld", "-D", "-c", "-i"], ["slurmd", "-D", "-c"]]
    processes = []
    for command in commands:
        with (folder / f"{command[0]}.out").open("wb") as output:
            processes.append(subprocess.Popen(command, stdout=output, stderr=output, start_new_session=True))
        time.sleep(0.3)
    return processes


def _is_ours() -> bool:
    try:
        return CONFIGURATION.read_text().startswith(MARK)
    except OSError:
        return False


def _idle() -> bool:
    asked = subprocess.run(["sinfo", "-h", "-o", "%T"], capture_output=True, text=True, check=False)
    return asked.returncode == 0 and asked.stdout.strip() in ("idle", "mixed", "allocated")


def _wait_until_idle(folder: Path) -> None:
    deadline = time.monotonic() + 30
    while not _idle():
        if time.monotonic() > deadline:
            logs = "\n".join(path.read_text(errors="replace")[-2000:] for path in folder.glob("*.out"))
            raise RuntimeError(f"the cluster's node does not become idle:\n{logs}")
        time.sleep(0.1)


def _free_ports() -> list[int]:
    with socket.socket() as one, socket.socket() as other:
        for each in (one, other):
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in (one, other)]


if __name__ == "__main__":
    if reason := why_not():
        sys.exit(reason)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    with cluster(Path(sys.argv[1])):
        print("the cluster is up", flush=True)
        signal.pause()
