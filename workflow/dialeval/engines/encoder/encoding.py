"""How a turn in its context, or a dialogue, becomes tokens of an encoder.

A turn is a pair: its context, utterances with the tokenizer's separator between them, and the response. A dialogue is
one sequence of utterances with separators between them. What is too long is cut at its front: the context first, and
the response only where nothing else is left. Marks of special tokens inside a text are text.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, NamedTuple

from dialeval.criteria import Level
from dialeval.errors import UserError


class Encoded(NamedTuple):
    """One input of an encoder.

    Attributes:
        ids: its tokens.
        second: place of the first token of the second segment; the length where there is one segment.
        cut: how many tokens were left out at the front.
    """

    ids: tuple[int, ...]
    second: int
    cut: int


class _Frame(NamedTuple):
    """The special tokens around one segment or two, with the segment numbers that each has."""

    before: tuple[int, ...]
    between: tuple[int, ...]
    after: tuple[int, ...]
    between_second: int  # how many tokens of `between` are of the second segment


class Encoding:
    """Turns texts into tokens as one tokenizer does.

    Args:
        tokenizer: of transformers.
        level: what is encoded.
        max_tokens: longest sequence, special tokens included.

    Attributes:
        pad: the token that fills sequences up.
        has_segments: whether the tokenizer numbers the two parts of a pair.

    Raises:
        UserError: the tokenizer has no token for padding, or its special tokens cannot be found.
    """

    def __init__(self, tokenizer: Any, level: Level, max_tokens: int) -> None:
        self._tokenizer, self._level, self._max_tokens = tokenizer, level, max_tokens
        self.pad = _pad_token(tokenizer)
        self.has_segments = "token_type_ids" in tokenizer.model_input_names
        self._frame = _frame(tokenizer, pair=level == "turn")
        self._separator = _separator(tokenizer)
        self._room = max_tokens - sum(map(len, self._frame[:3]))
        if self._room < 1:
            raise UserError(f"max_tokens {max_tokens} leaves no room beside the tokenizer's special tokens; raise it")

    def encode(self, dialogues: Sequence[Sequence[str]]) -> list[Encoded]:
        """Returns the input for each dialogue, of at least one utterance; a turn's last utterance is the response."""
        texts = list(dict.fromkeys(text for dialogue in dialogues for text in dialogue))
        tokens = dict(zip(texts, self._tokens(texts), strict=True))
        return [self._one([tokens[text] for text in dialogue]) for dialogue in dialogues]

    def _tokens(self, texts: list[str]) -> list[list[int]]:
        if not texts:
            return []
        # a text that no file could hold as UTF-8 has no tokens either: its broken characters are replaced
        whole = [text.encode("utf-8", "replace").decode() for text in texts]
        found: list[list[int]] = self._tokenizer(
            whole, add_special_tokens=False, split_special_tokens=True, truncation=False, verbose=False
        )["input_ids"]
        return found

    def _one(self, utterances: Sequence[list[int]]) -> Encoded:
        frame = self._frame
        if self._level == "dialogue":
            whole = self._joined(utterances)
            kept = whole[-self._room :]
            ids = (*frame.before, *kept, *frame.after)
            return Encoded(ids, len(ids), len(whole) - len(kept))
        context, response = self._joined(utterances[:-1]), utterances[-1][-self._room :]
        left = self._room - len(response)
        kept = context[-left:] if left else []
        first = len(frame.before) + len(kept) + len(frame.between) - frame.between_second
        ids = (*frame.before, *kept, *frame.between, *response, *frame.after)
        return Encoded(ids, first, len(context) + len(utterances[-1]) - len(kept) - len(response))

    def _joined(self, utterances: Sequence[list[int]]) -> list[int]:
        separated = chain.from_iterable(([self._separator], tokens) for tokens in utterances)
        return list(chain.from_iterable(separated))[1:]


def _pad_token(tokenizer: Any) -> int:
    if tokenizer.pad_token_id is None:
        raise UserError(
            f"the tokenizer of '{tokenizer.name_or_path}' has no token for padding, so that texts of different length "
            "cannot be computed together; name an encoder (BERT, RoBERTa, XLM-R, DeBERTa, ModernBERT), or give that "
            "tokenizer a pad_token"
        )
    return int(tokenizer.pad_token_id)


def _separator(tokenizer: Any) -> int:
    for token in (tokenizer.sep_token_id, tokenizer.eos_token_id):
        if token is not None:
            return int(token)
    raise UserError(
        f"the tokenizer of '{tokenizer.name_or_path}' has neither a sep_token nor an eos_token to put between "
        "utterances; name an encoder that has one"
    )


def _frame(tokenizer: Any, *, pair: bool) -> _Frame:
    """Returns what a tokenizer puts around texts, read from what it makes of a letter."""
    letter = tokenizer("a", add_special_tokens=False)["input_ids"]
    made = tokenizer("a", "a") if pair else tokenizer("a")
    ids, width = list(made["input_ids"]), len(letter)
    places = [place for place in range(len(ids) - width + 1) if letter and ids[place : place + width] == letter]
    if not places or (pair and len(places) < 2):
        raise UserError(
            f"how the tokenizer of '{tokenizer.name_or_path}' marks {'pairs of texts' if pair else 'texts'} cannot be "
            "found out; name another encoder"
        )
    first, last = places[0], places[-1]
    if not pair:
        return _Frame(tuple(ids[:first]), (), tuple(ids[first + width :]), 0)
    segments = made.get("token_type_ids") or [0] * len(ids)
    between = slice(first + width, last)
    return _Frame(
        tuple(ids[:first]), tuple(ids[between]), tuple(ids[last + width :]), sum(map(bool, segments[between]))
    )
