"""Items whose dialogues are nearly the same, found in about linear time.

Two dialogues are compared by the Jaccard similarity of their shingles: runs of words (of characters in Chinese). It is
exact: shingles are ordered from rare to common, and two sets that are similar enough must share one of the rarest of
each (prefix filtering; Bayardo, Ma and Srikant 2007), so that only few pairs are ever compared.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from dialeval.corpora.multiple_choice import TestItem

_WORD = re.compile(r"[\u3400-\u9fff]|[^\W_]+")
SHINGLE = 3


def near_duplicates(items: Sequence[TestItem], threshold: float = 0.7) -> dict[str, str]:
    """Returns the items that repeat an earlier one: item id -> id of the earlier item that is kept.

    Only items of one task and language are compared. An item that is itself dropped drops no other.

    Args:
        items: in order; of two near-duplicates the first one is kept.
        threshold: Jaccard similarity of the dialogues' shingles from which on they count as the same, above 0.

    Raises:
        ValueError: the threshold is not in (0, 1].
    """
    if not 0 < threshold <= 1:
        raise ValueError(f"the threshold must be above 0 and at most 1, not {threshold}")
    groups: dict[tuple[str, str], list[TestItem]] = defaultdict(list)
    for item in items:
        groups[item.task, item.language].append(item)
    found: dict[str, str] = {}
    for group in groups.values():
        for later, earlier in similar_to_earlier([shingles(item.utterances) for item in group], threshold).items():
            found[group[later].item_id] = group[earlier].item_id
    return found


def similar_to_earlier(sets: Sequence[frozenset[str]], threshold: float) -> dict[int, int]:
    """Returns the sets that are similar to an earlier one that is kept: place -> place of the earlier one.

    Args:
        sets: the shingles of each text.
        threshold: the least Jaccard similarity.
    """
    number: dict[str, int] = {}
    numbered = [np.array([number.setdefault(one, len(number)) for one in each], dtype=np.int64) for each in sets]
    count = np.bincount(np.concatenate(numbered), minlength=len(number)) if numbered else np.zeros(0, dtype=np.int64)
    rank = np.empty(len(number), dtype=np.int64)
    rank[np.argsort(count, kind="stable")] = np.arange(len(number))
    n_once = int((count == 1).sum())  # the first ranks; what stands in one text only is never shared
    kept_with: dict[int, list[int]] = defaultdict(list)
    kept: dict[int, frozenset[str]] = {}
    similar: dict[int, int] = {}
    for place, each in enumerate(sets):
        ordered = np.sort(rank[numbered[place]])
        prefix = ordered[: len(ordered) - math.ceil(threshold * len(ordered) - 1e-9) + 1]
        shared = prefix[prefix >= n_once].tolist()
        candidates = {earlier for shingle in shared for earlier in kept_with[shingle]}
        match = next((one for one in sorted(candidates) if _jaccard(kept[one], each) >= threshold), None)
        if match is not None:
            similar[place] = match
            continue
        kept[place] = each
        for shingle in shared:
            kept_with[shingle].append(place)
    return similar


def shingles(utterances: Iterable[str]) -> frozenset[str]:
    """Returns the runs of words in a dialogue; case and punctuation do not count."""
    words = _WORD.findall(" ".join(utterances).casefold())
    n = max(len(words) - SHINGLE + 1, 1)
    return frozenset(" ".join(words[start : start + SHINGLE]) for start in range(n))


def _jaccard(first: frozenset[str], second: frozenset[str]) -> float:
    shared = len(first & second)
    return shared / (len(first) + len(second) - shared)
