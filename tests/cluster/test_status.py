"""sacct tells how jobs ended only where Slurm has accounting."""

from __future__ import annotations

import pytest

from dialeval.cluster.status import Asking, asking

WITHOUT = "echo 'Slurm accounting storage is disabled' >&2; exit 1"


def remembers(age: str) -> str:
    return f"echo 'MinJobAge = {age}'"


@pytest.mark.parametrize("wanted", ["sacct", None])
def test_with_accounting_sacct_is_asked_and_nothing_said(slurm, wanted: str | None) -> None:
    slurm(sacct="exit 0", scontrol=remembers("300 sec"))
    assert asking(wanted, 40) == Asking("sacct", 40)


def test_without_accounting_squeue_is_asked_whatever_was_chosen(slurm) -> None:
    slurm(sacct=WITHOUT, scontrol=remembers("300 sec"))
    found = asking("sacct", 40)
    assert (found.command, found.first_look) == ("squeue", 40)
    assert "accounting does not answer" in found.words


def test_squeue_that_was_asked_for_needs_no_word(slurm) -> None:
    slurm(sacct="exit 0", scontrol=remembers("300 sec"))
    assert asking("squeue", 40) == Asking("squeue", 40)


def test_a_controller_that_forgets_soon_is_looked_at_sooner_and_told(slurm) -> None:
    slurm(sacct=WITHOUT, scontrol=remembers("60 sec"))
    found = asking("sacct", 40)
    assert (found.command, found.first_look) == ("squeue", 20)
    assert "forgets them after 60 s" in found.words
    assert "MinJobAge of 300 s" in found.words
