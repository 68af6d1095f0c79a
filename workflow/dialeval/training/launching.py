"""One training in several processes, one for each GPU, through torch's own launcher."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence


def launched_by_torch() -> bool:
    """Returns whether this process is one of several that share a training."""
    return "LOCAL_RANK" in os.environ and "WORLD_SIZE" in os.environ


def is_first() -> bool:
    """Returns whether this process is the one that writes what the training gives."""
    return os.environ.get("RANK", "0") == "0"


def launch_command(module: str, processes: int, arguments: Sequence[str]) -> list[str]:
    """Returns the command that runs a module in several processes of this machine.

    Args:
        module: such as `dialeval.stages.train_lora`.
        processes: how many.
        arguments: of the module.
    """
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes)]
    return [sys.executable, *launcher, "-m", module, *arguments]


def spread(module: str, processes: int, arguments: Sequence[str] | None = None) -> None:
    """Goes on as torch's launcher, which runs the module again in each of several processes, where there are to be any.

    It takes the place of this process, so that signals reach it. For one process, and in those that were launched, it
    does nothing.

    Args:
        module: whose `__main__` this process runs.
        processes: GPUs that share the training; 0 and 1 mean this process alone.
        arguments: those of the command line, if not given.
    """
    if processes <= 1 or launched_by_torch():
        return
    command = launch_command(module, processes, sys.argv[1:] if arguments is None else arguments)
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(command[0], command)
