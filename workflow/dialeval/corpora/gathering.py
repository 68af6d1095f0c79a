"""What is rated in a file, gathered until all of it is known: which items depend on each other shows only then."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dialeval.corpora import clusters
from dialeval.corpora.items import Item, Rating
from dialeval.corpora.rated import RatedReading, check, speakers_before_response
from dialeval.criteria import Level

_LANGUAGE = "en"


@dataclass(frozen=True)
class _Rated:
    item_id: str
    place: str
    speakers: tuple[str, ...]
    texts: tuple[str, ...]
    cluster: str


@dataclass
class Gathering:
    """The items of a file in English, in order.

    Attributes:
        corpus: name of the corpus in the configuration.
        path: the file.
        level: of all items.
        reading: what was found, without its items.
    """

    corpus: str
    path: Path
    level: Level
    reading: RatedReading = field(init=False)
    _found: list[_Rated] = field(default_factory=list, init=False, repr=False)

    def __post_init__(self) -> None:
        self.reading = RatedReading(str(self.path))

    def take(
        self, item_id: str, where: str, said: Sequence[tuple[str, str]], ratings: list[Rating], cluster: str = ""
    ) -> None:
        """Takes an item with its ratings; one without a rating or with an empty utterance is left out and counted.

        Args:
            item_id: of the item.
            where: file and record, for messages.
            said: speaker and text of each utterance.
            ratings: of the item.
            cluster: where the file says what depends on what; empty to find it by the texts.
        """
        if not ratings:
            self.reading.leave_out(_LANGUAGE, item_id, "records without a rating")
        elif not said or not all(text for _, text in said):
            self.reading.leave_out(_LANGUAGE, item_id, "records with an empty utterance")
        else:
            self.reading.ratings += ratings
            place = where.removeprefix(f"{self.path}, ")
            speakers, texts = zip(*said, strict=True)
            self._found.append(_Rated(item_id, place, speakers, texts, cluster))

    def checked(self) -> RatedReading:
        """Returns all that was found, items that depend on each other being one cluster.

        Raises:
            UserError: as of `RatedReading.add` and `check`.
        """
        texts = [one.texts for one in self._found]
        join = clusters.context_clusters if self.level == "turn" else clusters.identical_clusters
        for one, first in zip(self._found, join(texts), strict=True):
            cluster = one.cluster or self._found[first].item_id
            item = Item(self.corpus, one.item_id, _LANGUAGE, self.level, cluster, one.speakers, one.texts)
            self.reading.add(item, one.place)
        return check(self.reading)


def before_response(texts: Sequence[str]) -> list[tuple[str, str]]:
    """Returns utterances with their speakers where the last is the chatbot's and two alternate before it."""
    return list(zip(speakers_before_response(len(texts)), texts, strict=True))
