"""The shipped configurations name models that vLLM can run, with what each of them needs to start.

What the models' makers published is written down here, since their files are not at hand: the architecture that
`config.json` names, whether the tokenizer has a chat template, and whether the model comes with code of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import jinja2
import pytest
import yaml
from jinja2.sandbox import ImmutableSandboxedEnvironment

from dialeval.config import OpenAIModel, VllmModel
from dialeval.engines.request import Message
from dialeval.engines.vllm_engine.templates import AS_IS, MERGED, ChatTemplate

ROOT = Path(__file__).parents[3]
SYSTEM, ONE, TWO = Message("system", "Be brief."), Message("user", "Hi."), Message("assistant", "Hello.")


class Published(NamedTuple):
    architecture: str
    template: bool = True
    own_code: bool = False


PUBLISHED = {
    "Qwen/Qwen2.5-7B-Instruct": Published("Qwen2ForCausalLM"),
    "Qwen/Qwen2.5-14B-Instruct": Published("Qwen2ForCausalLM"),
    "Qwen/Qwen2.5-7B": Published("Qwen2ForCausalLM"),
    "mistralai/Mistral-7B-Instruct-v0.3": Published("MistralForCausalLM"),
    "meta-llama/Llama-2-7b-hf": Published("LlamaForCausalLM", template=False),
    "meta-llama/Llama-2-7b-chat-hf": Published("LlamaForCausalLM"),
    "meta-llama/Llama-2-13b-chat-hf": Published("LlamaForCausalLM"),
    "meta-llama/Llama-2-70b-chat-hf": Published("LlamaForCausalLM"),
    "lmsys/vicuna-7b-v1.5": Published("LlamaForCausalLM", template=False),
    "lmsys/vicuna-13b-v1.5": Published("LlamaForCausalLM", template=False),
    "zai-org/chatglm2-6b": Published("ChatGLMModel", template=False, own_code=True),
}
DROPPED = {
    "baichuan-inc/Baichuan2-13B-Chat": "BaichuanForCausalLM",
    "Qwen/Qwen-7B-Chat": "QWenLMHeadModel",
    "Qwen/Qwen-14B-Chat": "QWenLMHeadModel",
    "internlm/internlm-chat-7b": "InternLMForCausalLM",
    "internlm/internlm-chat-20b": "InternLMForCausalLM",
}
"""Models whose architectures vLLM has dropped, which an older vLLM serves."""


def configured() -> Iterator[tuple[str, dict[str, Any]]]:
    for path in sorted((ROOT / "configs").glob("*.yaml")):
        for name, model in (yaml.safe_load(path.read_text(encoding="utf-8")).get("models") or {}).items():
            if model["engine"] == "vllm" and model["model"] in PUBLISHED | DROPPED:
                yield f"{path.name}: {name}", model
            else:
                assert model["engine"] != "vllm" or model["model"].startswith("tiny-"), f"{path.name}: {name}"


@pytest.mark.parametrize(("place", "fields"), [pytest.param(*each, id=each[0]) for each in configured()])
def test_a_model_is_given_what_it_needs_to_start(place: str, fields: dict[str, Any]) -> None:
    model, published = VllmModel(**fields), PUBLISHED[fields["model"]]
    assert model.trust_remote_code is published.own_code
    if not published.template:
        assert model.chat_template is not None
        assert model.chat_template == "none" or (ROOT / model.chat_template).is_file()
    if "70b" in model.model:
        assert model.tensor_parallel_size >= 2, "141 GB of weights are on more than one GPU"


def test_what_vllm_has_dropped_is_reached_at_a_server() -> None:
    models = yaml.safe_load((ROOT / "configs" / "botchat.yaml").read_text(encoding="utf-8"))["models"]
    served = [OpenAIModel(**model) for model in models.values() if model["model"] in DROPPED]
    assert {model.model for model in served} == set(DROPPED)
    assert len({model.base_url for model in served}) == len(served)
    documentation = (ROOT / "docs" / "vllm.md").read_text(encoding="utf-8")
    for model in served:
        port = model.base_url.removesuffix("/v1").rpartition(":")[2]
        (command,) = (line for line in documentation.splitlines() if f"vllm serve {model.model} " in line)
        assert f"--port {port} " in command
        template = command.partition("--chat-template ")[2].split()[0]
        assert (ROOT / template).is_file()


@pytest.mark.vllm
def test_vllm_has_the_architectures_or_has_dropped_them() -> None:
    from vllm import ModelRegistry

    supported = set(ModelRegistry.get_supported_archs())
    assert {published.architecture for published in PUBLISHED.values()} <= supported
    assert not set(DROPPED.values()) & supported


class Tokenizer:
    """Renders as a tokenizer of transformers does, and knows Vicuna's special tokens."""

    all_special_tokens = ("<s>", "</s>")

    def convert_tokens_to_ids(self, token: str) -> int:
        return 1 + self.all_special_tokens.index(token)

    def apply_chat_template(
        self, messages: list[dict[str, str]], *, chat_template: str, tokenize: bool, add_generation_prompt: bool
    ) -> str:
        def refuse(message: str) -> None:
            raise jinja2.TemplateError(message)

        assert not tokenize
        environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
        return environment.from_string(chat_template).render(
            messages=messages, add_generation_prompt=add_generation_prompt, bos_token="<s>", eos_token="</s>",
            raise_exception=refuse,
        )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "normalisation", "expected"),
    [
        ("vicuna", AS_IS, "<s>Be brief. USER: Hi. ASSISTANT: Hello.</s>USER: Hi. ASSISTANT:"),
        (
            "chatml",
            AS_IS,
            "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi.<|im_end|>\n<|im_start|>assistant\nHello."
            "<|im_end|>\n<|im_start|>user\nHi.<|im_end|>\n<|im_start|>assistant\n",
        ),
        (
            "internlm",
            MERGED,
            "<s><|User|>:Be brief.\n\nHi.<eoh>\n<|Bot|>:Hello.<eoa>\n<s><|User|>:Hi.<eoh>\n<|Bot|>:",
        ),
        (
            "baichuan2",
            AS_IS,
            "Be brief.<reserved_106>Hi.<reserved_107>Hello.<reserved_106>Hi.<reserved_107>",
        ),
        (
            "chatglm2",
            MERGED,
            "[Round 1]\n\n问：Be brief.\n\nHi.\n\n答：Hello.\n\n[Round 2]\n\n问：Hi.\n\n答：",
        ),
    ],
)
def test_a_template_writes_the_format_that_the_model_learned(name: str, normalisation: str, expected: str) -> None:
    path = ROOT / "configs" / "templates" / f"{name}.jinja"
    template = ChatTemplate(Tokenizer(), str(path), {}, name)
    assert template.normalisation == normalisation
    assert template.render((SYSTEM, ONE, TWO, ONE)) == expected
    assert template.render((SYSTEM, TWO, ONE))  # the assistant begins
    assert template.render((ONE,)).count("Hi.") == 1
    assert template.stop_token == ("</s>" if name == "vicuna" else None)
