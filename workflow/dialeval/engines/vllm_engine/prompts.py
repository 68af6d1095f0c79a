"""Prompts of one model in tokens; repeated pieces are tokenised once.

Training an adapter uses the same prompts. vLLM is not needed.

Special tokens cut a text into pieces that are tokenised independently, and so do line ends for most tokenizers. Of a
growing dialogue only the last piece, of a comparison only new lines need to be tokenised. A tokenizer is tested once;
one that fails tokenises every prompt whole.

A byte-level BPE first cuts a text by patterns and then merges within each part, so that a text may be cut wherever its
patterns always cut. `lines` cuts behind a line break between a visible character and a Latin letter or digit: there the
patterns of GPT-2, Llama 3, Qwen and GPT-4o cut in any context. Patterns distinguish classes of characters only, so the
test tries every class in every place beside the cut.
"""

from __future__ import annotations

import itertools
import json
import re
import string
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Any

from dialeval.config.models import VllmModel
from dialeval.engines.requests import AnswerFailure, Message
from dialeval.engines.vllm_engine.chat_templates import ChatTemplate, Reasoning, reasoning_of, special_tokens
from dialeval.engines.vllm_engine.model_files import load_tokenizer

PIECES, PROMPTS = 50_000, 2_000
"""Numbers of remembered pieces and whole prompts."""
_TRIAL = ("Hello there, how are you?", " leading", "trailing \n", "\n\nlines\n", "中文，和 emoji 🙂", "it's 10:30.")


class Prompts:
    """Renders and tokenises the prompts of one model.

    Attributes:
        tokenizer: of transformers.
        weights: the commit at Hugging Face, or the digest of a folder's content.
        model: the configuration with that commit as its revision.
        template: its chat template.
        reasoning: how it marks its reasoning.

    Raises:
        UserError: the model cannot be found, or its template or its marks cannot be used.
    """

    def __init__(self, model: VllmModel) -> None:
        self.tokenizer, self.weights = load_tokenizer(model)
        if not self.weights.startswith("sha256:") and self.weights:
            model = model.model_copy(update={"revision": self.weights})
        self.model = model
        self.template = ChatTemplate(self.tokenizer, model.chat_template, model.chat_template_options, model.model)
        special = special_tokens(self.tokenizer)
        self.reasoning: Reasoning = reasoning_of(
            model.reasoning_parser, self.template.text, special, self.tokenizer, model.chat_template_options
        )
        self._rust = _plain_backend(self.tokenizer)
        self._known: OrderedDict[tuple[Message, ...], tuple[str, list[int]]] = OrderedDict()
        self._pieces = _Remembered({text: (number,) for text, number in special.items()} | {"": ()})
        longest_first = sorted(special, key=len, reverse=True)
        self._cuts = re.compile("(" + "|".join(map(re.escape, longest_first)) + ")") if longest_first else None
        self._named_special = self._cuts or re.compile(r"(?!)")
        self._by_line = self._rust is not None and not self.template.plain and tokenises_by_line(self._rust)
        if not self._pieces_add_up():
            self._by_line = False
            if not self._pieces_add_up():
                self._cuts = None

    def lacks_bos(self) -> str | None:
        """Return a warning if the tokenizer's BOS token does not come before prompts; None if it does or there is none.

        A tokenizer whose BOS token also ends texts (GPT-2's) is trusted.
        """
        bos, end = self.tokenizer.bos_token_id, self.tokenizer.eos_token_id
        if bos is None or bos == end or bos in self.prompt((Message("user", "Hello."),))[1][:4]:
            return None
        where = "the tokenizer" if self.template.plain else "the chat template"
        return (
            f"warning: the tokenizer of {self.model.model} has a BOS token ({self.tokenizer.bos_token}), and "
            f"{where} does not put it before a prompt. Models trained with it (such as Gemma or Llama) write "
            f"nonsense without it. If this model was, "
            + (
                "let the tokenizer's post-processor add it (examples/small_weights.py does)"
                if self.template.plain
                else "name a chat template that begins with {{ bos_token }} in the model's field chat_template"
            )
        )

    def behind_reasoning(self, rendered: str, prompt: list[int]) -> list[int]:
        """Return the tokens of a prompt up to where the answer itself begins: its reasoning is left empty."""
        behind = self.reasoning.before_label(rendered)
        return prompt if behind == rendered else self.tokens(behind)

    def before_label(self, messages: tuple[Message, ...]) -> list[int]:
        """Return the tokens before a label; do not change them."""
        return self.behind_reasoning(*self.prompt(messages))

    def encode(self, text: str) -> list[int]:
        """Return the tokens of a text without special tokens."""
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    def prompt(self, messages: tuple[Message, ...]) -> tuple[str, list[int]]:
        """Return the rendered prompt and its tokens; the latter are not to be changed."""
        known = self._known.get(messages)
        if known is None:
            rendered = self.template.render(messages)
            known = self._known[messages] = rendered, self.tokens(rendered)
            if len(self._known) > PROMPTS:
                self._known.popitem(last=False)
        return known

    def tokens(self, text: str) -> list[int]:
        """Return the tokens of a rendered text; a plain transcript gets the model's opening token, if it has one."""
        if self.template.plain:
            return self._encoded(text, special=True)
        if self._cuts is None:
            return self._encoded(text)
        pieces = self._cuts.split(text)
        if self._by_line:
            pieces = [line for piece in pieces for line in (lines(piece) if "\n" in piece else (piece,))]
        return self._joined(pieces)

    def with_continuation(self, messages: tuple[Message, ...], continuation: str) -> tuple[str, list[int], int]:
        """Return the rendered prompt, the tokens of prompt and continuation as one text, and where the latter begins.

        Every token with a part of the continuation is the continuation's, also one that begins in the prompt. White
        space at the prompt's end thus belongs to the continuation where one token joins the two (` Yes` after
        `Answer: `), as in lm-evaluation-harness, and to the prompt where it is a token of its own (the newline of a
        chat template). `openai_api.vllm_server` has the same rule for a server.

        Raises:
            AnswerFailure: this tokenizer cannot say where its tokens lie.
        """
        rendered = self.template.render(messages)
        try:
            encoded = self.tokenizer(
                rendered + continuation, add_special_tokens=self.template.plain, return_offsets_mapping=True
            )
        except NotImplementedError as error:
            raise AnswerFailure(
                "unsupported", "this model's tokenizer does not give the positions of its tokens in the text"
            ) from error
        ids, token_ends = list(encoded["input_ids"]), [end for _, end in encoded["offset_mapping"]]
        start = next((place for place, end in enumerate(token_ends) if end > len(rendered)), len(ids))
        while len(ids) > start and token_ends[-1] == 0:  # a closing token that is in no text
            ids.pop(), token_ends.pop()
        return rendered, ids, start

    def text(self, ids: Sequence[int], *, ended: bool = False, special: bool = False) -> str:
        """Return an answer as text, without the part of a character that it may end in.

        Args:
            ended: whether the last of them is the end token.
            special: whether special tokens are in the text; `without_special` takes them out.
        """
        ids = ids[:-1] if ended else ids
        if self._rust is not None:
            text = str(self._rust.decode(ids, skip_special_tokens=not special))
        else:
            text = self.tokenizer.decode(ids, skip_special_tokens=not special, clean_up_tokenization_spaces=False)
        return text.rstrip("\N{REPLACEMENT CHARACTER}")

    def without_special(self, text: str) -> str:
        """Return a text without the special tokens that are written in it."""
        return self._named_special.sub("", text)

    def _encoded(self, text: str, *, special: bool = False) -> list[int]:
        if self._rust is not None:  # half the time, since offsets are not needed
            return list(self._rust.encode_batch_fast([text], add_special_tokens=special)[0].ids)
        return list(self.tokenizer(text, add_special_tokens=special)["input_ids"])

    def _joined(self, pieces: Sequence[str]) -> list[int]:
        """Return the tokens of pieces, one after the other; those not seen before are tokenised together."""
        found = [self._pieces.get(piece) for piece in pieces]
        if None in found:
            new = list(dict.fromkeys(piece for piece, ids in zip(pieces, found, strict=True) if ids is None))
            self._pieces.add(dict(zip(new, self._apart(new), strict=True)))
            found = [self._pieces.get(piece) for piece in pieces]
        return list(itertools.chain.from_iterable(filter(None, found)))

    def _apart(self, texts: Sequence[str]) -> list[tuple[int, ...]]:
        if self._rust is None:
            return [tuple(self._encoded(text)) for text in texts]
        return [tuple(found.ids) for found in self._rust.encode_batch_fast(texts, add_special_tokens=False)]

    def _pieces_add_up(self) -> bool:
        if self._cuts is None or self.template.plain:
            return False
        return all(self.tokens(text) == self._encoded(text) for text in _trials(self.template))


