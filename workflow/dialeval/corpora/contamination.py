"""Contamination: passages of cases and of responses that occur in the published corpora of a run.

A passage is 50 letters and digits in a row, without blanks, punctuation and case (OpenAI 2023, GPT-4 technical report,
appendix C). A model may have been trained on published cases; a response that shares a passage with a corpus may be
recited. The check makes no request. It corrects nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialeval.corpora.items import Item
from dialeval.tables.files import HUMAN

LENGTH = 50
"""Letters and digits of a passage."""
CASE, RESPONSE = "case", "response"
_About = tuple[str, str, str]
"""Source, part and system; of cases the system is empty."""


@dataclass
class _Texts:
    """The texts of one source, part and system.

    Attributes:
        checked: the cases or dialogues with an utterance that is long enough.
        short: the others.
        shared: by corpus, the cases or dialogues with a passage of the corpus, and one such passage.
    """

    checked: set[str] = field(default_factory=set)
    short: set[str] = field(default_factory=set)
    shared: defaultdict[str, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))


def contamination_rows(
    items: Iterable[Item], corpora: Mapping[str, Iterable[str]], n_seed_utterances: Mapping[str, int]
) -> list[dict[str, Any]]:
    """Returns the rows of the table `contamination`: shares of cases and dialogues with a passage of each corpus.

    Args:
        items: dialogues of systems.
        corpora: utterances of each corpus by name; read once, one corpus after the other.
        n_seed_utterances: by source, the number of first utterances that are the case. In other sources the case is
            what the evaluated speaker did not write.
    """
    texts: defaultdict[_About, _Texts] = defaultdict(_Texts)
    found: list[tuple[_About, str, str]] = []  # the plain texts with a passage
    for item in items:
        if item.system == HUMAN:
            continue
        for part, utterances in _parts(item, n_seed_utterances.get(item.corpus)):
            about = (item.corpus, part, item.system if part == RESPONSE else "")
            name = (item.case_id or item.item_id) if part == CASE else item.item_id
            plain = [text for text in map(_plain, utterances) if len(text) >= LENGTH]
            (texts[about].checked if plain else texts[about].short).add(name)
            found += [(about, name, text) for text in plain]
    hashes = [_hashes(text) for *_, text in found]
    every = np.concatenate(hashes) if hashes else np.zeros(0, np.int64)
    owner = np.repeat(np.arange(len(found), dtype=np.int32), [len(one) for one in hashes])
    order = np.argsort(every, kind="stable")
    every, owner = every[order], owner[order]
    for corpus, published in corpora.items():
        for text in map(_plain, published):
            of_text = _hashes(text)
            first, last = (np.searchsorted(every, of_text, side=side) for side in ("left", "right"))
            for start in np.flatnonzero(first < last):
                passage = text[start : start + LENGTH]
                for place in dict.fromkeys(owner[first[start] : last[start]].tolist()):
                    about, name, own = found[place]
                    if passage in own:
                        texts[about].shared[corpus].setdefault(name, passage)
    return [
        {
            "source": source,
            "part": part,
            "system": system or None,
            "corpus": corpus,
            "n": len(one.checked),
            "n_too_short": len(one.short - one.checked),
            "n_shared": len(one.shared[corpus]),
            "share": len(one.shared[corpus]) / len(one.checked) if one.checked else None,
            "example": min(one.shared[corpus].values(), default=None),
        }
        for (source, part, system), one in sorted(texts.items())
        for corpus in corpora
    ]


def _parts(item: Item, n_seed: int | None) -> Iterator[tuple[str, list[str]]]:
    """Yields the utterances of an item's case and of its response."""
    if n_seed is not None:
        yield CASE, list(item.utterances[:n_seed])
        yield RESPONSE, list(item.utterances[n_seed:])
        return
    last = len(item.utterances) - 1
    own = [
        place == last if item.level == "turn" else item.judged in ("", speaker)
        for place, speaker in enumerate(item.speakers)
    ]
    yield CASE, [text for text, is_own in zip(item.utterances, own, strict=True) if not is_own]
    yield RESPONSE, [text for text, is_own in zip(item.utterances, own, strict=True) if is_own]


def _plain(text: str) -> str:
    """Returns the letters and digits of a text, without case."""
    return "".join(letter for letter in text.casefold() if letter.isalnum())


def _hashes(plain: str) -> NDArray[np.int64]:
    """Returns a hash of every passage of a text; none of one that is shorter."""
    places = range(len(plain) - LENGTH + 1)
    return np.fromiter((hash(plain[start : start + LENGTH]) for start in places), np.int64, max(len(places), 0))
