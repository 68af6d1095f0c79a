"""Sheets of every kind, small enough to tell by hand what a page must show and export."""

from __future__ import annotations

from dataclasses import replace

from dialeval.labels.units import Option, Sheet, SheetQuestion, ShownTurn, ShownUnit

HOSTILE = '</script><script>window.alarmed = true</script><img src=x onerror="window.alarmed = true">'
ARABIC = "مرحبا، كيف حالك؟"
CHINESE = "你今天过得怎么样？"
POLITE = SheetQuestion(
    "politeness",
    "How polite is the agent?",
    (
        Option("1", "rude, or dismissive"),
        Option("2", "curt"),
        Option("3", "neither"),
        Option("4", "polite"),
        Option("5", "warm and polite throughout"),
    ),
)
SOLVED = SheetQuestion("solved", "Is the customer's problem solved?", (Option("No"), Option("Yes")))
EFFORT = SheetQuestion("effort", "How much effort did it take the customer, in percent?", low=0.0, high=100.0)
STARS = SheetQuestion("stars", "How many stars?", low=0.0, high=10.0)
BETTER = SheetQuestion(
    "",
    "Which of the two is better?",
    (
        Option("A", "the first dialogue is better"),
        Option("B", "the second dialogue is better"),
        Option("Tie", "neither is better than the other"),
    ),
)
MACHINE = SheetQuestion("", "Did an AI take part?", (Option("Yes", "an AI wrote some of it"), Option("No")))


def dialogue(number: int, n_turns: int = 4, *, judged: str = "") -> tuple[ShownTurn, ...]:
    """Return a dialogue of a customer and an agent; of `judged` alone the utterances are judged."""
    return tuple(
        ShownTurn(speaker, f"Utterance {place} of dialogue {number}, by the {speaker}.", judged in {"", speaker})
        for place in range(1, n_turns + 1)
        if (speaker := ("agent", "customer")[place % 2])
    )


def unit(number: int, *dialogues: tuple[ShownTurn, ...]) -> ShownUnit:
    """Return a thing whose key says nothing."""
    return ShownUnit(f"{(number + 1) * 0x9E3779B97F4A7C15 % 2**64:016x}", dialogues)


def scales(n: int = 3) -> Sheet:
    """Return dialogues with two questions about the agent."""
    units = tuple(unit(number, dialogue(number, judged="agent")) for number in range(n))
    return Sheet("service", "anna", "d1", "scale", "dialogue", (POLITE, SOLVED), units)


def numbers() -> Sheet:
    """Return responses with a scale of many numbers, and one of eleven."""
    return replace(scales(), level="turn", questions=(EFFORT, STARS))


def pairs(n: int = 3) -> Sheet:
    """Return pairs of dialogues."""
    units = tuple(unit(number, dialogue(2 * number), dialogue(2 * number + 1)) for number in range(n))
    return Sheet("better", "anna", "d1", "pair", "dialogue", (BETTER,), units)


def machines(n: int = 3) -> Sheet:
    """Return dialogues in which an AI may have taken part."""
    units = tuple(unit(number, dialogue(number, 6)) for number in range(n))
    return Sheet("unieval", "anna", "d1", "locate", "dialogue", (MACHINE,), units)


def strange() -> Sheet:
    """Return dialogues of markup, of other scripts, and of long words."""
    said = (HOSTILE, ARABIC, CHINESE, "W" * 400, " ", "two\nlines")
    turns = tuple(ShownTurn(("<b>A</b>", "B")[place % 2], text) for place, text in enumerate(said))
    return replace(pairs(1), units=(unit(0, turns, turns[::-1]),), language="ar")
