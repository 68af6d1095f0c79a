"""A LoRA adapter on the model: its answers are those of the model with the adapter's product added to the weights."""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dialeval.config import VllmModel
from dialeval.engines.requests import Message, Request
from dialeval.engines.vllm_engine import VllmEngine
from dialeval.errors import UserError

pytestmark = [pytest.mark.vllm, pytest.mark.slow]
RANK, ALPHA = 8, 16
PROMPT = (Message("user", "Say something."),)
TEXT = "I like the sea, and you?"


@pytest.fixture
def adapter(torch_model: Any, tmp_path: Path) -> Path:
    """A random adapter for two matrices of every layer."""
    import torch
    from safetensors.torch import save_file

    generator = torch.Generator().manual_seed(1)
    tensors = {}
    for layer in range(torch_model.config.num_hidden_layers):
        for name in ("q_proj", "v_proj"):
            rows, columns = getattr(torch_model.model.layers[layer].self_attn, name).weight.shape
            place = f"base_model.model.model.layers.{layer}.self_attn.{name}"
            tensors[f"{place}.lora_A.weight"] = torch.randn(RANK, columns, generator=generator) * 0.2
            tensors[f"{place}.lora_B.weight"] = torch.randn(rows, RANK, generator=generator) * 0.2
    folder = tmp_path / "adapter"
    folder.mkdir()
    save_file(tensors, folder / "adapter_model.safetensors")
    config = {
        "peft_type": "LORA",
        "r": RANK,
        "lora_alpha": ALPHA,
        "target_modules": ["q_proj", "v_proj"],
    }
    (folder / "adapter_config.json").write_text(json.dumps(config))
    return folder


def merged(torch_model: Any, adapter: Path) -> Any:
    """Return the model with the adapter in its weights."""
    from safetensors.torch import load_file

    model, tensors = copy.deepcopy(torch_model), load_file(adapter / "adapter_model.safetensors")
    for name in {name.rpartition(".lora_")[0] for name in tensors}:
        weight = model.get_submodule(name.removeprefix("base_model.model.")).weight
        weight.data += ALPHA / RANK * tensors[f"{name}.lora_B.weight"] @ tensors[f"{name}.lora_A.weight"]
    return model


def test_answers_are_those_of_the_model_with_its_adapter(
    engine: VllmEngine,
    another_engine: Callable[..., VllmEngine],
    torch_model: Any,
    model_folder: Path,
    adapter: Path,
) -> None:
    import torch
    import transformers

    request = Request("t", "t", "loglikelihood", PROMPT, continuation=TEXT)
    own = another_engine(lora_path=adapter)
    assert own.identity != engine.identity
    answer, without = asyncio.run(own.answer(request)), asyncio.run(engine.answer(request))
    asyncio.run(own.close())

    tokenizer = transformers.AutoTokenizer.from_pretrained(model_folder)
    before = f"<|im_start|>user\n{PROMPT[0].content}<|im_end|>\n<|im_start|>assistant\n"
    ids = tokenizer(before + TEXT, add_special_tokens=False)["input_ids"]
    with torch.no_grad():
        logprobs = torch.log_softmax(merged(torch_model, adapter)(torch.tensor([ids])).logits[0].double(), dim=-1)
    assert answer.n_tokens is not None
    assert answer.logprob is not None
    expected = sum(float(logprobs[place - 1, ids[place]]) for place in range(len(ids) - answer.n_tokens, len(ids)))
    assert abs(answer.logprob - expected) / answer.n_tokens < 1e-4
    assert without.logprob != pytest.approx(expected, abs=1e-2)


def test_a_folder_that_is_no_adapter_is_reported(settings: Callable[..., VllmModel], tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"lora_path: .* is not a LoRA adapter \(adapter_config.json"):
        VllmEngine(settings(lora_path=tmp_path)).start()
