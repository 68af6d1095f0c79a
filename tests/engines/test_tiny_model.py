"""What a tiny model is trained on: verdicts that the parsers read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from judged_dialogues import shipped_question

from dialeval.corpora.dialogues import bundled_dialogues
from dialeval.engines.installation import TRANSLATES, missing_libraries
from dialeval.engines.requests import Dialogue
from dialeval.engines.tiny_model import CHAT_TEMPLATE, END, Examples, build_tiny_model
from dialeval.protocols import locate


@pytest.fixture
def examples() -> Examples:
    dialogues: list[Dialogue] = [tuple(part.text for part in d.utterances) for d in bundled_dialogues("en").dialogues]
    return Examples(dialogues, np.random.default_rng(5))


def test_single_verdicts_are_such_as_the_parser_reads(examples: Examples) -> None:
    choices = []
    for _ in range(20):
        before, verdict = examples.single_verdict()
        assert before.endswith("<|im_start|>assistant\n")
        assert verdict.endswith(f"{END}\n")
        planned = {"request_id": "r", "case_id": "s", "left": "m", "n_utterances": 8}
        answer = {"text": verdict.removesuffix(f"{END}\n"), "status": "ok", "finish_reason": "stop"}
        (verdict,) = locate.parse(shipped_question("unieval"), planned, answer)
        assert verdict["status"] == "ok"
        choices.append(verdict["choice"])
    assert set(choices) == {"Yes", "No"}


def test_examples_have_the_form_of_the_chat_template(examples: Examples) -> None:
    import jinja2

    template = jinja2.Template(CHAT_TEMPLATE)
    before, _ = examples.pair_verdict()
    prompt = before.removeprefix("<|im_start|>user\n").partition(END)[0]
    assert template.render(messages=[{"role": "user", "content": prompt}], add_generation_prompt=True) == before
    assert examples.chat().prompt == ""


def test_training_moves_the_model(tmp_path: Path) -> None:
    problem = missing_libraries("a tiny model", TRANSLATES)
    if problem:
        pytest.skip(problem)
    for steps in (0, 3):
        assert build_tiny_model(tmp_path / str(steps), steps=steps) > 500_000
    weights = [(tmp_path / str(steps) / "model.safetensors").read_bytes() for steps in (0, 3)]
    assert weights[0] != weights[1]
