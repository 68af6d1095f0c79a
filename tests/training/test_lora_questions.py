"""What a language model learns from is what it is asked when it judges, token by token."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from judged_dialogues import shipped_question
from lora_examples import examples_of

from dialeval.config import VllmModel
from dialeval.criteria import SHIPPED, Criterion, Words
from dialeval.engines.installation import by_length
from dialeval.errors import UserError
from dialeval.prompts.rendering import Templates
from dialeval.training.lora_questions import ShuffledOrder, parts_of_sets


@pytest.fixture(scope="module")
def questions(judge: Callable[..., VllmModel]) -> Callable[..., Any]:
    """Make the questions of the tiny decoder: `questions(cutoff, chat_template=...)`."""
    from dialeval.engines.vllm_engine.prompts import Prompts
    from dialeval.training.lora_questions import LoraQuestions

    def make(cutoff: int = 512, criteria: dict[str, Criterion] | None = None, **fields: Any) -> Any:
        model = judge().model_copy(update=fields)
        return LoraQuestions(Prompts(model), Templates(), criteria or dict(SHIPPED), cutoff)

    return make


@pytest.mark.train
def test_a_prompt_is_that_of_the_judge_and_its_answer_one_that_is_read(
    questions: Callable[..., Any], decoder: Path
) -> None:
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(decoder)
    rows = examples_of(2)
    made = questions()
    true, negative, *_ = made.rendered(rows)
    shown = tokenizer.decode(true.prompt)
    assert shown.startswith("<|im_start|>user\n### Context\n")
    assert shown.endswith("### Answer<|im_end|>\n<|im_start|>assistant\n")
    assert "Is the response relevant to the context?\nAnswer with one word, Yes or No.\n\n### Answer" in shown
    assert all(text in shown for text in rows[0]["utterances"])
    assert [tokenizer.decode(one.answer) for one in (true, negative)] == ["Yes", "No"]
    assert [made.tree.label_of[one.answer] for one in (true, negative)] == ["Yes", "No"]
    answered = tokenizer(shown + "Yes", add_special_tokens=False)["input_ids"]
    assert answered == [*true.prompt, *true.answer]
    assert true.length == len(answered)


@pytest.mark.train
def test_the_frozen_output_weights_are_not_copied_for_each_prompt(questions: Callable[..., Any], decoder: Path) -> None:
    """Of a vocabulary of 262,144 a copy takes 335 MB, and a batch has 32."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode
    from transformers import AutoModelForCausalLM

    from dialeval.config import LoraTraining
    from dialeval.training.lora import with_adapter
    from dialeval.training.lora_questions import label_scores

    class Largest(TorchDispatchMode):  # type: ignore[misc]
        numbers = 0

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if func is torch.ops.aten.bmm.default:
                self.numbers = max(self.numbers, *(part.numel() for part in args))
            return func(*args, **kwargs or {})

    model = with_adapter(AutoModelForCausalLM.from_pretrained(decoder), LoraTraining(train=["turns"], gpus=0))
    made = questions()
    prompts = [one.prompt for one in made.rendered(examples_of(4))]
    with Largest() as largest:
        label_scores(model, prompts, made.tree)
    assert len(prompts) >= 4
    assert largest.numbers < 2 * model.get_output_embeddings().weight.numel()


@pytest.mark.train
def test_the_same_request_reaches_vllm(questions: Callable[..., Any], judge: Callable[..., VllmModel]) -> None:
    from dialeval.corpora.items import Item
    from dialeval.engines.vllm_engine.prompts import Prompts
    from dialeval.protocols.scores import plan_probability

    rows = examples_of(3)
    prompts = Prompts(judge())
    for row, question in zip(rows, questions().rendered(rows), strict=True):
        item = Item("c", "i", "en", "turn", "k", tuple(row["speakers"]), tuple(row["utterances"]))
        planned = {one.part: one.request for one in plan_probability(shipped_question("yes_no"), [item], Templates())}
        assert prompts.before_label(planned["relevance"].messages) == question.prompt


