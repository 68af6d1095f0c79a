"""Dialogues to make training examples of: many, short, and each about something of its own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from dialeval.tables.dialogues import UTTERANCES
from dialeval.tables.files import to_table, write_table
from dialeval.training.human_dialogues import HumanDialogue
from dialeval.training.training_sets import Recipe

THINGS = (
    "lantern", "kettle", "accordion", "ladder", "turnip", "parrot", "saddle", "compass", "violin", "marrow", "umbrella",
    "helmet", "teapot", "canoe", "anchor", "blanket", "chimney", "dictionary", "engine", "feather", "hammer", "jacket",
)  # fmt: skip
PLACES = (
    "harbour", "market", "kitchen", "station", "museum", "library", "orchard", "bakery", "tunnel", "castle", "meadow",
)  # fmt: skip
SAYINGS = (
    "Where did you put the {thing} after we left the {place} last night?",
    "I lent the {thing} to the woman from the {place}, the one with the dog.",
    "Without that {thing} nobody at the {place} will let us in again.",
    "Then we will have to paint another {thing} before the {place} opens.",
    "My brother broke his {thing} when he worked at the {place} in spring.",
    "He never told me that the {place} had such an expensive {thing}.",
)


def dialogue(
    number: int, n: int = 4, corpus: str = "home", language: str = "en", domain: str = "daily"
) -> HumanDialogue:
    """Return a dialogue that shares no passage with those of other numbers."""
    thing, place = THINGS[number % len(THINGS)], PLACES[number // len(THINGS) % len(PLACES)]
    word = f"{language}{corpus}{number}"
    said = [SAYINGS[turn % len(SAYINGS)].format(thing=f"{thing} {word}", place=place) for turn in range(n)]
    speakers = tuple("AB"[turn % 2] for turn in range(n))
    return HumanDialogue(corpus, f"d{number}", language, domain, speakers, tuple(said))


def saying(texts: Sequence[str], name: str = "d", corpus: str = "home", language: str = "en") -> HumanDialogue:
    """Return a dialogue of some texts."""
    speakers = tuple("AB"[turn % 2] for turn in range(len(texts)))
    return HumanDialogue(corpus, name, language, "daily", speakers, tuple(texts))


def recipe(**changes: Any) -> Recipe:
    """Return a recipe of one domain with one corpus."""
    return Recipe(**{"name": "mine", "level": "turn", "domains": {"daily": ["home"]}} | changes)


def write(path: Path, dialogues: Sequence[HumanDialogue]) -> Path:
    """Write a table `utterances`."""
    rows = [
        {"corpus": one.corpus, "dialogue_id": one.dialogue_id, "turn": turn, "speaker": speaker, "text": text,
         "language": one.language}
        for one in dialogues
        for turn, (speaker, text) in enumerate(zip(one.speakers, one.utterances, strict=True))
    ]  # fmt: skip
    write_table(path, UTTERANCES, to_table(UTTERANCES, rows))
    return path


LONG = st.sampled_from([saying.format(thing=thing, place="harbour") for saying in SAYINGS for thing in THINGS[:5]])
SHORT = st.sampled_from(["Hi.", "Hello!", "Yes.", "Okay.", "…", "Why?"])
TEXTS = st.lists(st.one_of(LONG, SHORT), min_size=2, max_size=5)


@st.composite
def corpora(draw: st.DrawFn, most: int = 12) -> list[HumanDialogue]:
    """Draws dialogues that share utterances with each other, in two corpora and languages."""
    found: dict[tuple[str, str, str], HumanDialogue] = {}
    for number, texts in enumerate(draw(st.lists(TEXTS, min_size=1, max_size=most))):
        corpus, language = draw(st.sampled_from(["home", "away"])), draw(st.sampled_from(["en", "zh"]))
        name = f"d{draw(st.integers(0, number))}"
        found.setdefault((corpus, name, language), saying(texts, name, corpus, language))
    return list(found.values())