def _plain_backend(tokenizer: Any) -> Any:
    """Return the tokenizer below one of transformers, which neither pads nor cuts; None if there is none."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is not None:
        backend.no_padding()
        backend.no_truncation()
    return backend


class _Remembered:
    """Tokens of pieces: permanent ones, and of the others those that were used last.

    They are kept in two generations: when the younger is full, the older is dropped; a piece found in the older joins
    the younger. This is cheaper than an order of use.
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
        """Remember pieces; those that were got or added just before are there still."""
        if len(self._young) >= PIECES // 2:
            self._old, self._young = self._young, dict(self._always)
        self._young |= pieces


def _trials(template: ChatTemplate) -> Sequence[str]:
    """Return rendered dialogues of texts that tokenizers treat in different ways at their edges."""
    roles = ("user", "assistant")
    dialogues = [
        tuple(Message(roles[turn % 2], text) for turn, text in enumerate(_TRIAL[start : start + length]))
        for start in range(len(_TRIAL))
        for length in (1, 3)
        if start + length <= len(_TRIAL)
    ]
    return [template.render(dialogue) for dialogue in dialogues]


# Where a text may be cut between two lines without changing its tokens, and for which tokenizers that is so.

_BEGINS_LINE = frozenset(string.ascii_letters + string.digits)
_ANYTHING = (*"aTs7²_.'/中é🙂 \n\r\t", "\u0301", "\u00a0", "\u3000", "")
_VISIBLE = tuple(character for character in _ANYTHING if character.strip())
_BEHIND = ("a", "7", " ", "\n", ".", "'", "中", "")
_PLAIN_NORMALIZERS = ("NFC",)
_PLAIN_PARTS = ("Split", "ByteLevel", "Digits")


def lines(text: str) -> Iterator[str]:
    """Yield a text in parts, cut behind line breaks between something visible and a Latin letter or digit."""
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
    """Return whether the tokens of every text are those of its `lines`, one after the other.

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


def _settings(part: Any) -> dict[str, Any] | None:
    """Return the settings of a part of a tokenizer, which it gives as JSON when it is pickled."""
    if part is None:
        return None
    settings = json.loads(part.__getstate__())
    assert isinstance(settings, dict)
    return settings


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
