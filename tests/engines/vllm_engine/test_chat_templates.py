"""Reasoning is separated from the answer by the marks of each family of models, where an answer begins with it."""

from __future__ import annotations

import importlib.util
import json
import random
from collections.abc import Collection

import pytest

from dialeval.config import VllmModel
from dialeval.engines.vllm_engine.chat_templates import DEFAULT, KNOWN, PLAIN, Between, Harmony, Reasoning, reasoning_of
from dialeval.engines.vllm_engine.engine import reasoning_in_effect
from dialeval.engines.vllm_engine.model_files import vllm_identity
from dialeval.errors import UserError

HAS_VLLM = importlib.util.find_spec("vllm") is not None
BETWEEN = [DEFAULT, *(format_ for format_ in KNOWN if isinstance(format_, Between))]
CHATML = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>{% endfor %}"


def found(template: str = CHATML, special: Collection[str] = (), choice: str | None = None) -> Reasoning:
    return reasoning_of(choice, template, special, None, {})


@pytest.mark.parametrize("way", BETWEEN, ids=lambda way: way.name or "think")
def test_reasoning_stands_between_marks_at_the_beginning(way: Between) -> None:
    opening, closing = way.opening, way.closing
    for text, opened, answer, reasoning in (
        ("Yes.", False, "Yes.", ""),
        (f"{opening}hm{closing}\n\nYes.", False, "Yes.", "hm"),
        (f"\n{opening}hm{closing}Yes.", False, "Yes.", "hm"),
        (f"hm{closing}Yes.", True, "Yes.", "hm"),
        (f"{opening}hm{closing}Yes.", True, "Yes.", "hm"),
        ("hm, no end", True, "", "hm, no end"),
        (f"{opening}no end", False, "", "no end"),
        (f"{opening}{closing}Yes.", False, "Yes.", ""),
        (f"Choice: Yes\nReason: odd {closing}Choice: No", False, f"Choice: Yes\nReason: odd {closing}Choice: No", ""),
        (f"{opening}hm{closing}Yes, odd {closing}No", False, f"Yes, odd {closing}No", "hm"),
    ):
        assert way.split(text, opened=opened) == (answer, reasoning)
    assert way.opened_by(f"<|im_start|>assistant\n{opening}\n")
    assert not way.opened_by("<|im_start|>assistant\n")
    assert way.before_label(f"assistant\n{opening}\n").endswith(f"{opening.rstrip()}\n\n{closing}\n\n")
    assert way.before_label("assistant\n") == "assistant\n"


@pytest.mark.parametrize(
    ("text", "answer", "reasoning"),
    [
        (
            "<|channel|>analysis<|message|>The user greets.<|end|><|start|>assistant"
            "<|channel|>final<|message|>Hi!<|return|>",
            "Hi!",
            "The user greets.",
        ),
        ("<|channel|>final<|message|>Hi!", "Hi!", ""),
        ("<|channel|>analysis<|message|>The user gre", "", "The user gre"),
        ("<|channel|>analysis", "", ""),
        (
            "<|channel|>commentary<|message|>Well.<|end|><|start|>assistant"
            "<|channel|>final <|constrain|>json<|message|>{}",
            "Well.\n{}",
            "",
        ),
        ("<|channel|>commentary to=functions.f<|message|>{}<|call|>", "", ""),
        ("Hi <|channel|>analysis<|message|>there", "Hi <|channel|>analysis<|message|>there", ""),
    ],
)
def test_channels_are_taken_apart(text: str, answer: str, reasoning: str) -> None:
    assert Harmony().split(text, opened=False) == (answer, reasoning)
    assert Harmony().before_label("<|start|>assistant") == "<|start|>assistant<|channel|>final<|message|>"


@pytest.mark.parametrize(
    ("mark", "name"),
    [
        ("<seed:think>", "seed_oss"),
        ("[THINK]", "mistral"),
        ("<|START_THINKING|>", "cohere_command3"),
        ("<|channel|>", "openai_gptoss"),
        ("<|channel>", "gemma4"),
        ("<thought>", "thought"),
        ("<mm:think>", "minimax_m3"),
    ],
)
def test_the_way_is_found_in_template_or_vocabulary(mark: str, name: str) -> None:
    for reasoning in (found(f"{CHATML}{{# {mark} #}}"), found(special=["<|im_end|>", mark]), found(choice=name)):
        assert reasoning.name == name
        assert reasoning.keeps_special
    assert found(f"{CHATML}{mark}", choice="none") is DEFAULT
    assert found("", special=[mark]) is DEFAULT  # a base model goes on with a transcript


