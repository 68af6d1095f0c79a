"""Texts tokenised line by line have the tokens of the whole, and tokenizers for which that is not so are not cut."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dialeval.config import VllmModel
from dialeval.engines.vllm_engine.prompts import Prompts, lines, tokenises_by_line

pytestmark = pytest.mark.vllm

LLAMA_3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN = LLAMA_3.replace(r"\p{N}{1,3}", r"\p{N}")
GPT_4O = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
OVER_LINES = r"\n\p{L}+|\p{L}+|\s+|[^\s\p{L}]+"
PIECES = (
    *("a", "The", "cat", "I'm", "it's", "'s", "12", "1234", ".", "?!", '"', "/", "//", ":", "Human 1:", "A", "S", "s"),
    *("_", "中文", "，", "é", "e\u0301", "\u0301", "🙂", "👩\u200d👩", " ", "  ", "\t", "\n", "\n\n", "\r\n", "\r"),
    *("\u00a0", "\u3000", "\u0085", "\u2028", "\x1c", "²", "½", "\u200b", "\ufeff", "\u180e", "\x00", "ﷺ"),
    *("<|im_end|>", "<|im"),
)


def tricky_texts(number: int, seed: int) -> list[str]:
    """Texts of pieces at whose edges tokenizers differ, many of them at the edges of lines."""
    draw = random.Random(seed)
    return [
        "".join(draw.choice(PIECES) + ("\n" if draw.random() < 0.3 else "") for _ in range(draw.randint(1, 40)))
        for _ in range(number)
    ]


def trained(pattern: str | None, **choices: Any) -> Any:
    """A byte-level BPE that has learned from tricky texts; without a pattern, one that merges over everything."""
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    byte_level = pre_tokenizers.ByteLevel(
        add_prefix_space=choices.get("prefix", False), use_regex=choices.get("gpt_2", False)
    )
    tokenizer.pre_tokenizer = byte_level
    if pattern:
        split = pre_tokenizers.Split(Regex(pattern), behavior="isolated")
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, byte_level])
    if name := choices.get("normalizer"):
        tokenizer.normalizer = getattr(normalizers, name)()
    trainer = trainers.BpeTrainer(
        vocab_size=1500, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False,
        special_tokens=["<|im_end|>"],
    )  # fmt: skip
    tokenizer.train_from_iterator(tricky_texts(400, seed=1), trainer)
    if added := choices.get("added"):
        tokenizer.add_tokens(added)
    return tokenizer


def of_lines(tokenizer: Any, text: str) -> list[int]:
    return [number for part in lines(text) for number in tokenizer.encode(part, add_special_tokens=False).ids]


def different(tokenizer: Any) -> list[str]:
    """Texts that have other tokens by lines than as a whole."""
    return [
        text
        for text in tricky_texts(3000, seed=2)
        if of_lines(tokenizer, text) != tokenizer.encode(text, add_special_tokens=False).ids
    ]


@pytest.mark.parametrize(
    ("pattern", "choices"),
    [
        (None, {"gpt_2": True}),
        (LLAMA_3, {}),
        (QWEN, {"normalizer": "NFC"}),
        (GPT_4O, {}),
        (r"\n\n|.", {}),
    ],
    ids=["gpt-2", "llama-3", "qwen", "gpt-4o", "characters"],
)
def test_tokens_of_lines_are_those_of_the_whole(pattern: str | None, choices: dict[str, Any]) -> None:
    tokenizer = trained(pattern, **choices)
    assert tokenises_by_line(tokenizer)
    assert different(tokenizer) == []


@pytest.mark.parametrize(
    ("pattern", "choices"),
    [
        (None, {}),
        (OVER_LINES, {}),
        (None, {"gpt_2": True, "prefix": True}),
        (LLAMA_3, {"normalizer": "Strip"}),
        (LLAMA_3, {"added": ["?!\nThe"]}),
    ],
    ids=["merges over lines", "pattern over lines", "blank before", "strips", "added token with a line break"],
)
def test_a_tokenizer_whose_tokens_reach_over_lines_is_not_cut(pattern: str | None, choices: dict[str, Any]) -> None:
    tokenizer = trained(pattern, **choices)
    assert not tokenises_by_line(tokenizer)
    assert different(tokenizer), "the texts should tell"


def test_an_added_token_that_takes_the_blanks_before_it_forbids_cutting() -> None:
    from tokenizers import AddedToken

    tokenizer = trained(LLAMA_3, added=[AddedToken("The", lstrip=True)])
    assert not tokenises_by_line(tokenizer)
    assert different(tokenizer)


def test_a_sentencepiece_model_is_not_cut() -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers

    tokenizer = Tokenizer(models.Unigram([("<unk>", 0.0), ("a", -1.0), ("\n", -1.0), ("\na", -0.5)], unk_id=0))
    assert not tokenises_by_line(tokenizer)
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    assert not tokenises_by_line(tokenizer)


def test_a_prompt_is_the_same_whole_and_in_parts() -> None:
    for text in tricky_texts(2000, seed=3):
        assert "".join(lines(text)) == text
    assert list(lines("A: hi\nB: hello \nA: bye\n\nDone\n1")) == ["A: hi\n", "B: hello \nA: bye\n\nDone\n", "1"]


BOS, TEMPLATE = "<|endoftext|>", "{% for message in messages %}{{ message['content'] }}\n{% endfor %}"


@pytest.mark.parametrize(
    ("choice", "template", "added", "warned"),
    [
        (None, TEMPLATE, False, "name a chat template that begins with {{ bos_token }}"),
        (None, TEMPLATE, True, "name a chat template"),  # chats are tokenised without the tokenizer's own tokens
        (None, "{{ bos_token }}" + TEMPLATE, False, None),
        ("none", TEMPLATE, False, "let the tokenizer's post-processor add it"),
        ("none", TEMPLATE, True, None),
    ],
)
def test_a_bos_token_that_nothing_adds_is_named(
    choice: str | None,
    template: str,
    added: bool,
    warned: str | None,
    model_folder: Path,
    settings: Callable[..., VllmModel],
    tmp_path: Path,
) -> None:
    from tokenizers.processors import TemplateProcessing
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model_folder)
    tokenizer.bos_token, tokenizer.chat_template = BOS, template
    if added:
        special = [(BOS, tokenizer.bos_token_id)]
        tokenizer.backend_tokenizer.post_processor = TemplateProcessing(single=f"{BOS} $A", special_tokens=special)
    shutil.copytree(model_folder, tmp_path, dirs_exist_ok=True)
    tokenizer.save_pretrained(tmp_path)
    found = Prompts(settings(model=str(tmp_path), chat_template=choice)).lacks_bos()
    assert (found is None) if warned is None else (found is not None and warned in found)


def test_a_tokenizer_without_a_bos_token_needs_none(settings: Callable[..., VllmModel]) -> None:
    assert Prompts(settings()).lacks_bos() is None
