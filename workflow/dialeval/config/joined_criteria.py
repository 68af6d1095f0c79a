"""What judges are asked about a rated corpus where people rated something else (`metaeval.corpora.*.asks`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dialeval.config.mistakes import Mistake, unknown
from dialeval.config.trained_judges import LEVEL_OF_READER
from dialeval.criteria import SHOWN_LEVELS, with_own

if TYPE_CHECKING:
    from dialeval.config.metaeval import RatedCorpus
    from dialeval.config.whole import Config


def unfit_asks(config: Config) -> Iterator[Mistake]:
    """Yields mistakes where a criterion cannot be asked of a corpus."""
    known = with_own(config.own_criteria(config.criteria))
    for name, corpus in config.metaeval.corpora.items() if config.metaeval else ():
        field = f"metaeval.corpora.{name}.asks"
        if corpus.asks and corpus.reader == "ladder":
            words = "people rated nothing of a ladder: its reference is known by construction; take asks out"
            yield Mistake(field, words, (f"metaeval.corpora.{name}.reader",))
            continue
        level = LEVEL_OF_READER.get(corpus.reader)
        for asked in corpus.asks:
            yield from unknown(field, [asked], known, "criterion", "criteria")
            if level and asked in known and not known[asked].is_at(level):
                fitting = ", ".join(one for one in known if known[one].is_at(level))
                words = (
                    f"reader {corpus.reader} reads what was rated as a {SHOWN_LEVELS[level]}, and '{asked}' is not "
                    f"asked of one; there are {fitting}"
                )
                yield Mistake(field, words, (f"metaeval.corpora.{name}.reader", f"criteria.{asked}"))


def fillable(corpus: RatedCorpus) -> list[str]:
    """Returns those criteria that a corpus is limited to on which ratings may be filled in.

    What is compared with ratings on another criterion has its reference already.
    """
    return [name for name in corpus.asked or () if name not in corpus.joined]


def joined_criteria(config: Config) -> dict[str, dict[str, str]]:
    """Returns, by rated corpus, what is asked about and compared with ratings on another criterion."""
    corpora = config.metaeval.corpora if config.metaeval else {}
    return {name: corpus.joined for name, corpus in corpora.items() if corpus.joined}
