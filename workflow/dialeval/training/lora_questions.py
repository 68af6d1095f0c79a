"""Questions that an adapter learns from, as tokens and batches, and the scores of their labels.

An example becomes the request that form `probability` plans for an item and a criterion, rendered by what renders for
vLLM, its reasoning left empty. What is longer than the cutoff loses its oldest utterances, as on the judging side, and
never the question.

The same tree of spellings is read: the probability of a label is the sum over its spellings, the score
P(Yes) / (P(Yes) + P(No)), and the label mass P(Yes) + P(No).

Prompts are filled up at their front, so that what is read of a model stands at the end of every row, and the model
need not compute words for any other place.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dialeval.config.protocols import shipped
from dialeval.corpora.items import Item
from dialeval.criteria import NO, YES, Criterion
from dialeval.engines.installation import by_length, padded_length
from dialeval.engines.label_probabilities import LabelTree, label_logprobs, label_tree
from dialeval.engines.requests import Message, Request
from dialeval.engines.vllm_engine.prompts import Prompts
from dialeval.errors import UserError
from dialeval.prompts.rendering import Templates
from dialeval.protocols.item_prompts import YES_NO, shortened_with
from dialeval.protocols.questions import Question
from dialeval.protocols.scores import plan_probability
from dialeval.training.human_dialogues import PARTS

LABELS = (YES, NO)
_QUESTION = Question("yes_no", shipped("yes_no"), shipped=True)


@dataclass(frozen=True, slots=True)
class LoraQuestion:
    """One example as a request to the model.

    Attributes:
        example_id, cluster: of the table `training_examples`.
        good: whether the answer is Yes.
        prompt: its tokens.
        answer: tokens of Yes or No, as they stand behind this prompt.
        dropped: oldest utterances that were left out.
    """

    example_id: str
    cluster: str
    good: bool
    prompt: list[int]
    answer: tuple[int, ...]
    dropped: int

    @property
    def length(self) -> int:
        """Tokens of prompt and answer together."""
        return len(self.prompt) + len(self.answer)


class LoraQuestions:
    """Makes the questions of one model.

    Args:
        prompts: those of the model.
        templates: the prompts' texts.
        criteria: all that examples may be about, by name.
        cutoff: longest prompt with its answer, in tokens.

    Attributes:
        tree: the spellings of Yes and No whose probabilities are summed when it judges.
        too_long: how many examples do not fit the cutoff even without the context.
    """

    def __init__(self, prompts: Prompts, templates: Templates, criteria: Mapping[str, Criterion], cutoff: int) -> None:
        self._prompts = prompts
        self._templates = templates
        self._criteria = criteria
        self.tree: LabelTree = label_tree(LABELS, prompts.encode)
        self._lead = prompts.template.before_answer()
        self._answers: dict[tuple[str, str], tuple[int, ...]] = {}
        self.cutoff = cutoff
        self.too_long = 0
        # what `shortened` asks a judge: it leaves one token for the answer
        longest = max(map(len, self.tree.label_of))
        self.context_window: int | None = cutoff - longest + 1

    def count_tokens(self, messages: tuple[Message, ...]) -> int:
        """Return the length of a prompt up to its label, in tokens."""
        return len(self._prompts.before_label(messages))

    def rendered(self, rows: Iterable[Mapping[str, Any]]) -> Iterator[LoraQuestion]:
        """Yield the question about each row of the table `training_examples` that fits the cutoff.

        Raises:
            UserError: a criterion is not known, or has no question answered by Yes and No.
        """
        for row in rows:
            request = self._request(row)
            criteria = [self._criteria[row["criterion"]]]
            shorter, dropped = shortened_with(request, self._templates, self, criteria, YES_NO)
            prompt, good = self._prompts.before_label(shorter.messages), bool(row["good"])
            answer = self._answer(shorter.messages, prompt, YES if good else NO)
            if len(prompt) + len(answer) > self.cutoff:
                self.too_long += 1
                continue
            yield LoraQuestion(row["example_id"], row["cluster"], good, prompt, answer, dropped)

    def _request(self, row: Mapping[str, Any]) -> Request:
        criterion = self._criteria.get(row["criterion"])
        if criterion is None or not criterion.is_yes_no:
            raise UserError(
                f"training.{row['training']}: criterion '{row['criterion']}' has no yes/no question for a language "
                f"model to learn; give it a question under criteria, or remove it from training."
                f"{row['training']}.criteria"
            )
        item = Item(
            corpus=row["corpus"],
            item_id=row["example_id"],
            language=row["language"],
            level=row["level"],
            cluster=row["cluster"],
            speakers=tuple(row["speakers"]),
            utterances=tuple(row["utterances"]),
        )
        return next(plan_probability(_QUESTION, [item], self._templates, lambda _: [criterion])).request

    def _answer(self, messages: tuple[Message, ...], prompt: Sequence[int], label: str) -> tuple[int, ...]:
        """Return a label's tokens behind the prompt, if judging reads these."""
        prompts = self._prompts
        behind = prompts.reasoning.before_label(prompts.prompt(messages)[0])
        lead = " " if prompts.template.plain and not behind[-1:].isspace() else self._lead
        found = self._answers.get((label, lead))
        if found is None:
            answered = prompts.tokens(behind + lead + label)
            found = tuple(answered[len(prompt) :]) if answered[: len(prompt)] == list(prompt) else ()
            if self.tree.label_of.get(found) != label:  # the tokenizer joins it with what stands before
                found = tuple(prompts.encode(label))
            self._answers[label, lead] = found
        return found


