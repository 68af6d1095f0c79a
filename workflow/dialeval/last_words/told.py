"""The last words of a run: failed jobs with cause and log, and the command to go on."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dialeval.cluster.slurm import JobState
from dialeval.errors import visible

IN_FULL = 3
IN_A_LINE = 10
_RED, _AS_BEFORE = "\033[31m", "\033[0m"
_FORCING = {"-F", "--forceall", "-f", "--force"}
_FORCING_SOME = {"-R", "--forcerun"}
_SIGNALS = {
    "signal 9": "it was killed (signal 9): by the system because memory ran out, or by somebody; where it was memory, "
    "run fewer jobs at once (--cores), or give it more",
    "signal 15": "it was told to end (signal 15)",
    "signal 11": "it crashed (signal 11), which is a fault of a library or of the machine",
    "signal 7": "it crashed (signal 7); on a network disk that is most often one that went away or is full",
}
_STATES = {
    "TIMEOUT": "its time was over; give it more, in minutes: --set-resources {rule}:runtime=N",
    "DEADLINE": "its time was over; give it more, in minutes: --set-resources {rule}:runtime=N",
    "OUT_OF_MEMORY": "it needed more memory than it asked for; give it more: --set-resources {rule}:mem_mb=N",
    "NODE_FAIL": "its node failed; run the same command again, or leave the node out with --slurm-exclude-failed-nodes",
    "BOOT_FAIL": "its node did not start; run the same command again",
    "PREEMPTED": "it made room for a job of higher priority; run the same command again",
    "CANCELLED": "it was cancelled (scancel), by somebody or by the cluster",
}


@dataclass(frozen=True)
class FailedJob:
    """A job that failed.

    Attributes:
        name: its rule, and what it was about.
        cause: why, in lines.
        logs: files that say more.
    """

    name: str
    cause: Sequence[str]
    logs: Sequence[Path]


def closing_words(
    failed: Sequence[FailedJob], command: Sequence[str], *, stopped: str = "", colour: bool = False
) -> str:
    """Returns the last words of a run, the cause at the very end.

    Args:
        failed: the jobs that failed; those at the head are told in full, and equal causes once.
        command: what the user typed, with the program's path.
        stopped: name of the signal that ended the run, such as SIGINT; empty if it ended by itself.
        colour: whether causes are red.
    """
    go_on = f"To go on{' when that is mended' if failed and not stopped else ''}:\n  {command_to_go_on(command)}"
    if stopped:
        by = {"SIGINT": "Ctrl-C (SIGINT)", "SIGTERM": "a request to end (SIGTERM)"}.get(stopped, stopped)
        return f"The run was stopped by {by}; what was answered or made so far is kept.\n\n{go_on}"
    if not failed:
        return f"The run failed; see above.\n\n{go_on}"
    groups: dict[tuple[str, ...], list[FailedJob]] = {}
    for job in failed:
        groups.setdefault(tuple(job.cause), []).append(job)
    told = list(groups.values())
    heading = "A job failed:" if len(failed) == 1 else f"{len(failed)} jobs failed:"
    rest = [_in_a_line(group) for group in told[IN_FULL : IN_FULL + IN_A_LINE]]
    if left := sum(map(len, told[IN_FULL + IN_A_LINE :])):
        rest.append(f"  and {left} more; their logs lie beside these")
    full = [_in_full(group, colour=colour) for group in reversed(told[:IN_FULL])]
    return "\n\n".join([go_on, heading, *(["\n".join(rest)] if rest else []), *full])


def wants_colour(is_terminal: bool, environment: Mapping[str, str]) -> bool:
    """Returns whether words may be coloured: on a terminal that can, where nobody said no (https://no-color.org)."""
    return is_terminal and not environment.get("NO_COLOR") and environment.get("TERM") != "dumb"


def command_to_go_on(command: Sequence[str]) -> str:
    """Returns the user's own command, without what would make again all that is made.

    Jobs that were forced and did not come about are run by the same command anyway.
    """
    program, *words = command
    name = Path(program).name
    kept = ["snakemake"] if name == "snakemake" else ["python", "-m", "snakemake"]
    dropping = False
    for word in words:
        dropping = dropping and not word.startswith("-")
        if word in _FORCING_SOME:
            dropping = True
        if not (dropping or word in _FORCING or word.startswith(("--forcerun=", "-R"))):
            kept.append(word)
    return shlex.join(kept)


def words_of_ending(how: str, *, told: bool) -> list[str]:
    """Returns how a command ended; nothing where that says no more than what is told already."""
    if how in _SIGNALS and not (told and how == "signal 15"):
        return [_SIGNALS[how]]
    return [] if told or not how else [f"it ended with {how}"]


def words_of_state(state: JobState, rule: str) -> list[str]:
    """Returns what Slurm says about a job that failed, with what helps."""
    where = f" on {state.nodes}" if state.nodes else ""
    said = f"Slurm job {state.number}{where}: {state.state}"
    helps = _STATES.get(state.state)
    if helps is None:
        return []
    return [f"{said}: {helps.format(rule=rule)}"]


def _in_full(group: Sequence[FailedJob], *, colour: bool) -> str:
    """Returns jobs with the same cause: the first by name and logs, how many others, and the cause."""
    first = group[0]
    told = map(visible, first.cause)
    cause = [f"    {_RED}{line}{_AS_BEFORE}" if colour else f"    {line}" for line in told]
    return "\n".join([f"  {_names(group)}", *(f"    log: {path}" for path in first.logs), *cause])


def _in_a_line(group: Sequence[FailedJob]) -> str:
    first = group[0]
    log = f" (log: {first.logs[0]})" if first.logs else ""
    return f"  {_names(group)}: {visible((first.cause or ['?'])[0])}{log}"


def _names(group: Sequence[FailedJob]) -> str:
    others = len(group) - 1
    if not others:
        return group[0].name
    return f"{group[0].name} and {'another job' if others == 1 else f'{others} other jobs'} of which the same is known"
