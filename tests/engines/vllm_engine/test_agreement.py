"""Log-likelihoods and label probabilities agree with plain transformers."""

from __future__ import annotations

import asyncio
import math
from pathlib import Path
from typing import Any

import pytest

from dialeval.corpora.dialogues import bundled_dialogues
from dialeval.engines.requests import Message, Request
from dialeval.engines.vllm_engine import VllmEngine

pytestmark = pytest.mark.vllm
ODD = [
    "🙂🙃👩‍👩‍👧", "\nA line before.", "\n\nTwo lines before.", "  two blanks before", "你好！🙂 mixed",
    "日本語とemoji 🎉🎊",
    "tab\there", "naïve café", "1234567890", "a", "é", "…", " 。", "🇩🇪🇨🇳", "\u200bzero width", "MiXeD CaSe",
    "trailing blank ", "trailing line\n", "\"quoted\"", "A very " * 20,
]  # fmt: skip


def texts() -> list[str]:
    english = [part.text for dialogue in bundled_dialogues("en").dialogues[30:45] for part in dialogue.utterances[:1]]
    chinese = [part.text for dialogue in bundled_dialogues("zh").dialogues[:15] for part in dialogue.utterances[:1]]
    return [*english, *chinese, *ODD]


def logprobs_of(torch_model: Any, ids: list[int]) -> Any:
    """Return the log-probabilities that plain transformers gives at every position."""
    import torch

    with torch.no_grad():
        return torch.log_softmax(torch_model(torch.tensor([ids])).logits[0].double(), dim=-1)


def test_fifty_texts(engine: VllmEngine, torch_model: Any, model_folder: Path) -> None:
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(model_folder)
    prompts = [(Message("user", "Say something."),), (Message("system", "你好"), Message("user", "🙂?"))]
    cases = [(prompts[number % 2], text) for number, text in enumerate(texts())]
    assert len(cases) == 50

    async def answers() -> list[Any]:
        requests = [Request("t", "t", "loglikelihood", prompt, continuation=text) for prompt, text in cases]
        return await asyncio.gather(*map(engine.answer, requests))

    for (prompt, text), answer in zip(cases, asyncio.run(answers()), strict=True):
        before = "".join(f"<|im_start|>{m.role}\n{m.content}<|im_end|>\n" for m in prompt) + "<|im_start|>assistant\n"
        ids = tokenizer(before + text, add_special_tokens=False)["input_ids"]
        # Every character of a token of this byte-level tokenizer stands for a byte, so the boundary can be counted out.
        end, start = 0, None
        for place, token in enumerate(tokenizer.convert_ids_to_tokens(ids)):
            end += len(token)
            if end > len(before.encode()) and start is None:
                start = place
        assert end == len((before + text).encode())
        assert start is not None
        expected = logprobs_of(torch_model, ids)
        summed = sum(float(expected[place - 1, ids[place]]) for place in range(start, len(ids)))
        assert answer.n_tokens == len(ids) - start
        assert abs(answer.logprob - summed) / answer.n_tokens < 1e-4, text


def test_choice_is_the_softmax_over_all_variants(engine: VllmEngine, torch_model: Any, model_folder: Path) -> None:
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(model_folder)
    label_sets = [("Yes", "No"), ("Conversation 1", "Conversation 2", "Both", "Neither"), ("A", "B", "C"), ("是", "否")]
    prompt = (Message("user", "Is this dialogue human? Answer with one of the labels."),)
    before = f"<|im_start|>user\n{prompt[0].content}<|im_end|>\n<|im_start|>assistant\n"
    ids = tokenizer(before, add_special_tokens=False)["input_ids"]
    for labels in label_sets:
        answer = asyncio.run(engine.answer(Request("t", "t", "choice", prompt, labels=labels)))
        assert answer.label_logprobs is not None
        for label in labels:
            written = {blank + case for case in (label, label.lower(), label.capitalize()) for blank in ("", " ")}
            mass = 0.0
            for text in written:
                path = tokenizer(text, add_special_tokens=False)["input_ids"]
                expected = logprobs_of(torch_model, ids + path)
                mass += math.exp(sum(float(expected[len(ids) + n - 1, token]) for n, token in enumerate(path)))
            assert math.exp(answer.label_logprobs[label]) == pytest.approx(mass, abs=1e-4)
            assert answer.label_logprobs[label] == pytest.approx(math.log(mass), abs=1e-3)
        assert answer.label_mass == pytest.approx(sum(map(math.exp, answer.label_logprobs.values())))
