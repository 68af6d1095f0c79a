"""Which utterances are looked at: drawn by their ids, so that a corpus that grows keeps most of its sample."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from dialeval.schemas.translation import TRANSLATION_SAMPLE

_LETTERS = 2


def sample(utterances: Iterable[Mapping[str, Any]], size: int, random_seed: int) -> list[dict[str, Any]]:
    """Returns rows of the table `translation_sample`: of the translations that can be used, as many as asked for.

    Utterances of fewer than two letters, such as `:)`, are not drawn.

    Args:
        utterances: rows of the table `translated_utterances`.
        size: how many.
        random_seed: of the draw.
    """
    usable = {
        row["utterance_id"]: row
        for row in utterances
        if row["status"] == "ok" and sum(letter.isalpha() for letter in row["source"]) >= _LETTERS
    }
    drawn = sorted(usable, key=lambda name: hashlib.sha256(f"{random_seed}/{name}".encode()).digest())[:size]
    return [{column: usable[name][column] for column in TRANSLATION_SAMPLE.schema.names} for name in drawn]
