"""Models whose chat template takes no system role, opens a reasoning part, or is not there, on the real engine."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dialeval.engines.requests import Message, Sampling
from dialeval.engines.vllm_engine import VllmEngine
from dialeval.engines.vllm_engine.process import GenerationResult
from dialeval.errors import UserError

pytestmark = pytest.mark.vllm
STRICT = """
{%- if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}
{%- for message in messages %}
{%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('Roles must alternate') }}{% endif %}
{{- '<|im_start|>' + message['role'] + '\n' + message['content'] | trim + '<|im_end|>' + '\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant\n<think>\n' }}{% endif %}
"""


@pytest.fixture(scope="module")
def strict_engine(engine_beside: Callable[..., VllmEngine], tmp_path_factory: pytest.TempPathFactory) -> VllmEngine:
    path = tmp_path_factory.mktemp("template") / "strict.jinja"
    path.write_text(STRICT)
    return engine_beside(chat_template=str(path))


def test_a_template_without_system_role_chats(
    strict_engine: VllmEngine, engine: VllmEngine, ask: Callable[..., Any]
) -> None:
    assert strict_engine.normalisation == "system merged into the first user message"
    assert engine.normalisation == "none"
    assert strict_engine.identity != engine.identity
    assert "merged" in strict_engine.identity
    for messages in (
        (Message("system", "Be brief."), Message("user", "Hello.")),
        (Message("system", "Be brief."), Message("assistant", "Hello."), Message("user", "Hi.")),
        (Message("assistant", "Hello."), Message("user", "Hi.")),
    ):
        assert ask(strict_engine, "chat", messages, sampling=Sampling(max_tokens=6)).completion_tokens > 0


def test_an_answer_lost_to_the_budget_keeps_its_reasoning(strict_engine: VllmEngine, ask: Callable[..., Any]) -> None:
    answer = ask(strict_engine, "chat", (Message("user", "Hello."),), sampling=Sampling(temperature=1.0, max_tokens=20))
    assert answer.text == ""
    assert answer.reasoning
    assert answer.finish_reason == "length"
    assert answer.reasoning_tokens


@pytest.fixture(scope="module")
def mistral_engine(engine_beside: Callable[..., VllmEngine], tmp_path_factory: pytest.TempPathFactory) -> VllmEngine:
    path = tmp_path_factory.mktemp("template") / "mistral.jinja"
    path.write_text(STRICT.replace("<think>", "[THINK]"))
    return engine_beside(chat_template=str(path))


def test_marks_of_another_family_are_found_in_the_template(
    mistral_engine: VllmEngine, strict_engine: VllmEngine, ask: Callable[..., Any]
) -> None:
    assert '"reasoning_parser": "mistral"' in mistral_engine.identity
    assert "reasoning_parser" not in strict_engine.identity
    message = (Message("user", "Hello."),)
    answer = ask(mistral_engine, "chat", message, sampling=Sampling(temperature=1.0, max_tokens=20))
    assert (answer.text, answer.finish_reason) == ("", "length")
    assert answer.reasoning
    choice = ask(mistral_engine, "choice", message, labels=("Yes", "No"))
    assert choice.prompt_tokens > mistral_engine.count_tokens(message)


@pytest.mark.parametrize(
    ("marks", "written", "answer", "reasoning"),
    [
        (("[THINK]", "[/THINK]"), "[THINK]hm[/THINK]Hi there.", "Hi there.", "hm"),
        (("[THINK]", "[/THINK]"), "Hi there.", "Hi there.", ""),
        (("[THINK]", "[/THINK]"), "<think>hm</think>Hi there.", "Hi there.", "hm"),
        (("<think>", "</think>"), "<think>hm</think>Hi there.", "Hi there.", "hm"),
        (
            ("<|channel|>", "<|message|>", "<|end|>", "<|start|>"),
            "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Hi there.",
            "Hi there.",
            "hm",
        ),
        (
            ("<|START_THINKING|>", "<|END_THINKING|>", "<|START_RESPONSE|>", "<|END_RESPONSE|>"),
            "<|START_THINKING|>hm<|END_THINKING|><|START_RESPONSE|>Hi there.<|END_RESPONSE|>",
            "Hi there.",
            "hm",
        ),
    ],
)
def test_marks_that_are_special_tokens_are_seen_and_taken_out(
    marks: tuple[str, ...],
    written: str,
    answer: str,
    reasoning: str,
    settings: Callable[..., Any],
    model_folder: Path,
    tmp_path: Path,
) -> None:
    from transformers import AutoTokenizer

    shutil.copytree(model_folder, tmp_path / "model")
    tokenizer = AutoTokenizer.from_pretrained(model_folder)
    tokenizer.add_special_tokens({"additional_special_tokens": list(marks)})
    tokenizer.save_pretrained(tmp_path / "model")
    engine = VllmEngine(settings(model=str(tmp_path / "model")))
    ids = [*tokenizer(written, add_special_tokens=False)["input_ids"], tokenizer.eos_token_id]
    assert (
        tokenizer.decode(ids, skip_special_tokens=True) != answer or not reasoning
    )  # as thoughts came into utterances
    for stop in ((), ("\n",)):
        assert engine.split_reasoning(GenerationResult(ids, None, "stop", 0, []), "", stop) == (answer, reasoning)


def test_a_choice_is_read_behind_the_reasoning(strict_engine: VllmEngine, ask: Callable[..., Any]) -> None:
    messages = (Message("user", "Hello."),)
    answer = ask(strict_engine, "choice", messages, labels=("Yes", "No"))
    assert answer.prompt_tokens > strict_engine.count_tokens(messages)
    assert set(answer.label_logprobs) == {"Yes", "No"}


def test_a_base_model_goes_on_with_a_transcript(
    engine_beside: Callable[..., VllmEngine],
    selfchat: Callable[..., Any],
    ask: Callable[..., Any],
    tmp_path: Path,
) -> None:
    engine = engine_beside(chat_template="none")
    assert engine.normalisation == "transcript"
    chats = selfchat(engine, tmp_path, of={"a": ("Hello.", "Hi.")})
    assert all("\n" not in turn.text for turns in chats.dialogues.values() for turn in turns)
    answer = ask(engine, "loglikelihood", (Message("user", "The sky is"),), continuation=" blue.")
    assert answer.n_tokens >= 2


def test_a_tokenizer_without_a_template_names_the_option(
    settings: Callable[..., Any], model_folder: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "base"
    folder.mkdir()
    for path in model_folder.iterdir():
        if path.name != "chat_template.jinja":
            (folder / path.name).write_bytes(path.read_bytes())
    with pytest.raises(UserError, match="chat_template: none"):
        VllmEngine(settings(model=str(folder)))
    assert VllmEngine(settings(model=str(folder), chat_template="none")).normalisation == "transcript"
