"""Which criteria an item is scored on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field

from dialeval.corpora.items import Item
from dialeval.criteria import DIMENSIONS, Criterion, with_own

_WORDS_IN = "en"
"""The language of the papers' criteria, and of the text around any."""
Key = tuple[str, str, str]
"""Corpus, language and id of an item."""


@dataclass(frozen=True)
class AskedAbout:
    """What a protocol asks about items.

    Attributes:
        own: the user's criteria that it may ask about.
        named: the criteria that it names; none for the papers' at the item's level, and those that the corpus names.
        dimensions: by corpus, the criteria that it names.
        targets: by item, what its damage aims at.
        together: whether a judge scores several criteria in one answer.
    """

    own: Sequence[Criterion] = ()
    named: Sequence[str] = ()
    dimensions: Mapping[str, Sequence[str]] = field(default_factory=dict)
    targets: Mapping[Key, Set[str]] = field(default_factory=dict)
    together: bool = True

    def of_rated(self, item: Item) -> list[Criterion]:
        """Returns what is asked about an item: what is named, and what damage to it aims at."""
        given = self.named or self.dimensions.get(item.corpus) or DIMENSIONS[item.level]
        return self._at_level(item, [*given, *self._aimed_at(item)])

    def of_damaged(self, item: Item) -> list[Criterion]:
        """Returns what is asked about a damaged item: what the damage aims at."""
        return self._at_level(item, self._aimed_at(item))

    def groups_of_rated(self, item: Item) -> list[list[Criterion]]:
        """Returns the criteria on which an item is rated, those that are asked about together side by side.

        Without any that are named these are always all of the papers', as there, and the user's one by one: a further
        one changes no request that is there.
        """
        if self.named:
            return self._grouped(self._at_level(item, self.named))
        papers = self._at_level(item, DIMENSIONS[item.level])
        wanted = {*self.dimensions.get(item.corpus, ()), *self._aimed_at(item)}
        own = [one for one in self.own if one.name in wanted and one.is_at(item.level)]
        return [*self._grouped(papers), *([one] for one in own)]

    def groups_of_damaged(self, item: Item) -> list[list[Criterion]]:
        """Returns the same of a damaged item; where criteria are named, only if the damage aims at one of them."""
        if not self.named:
            return self.groups_of_rated(item)
        aimed_at = self._aimed_at(item)
        if self.together:
            return self.groups_of_rated(item) if aimed_at else []
        return self._grouped(self._at_level(item, aimed_at))

    def _grouped(self, criteria: list[Criterion]) -> list[list[Criterion]]:
        return [criteria] * bool(criteria) if self.together else [[one] for one in criteria]

    def _aimed_at(self, item: Item) -> list[str]:
        aimed_at = self.targets.get((item.corpus, item.language, item.item_id), frozenset())
        return [name for name in self.named or with_own(self.own) if name in aimed_at]

    def _at_level(self, item: Item, names: Iterable[str]) -> list[Criterion]:
        known = with_own(self.own)
        return [known[name] for name in dict.fromkeys(names) if _is_asked(known[name], item)]


def _is_asked(criterion: Criterion, item: Item) -> bool:
    """Returns whether a criterion fits an item; a system's response is there for criteria about responses alone."""
    return criterion.level == "turn" if item.system and item.level == "turn" else criterion.is_at(item.level)


class Untranslated:
    """Criteria that are asked about in other words than the item's language has, to be said once."""

    def __init__(self) -> None:
        self._found: dict[str, dict[str, None]] = {}

    def note(self, item: Item, criteria: Iterable[Criterion]) -> None:
        """Notes what an item is asked about."""
        if item.language != _WORDS_IN:
            for criterion in criteria:
                if item.language not in criterion.translations:
                    self._found.setdefault(item.language, {})[criterion.name] = None

    def say(self) -> None:
        """Says for every language which criteria have no words in it."""
        for language, names in self._found.items():
            print(f"items in {language} are asked in English, or the criterion's own words, about {', '.join(names)}")