# What a language model in transformers answers to Yes/No questions: the probabilities that vLLM's engine gives.

Path = tuple[int, ...]


class LabelScore(NamedTuple):
    """A model's answer to one question; `score` is None where neither label has a probability.

    `spelled` holds the natural logarithm of the probability of each spelling that was read.
    """

    score: float | None
    mass: float
    spelled: dict[Path, float]


def label_scores(
    model: Any, prompts: Sequence[Sequence[int]], tree: LabelTree, *, filling: int = 0, batch_tokens: int = 16_384
) -> list[LabelScore]:
    """Return a model's label scores of each prompt, in their order.

    Args:
        model: a causal language model of transformers, with or without an adapter; it is left in its mode.
        prompts: their tokens, up to where a label is to stand.
        tree: the spellings of the labels.
        filling: token to fill rows up with.
        batch_tokens: tokens, filling included, that are computed at once.
    """
    leaves = _ends(tree)
    shown: list[dict[Path, dict[int, float]]] = [{} for _ in prompts]
    rows = [(place, end) for end in leaves for place in range(len(prompts))]
    lengths = [len(prompts[place]) + len(end) for place, end in rows]
    for batch in by_length(lengths, batch_tokens):
        chosen = [rows[number] for number in batch]
        longest = max(len(end) for _, end in chosen)
        logprobs = _last_logprobs(model, [[*prompts[place], *end] for place, end in chosen], longest + 1, filling)
        for (place, end), row in zip(chosen, logprobs, strict=True):
            for depth in range(len(end) + 1):
                node = end[:depth]
                tokens = tree.next_tokens[node]
                values = row[len(row) - 1 - len(end) + depth, tokens].tolist()
                shown[place].setdefault(node, dict(zip(tokens, values, strict=True)))
    return [_score(tree, one) for one in shown]


def keeps_few(model: Any) -> bool:
    """Return whether a model can compute logits of its last positions alone."""
    base = model.get_base_model() if hasattr(model, "get_base_model") else model
    return "logits_to_keep" in inspect.signature(base.forward).parameters


def _ends(tree: LabelTree) -> list[Path]:
    """Return the longest inner paths of the tree; reading these reads all."""
    return [
        node
        for node in tree.next_tokens
        if not any(len(other) > len(node) and other[: len(node)] == node for other in tree.next_tokens)
    ]