@pytest.mark.train
def test_long_contexts_lose_their_oldest_utterances_and_never_the_question(questions: Callable[..., Any]) -> None:
    row = examples_of(1)[0]
    context = [f"Number {number} of what was said before, at some length." for number in range(30)]
    row |= {"utterances": [*context, "A short response."], "speakers": ["human", "chatbot"] * 15 + ["human"]}
    made = questions(cutoff=400)
    (question,) = made.rendered([row])
    text = made._prompts.tokenizer.decode(question.prompt)
    assert question.length <= 400
    assert question.dropped > 0
    assert f"Number {question.dropped} of" in text
    assert f"Number {question.dropped - 1} of" not in text
    assert "A short response." in text
    assert "Is the response relevant" in text
    too_short = questions(cutoff=60)
    assert list(too_short.rendered([row])) == []
    assert too_short.too_long == 1


@pytest.mark.train
def test_a_base_model_answers_behind_a_plain_transcript(questions: Callable[..., Any]) -> None:
    made = questions(chat_template="none")
    true, negative, *_ = made.rendered(examples_of(1))
    text = made._prompts.tokenizer.decode(true.prompt)
    assert "<|im_start|>" not in text
    assert text.rstrip().endswith("### Answer")
    assert [made.tree.label_of[one.answer] for one in (true, negative)] == ["Yes", "No"]


@pytest.mark.train
def test_own_criteria_need_a_question(questions: Callable[..., Any]) -> None:
    warm = Criterion("warmth", "turn", Words({"turn": "Is the response warm?"}, {}))
    row = examples_of(1)[0] | {"criterion": "warmth"}
    made = questions(criteria={"warmth": warm})
    (question,) = made.rendered([row])
    assert "Is the response warm?" in made._prompts.tokenizer.decode(question.prompt)
    with pytest.raises(UserError, match=r"training\.turns: criterion 'kindness' has no yes/no question"):
        list(made.rendered([row | {"criterion": "kindness"}]))


# P(Yes) in transformers: the sum over spellings, read step by step, whatever is computed together.


def _one_by_one(model: Any, prompt: list[int], paths: dict[tuple[int, ...], str]) -> dict[str, float]:
    """Return each label's probability, from a run of the model for each spelling alone."""
    import torch

    found = {"Yes": 0.0, "No": 0.0}
    for path, label in paths.items():
        with torch.no_grad():
            logprobs = model(torch.tensor([[*prompt, *path]])).logits[0].double().log_softmax(-1)
        at = [float(logprobs[len(prompt) + place - 1, token]) for place, token in enumerate(path)]
        found[label] += math.exp(sum(at))
    return found


@pytest.mark.train
def test_scores_equal_those_of_single_spellings(judge: Callable[..., VllmModel], decoder: Path) -> None:
    import torch
    import transformers

    from dialeval.engines.vllm_engine.prompts import Prompts
    from dialeval.training.lora_questions import LoraQuestions, label_scores

    model: Any = transformers.AutoModelForCausalLM.from_pretrained(decoder, dtype=torch.float32).eval()
    for parameter in model.parameters():  # sharper than a random start, so that answers differ
        parameter.data *= 1.5
    questions = LoraQuestions(Prompts(judge()), Templates(), SHIPPED, 512)
    asked = list(questions.rendered(examples_of(3)))
    assert not any(a[: len(b)] == b for a in questions.tree.label_of for b in questions.tree.label_of if a != b)
    together = label_scores(model, [one.prompt for one in asked], questions.tree)
    few = label_scores(model, [one.prompt for one in asked[::-1]], questions.tree, batch_tokens=600)[::-1]
    for question, one, other in zip(asked, together, few, strict=True):
        expected = _one_by_one(model, question.prompt, questions.tree.label_of)
        assert one.mass == pytest.approx(sum(expected.values()), rel=1e-4)
        assert one.score == pytest.approx(expected["Yes"] / sum(expected.values()), abs=1e-5)
        assert other.score == pytest.approx(one.score, abs=1e-5)
    assert len({round(one.score or 0, 4) for one in together}) > 1


