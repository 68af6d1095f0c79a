"""Jobs that wait in Slurm's queue for something that will not come: a run that has one would wait with it for ever."""

from __future__ import annotations

import getpass
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from dialeval.cluster.slurm import ask

SECONDS = 20.0
"""Between two looks at the queue."""
FOR_EVER = (
    "Account", "BadConstraints", "InvalidAccount", "InvalidQOS", "JobHeld", "PartitionConfig", "PartitionDown",
    "PartitionInactive", "PartitionNodeLimit", "PartitionTimeLimit", "ReqNodeNotAvail",
)  # fmt: skip
"""How Slurm's reasons begin for which a job waits until somebody changes something."""
_LIMITS = ("Assoc", "QOS")
_OF_ONE_JOB = ("PerJob", "PerNode", "WallDuration", "NotAllowed", "QOSMin")
"""What the names of limits hold that one job is over; under all others it waits for other jobs of its user to end."""
_REMEDIES = {
    "PartitionTimeLimit": "it asks for more time than its partition allows; a group of jobs asks for the sum of them, "
    "so lower `runtime` in the profile, or of the model's `resources`",
    "PartitionConfig": "it asks for more cores or memory than a node of its partition has; a group of jobs asks for "
    "those of as many jobs as `cores` of the profile lets run at once, so lower `cores`, or the model's `resources`",
    "BadConstraints": "no node has what it asks for; correct the profile, or the model's `resources`",
    "ReqNodeNotAvail": "the nodes that could run it are not in service; name another partition",
}


def stays(reason: str) -> bool:
    """Returns whether a job that waits for a reason of Slurm's will wait until somebody changes something."""
    if reason.startswith(_LIMITS):
        return any(part in reason for part in _OF_ONE_JOB)
    return reason.startswith(FOR_EVER)


def remedy(reason: str) -> str:
    """Returns what helps a job that waits for ever."""
    known = next((words for start, words in _REMEDIES.items() if reason.startswith(start)), "")
    return known or "correct what the profile asks for (partition, account), or ask the administrators"


def tell_of_waiting(folder: Path) -> None:
    """Says on the error stream, from now on and once for each job, which jobs of a run will wait for ever.

    Args:
        folder: in which the run was started, and by which its jobs are known.
    """
    threading.Thread(target=_tell, args=(folder.resolve(),), name="waiting jobs", daemon=True).start()


def waiting_for_ever(folder: Path) -> Iterator[tuple[str, str]]:
    """Yields number and reason of each job that was submitted from a folder and will wait for ever."""
    said = ask("squeue", "-h", "-u", getpass.getuser(), "-t", "PD", "-o", "%i|%r|%Z")
    for line in said.words.splitlines() if said.status == 0 else []:
        number, _, rest = line.partition("|")
        reason, _, submitted_from = rest.partition("|")
        if stays(reason) and Path(submitted_from) == folder:
            yield number, reason


def _tell(folder: Path) -> None:
    told: set[str] = set()
    while True:
        time.sleep(SECONDS)
        for number, reason in waiting_for_ever(folder):
            if number not in told:
                words = f"Slurm job {number} waits for ever ({reason}): {remedy(reason)}"
                print(f"{words}; then press Ctrl-C and run the same command again", file=sys.stderr, flush=True)
                told.add(number)
