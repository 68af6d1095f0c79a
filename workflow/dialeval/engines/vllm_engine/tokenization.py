"""Prompts in tokens, without tokenising again what was seen before.

Special tokens cut a text into pieces that are tokenised independently of each other, and so do most tokenizers at the
end of a line (`line_cuts.py`). Of a growing dialogue only its last piece needs to be tokenised, and of a comparison
only the lines that were in none before. Whether that holds for a tokenizer is tried out once; one for which it does not
tokenises every prompt whole.
"""

from __future__ import annotations

import itertools
import re
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from dialeval.engines.request import AnswerFailure, Message
from dialeval.engines.vllm_engine.line_cuts import lines, tokenises_by_line
from dialeval.engines.vllm_engine.templates import ChatTemplate, special_tokens

PIECES, PROMPTS = 50_000, 2_000
"""How many tokenised pieces, and how many whole prompts, are remembered."""
_TRIAL = ("Hello there, how are you?", " leading", "trailing \n", "\n\nlines\n", "中文，和 emoji 🙂", "it's 10:30.")


class Tokenization:
    """Renders and tokenises the prompts of one model.

    Args:
        tokenizer: a tokenizer of transformers.
        template: the model's chat template.
    """

    def __init__(self, tokenizer: Any, template: ChatTemplate) -> None:
        self._tokenizer = tokenizer
        self._rust = _plain_backend(tokenizer)
        self._template = template
        self._prompts: OrderedDict[tuple[Message, ...], tuple[str, list[int]]] = OrderedDict()
        self._special = special_tokens(tokenizer)
        self._pieces = _Remembered({text: (number,) for text, number in self._special.items()} | {"": ()})
        longest_first = sorted(self._special, key=len, reverse=True)
        self._cuts = re.compile("(" + "|".join(map(re.escape, longest_first)) + ")") if longest_first else None
        self._named_special = self._cuts or re.compile(r"(?!)")
        self._by_line = self._rust is not None and not template.plain and tokenises_by_line(self._rust)
        if not self._pieces_add_up():
            self._by_line = False
            if not self._pieces_add_up():
                self._cuts = None

    def prompt(self, messages: tuple[Message, ...]) -> tuple[str, list[int]]:
        """Returns the rendered prompt and its tokens; the latter are not to be changed."""
        known = self._prompts.get(messages)
        if known is None:
            rendered = self._template.render(messages)
            known = self._prompts[messages] = rendered, self.tokens(rendered)
            if len(self._prompts) > PROMPTS:
                self._prompts.popitem(last=False)
        return known

    def tokens(self, text: str) -> list[int]:
        """Returns the tokens of a rendered text; a plain transcript gets the model's opening token, if it has one."""
        if self._template.plain:
            return self._whole(text, special=True)
        if self._cuts is None:
            return self._whole(text)
        pieces = self._cuts.split(text)
        if self._by_line:
            pieces = [line for piece in pieces for line in (lines(piece) if "\n" in piece else (piece,))]
        return self._joined(pieces)

    def with_continuation(self, messages: tuple[Message, ...], continuation: str) -> tuple[str, list[int], int]:
        """Returns the rendered prompt, the tokens of prompt and continuation as one text, and where the latter begins.

        Every token that says a part of the continuation is the continuation's, also one that begins in the prompt:
        the text is tokenised as the model has learned to read it. White space at the prompt's end thus belongs to the
        continuation where a token joins the two (` Yes` after `Answer: `), as in lm-evaluation-harness, and to the
        prompt where it is a token of its own (the newline of a chat template), where the harness scores it too. The
        server's side of the same rule is in `openai_api/continuations.py`.

        Raises:
            AnswerFailure: this tokenizer cannot say where its tokens lie.
        """
        rendered = self._template.render(messages)
        try:
            encoded = self._tokenizer(
                rendered + continuation, add_special_tokens=self._template.plain, return_offsets_mapping=True
            )
        except NotImplementedError as error:
            raise AnswerFailure(
                "unsupported", "this model's tokenizer does not say where in the text its tokens lie"
            ) from error
        ids, ends = list(encoded["input_ids"]), [end for _, end in encoded["offset_mapping"]]
        start = next((place for place, end in enumerate(ends) if end > len(rendered)), len(ids))
        while len(ids) > start and ends[-1] == 0:  # a closing token that is in no text
            ids.pop(), ends.pop()
        return rendered, ids, start

    def text(self, ids: Sequence[int], *, ended: bool = False, special: bool = False) -> str:
        """Returns an answer as text, without the part of a character that it may end in.

        Args:
            ids: its tokens.
            ended: whether the last of them is the one that ended it, which says nothing.
            special: whether special tokens are in the text; `without_special` takes them out.
        """
        ids = ids[:-1] if ended else ids
        if self._rust is not None:
            text = str(self._rust.decode(ids, skip_special_tokens=not special))
        else:
            text = self._tokenizer.decode(ids, skip_special_tokens=not special, clean_up_tokenization_spaces=False)
        return text.rstrip("\N{REPLACEMENT CHARACTER}")

    def without_special(self, text: str) -> str:
        """Returns a text without the special tokens that are written in it."""
        return self._named_special.sub("", text)

    def _joined(self, pieces: Sequence[str]) -> list[int]:
        """Returns the tokens of pieces, one after the other; those not seen before are tokenised together."""
        found = [self._pieces.get(piece) for piece in pieces]
        if None in found:
            new = list(dict.fromkeys(piece for piece, ids in zip(pieces, found, strict=True) if ids is None))
            self._pieces.add(dict(zip(new, self._apart(new), strict=True)))
            found = [self._pieces.get(piece) for piece in pieces]
        return list(itertools.chain.from_iterable(filter(None, found)))

    def _apart(self, texts: Sequence[str]) -> list[tuple[int, ...]]:
        if self._rust is None:
            return [tuple(self._whole(text)) for text in texts]
        return [tuple(found.ids) for found in self._rust.encode_batch_fast(texts, add_special_tokens=False)]

    def _whole(self, text: str, *, special: bool = False) -> list[int]:
        if self._rust is not None:  # half the time, since nobody asks where in the text the tokens lie
            return list(self._rust.encode_batch_fast([text], add_special_tokens=special)[0].ids)
        return list(self._tokenizer(text, add_special_tokens=special)["input_ids"])

    def _pieces_add_up(self) -> bool:
        if self._cuts is None or self._template.plain:
            return False
        return all(self.tokens(text) == self._whole(text) for text in _trials(self._template))


