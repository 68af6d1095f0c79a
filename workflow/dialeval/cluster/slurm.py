"""What Slurm's own commands say, each asked with a limit of time: without its database some of them hang."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass

PATIENCE = 15.0
"""Seconds in which a command has to answer."""


@dataclass(frozen=True)
class Said:
    """What a command of Slurm's said.

    Attributes:
        status: its exit status; None where it is not installed or did not answer in time.
        words: what it wrote, without what it says about errors where it succeeded.
    """

    status: int | None
    words: str


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


def ask(*command: str, patience: float = PATIENCE, stdin: str | None = None) -> Said:
    """Runs one of Slurm's commands.

    Args:
        command: its name and arguments.
        patience: seconds after which it is given up.
        stdin: what it reads.
    """
    if not shutil.which(command[0]):
        return Said(None, f"{command[0]} is not installed here")
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=patience, input=stdin, check=False)
    except subprocess.TimeoutExpired:
        return Said(None, f"{command[0]} did not answer within {patience:.0f} s")
    return Said(done.returncode, (done.stdout if done.returncode == 0 else done.stderr or done.stdout).strip())


def job_state(number: str) -> JobState | None:
    """Returns what Slurm knows about a job: from its controller, or for jobs that it forgot, from its database.

    None where neither knows it.
    """
    said = ask("scontrol", "show", "job", number, "--oneliner")
    if said.status == 0 and (fields := _fields(said.words)):
        state = fields.get("JobState", "").partition(" ")[0]
        nodes = fields.get("NodeList", "")
        return JobState(
            number, state, fields.get("Reason", ""), "" if nodes == "(null)" else nodes, fields.get("ExitCode", "")
        )
    said = ask("sacct", "-X", "-n", "-P", "-j", number, "--format=State,Reason,NodeList,ExitCode")
    if said.status == 0 and said.words:
        state, reason, nodes, code = (said.words.splitlines()[0].split("|") + [""] * 4)[:4]
        return JobState(number, state.partition(" ")[0], reason, "" if nodes == "None assigned" else nodes, code)
    return None


def settings_of_cluster() -> dict[str, str]:
    """Returns Slurm's configuration, by name; empty where its controller does not answer."""
    said = ask("scontrol", "show", "config")
    lines = said.words.splitlines() if said.status == 0 else []
    pairs = [line.split("=", 1) for line in lines if "=" in line]
    return {name.strip(): value.strip() for name, value in pairs}


def accounting_answers() -> bool:
    """Returns whether sacct can tell how jobs ended, for which Slurm needs a database."""
    return ask("sacct", "-X", "-n", "--format=JobIdRaw", "--name=dialeval-asks-whether-sacct-answers").status == 0


def seconds(text: str) -> int | None:
    """Returns a time of Slurm's configuration, such as `300 sec`, in seconds; None where it is none."""
    found = re.match(r"(\d+)\s*(h|hours?)?", text)
    return int(found[1]) * (3600 if found[2] else 1) if found else None


def _fields(line: str) -> dict[str, str]:
    return dict(re.findall(r"(?:^|\s)(\w+)=(\S*)", line))
