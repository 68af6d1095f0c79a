"""What a language model learns from is what it is asked when it judges, token by token."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lora_examples import examples_of

from dialeval.config import VllmModel
from dialeval.criteria import SHIPPED, Criterion, Words
from dialeval.errors import UserError
from dialeval.prompts.rendering import Templates

pytestmark = pytest.mark.train


@pytest.fixture(scope="module")
def questions(judge: Callable[..., VllmModel]) -> Callable[..., Any]:
    """Makes the questions of the tiny decoder: `questions(cutoff, chat_template=...)`."""
    from dialeval.engines.vllm_engine.prompts import Prompts
    from dialeval.training.lora.questions import LoraQuestions

    def make(cutoff: int = 512, criteria: dict[str, Criterion] | None = None, **fields: Any) -> Any:
        model = judge().model_copy(update=fields)
        return LoraQuestions(Prompts(model), Templates(), criteria or dict(SHIPPED), cutoff)

    return make


def test_a_prompt_is_that_of_the_judge_and_its_answer_one_that_is_read(
    questions: Callable[..., Any], decoder: Path
) -> None:
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(decoder)
    rows = examples_of(2)
    made = questions()
    true, spoiled, *_ = made.of(rows)
    shown = tokenizer.decode(true.prompt)
    assert shown.startswith("<|im_start|>user\n### Context\n")
    assert shown.endswith("### Answer<|im_end|>\n<|im_start|>assistant\n")
    assert "Is the response relevant to the context?\nAnswer with one word, Yes or No.\n\n### Answer" in shown
    assert all(text in shown for text in rows[0]["utterances"])
    assert [tokenizer.decode(one.answer) for one in (true, spoiled)] == ["Yes", "No"]
    assert [made.tree.label_of[one.answer] for one in (true, spoiled)] == ["Yes", "No"]
    whole = tokenizer(shown + "Yes", add_special_tokens=False)["input_ids"]
    assert whole == [*true.prompt, *true.answer]
    assert true.length == len(whole)


def test_the_same_request_reaches_vllm(questions: Callable[..., Any], judge: Callable[..., VllmModel]) -> None:
    from dialeval.corpora.items import Item
    from dialeval.engines.vllm_engine.prompts import Prompts
    from dialeval.forms.probability import plan

    rows = examples_of(3)
    prompts = Prompts(judge())
    for row, question in zip(rows, questions().of(rows), strict=True):
        item = Item("c", "i", "en", "turn", "k", tuple(row["speakers"]), tuple(row["utterances"]))
        planned = {one.part: one.request for one in plan([item], Templates())}
        assert prompts.before_label(planned["relevance"].messages) == question.prompt


def test_long_contexts_lose_their_oldest_utterances_and_never_the_question(questions: Callable[..., Any]) -> None:
    row = examples_of(1)[0]
    context = [f"Number {number} of what was said before, at some length." for number in range(30)]
    row |= {"utterances": [*context, "A short response."], "speakers": ["human", "chatbot"] * 15 + ["human"]}
    made = questions(cutoff=400)
    (question,) = made.of([row])
    text = made._prompts.tokenizer.decode(question.prompt)
    assert question.length <= 400
    assert question.dropped > 0
    assert f"Number {question.dropped} of" in text
    assert f"Number {question.dropped - 1} of" not in text
    assert "A short response." in text
    assert "Is the response relevant" in text
    too_short = questions(cutoff=60)
    assert list(too_short.of([row])) == []
    assert too_short.too_long == 1


def test_a_base_model_answers_behind_a_plain_transcript(questions: Callable[..., Any]) -> None:
    made = questions(chat_template="none")
    true, spoiled, *_ = made.of(examples_of(1))
    text = made._prompts.tokenizer.decode(true.prompt)
    assert "<|im_start|>" not in text
    assert text.rstrip().endswith("### Answer")
    assert [made.tree.label_of[one.answer] for one in (true, spoiled)] == ["Yes", "No"]


def test_own_criteria_need_a_question(questions: Callable[..., Any]) -> None:
    warm = Criterion("warmth", "turn", Words({"turn": "Is the response warm?"}, {}))
    row = examples_of(1)[0] | {"criterion": "warmth"}
    made = questions(criteria={"warmth": warm})
    (question,) = made.of([row])
    assert "Is the response warm?" in made._prompts.tokenizer.decode(question.prompt)
    with pytest.raises(UserError, match=r"training\.turns: criterion 'kindness' is not asked about by Yes and No"):
        list(made.of([row | {"criterion": "kindness"}]))
