"""Contamination: passages of cases and responses that occur in published corpora, and texts that models know by heart.

A passage is 50 letters and digits in a row, without blanks, punctuation and case (OpenAI 2023, GPT-4 technical report,
appendix C). A model may have been trained on published cases; a response that shares a passage with a corpus may be
recited. This check makes no request.

The completion test shows a model the first part of a published text and looks for the next passage in its response
(Carlini et al. 2023, "Quantifying memorization across neural language models"). It makes requests. A model may know a
text and not complete it, so that the rate is a lower bound. Both correct nothing.
"""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

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
    """Return the rows of the table `contamination`: shares of cases and dialogues with a passage of each corpus.

    Args:
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
    """Yield the utterances of an item's case and of its response."""
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
    """Return the letters and digits of a text, without case."""
    return "".join(letter for letter in text.casefold() if letter.isalnum())


def _hashes(plain: str) -> NDArray[np.int64]:
    """Return a hash of every passage of a text; none of one that is shorter."""
    places = range(len(plain) - LENGTH + 1)
    return np.fromiter((hash(plain[start : start + LENGTH]) for start in places), np.int64, max(len(places), 0))


# The completion test: texts of which models see the first part.

LONGEST_SHOWN = 1000
"""Letters and digits of a text that a model sees at most."""
NO_RESPONSE = "no response"
IS_CONTROL = "control: a text that the model cannot have seen"
NO_CONTROL = "no control corpus (memorization.control): compare with chance"


class Passage(NamedTuple):
    """A text to complete.

    Attributes:
        name: its dialogue.
        shown: the first part.
        following: the next 50 letters and digits, without case.
    """

    name: str
    shown: str
    following: str

    @property
    def digest(self) -> str:
        """Return a digest of the first part and the next passage."""
        return hashlib.sha256(f"{self.shown}\0{self.following}".encode("utf-8", "surrogatepass")).hexdigest()[:20]


class Text(NamedTuple):
    """A published text.

    Attributes:
        name: unique in its corpus.
        cluster: texts of one cluster share utterances; one of them is drawn.
        utterances: in order.
    """

    name: str
    cluster: str
    utterances: Sequence[str]


def passages_to_complete(texts: Iterable[Text], n: int, random_seed: int) -> tuple[list[Passage], int]:
    """Return the passages of n randomly drawn clusters, and the number of clusters that have none.

    A text is cut at a blank near its middle, or after `LONGEST_SHOWN` letters and digits. Texts are left out that are
    shorter than two passages, that show the next passage already, or whose next passage another drawn text has. The
    order of the texts has no influence.
    """

    def place(text: Text) -> tuple[bytes, str]:
        return hashlib.sha256(f"{random_seed}/{text.name}".encode("utf-8", "surrogatepass")).digest(), text.name

    found: dict[str, Passage] = {}
    taken: set[str] = set()
    clusters: set[str] = set()
    for text in sorted(texts, key=place):
        clusters.add(text.cluster)
        if text.cluster in taken:
            continue
        passage = _passage(text)
        if passage is None:
            continue
        taken.add(text.cluster)
        found.setdefault(passage.following, passage)
    return list(found.values())[:n], len(clusters - taken)


def _passage(text: Text) -> Passage | None:
    whole = "\n".join(text.utterances)
    count = np.cumsum([len(letter.casefold()) if letter.isalnum() else 0 for letter in whole])
    if not len(count) or count[-1] < 2 * LENGTH:
        return None
    cut = int(np.searchsorted(count, min(int(count[-1]) // 2, LONGEST_SHOWN))) + 1
    blank = next((end for end in range(cut, max(cut - LENGTH, 0), -1) if whole[end - 1].isspace()), cut)
    cut = blank if count[blank - 1] >= LENGTH else cut
    shown, following = whole[:cut].rstrip(), _plain(whole[cut:])[:LENGTH]
    if len(following) < LENGTH or following in _plain(shown):
        return None
    return Passage(text.name, shown, following)


class Completed(NamedTuple):
    """A model's responses about a corpus.

    Attributes:
        model, corpus: names.
        passages: what was shown, and what follows.
        responses: of each passage; None if missing.
        n_too_short: clusters without a passage.
        is_control: whether the model cannot have seen the corpus.
    """

    model: str
    corpus: str
    passages: Sequence[Passage]
    responses: Sequence[str | None]
    n_too_short: int = 0
    is_control: bool = False


def memorization_rows(completed: Sequence[Completed], confidence: float = 0.95) -> list[dict[str, Any]]:
    """Return the rows of the table `memorization`: by model and corpus, how many texts are completed verbatim.

    A text is completed verbatim if the response contains the next passage. Chance is the share of other texts' next
    passages of the corpus that a response contains. p is Fisher's exact test of a higher rate than in the control
    corpora; p_holm is adjusted over the corpora of all models.
    """
    from dialeval.stats.clustered import clustered_proportion
    from dialeval.stats.significance import holm

    rows: list[dict[str, Any]] = []
    of_controls: dict[str, tuple[int, int]] = {}
    for one in completed:
        plain = [None if text is None else _plain(text) for text in one.responses]
        known = [place for place, text in enumerate(plain) if text is not None]
        said = np.array(
            [[p.following in (plain[place] or "") for p in one.passages] for place in known], dtype=np.bool_
        )
        said = said.reshape(len(known), len(one.passages))
        verbatim = said[np.arange(len(known)), known]
        n_other = len(known) * (len(one.passages) - 1)
        share = clustered_proportion(
            verbatim.astype(np.float64), np.arange(len(known)), confidence=confidence, note=NO_RESPONSE
        )
        if one.is_control:
            n, n_verbatim = of_controls.get(one.model, (0, 0))
            of_controls[one.model] = n + len(known), n_verbatim + int(verbatim.sum())
        example = next(
            (one.passages[place].following for place, is_it in zip(known, verbatim, strict=True) if is_it), None
        )
        rows.append(
            {
                "model": one.model,
                "corpus": one.corpus,
                "n": len(known),
                "n_missing": len(plain) - len(known),
                "n_too_short": one.n_too_short,
                "n_verbatim": int(verbatim.sum()),
                "estimate": share.estimate,
                "ci_low": share.ci_low,
                "ci_high": share.ci_high,
                "chance": (int(said.sum()) - int(verbatim.sum())) / n_other if n_other else None,
                "control": None,
                "p": None,
                "p_holm": None,
                "example": example,
                "note": IS_CONTROL if one.is_control else share.note or None,
            }
        )
    tested = []
    for row, one in zip(rows, completed, strict=True):
        if one.is_control or not row["n"]:
            continue
        n, n_verbatim = of_controls.get(one.model, (0, 0))
        if not n:
            row["note"] = NO_CONTROL
            continue
        row |= {"control": n_verbatim / n, "p": _fisher(row["n_verbatim"], row["n"], n_verbatim, n)}
        tested.append(row)
    for row, adjusted in zip(tested, holm(np.array([row["p"] for row in tested])), strict=True):
        row["p_holm"] = float(adjusted)
    return rows


def _fisher(successes: int, n: int, of_control: int, n_control: int) -> float:
    """Return the one-sided p-value of Fisher's exact test of more successes than in the control."""
    total = successes + of_control
    most = min(total, n)
    ways = [
        math.comb(n, k) * math.comb(n_control, total - k) for k in range(successes, most + 1) if total - k <= n_control
    ]
    return sum(ways) / math.comb(n + n_control, total)
