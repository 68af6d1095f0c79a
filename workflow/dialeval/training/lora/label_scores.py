"""What a language model in transformers answers to Yes/No questions: the probabilities that vLLM's engine gives.

The same tree of spellings is read: the probability of a label is the sum over its spellings, the score
P(Yes) / (P(Yes) + P(No)), and the label mass P(Yes) + P(No).
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from dialeval.criteria import YES
from dialeval.engines.labels import LabelTree, label_logprobs
from dialeval.training.batches import by_tokens, padded

Path = tuple[int, ...]


class LabelScore(NamedTuple):
    """What a model answers to one question; `score` is None where neither answer has any probability.

    `spelled` holds the natural logarithm of the probability of each spelling that was read.
    """

    score: float | None
    mass: float
    spelled: dict[Path, float]


def label_scores(
    model: Any, prompts: Sequence[Sequence[int]], tree: LabelTree, *, filling: int = 0, batch_tokens: int = 16_384
) -> list[LabelScore]:
    """Returns what a model answers to each prompt, in their order.

    Args:
        model: a causal language model of transformers, with or without an adapter; it is left in its mode.
        prompts: their tokens, up to where a label is to stand.
        tree: the spellings of the labels.
        filling: token to fill rows up with.
        batch_tokens: tokens, filling included, that are computed at once.
    """
    ends = _ends(tree)
    shown: list[dict[Path, dict[int, float]]] = [{} for _ in prompts]
    rows = [(place, end) for end in ends for place in range(len(prompts))]
    lengths = [len(prompts[place]) + len(end) for place, end in rows]
    for batch in by_tokens(lengths, batch_tokens):
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
    """Returns whether a model can be told to compute words for its last places alone."""
    base = model.get_base_model() if hasattr(model, "get_base_model") else model
    return "logits_to_keep" in inspect.signature(base.forward).parameters


def _ends(tree: LabelTree) -> list[Path]:
    """Returns the inner nodes that no other goes on from: reading these reads all."""
    return [
        node
        for node in tree.next_tokens
        if not any(len(other) > len(node) and other[: len(node)] == node for other in tree.next_tokens)
    ]


def _last_logprobs(model: Any, rows: list[list[int]], last: int, filling: int) -> Any:
    """Returns log-probabilities of shape (rows, last, vocabulary): what follows each of the last places."""
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
