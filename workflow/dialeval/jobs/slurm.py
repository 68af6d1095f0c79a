"""Slurm's commands: states of jobs, accounting, and pending jobs that can never start.

The plugin takes sacct wherever it is installed. Without Slurm's accounting it then waits for ever for jobs that ended
long ago. squeue knows jobs only as long as the controller remembers them (`MinJobAge`).
"""

from __future__ import annotations

import getpass
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PATIENCE = 15.0
"""Seconds in which a command has to answer."""


@dataclass(frozen=True)
class JobState:
    """What Slurm knows about a job.

    Attributes:
        number: its number.
        state: one of Slurm's words in capitals, such as COMPLETED or TIMEOUT.
        reason: why it waits or ended, as Slurm calls it; "None" where there is no reason.
        nodes: where it ran; empty where it did not.
        exit_code: `status:signal`, as Slurm writes it.
    """

    number: str
    state: str
    reason: str = ""
    nodes: str = ""
    exit_code: str = ""


def job_state(number: str) -> JobState | None:
    """Return what Slurm knows about a job: from its controller, or for jobs that it forgot, from its database.

    None where neither knows it.
    """
    answer = ask("scontrol", "show", "job", number, "--oneliner")
    if answer.status == 0 and (fields := _fields(answer.words)):
        state = fields.get("JobState", "").partition(" ")[0]
        nodes = fields.get("NodeList", "")
        return JobState(
            number, state, fields.get("Reason", ""), "" if nodes == "(null)" else nodes, fields.get("ExitCode", "")
        )
    answer = ask("sacct", "-X", "-n", "-P", "-j", number, "--format=State,Reason,NodeList,ExitCode")
    if answer.status == 0 and answer.words:
        state, reason, nodes, code = (answer.words.splitlines()[0].split("|") + [""] * 4)[:4]
        return JobState(number, state.partition(" ")[0], reason, "" if nodes == "None assigned" else nodes, code)
    return None


def settings_of_cluster() -> dict[str, str]:
    """Return Slurm's configuration, by name; empty where its controller does not answer."""
    answer = ask("scontrol", "show", "config")
    lines = answer.words.splitlines() if answer.status == 0 else []
    pairs = [line.split("=", 1) for line in lines if "=" in line]
    return {name.strip(): value.strip() for name, value in pairs}


def accounting_answers() -> bool:
    """Return whether sacct answers, for which Slurm needs an accounting database."""
    return ask("sacct", "-X", "-n", "--format=JobIdRaw", "--name=dialeval-asks-whether-sacct-answers").status == 0


@dataclass(frozen=True)
class SlurmAnswer:
    """The answer of a Slurm command.

    Attributes:
        status: its exit status; None where it is not installed or did not answer in time.
        words: its output; without its error stream where it succeeded.
    """

    status: int | None
    words: str


def ask(*command: str, patience: float = PATIENCE, stdin: str | None = None) -> SlurmAnswer:
    """Run one of Slurm's commands.

    Args:
        command: its name and arguments.
        patience: seconds after which it is given up.
        stdin: what it reads.
    """
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=patience, input=stdin, check=False)
    except (FileNotFoundError, PermissionError):
        return SlurmAnswer(None, f"{command[0]} is not installed here")
    except subprocess.TimeoutExpired:
        return SlurmAnswer(None, f"{command[0]} did not respond within {patience:.0f} s")
    return SlurmAnswer(done.returncode, (done.stdout if done.returncode == 0 else done.stderr or done.stdout).strip())


def _fields(line: str) -> dict[str, str]:
    return dict(re.findall(r"(?:^|\s)(\w+)=(\S*)", line))


# States of finished jobs

LOOKS = 3
"""How often a run has to look at a job in the time for which the controller remembers it."""
SLOWEST = 180
"""Seconds between two checks of the plugin where nothing ends for long."""


@dataclass(frozen=True)
class StatusCommand:
    """The command by which a run learns how jobs ended.

    Attributes:
        command: `sacct` or `squeue`.
        first_look: seconds after which a job is looked at first.
        words: a note for the user; empty where the wanted command is used.
    """

    command: str
    first_look: int
    words: str = ""