def _last_logprobs(model: Any, rows: list[list[int]], last: int, filling: int) -> Any:
    """Return log-probabilities of the next token at the last positions, of shape (rows, last, vocabulary)."""
    import torch

    inputs = {name: value.to(model.device) for name, value in padded(rows, filling).items()}
    few = {"logits_to_keep": last} if keeps_few(model) else {}
    was_training = model.training
    model.eval()
    try:
        with torch.no_grad():
            logits = model(**inputs, use_cache=False, **few).logits[:, -last:]
            return torch.log_softmax(logits.float(), dim=-1).cpu()
    finally:
        model.train(was_training)


def _score(tree: LabelTree, shown: dict[Path, dict[int, float]]) -> LabelScore:
    logprobs, mass = label_logprobs(tree, shown)
    spelled = {path: sum(shown[path[:depth]][token] for depth, token in enumerate(path)) for path in tree.label_of}
    masses = {label: math.exp(value) for label, value in logprobs.items()}
    total = math.fsum(masses.values())
    return LabelScore(masses.get(YES, 0.0) / total if total > 0 else None, mass, spelled)


# Prompts as tensors, and in which order they are learned.


class ShuffledOrder:
    """The order of an epoch: drawn batches, within which the short come before the long.

    What is in a batch is left to chance; that its parts are of equal lengths saves filling up.

    Args:
        lengths: of the examples.
        batch_size: examples between two steps of the optimiser.
        random_seed: of the draw; each epoch draws anew.
    """

    def __init__(self, lengths: Sequence[int], batch_size: int, random_seed: int) -> None:
        self._lengths = np.asarray(lengths)
        self._batch_size = batch_size
        self._random_seed = random_seed
        self._epoch = 0

    def __len__(self) -> int:
        return len(self._lengths)

    def __iter__(self) -> Iterator[int]:
        drawn = np.random.default_rng([self._random_seed, self._epoch]).permutation(len(self._lengths))
        for start in range(0, len(drawn), self._batch_size):
            batch = drawn[start : start + self._batch_size]
            yield from batch[np.argsort(self._lengths[batch], kind="stable")].tolist()

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch of the next order."""
        self._epoch = epoch


def padded(rows: Sequence[Sequence[int]], filling: int) -> dict[str, Any]:
    """Return rows of tokens as tensors, filled up at their front.

    Args:
        rows: tokens.
        filling: token to fill up with, which nothing looks at.

    Returns:
        `input_ids`, `attention_mask` and `position_ids`, each of shape (rows, `padded_length`).
    """
    import torch

    length = padded_length(map(len, rows))
    ids = torch.full((len(rows), length), filling)
    mask = torch.zeros_like(ids)
    for place, row in enumerate(rows):
        ids[place, length - len(row) :] = torch.tensor(row)
        mask[place, length - len(row) :] = 1
    return {"input_ids": ids, "attention_mask": mask, "position_ids": (mask.cumsum(dim=1) - 1).clamp(min=0)}


# Examples of several sets together, each dialogue on one side alone.

Row = Mapping[str, Any]


def parts_of_sets(sets: Iterable[Iterable[Row]]) -> dict[str, list[Row]]:
    """Return the rows of `training_examples` of some sets by part.

    Each set is split by itself. A dialogue that one of them holds out, or looks at meanwhile, is not learned from in
    another; one that is held out in one set is not looked at meanwhile in another.
    """
    rows = [row for one in sets for row in one]
    side = {part: {_dialogue(row) for row in rows if row["part"] == part} for part in PARTS}
    taken = {"train": side["development"] | side["held_out"], "development": side["held_out"], "held_out": set()}
    return {part: [row for row in rows if row["part"] == part and _dialogue(row) not in taken[part]] for part in PARTS}


def _dialogue(row: Row) -> tuple[str, str]:
    return row["corpus"], row["dialogue_id"]