def test_think_is_looked_for_in_every_answer_and_changes_no_identity() -> None:
    model = VllmModel(engine="vllm", model="some/model")
    assert found() is found(f"{CHATML}<think>\n") is DEFAULT
    assert all(found(choice=name) is DEFAULT for name in PLAIN)
    assert vllm_identity(model, "none") == vllm_identity(model, "none", reasoning=DEFAULT.name)
    hidden = found(special=["<think>", "</think>"])  # the tokenizer would leave its marks out of the text
    assert (hidden.name, hidden.keeps_special) == ("deepseek_r1", True)
    assert found(special=["<think>"], choice="qwen3") == hidden


def test_another_way_is_part_of_the_identity_and_reported_in_the_log() -> None:
    model = VllmModel(engine="vllm", model="some/model")
    identity = vllm_identity(model, "none", reasoning=found(special=["[THINK]"]).name)
    assert json.loads(identity)["reasoning_parser"] == "mistral"
    words = reasoning_in_effect(found(special=["[THINK]"]), model)
    assert "[THINK] ... [/THINK]" in words
    assert "detected from the model: mistral" in words
    chosen = VllmModel(engine="vllm", model="some/model", reasoning_parser="none")
    assert "as configured: none" in reasoning_in_effect(DEFAULT, chosen)


def test_any_text_is_taken_apart() -> None:
    drawn = random.Random(0)
    pieces = [part for way in BETWEEN for part in (way.opening, way.closing)]
    pieces += ["<|channel|>", "analysis", "final", "<|message|>", "<|end|>", "<|start|>assistant", " ", "\n", "hm", "<"]
    for _ in range(2000):
        text = "".join(drawn.choices(pieces, k=drawn.randrange(9)))
        for way in (*BETWEEN, Harmony()):
            answer, reasoning = way.split(text, opened=drawn.random() < 0.5)
            assert len(answer) + len(reasoning) <= len(text)


class Vocabulary:
    """As much of a tokenizer as vLLM's parsers ask for when they are made."""

    def __init__(self, *tokens: str) -> None:
        self._numbers = {token: number for number, token in enumerate(tokens)}

    def get_vocab(self) -> dict[str, int]:
        return self._numbers

    def convert_tokens_to_ids(self, token: str) -> int | None:
        return self._numbers.get(token)

    def encode(self, text: str, **_options: bool) -> list[int]:
        return [self._numbers.get(text, len(self._numbers))]


@pytest.mark.vllm
@pytest.mark.parametrize(
    "way", [way for way in BETWEEN if way.name in ("", "seed_oss", "gemma4", "minimax_m3", "plamo3")]
)
def test_vllms_own_parsers_take_whole_answers_apart_in_the_same_way(way: Between) -> None:
    from vllm.reasoning import ReasoningParserManager

    tokens = way.opening.removesuffix("thought\n"), way.closing
    parser = ReasoningParserManager.get_reasoning_parser(way.name or "deepseek_r1")(Vocabulary(*tokens))
    for text in (f"{way.opening}hm{way.closing}Yes.", f"{way.opening}hm{way.closing}\n\nYes.", f"{way.opening}hm"):
        reasoning, answer = parser.extract_reasoning(text, None)
        assert ((answer or "").strip(), (reasoning or "").strip()) == way.split(text, opened=False)


@pytest.mark.vllm
def test_a_parser_of_vllms_is_used_by_its_name() -> None:
    tokenizer = Vocabulary("<think>", "</think>", "<response>", "</response>")
    reasoning = reasoning_of("ernie45", CHATML, ["<response>"], tokenizer, {})
    assert (reasoning.name, reasoning.words) == ("ernie45", "vLLM's parser ernie45")
    assert reasoning.split("<think>hm</think>\n<response>Yes</response>", opened=False) == ("Yes", "hm")
    assert reasoning.split("Yes, odd </think>No", opened=False) == ("Yes, odd </think>No", "")
    assert reasoning.split("hm</think>Yes", opened=reasoning.opened_by("assistant\n<think>\n")) == ("Yes", "hm")
    assert reasoning.before_label("assistant\n<think>\n") == "assistant\n<think>\n\n</think>\n\n"


@pytest.mark.vllm
def test_a_parser_that_is_not_there_or_does_not_fit_is_named() -> None:
    with pytest.raises(UserError, match=r"none named 'qwen33'; it has .*qwen3, .*seed_oss"):
        reasoning_of("qwen33", CHATML, [], Vocabulary(), {})
    with pytest.raises(UserError, match="ernie45 cannot be used with this model"):
        reasoning_of("ernie45", CHATML, [], Vocabulary(), {})
