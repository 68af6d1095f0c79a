"""The shipped configurations name models that vLLM can run, with what each of them needs to start.

What the models' makers published is written down here, since their files are not at hand: the architecture that
`config.json` names, whether the tokenizer has a chat template, and whether the model comes with code of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import jinja2
import pytest
import yaml
from jinja2.sandbox import ImmutableSandboxedEnvironment

from dialeval.config import OpenAIModel, VllmModel
from dialeval.engines.requests import Message
from dialeval.engines.vllm_engine.chat_templates import AS_IS, MERGED, ChatTemplate, transcript

ROOT = Path(__file__).parents[3]
SYSTEM, ONE, TWO = Message("system", "Be brief."), Message("user", "Hi."), Message("assistant", "Hello.")


class Published(NamedTuple):
    architecture: str
    template: bool = True
    own_code: bool = False


LLAMA, BARE_LLAMA = Published("LlamaForCausalLM"), Published("LlamaForCausalLM", template=False)
PYTHIA = Published("GPTNeoXForCausalLM", template=False)
PUBLISHED = {
    "Qwen/Qwen2.5-7B-Instruct": Published("Qwen2ForCausalLM"),
    "Qwen/Qwen2.5-14B-Instruct": Published("Qwen2ForCausalLM"),
    "Qwen/Qwen2.5-7B": Published("Qwen2ForCausalLM"),
    "Qwen/Qwen3-8B": Published("Qwen3ForCausalLM"),
    "Qwen/Qwen3-14B": Published("Qwen3ForCausalLM"),
    "baichuan-inc/Baichuan-M2-32B": Published("Qwen2ForCausalLM"),
    "mistralai/Mistral-7B-v0.1": Published("MistralForCausalLM", template=False),
    "mistralai/Mistral-7B-Instruct-v0.2": Published("MistralForCausalLM"),
    "mistralai/Mistral-7B-Instruct-v0.3": Published("MistralForCausalLM"),
    "meta-llama/Llama-2-7b-hf": BARE_LLAMA,
    "meta-llama/Llama-2-13b-hf": BARE_LLAMA,
    "meta-llama/Llama-2-70b-hf": BARE_LLAMA,
    "meta-llama/Llama-2-7b-chat-hf": LLAMA,
    "meta-llama/Llama-2-13b-chat-hf": LLAMA,
    "meta-llama/Llama-2-70b-chat-hf": LLAMA,
    "meta-llama/Llama-3.1-8B-Instruct": LLAMA,
    "meta-llama/Llama-3.3-70B-Instruct": LLAMA,
    "huggyllama/llama-7b": BARE_LLAMA,
    "huggyllama/llama-13b": BARE_LLAMA,
    "huggyllama/llama-65b": BARE_LLAMA,
    "openlm-research/open_llama_7b": BARE_LLAMA,
    "openlm-research/open_llama_13b": BARE_LLAMA,
    "chavinlo/alpaca-native": BARE_LLAMA,
    "lmsys/vicuna-7b-v1.1": BARE_LLAMA,
    "lmsys/vicuna-7b-v1.3": BARE_LLAMA,
    "lmsys/vicuna-13b-v1.3": BARE_LLAMA,
    "lmsys/vicuna-7b-v1.5": BARE_LLAMA,
    "lmsys/vicuna-13b-v1.5": BARE_LLAMA,
    "Xwin-LM/Xwin-LM-7B-V0.1": BARE_LLAMA,
    "WizardLMTeam/WizardLM-13B-V1.2": BARE_LLAMA,
    "hfl/chinese-llama-2-13b": BARE_LLAMA,
    "hfl/chinese-alpaca-2-13b": BARE_LLAMA,
    "project-baize/baize-v2-13b": BARE_LLAMA,
    "weights/tulu-13b": BARE_LLAMA,
    "weights/chimera-inst-chat-7b": BARE_LLAMA,
    "weights/chimera-inst-chat-13b": BARE_LLAMA,
    "Salesforce/xgen-7b-8k-base": Published("LlamaForCausalLM", template=False, own_code=True),
    "Salesforce/xgen-7b-8k-inst": Published("LlamaForCausalLM", template=False, own_code=True),
    "tiiuae/falcon-7b": Published("FalconForCausalLM", template=False),
    "tiiuae/falcon-7b-instruct": Published("FalconForCausalLM", template=False),
    "EleutherAI/pythia-6.9b": PYTHIA,
    "OpenAssistant/oasst-sft-4-pythia-12b-epoch-3.5": PYTHIA,
    "databricks/dolly-v2-12b": PYTHIA,
    "bigscience/bloom-7b1": Published("BloomForCausalLM", template=False),
    "FreedomIntelligence/phoenix-inst-chat-7b": Published("BloomForCausalLM", template=False),
    "zai-org/chatglm2-6b": Published("ChatGLMModel", template=False, own_code=True),
    "zai-org/GLM-4-9B-0414": Published("Glm4ForCausalLM"),
    "internlm/internlm3-8b-instruct": Published("InternLM3ForCausalLM", own_code=True),
}
DROPPED = {
    "baichuan-inc/Baichuan2-13B-Chat": "BaichuanForCausalLM",
    "baichuan-inc/Baichuan2-13B-Base": "BaichuanForCausalLM",
    "baichuan-inc/Baichuan2-7B-Base": "BaichuanForCausalLM",
    "baichuan-inc/Baichuan-13B-Chat": "BaichuanForCausalLM",
    "baichuan-inc/Baichuan-13B-Base": "BaichuanForCausalLM",
    "Qwen/Qwen-7B": "QWenLMHeadModel",
    "Qwen/Qwen-7B-Chat": "QWenLMHeadModel",
    "Qwen/Qwen-14B-Chat": "QWenLMHeadModel",
    "internlm/internlm-7b": "InternLMForCausalLM",
    "internlm/internlm-chat-7b": "InternLMForCausalLM",
    "internlm/internlm-chat-20b": "InternLMForCausalLM",
    "mosaicml/mpt-7b-8k": "MPTForCausalLM",
    "mosaicml/mpt-7b-8k-instruct": "MPTForCausalLM",
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
    if re.search("-(65|70)b", model.model, re.IGNORECASE):
        assert model.tensor_parallel_size >= 2, "130 GB of weights and more are on more than one GPU"


def served() -> dict[str, set[str]]:
    """Returns the addresses at which the configurations reach each model that vLLM has dropped."""
    found: dict[str, set[str]] = {}
    for path in sorted((ROOT / "configs").glob("*.yaml")):
        for model in (yaml.safe_load(path.read_text(encoding="utf-8")).get("models") or {}).values():
            if model.get("model") in DROPPED:
                found.setdefault(model["model"], set()).add(OpenAIModel(**model).base_url)
    return found


def test_what_vllm_has_dropped_is_reached_at_a_server_of_its_own() -> None:
    assert set(served()) == set(DROPPED)
    addresses = [address for all_of_one in served().values() for address in all_of_one]
    assert len(addresses) == len(set(addresses)) == len(DROPPED), "each model has one address, and no two have the same"


@pytest.mark.parametrize("model", list(DROPPED))
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


@pytest.mark.parametrize("path", sorted((ROOT / "configs").glob("*.yaml")), ids=lambda path: path.stem)
def test_one_commit_of_a_model_stands_in_all_configurations(path: Path) -> None:
    everywhere = {(fields["model"], fields.get("revision")) for _, fields in configured()}
    for model in (yaml.safe_load(path.read_text(encoding="utf-8")).get("models") or {}).values():
        pinned = {revision for name, revision in everywhere if name == model.get("model") and revision}
        assert len(pinned) <= 1, model["model"]


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
