"""What each embedded method can be asked for. How it learns is in the module of its name in `engines.embedded.methods`.

A new method is an entry here and that module. No stage names this dictionary: jobs depend on their own method alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class Method(NamedTuple):
    """A kind of embedded model.

    Attributes:
        serves: the protocols that it answers.
        says: what it does.
        is_baseline: whether it is no more than what any judge has to beat.
    """

    serves: frozenset[str]
    says: str
    is_baseline: bool = False


_CHATS = frozenset({"selfchat", "multiple_choice"})
_RATES = frozenset({"rating", "yes_no"})
_JUDGES = frozenset({"unieval", "arena", "gteval", "multiple_choice"}) | _RATES
METHODS: Mapping[str, Method] = MappingProxyType(
    {
        "retrieval": Method(_CHATS, "selects a person's reply from the most similar place (TF-IDF)"),
        "ngram": Method(_CHATS, "writes word by word from Kneser-Ney trigrams, with the last utterance as topic"),
        "random": Method(
            _CHATS | _RATES, "says an utterance drawn at random from people's dialogues; rates at random", True
        ),
        "generic": Method(_CHATS, "says stock replies in turn, whatever was said; always takes the first option"),
        "forest": Method(_JUDGES, "tells people's dialogues from spoiled ones by randomised trees"),
        "selection": Method(_JUDGES, "the forest, joined by a model that tells true replies from strange ones"),
        "length": Method(_RATES, "rates by the number of words", True),
        "overlap": Method(_RATES, "rates by the share of words that were said before", True),
        "perplexity": Method(_RATES, "rates by how likely the words are (Kneser-Ney trigrams)", True),
    }
)


def serves(method: str, protocol: str) -> bool:
    """Whether a method answers a protocol; of one that there is not, something else is said."""
    return method not in METHODS or protocol in METHODS[method].serves


def able_to(protocol: str) -> list[str]:
    """Returns the methods that answer a protocol."""
    return [name for name, method in METHODS.items() if protocol in method.serves]
