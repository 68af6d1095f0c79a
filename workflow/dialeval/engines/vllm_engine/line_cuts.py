"""Where a text may be cut between two lines without changing its tokens, and for which tokenizers that is so.

A byte-level BPE first cuts a text by patterns, and then merges within each part alone. A text may therefore be
tokenised in two wherever its patterns cut in any case. We cut behind a line break that follows something visible and is
followed by a Latin letter or a digit: there the patterns of GPT-2, Llama 3, Qwen, GPT-4o and their like cut, whatever
else stands around. Patterns tell characters apart by class only, so every class is tried in every place beside the cut.
"""

from __future__ import annotations

import itertools
import json
import string
from collections.abc import Iterator
from typing import Any

_BEGINS_LINE = frozenset(string.ascii_letters + string.digits)
_ANYTHING = (*"aTs7²_.'/中é🙂 \n\r\t", "\u0301", "\u00a0", "\u3000", "")
_VISIBLE = tuple(character for character in _ANYTHING if character.strip())
_BEHIND = ("a", "7", " ", "\n", ".", "'", "中", "")
_PLAIN_NORMALIZERS = ("NFC",)
_PLAIN_PARTS = ("Split", "ByteLevel", "Digits")


def lines(text: str) -> Iterator[str]:
    """Yields a text in parts, cut behind line breaks between something visible and a Latin letter or digit."""
    first, *further = text.split("\n")
    part = first
    for line in further:
        if part and line and line[0] in _BEGINS_LINE and not part[-1].isspace():
            yield part + "\n"
            part = line
        else:
            part = f"{part}\n{line}"
    yield part


def tokenises_by_line(backend: Any) -> bool:
    """Returns whether the tokens of every text are those of its `lines`, one after the other.

    Args:
        backend: a tokenizer of the library `tokenizers`. One that is not a byte-level BPE, that changes its text before
            it cuts (other than to NFC, which composes nothing with a line break), or that has an added token that takes
            the white space before it or holds a line break, is not cut.
    """
    return _is_byte_level(backend) and not _reaches_over_lines(backend) and _always_cuts(backend.pre_tokenizer)


def _is_byte_level(backend: Any) -> bool:
    normalizer, cutter = _settings(backend.normalizer), _settings(backend.pre_tokenizer)
    if type(backend.model).__name__ != "BPE" or cutter is None:
        return False
    if normalizer is not None and normalizer["type"] not in _PLAIN_NORMALIZERS:
        return False
    parts = cutter["pretokenizers"] if cutter["type"] == "Sequence" else [cutter]
    byte_level = [part for part in parts if part["type"] == "ByteLevel"]
    return (
        bool(byte_level)
        and all(part["type"] in _PLAIN_PARTS for part in parts)
        and not any(part["add_prefix_space"] for part in byte_level)
    )


def _reaches_over_lines(backend: Any) -> bool:
    added = backend.get_added_tokens_decoder().values()
    return any(token.lstrip or "\n" in token.content for token in added)


def _always_cuts(cutter: Any) -> bool:
    for before, visible, begins, after in itertools.product(_ANYTHING, _VISIBLE, "aS7", _BEHIND):
        left, right = f"{before}{visible}\n", f"{begins}{after}"
        apart = [text for part in (left, right) for text, _ in cutter.pre_tokenize_str(part)]
        if [text for text, _ in cutter.pre_tokenize_str(left + right)] != apart:
            return False
    return True


def _settings(part: Any) -> dict[str, Any] | None:
    """Returns the settings of a part of a tokenizer, which it gives as JSON when it is pickled."""
    if part is None:
        return None
    settings = json.loads(part.__getstate__())
    assert isinstance(settings, dict)
    return settings
