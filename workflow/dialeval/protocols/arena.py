"""BotChat Arena (3.3): dialogues of two models on one seed, cut to N utterances, judged in both orders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations

from dialeval.engines.request import Sampling
from dialeval.forms.pair import plan_pair
from dialeval.prompts.rendering import Templates
from dialeval.protocols.planning import DialoguesByModel, Planned

TEMPLATE = "arena.j2"


def plan(
    dialogues: DialoguesByModel,
    seed_ids: Sequence[str],
    lengths: Sequence[int],
    templates: Templates,
    sampling: Sampling,
    skipped: Counter[str],
) -> Iterator[Planned]:
    """Yields the requests of every pair of models, seed, order and length.

    Args:
        dialogues: the models' dialogues, in the order of the configuration.
        seed_ids: seeds that serve Arena.
        lengths: the N that dialogues are cut to.
        templates: the prompts.
        sampling: how the judge is sampled.
        skipped: counts pairs that are not asked, by reason.
    """
    for n in lengths:
        for seed_id in seed_ids:
            cut = {model: by_seed[seed_id][:n] for model, by_seed in dialogues.items() if seed_id in by_seed}
            skipped["a dialogue is missing"] += _pairs(len(dialogues)) - _pairs(len(cut))
            for model_a, model_b in combinations(cut, 2):
                if cut[model_a] == cut[model_b]:
                    skipped["both models wrote the same dialogue"] += 1
                    continue
                pair = (cut[model_a], cut[model_b])
                yield from plan_pair(
                    "arena", TEMPLATE, f"arena/{n}", seed_id, (model_a, model_b), pair, templates, sampling
                )


def _pairs(n: int) -> int:
    return n * (n - 1) // 2
