"""A translation model that does not fit is told before it is loaded."""

from __future__ import annotations

import pytest

from dialeval.engines.nllb.memory import check_memory
from dialeval.errors import UserError

GIGABYTE = 2**30


def test_weights_that_do_not_fit_are_told_with_what_helps() -> None:
    with pytest.raises(UserError, match=r"take 12\.5 GB, and the GPU has 8\.0 GB of memory free; take .*bfloat16"):
        check_memory("m", int(12.5 * GIGABYTE), 8 * GIGABYTE, on_gpu=True)


def test_what_fits_or_is_not_known_passes() -> None:
    check_memory("m", GIGABYTE, GIGABYTE, on_gpu=False)
    check_memory("m", GIGABYTE, None, on_gpu=False)
