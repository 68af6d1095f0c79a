"""What a verdict says about each dialogue it is about: won, tied, lost, nothing, or what no one can win: a value."""

from __future__ import annotations

from typing import Literal, get_args

from dialeval.failure_kinds import GOOD
from dialeval.forms.detect import passes
from dialeval.schemas.judgements import Outcome

Result = Literal["won", "tied", "lost", "none", "told"]

SIDES: tuple[str, ...] = get_args(Outcome)
"""Values of a judgement's `outcome`."""


def comparison_outcomes(outcome: str | None) -> tuple[Result, Result]:
    """Returns the result for the left and for the right dialogue of a comparison.

    Raises:
        ValueError: the outcome is not a value of the table `judgements`.
    """
    if outcome is None:
        return "none", "none"
    if outcome not in SIDES:
        raise ValueError(f"outcome {outcome!r} is none of {', '.join(SIDES)}")
    if outcome == "tie":
        return "tied", "tied"
    return ("won", "lost") if outcome == "left" else ("lost", "won")


def single_outcome(choice: str | None) -> Result:
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


def outcome_at(choice: str | None, first_ai: int | None, n: int) -> Result:
    """Returns the same at a length N, at which an AI that is seen after N counts for human (`forms.detect.passes`)."""
    if choice is None:
        return "none"
    return "won" if passes(choice, first_ai, n) else "lost"


def marked(criterion: str, choice: str | None) -> Result:
    """Returns whether a dialogue shows a kind (lost) or not (won); a good case is won where it is one.

    Raises:
        ValueError: the choice is neither Yes nor No.
    """
    found = single_outcome(choice)
    if criterion != GOOD or found == "none":
        return found
    return "lost" if found == "won" else "won"
