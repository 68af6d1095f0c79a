"""What a verdict says about each dialogue it is about: won, tied, lost, or nothing."""

from __future__ import annotations

from typing import Literal

Outcome = Literal["won", "tied", "lost", "none"]

WINNERS = ("left", "right", "tie")
"""Values of a verdict's `winner`, by which side it takes for human."""


def comparison_outcomes(winner: str | None) -> tuple[Outcome, Outcome]:
    """Returns the outcome for the left and for the right dialogue of a comparison.

    Raises:
        ValueError: the winner is not a value of the table `verdicts`.
    """
    if winner is None:
        return "none", "none"
    if winner not in WINNERS:
        raise ValueError(f"winner {winner!r} is none of {', '.join(WINNERS)}")
    if winner == "tie":
        return "tied", "tied"
    return ("won", "lost") if winner == "left" else ("lost", "won")


def single_outcome(choice: str | None) -> Outcome:
    """Returns whether a dialogue judged by itself was taken for human throughout (won) or not (lost).

    Args:
        choice: `No` if the judge saw no AI, `Yes` if it did, None if its verdict could not be read.

    Raises:
        ValueError: the choice is not one of UniEval's.
    """
    if choice is None:
        return "none"
    if choice not in {"Yes", "No"}:
        raise ValueError(f"choice {choice!r} is neither Yes nor No")
    return "won" if choice == "No" else "lost"