class _Remembered:
    """Tokens of pieces: those of always, and of the others the ones that were last asked for.

    They are kept in two generations. When the younger is full, the older is forgotten, and what is asked for in the
    older joins the younger: as good as an order of use, and cheaper.
    """

    def __init__(self, always: dict[str, tuple[int, ...]]) -> None:
        self._always = always
        self._young: dict[str, tuple[int, ...]] = dict(always)
        self._old: dict[str, tuple[int, ...]] = {}

    def get(self, piece: str) -> tuple[int, ...] | None:
        ids = self._young.get(piece)
        if ids is None and (ids := self._old.get(piece)) is not None:
            self._young[piece] = ids
        return ids

    def add(self, pieces: dict[str, tuple[int, ...]]) -> None:
        """Remembers pieces; those that were got or added just before are there still."""
        if len(self._young) >= PIECES // 2:
            self._old, self._young = self._young, dict(self._always)
        self._young |= pieces


def _plain_backend(tokenizer: Any) -> Any:
    """Returns the tokenizer below one of transformers, which neither pads nor cuts; None if there is none."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is not None:
        backend.no_padding()
        backend.no_truncation()
    return backend


def _trials(template: ChatTemplate) -> Sequence[str]:
    """Returns rendered dialogues of texts that tokenizers treat in different ways at their edges."""
    roles = ("user", "assistant")
    dialogues = [
        tuple(Message(roles[turn % 2], text) for turn, text in enumerate(_TRIAL[start : start + length]))
        for start in range(len(_TRIAL))
        for length in (1, 3)
        if start + length <= len(_TRIAL)
    ]
    return [template.render(dialogue) for dialogue in dialogues]
