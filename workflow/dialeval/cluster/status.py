"""Of whom a run asks how its Slurm jobs ended: of sacct, or where that has no database behind it, of squeue.

The plugin takes sacct wherever it is installed. Without Slurm's accounting it then waits for ever for jobs that ended
long ago. squeue knows jobs only as long as the controller remembers them (`MinJobAge`).
"""

from __future__ import annotations

from dataclasses import dataclass

from dialeval.cluster.slurm import accounting_answers, seconds, settings_of_cluster

LOOKS = 3
"""How often a run has to look at a job in the time for which the controller remembers it."""
SLOWEST = 180
"""Seconds between two looks of the plugin where nothing ends for long."""


@dataclass(frozen=True)
class Asking:
    """Of whom a run asks how jobs ended.

    Attributes:
        command: `sacct` or `squeue`.
        first_look: seconds after which a job is looked at first.
        words: what the user is to know about it; empty where all is as asked for.
    """

    command: str
    first_look: int
    words: str = ""


def asking(wanted: str | None, first_look: int) -> Asking:
    """Returns whom to ask, and when.

    Args:
        wanted: what the profile or the plugin chose.
        first_look: seconds that they wait before the first look at a job.
    """
    if wanted != "squeue" and accounting_answers():
        return Asking(wanted or "sacct", first_look)
    remembered = seconds(settings_of_cluster().get("MinJobAge", ""))
    words = [] if wanted == "squeue" else ["Slurm's accounting does not answer here, so squeue is asked how jobs ended"]
    look = first_look
    if remembered is not None and remembered < LOOKS * first_look:  # else the plugin would go back to sacct
        look = max(1, remembered // LOOKS)
        words.append(f"jobs are looked at after {look} s, as the controller forgets them after {remembered} s")
    if remembered is not None and remembered <= SLOWEST:
        words.append(
            f"a job may end unseen where nothing else ends for {remembered} s, and the run would wait for it: ask the "
            "administrators for a MinJobAge of 300 s, or press Ctrl-C and run the same command again"
        )
    return Asking("squeue", look, "; ".join(words))