def status_command_of(wanted: str | None, first_look: int) -> StatusCommand:
    """Return whom to ask, and when.

    Args:
        wanted: what the profile or the plugin chose.
        first_look: seconds that they wait before the first look at a job.
    """
    if wanted != "squeue" and accounting_answers():
        return StatusCommand(wanted or "sacct", first_look)
    remembered = seconds(settings_of_cluster().get("MinJobAge", ""))
    words = [] if wanted == "squeue" else ["Slurm's accounting is not available, so squeue reports how jobs ended"]
    interval = first_look
    if remembered is not None and remembered < LOOKS * first_look:  # else the plugin would go back to sacct
        interval = max(1, remembered // LOOKS)
        words.append(f"jobs are checked every {interval} s, since the controller forgets them after {remembered} s")
    if remembered is not None and remembered <= SLOWEST:
        words.append(
            f"the end of a job can be missed if no other job ends for {remembered} s, and the run would wait for "
            f"it: ask the "
            "administrators for a MinJobAge of 300 s, or press Ctrl-C and run the same command again"
        )
    return StatusCommand("squeue", interval, "; ".join(words))


def seconds(text: str) -> int | None:
    """Return a time of Slurm's configuration, such as `300 sec`, in seconds; None where it is none."""
    found = re.match(r"(\d+)\s*(h|hours?)?", text)
    return int(found[1]) * (3600 if found[2] else 1) if found else None


# Pending jobs

SECONDS = 20.0
"""Between two looks at the queue."""
FOR_EVER = (
    "Account", "BadConstraints", "InvalidAccount", "InvalidQOS", "JobHeld", "PartitionConfig", "PartitionDown",
    "PartitionInactive", "PartitionNodeLimit", "PartitionTimeLimit", "ReqNodeNotAvail",
)  # fmt: skip
"""Beginnings of Slurm's reasons for which a job stays pending until its request or the cluster changes."""
_LIMITS = ("Assoc", "QOS")
_OF_ONE_JOB = ("PerJob", "PerNode", "WallDuration", "NotAllowed", "QOSMin")
"""What the names of limits hold that one job is over; under all others it waits for other jobs of its user to end."""
_REMEDIES = {
    "PartitionTimeLimit": "the job requests more time than its partition allows; a group of jobs requests the sum of "
    "their times, so lower `runtime` in the profile, or of the model's `resources`",
    "PartitionConfig": "the job requests more cores or memory than a node of its partition has; a group of jobs "
    "requests "
    "the sum of the jobs that `cores` of the profile lets run at once, so lower `cores`, or the model's `resources`",
    "BadConstraints": "no node has the requested resources; correct the profile, or the model's `resources`",
    "ReqNodeNotAvail": "the nodes that could run the job are not in service; set another partition",
}


def print_blocked_jobs(folder: Path) -> None:
    """Print to standard error, from now on and once for each job, which jobs of a run can never start.

    Args:
        folder: in which the run was started, and by which its jobs are known.
    """
    threading.Thread(target=_print_waiting, args=(folder.resolve(),), name="waiting jobs", daemon=True).start()


def waiting_for_ever(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield number and reason of each job that was submitted from a folder and can never start."""
    answer = ask("squeue", "-h", "-u", getpass.getuser(), "-t", "PD", "-o", "%i|%r|%Z")
    for line in answer.words.splitlines() if answer.status == 0 else []:
        number, _, rest = line.partition("|")
        reason, _, submitted_from = rest.partition("|")
        if is_blocked(reason) and Path(submitted_from) == folder:
            yield number, reason


def _print_waiting(folder: Path) -> None:
    printed: set[str] = set()
    while True:
        time.sleep(SECONDS)
        for number, reason in waiting_for_ever(folder):
            if number not in printed:
                words = f"Slurm job {number} cannot start ({reason}): {remedy(reason)}"
                print(f"{words}; then press Ctrl-C and run the same command again", file=sys.stderr, flush=True)
                printed.add(number)


def is_blocked(reason: str) -> bool:
    """Return whether a job with a reason of Slurm stays pending until its request or the cluster changes."""
    if reason.startswith(_LIMITS):
        return any(part in reason for part in _OF_ONE_JOB)
    return reason.startswith(FOR_EVER)


def remedy(reason: str) -> str:
    """Return the remedy for a job that can never start."""
    known = next((words for start, words in _REMEDIES.items() if reason.startswith(start)), "")
    return known or "correct partition and account in the profile, or ask the administrators"
