"""The shipped configurations name models that vLLM can run, with what each of them needs to start.

What the models' makers published is written down here, since their files are not at hand: the architecture that
`config.json` names, whether the tokenizer has a chat template, and whether the model comes with code of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jinja2
import pytest
import yaml
from jinja2.sandbox import ImmutableSandboxedEnvironment

from dialeval.config import OpenAIModel, VllmModel
from dialeval.engines.requests import Message
from dialeval.engines.vllm_engine.chat_templates import AS_IS, MERGED, ChatTemplate, transcript

ROOT = Path(__file__).parents[3]
SYSTEM, ONE, TWO = Message("system", "Be brief."), Message("user", "Hi."), Message("assistant", "Hello.")


ARCHITECTURES = {
    "BloomForCausalLM", "ChatGLMModel", "FalconForCausalLM", "GPTNeoXForCausalLM", "Glm4ForCausalLM",
    "InternLM3ForCausalLM", "LlamaForCausalLM", "MistralForCausalLM", "Qwen2ForCausalLM", "Qwen3ForCausalLM",
}  # fmt: skip
"""Of the configured models, by their config.json."""
WITH_TEMPLATE = {
    "Qwen/Qwen2.5-7B-Instruct", "Qwen/Qwen2.5-14B-Instruct", "Qwen/Qwen2.5-7B", "Qwen/Qwen3-8B", "Qwen/Qwen3-14B",
    "baichuan-inc/Baichuan-M2-32B", "mistralai/Mistral-7B-Instruct-v0.2", "mistralai/Mistral-7B-Instruct-v0.3",
    "meta-llama/Llama-2-7b-chat-hf", "meta-llama/Llama-2-13b-chat-hf", "meta-llama/Llama-2-70b-chat-hf",
    "meta-llama/Llama-3.1-8B-Instruct", "meta-llama/Llama-3.3-70B-Instruct", "zai-org/GLM-4-9B-0414",
    "internlm/internlm3-8b-instruct",
}  # fmt: skip
"""Models whose tokenizer has a chat template."""
WITHOUT_TEMPLATE = {
    "mistralai/Mistral-7B-v0.1", "meta-llama/Llama-2-7b-hf", "meta-llama/Llama-2-13b-hf", "meta-llama/Llama-2-70b-hf",
    "huggyllama/llama-7b", "huggyllama/llama-13b", "huggyllama/llama-65b", "openlm-research/open_llama_7b",
    "openlm-research/open_llama_13b", "chavinlo/alpaca-native", "lmsys/vicuna-7b-v1.1", "lmsys/vicuna-7b-v1.3",
    "lmsys/vicuna-13b-v1.3", "lmsys/vicuna-7b-v1.5", "lmsys/vicuna-13b-v1.5", "Xwin-LM/Xwin-LM-7B-V0.1",
    "WizardLMTeam/WizardLM-13B-V1.2", "hfl/chinese-llama-2-13b", "hfl/chinese-alpaca-2-13b",
    "project-baize/baize-v2-13b", "weights/tulu-13b", "weights/chimera-inst-chat-7b", "weights/chimera-inst-chat-13b",
    "Salesforce/xgen-7b-8k-base", "Salesforce/xgen-7b-8k-inst", "tiiuae/falcon-7b", "tiiuae/falcon-7b-instruct",
    "EleutherAI/pythia-6.9b", "OpenAssistant/oasst-sft-4-pythia-12b-epoch-3.5", "databricks/dolly-v2-12b",
    "bigscience/bloom-7b1", "FreedomIntelligence/phoenix-inst-chat-7b", "zai-org/chatglm2-6b",
}  # fmt: skip
OWN_CODE = {
    "Salesforce/xgen-7b-8k-base", "Salesforce/xgen-7b-8k-inst", "zai-org/chatglm2-6b",
    "internlm/internlm3-8b-instruct",
}  # fmt: skip
"""Models that come with code of their own."""
DROPPED = {
    "baichuan-inc/Baichuan2-13B-Chat", "baichuan-inc/Baichuan2-13B-Base", "baichuan-inc/Baichuan2-7B-Base",
    "baichuan-inc/Baichuan-13B-Chat", "baichuan-inc/Baichuan-13B-Base", "Qwen/Qwen-7B", "Qwen/Qwen-7B-Chat",
    "Qwen/Qwen-14B-Chat", "internlm/internlm-7b", "internlm/internlm-chat-7b", "internlm/internlm-chat-20b",
    "mosaicml/mpt-7b-8k", "mosaicml/mpt-7b-8k-instruct",
}  # fmt: skip
"""Models whose architectures vLLM has dropped, which an older vLLM serves."""
DROPPED_ARCHITECTURES = {
    "BaichuanForCausalLM", "InternLMForCausalLM", "MPTForCausalLM", "QWenLMHeadModel",
}  # fmt: skip


MODELS: dict[str, dict[str, dict[str, Any]]] = {
    path.name: yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader).get("models") or {}
    for path in sorted((ROOT / "configs").glob("*.yaml"))
}
"""The models of each shipped configuration, by file and name."""


def configured() -> Iterator[tuple[str, dict[str, Any]]]:
    for file, models in MODELS.items():
        for name, model in models.items():
            if model["engine"] == "vllm" and model["model"] in WITH_TEMPLATE | WITHOUT_TEMPLATE | DROPPED:
                yield f"{file}: {name}", model
            else:
                assert model["engine"] != "vllm" or model["model"].startswith("tiny-"), f"{file}: {name}"


@pytest.mark.parametrize(("place", "fields"), [pytest.param(*each, id=each[0]) for each in configured()])
def test_a_model_is_given_what_it_needs_to_start(place: str, fields: dict[str, Any]) -> None:
    model = VllmModel(**fields)
    assert model.trust_remote_code is (model.model in OWN_CODE)
    assert model.model not in DROPPED
    if model.model in WITHOUT_TEMPLATE:
        assert model.chat_template is not None
        assert model.chat_template == "none" or (ROOT / model.chat_template).is_file()
    if re.search("-(65|70)b", model.model, re.IGNORECASE):
        assert model.tensor_parallel_size >= 2, "130 GB of weights and more are on more than one GPU"


def served() -> dict[str, set[str]]:
    """Return the addresses at which the configurations reach each model that vLLM has dropped."""
    found: dict[str, set[str]] = {}
    for model in (model for models in MODELS.values() for model in models.values()):
        if model.get("model") in DROPPED:
            found.setdefault(model["model"], set()).add(OpenAIModel(**model).base_url)
    return found


def test_what_vllm_has_dropped_is_reached_at_a_server_of_its_own() -> None:
    assert set(served()) == DROPPED
    addresses = [address for all_of_one in served().values() for address in all_of_one]
    assert len(addresses) == len(set(addresses)) == len(DROPPED), "each model has one address, and no two have the same"


@pytest.mark.parametrize("model", sorted(DROPPED))
def test_a_command_serves_what_vllm_has_dropped(model: str) -> None:
    commands = (ROOT / "configs" / "dropped-models.txt").read_text(encoding="utf-8")
    (address,) = served()[model]
    port = address.removesuffix("/v1").rpartition(":")[2]
    (command,) = (line for line in commands.splitlines() if f"vllm serve {model} " in line)
    assert f"--port {port} " in command
    assert (ROOT / command.partition("--chat-template ")[2].split()[0]).is_file()


def test_revisions_are_whole_commits() -> None:
    pinned = [model["revision"] for _, model in configured() if model.get("revision")]
    pinned += re.findall(r"--revision (\S+)", (ROOT / "configs" / "dropped-models.txt").read_text(encoding="utf-8"))
    assert len(pinned) > 40
    assert [revision for revision in pinned if not re.fullmatch(r"[0-9a-f]{40}", revision)] == []


def test_one_commit_of_a_model_stands_in_all_configurations() -> None:
    pinned: dict[str, set[str]] = {}
    for model in (model for models in MODELS.values() for model in models.values()):
        if model.get("revision"):
            pinned.setdefault(model["model"], set()).add(model["revision"])
    assert {name: revisions for name, revisions in pinned.items() if len(revisions) > 1} == {}


@pytest.mark.vllm
def test_vllm_has_the_architectures_or_has_dropped_them() -> None:
    from vllm import ModelRegistry

    supported = set(ModelRegistry.get_supported_archs())
    assert supported >= ARCHITECTURES
    assert not supported & DROPPED_ARCHITECTURES


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
        (
            "llama2",
            AS_IS,
            "<s>[INST] <<SYS>>\nBe brief.\n<</SYS>>\n\nHi. [/INST] Hello. </s><s>[INST] Hi. [/INST]",
        ),
        (
            "alpaca",
            AS_IS,
            "Be brief.\n\n### Instruction:\nHi.\n\n### Response:\nHello.\n\n### Instruction:\nHi.\n\n### Response:\n",
        ),
        ("tulu", MERGED, "<|user|>\nBe brief.\n\nHi.\n<|assistant|>\nHello.</s>\n<|user|>\nHi.\n<|assistant|>\n"),
        ("phoenix", AS_IS, "Be brief.\n\nHuman: <s>Hi.</s>Assistant: <s>Hello.</s>Human: <s>Hi.</s>Assistant: <s>"),
        (
            "oasst",
            MERGED,
            "<|prompter|>Be brief.\n\nHi.<|endoftext|><|assistant|>Hello.<|endoftext|><|prompter|>Hi.<|endoftext|>"
            "<|assistant|>",
        ),
        ("baize", AS_IS, "Be brief.\n[|Human|]Hi.\n[|AI|]Hello.\n[|Human|]Hi.\n[|AI|]"),
        ("xgen", AS_IS, "Be brief.\n\n### Human: Hi.\n### Assistant: Hello.\n### Human: Hi.\n### Assistant:"),
        ("falcon", MERGED, "User: Be brief.\n\nHi.\n\nAssistant: Hello.\n\nUser: Hi.\n\nAssistant:"),
        ("baichuan", AS_IS, "Be brief.<reserved_102>Hi.<reserved_103>Hello.<reserved_102>Hi.<reserved_103>"),
    ],
)
def test_a_template_writes_the_format_that_the_model_learned(name: str, normalisation: str, expected: str) -> None:
    path = ROOT / "configs" / "templates" / f"{name}.jinja"
    template = ChatTemplate(Tokenizer(), str(path), {}, name)
    assert template.normalisation == normalisation
    assert template.render((SYSTEM, ONE, TWO, ONE)) == expected
    assert template.render((SYSTEM, TWO, ONE))  # the assistant begins
    assert template.render((ONE,)).count("Hi.") == 1
    assert template.stop_token == ("</s>" if name in ("vicuna", "tulu", "phoenix") else None)


def test_the_plain_template_of_a_server_writes_what_a_base_model_is_given_here() -> None:
    path = ROOT / "configs" / "templates" / "plain.jinja"
    template = ChatTemplate(Tokenizer(), str(path), {}, "plain")
    for messages in [(ONE,), (SYSTEM, ONE, Message("assistant", "Well,\n hello."), ONE), (ONE, TWO, ONE)]:
        assert template.render(messages) == transcript(messages)


def test_every_template_is_used() -> None:
    used = "".join(
        path.read_text(encoding="utf-8")
        for path in [*(ROOT / "configs").glob("*.yaml"), ROOT / "configs/dropped-models.txt"]
    )
    assert [path.name for path in (ROOT / "configs" / "templates").iterdir() if path.name not in used] == []
