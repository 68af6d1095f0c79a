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


def processes(gpus: int) -> int:
    """Returns how many processes share this training.

    Args:
        gpus: as the configuration has it; what launched this process knows better.
    """
    return int(os.environ["WORLD_SIZE"]) if launched_by_torch() else max(gpus, 1)


def launch_command(module: str, number: int, arguments: Sequence[str]) -> list[str]:
    """Returns the command that runs a module in several processes of this machine.

    Args:
        module: such as `dialeval.stages.train_lora`.
        number: how many.
        arguments: of the module.
    """
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(number)]
    return [sys.executable, *launcher, "-m", module, *arguments]


def spread(module: str, gpus: int, arguments: Sequence[str] | None = None) -> None:
    """Goes on as torch's launcher, which runs the module again in each of several processes, where there are to be any.

    It takes the place of this process, so that signals reach it. In processes that were launched it does nothing; in
    one that goes on alone it hides the other GPUs, which the Trainer would split batches over. Call it before torch is
    imported.

    Args:
        module: whose `__main__` this process runs.
        gpus: that share the training; 0 and 1 mean this process alone.
        arguments: of the module; if not given, the processes are started as this one was.
    """
    if launched_by_torch():
        return
    if gpus <= 1:
        os.environ["CUDA_VISIBLE_DEVICES"] = _first_devices(gpus)
        return
    if arguments is None:
        module, *arguments = _as_started(module)
    command = launch_command(module, gpus, arguments)
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(command[0], command)


def _as_started(module: str) -> list[str]:
    """Returns the module and the arguments that this process was started with, as a job of the workflow or by hand."""
    program = sys.orig_argv
    return program[program.index("-m") + 1 :] if "-m" in program else [module, *sys.argv[1:]]


def _first_devices(number: int) -> str:
    """Returns the first of the devices that this process may use, as CUDA_VISIBLE_DEVICES names them."""
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    shown = ["0"] if named is None else [one.strip() for one in named.split(",") if one.strip()]
    return ",".join(shown[:number])
