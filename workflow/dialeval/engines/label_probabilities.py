"""Labels as token sequences, and their probabilities.

The probability of a label is the sum over its variants: with or without a blank before it, capitalised or in lower
case. Variants of several tokens are read along a tree of tokens, one step of the model per inner node, since the first
token alone does not distinguish `Conversation 1` from `Conversation 2`. A label without a seen variant is absent.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from dialeval.engines.requests import AnswerFailure

LOWEST_MASS = 0.001
"""Least probability of all labels together, as the first tokens of an answer, for a score.

A uniform draw among 32,000 tokens gives one of the eight variants of Yes and No with probability .00025, one of the
sixteen of four letters with .0005; among the 1,024 tokens of our tiny models with .008. A model below the bound is
nearly certain to begin with other tokens, most often the mark of its reasoning (1e-5 and less).
"""

Path = tuple[int, ...]
_ANCHOR = "\n"


@dataclass
class LabelTree:
    """The variants of all labels as token sequences.

    Attributes:
        label_of: token sequence -> label.
        next_tokens: inner node (the tokens before it) -> tokens that may follow.
        longer: token sequence of a label -> the next ones that go on from it, if any do.
    """

    label_of: dict[Path, str] = field(default_factory=dict)
    next_tokens: dict[Path, list[int]] = field(default_factory=dict)
    longer: dict[Path, list[Path]] = field(default_factory=dict)


def cases(label: str) -> set[str]:
    """Return a label unchanged, in lower case and capitalised."""
    return {label, label.lower(), label.capitalize(), label[:1].upper() + label[1:]}


def variants(label: str) -> list[str]:
    """Return the ways in which a model may write a label."""
    return sorted({blank + case for case in cases(label) for blank in ("", " ")})


def label_tree(labels: Sequence[str], encode: Callable[[str], list[int]]) -> LabelTree:
    """Return the tree of all variants of some labels.

    Args:
        encode: tokenises a text without special tokens.

    Raises:
        AnswerFailure: a label is empty, or two labels are written alike.
    """
    tree = LabelTree()
    anchor = encode(_ANCHOR)
    for label in labels:
        if not label.strip():
            raise AnswerFailure("labels", "a label is empty")
        for text in variants(label.strip()):
            anchored = encode(_ANCHOR + text)
            paths = {tuple(encode(text))}
            if (
                anchored[: len(anchor)] == anchor
            ):  # as it stands after other text, where tokenizers add blanks of their own
                paths.add(tuple(anchored[len(anchor) :]))
            for path in paths - {()}:
                if tree.label_of.setdefault(path, label) != label:
                    raise AnswerFailure(
                        "labels", f"labels '{tree.label_of[path]}' and '{label}' have the same spelling"
                    )
    for path in sorted(tree.label_of):
        for depth, token in enumerate(path):
            following = tree.next_tokens.setdefault(path[:depth], [])
            if token not in following:
                following.append(token)
        longer = [other for other in tree.label_of if len(other) > len(path) and other[: len(path)] == path]
        nearest = [other for other in longer if not any(other[: len(o)] == o for o in longer if len(o) < len(other))]
        if nearest:
            tree.longer[path] = nearest
    return tree


def label_logprobs(tree: LabelTree, logprobs: Mapping[Path, Mapping[int, float]]) -> tuple[dict[str, float], float]:
    """Return the natural logarithm of each label's probability, and the probability of all labels together.

    A label that another label goes on from (`1` and `10`) does not get the other's share.

    Args:
        logprobs: inner node -> token -> log-probability of the token there.
    """

    def probability(path: Path) -> float:
        return math.exp(sum(logprobs[path[:depth]][token] for depth, token in enumerate(path)))

    masses = dict.fromkeys(tree.label_of.values(), 0.0)
    for path, label in tree.label_of.items():
        share = probability(path)
        if path in tree.longer:
            share = max(share - math.fsum(map(probability, tree.longer[path])), 0.0)
        masses[label] += share
    found = {label: math.log(mass) for label, mass in masses.items() if mass > 0}
    return found, math.fsum(masses.values())


# From the probabilities of tokens to the probabilities of labels.

_LEADING = " ▁Ġ\n"


def label_of_token(token: str, labels: Sequence[str]) -> str | None:
    """Return the label that a token's text is a variant of; a variant of two is none, unless it is one itself."""
    word = token.lstrip(_LEADING).rstrip()
    exact = [label for label in labels if label.strip() == word]
    near = exact or [label for label in labels if word in cases(label.strip())]
    return near[0] if len(near) == 1 else None


def sum_labels(seen: Iterable[tuple[str, float]]) -> tuple[dict[str, float], float]:
    """Return the log-probability of each label that was seen, and the probability of all together."""
    by_label: dict[str, list[float]] = {}
    for label, logprob in seen:
        by_label.setdefault(label, []).append(logprob)
    sums = {label: _logsumexp(logprobs) for label, logprobs in by_label.items()}
    return sums, min(1.0, math.fsum(map(math.exp, sums.values())))


def _logsumexp(values: Sequence[float]) -> float:
    largest = max(values)
    return largest + math.log(math.fsum(math.exp(value - largest) for value in values))
