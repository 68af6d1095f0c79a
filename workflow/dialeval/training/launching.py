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


def device_name(gpus: int) -> str:
    """Returns what a training computes on, for the table of runs."""
    if not gpus:
        return "CPU"
    import torch

    name = str(torch.cuda.get_device_name(int(os.environ.get("LOCAL_RANK", "0"))))
    return name if gpus == 1 else f"{gpus} x {name}"


def launch_command(number: int, module: Sequence[str]) -> list[str]:
    """Returns the command that runs a module in several processes of this machine.

    Args:
        number: how many.
        module: its name and arguments, such as `dialeval.stages train_lora ...`.
    """
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(number)]
    return [sys.executable, *launcher, "-m", *module]


def spread(gpus: int) -> None:
    """Goes on as torch's launcher, which starts what this process is again in several, where there are to be several.

    It takes the place of this process, so that signals reach it. In processes that were launched it does nothing; in
    one that goes on alone it hides the other GPUs, which the Trainer would split batches over. Call it before torch is
    imported.

    Args:
        gpus: that share the training; 0 and 1 mean this process alone.
    """
    if launched_by_torch():
        return
    if gpus <= 1:
        os.environ["CUDA_VISIBLE_DEVICES"] = _first_devices(gpus)
        return
    command = launch_command(gpus, sys.orig_argv[sys.orig_argv.index("-m") + 1 :])
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(command[0], command)


def _first_devices(number: int) -> str:
    """Returns the first of the devices that this process may use, as CUDA_VISIBLE_DEVICES names them."""
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    shown = ["0"] if named is None else [one.strip() for one in named.split(",") if one.strip()]
    return ",".join(shown[:number])