# In which order examples are learned, and how prompts are put together.

LENGTHS = list(np.random.default_rng(0).integers(5, 500, size=103))


def test_every_example_comes_once_in_an_epoch_and_each_epoch_draws_anew() -> None:
    order = ShuffledOrder(LENGTHS, 16, random_seed=1)
    epochs = []
    for epoch in (0, 1, 0):
        order.set_epoch(epoch)
        epochs.append(list(order))
    assert all(sorted(one) == list(range(103)) for one in epochs)
    assert len(order) == 103
    assert epochs[0] == epochs[2]
    assert epochs[0] != epochs[1]
    assert epochs[0] != list(ShuffledOrder(LENGTHS, 16, random_seed=2))


def test_lengths_decide_within_a_batch_and_not_what_is_in_it() -> None:
    order, equal = list(ShuffledOrder(LENGTHS, 16, 3)), list(ShuffledOrder([7] * 103, 16, 3))
    for start in range(0, 103, 16):
        batch = order[start : start + 16]
        assert sorted(batch) == sorted(equal[start : start + 16])
        lengths = [LENGTHS[place] for place in batch]
        assert lengths == sorted(lengths)
    firsts = [LENGTHS[place] for place in order[::16]]
    assert firsts != sorted(firsts)


def test_batches_hold_as_many_tokens_as_they_may_filling_included() -> None:
    batches = list(by_length(LENGTHS, 1000))
    assert sorted(place for batch in batches for place in batch) == list(range(103))
    assert all(len(batch) * max(LENGTHS[place] for place in batch) <= 1000 for batch in batches)
    assert len(batches) < 40
    assert list(by_length([2000], 1000)) == [[0]]  # what is longer stands alone
    assert list(by_length([], 1000)) == []


@pytest.mark.train
def test_no_batch_has_the_length_at_which_attention_on_a_gpu_is_wrong() -> None:
    from dialeval.engines.encoder import metric
    from dialeval.training import lora_questions

    for longest in range(1, 300):
        rows = [tuple(range(1, longest + 1)), (1,)]
        prompts = lora_questions.padded(rows, 0)
        encoded = [metric.Encoded(row, len(row), 0) for row in rows]
        sequences = metric.padded(encoded, 0, "cpu", segments=True)
        for batch in (prompts, sequences):
            width = batch["input_ids"].shape[1]
            assert width - longest in (0, 1)
            assert width % 32 != 1
            assert batch["attention_mask"].sum(dim=1).tolist() == [longest, 1]
            assert {name: tuple(values.shape) for name, values in batch.items()} == dict.fromkeys(batch, (2, width))
        assert prompts["input_ids"][0, -longest:].tolist() == list(rows[0])
        assert sequences["input_ids"][0, :longest].tolist() == list(rows[0])


# Several sets together: no dialogue is learned from that another set keeps for later.


def _row(example: str, dialogue: str, part: str, corpus: str = "bundled") -> dict[str, Any]:
    return {"example_id": example, "corpus": corpus, "dialogue_id": dialogue, "part": part}


def test_a_dialogue_is_on_one_side_in_all_sets() -> None:
    turns = [
        _row("t1", "a", "train"), _row("t2", "b", "train"), _row("t3", "c", "train"),
        _row("t4", "d", "development"), _row("t5", "e", "held_out"), _row("t6", "f", "development"),
    ]  # fmt: skip
    dialogues = [
        _row("d1", "a", "train"), _row("d2", "b", "development"), _row("d3", "c", "held_out"),
        _row("d4", "d", "train"), _row("d5", "f", "held_out"), _row("d6", "c", "train", corpus="another"),
    ]  # fmt: skip
    parts = {name: [row["example_id"] for row in rows] for name, rows in parts_of_sets([turns, dialogues]).items()}
    assert parts == {"train": ["t1", "d1", "d6"], "development": ["t4", "d2"], "held_out": ["t5", "d3", "d5"]}
