"""Who fills in what nobody rated: the judge, and who is not compared with its ratings (comp-analysis)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dialeval.config.mistakes import Mistake, unknown

if TYPE_CHECKING:
    from dialeval.config.whole import Config

FIELD = "metaeval.fill"
PROTOCOL = "rating"
"""The protocol whose repeats become ratings."""


def partial_to(config: Config) -> list[str]:
    """Returns the judge that fills in and the ensembles that it is in: its own ratings are no reference for them."""
    fill = config.metaeval.fill if config.metaeval else None
    if fill is None:
        return []
    return [fill, *(name for name, members in config.ensembles.items() if fill in members)]


def unfit_fill(config: Config) -> Iterator[Mistake]:
    """Yields mistakes where nobody could fill in."""
    metaeval, rating = config.metaeval, config.protocols.rating
    if metaeval is None or metaeval.fill is None:
        return
    name = metaeval.fill
    if name in config.ensembles or name in metaeval.score_files:
        kind = "an ensemble" if name in config.ensembles else "a file of ready scores"
        words = f"'{name}' is {kind}, which has no repeats of its own; name a judge of protocol rating"
        yield Mistake(FIELD, words, (f"ensembles.{name}", f"metaeval.score_files.{name}"))
    elif name not in config.models:
        yield from unknown(FIELD, [name], config.models, "model", "models")
    elif rating is None:
        words = (
            f"what '{name}' fills in are its ratings, and nobody is asked for any; put "
            f"rating: {{judges: [{name}], repeats: 5, temperature: 0.7}} under protocols"
        )
        yield Mistake(FIELD, words, ("protocols.rating",))
    elif name not in (judges := config.judges_of(PROTOCOL)):
        words = f"'{name}' is not asked to rate; put it under protocols.rating.judges ({', '.join(judges) or 'none'})"
        yield Mistake(FIELD, words, ("protocols.rating.judges", "judges", f"models.{name}"))
    elif rating.repeats < 2:
        words = (
            "a reference that was given once shows nothing of how far it can be relied on; set "
            "protocols.rating.repeats to 2 or more (the paper's is 5, at temperature 0.7)"
        )
        yield Mistake(FIELD, words, ("protocols.rating.repeats",))
    elif all(corpus.reader == "ladder" for corpus in metaeval.corpora.values()):
        words = "every corpus is a ladder, whose reference is known by construction; there is nothing to fill in"
        yield Mistake(FIELD, words, ("metaeval.corpora",))
