"""A translation model that does not fit is told before it is loaded."""

from __future__ import annotations

import pytest

from dialeval.config import NllbModel
from dialeval.engines import local_models
from dialeval.engines.availability import cannot_compute_here, unavailable
from dialeval.engines.nllb.memory import check_memory
from dialeval.errors import UserError

GIGABYTE = 2**30


def test_weights_that_do_not_fit_are_told_with_what_helps() -> None:
    with pytest.raises(UserError, match=r"take 12\.5 GB, and the GPU has 8\.0 GB of memory free; take .*bfloat16"):
        check_memory("m", int(12.5 * GIGABYTE), 8 * GIGABYTE, on_gpu=True)


def test_what_fits_or_is_not_known_passes() -> None:
    check_memory("m", GIGABYTE, GIGABYTE, on_gpu=False)
    check_memory("m", GIGABYTE, None, on_gpu=False)


def test_a_gpu_that_is_not_there_and_a_format_that_the_cpu_lacks_are_told_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(local_models, "usable_gpus", lambda: 0)
    reason = cannot_compute_here(NllbModel(engine="nllb"))
    assert reason is not None
    assert reason.startswith("gpus: 1, and this machine has no NVIDIA GPU for it")
    assert cannot_compute_here(NllbModel(engine="nllb", gpus=0)) is None
    halved = NllbModel(engine="nllb", gpus=0, precision="float16")
    assert "float16 is for GPUs" in (unavailable(halved, own_environment=True) or "")
