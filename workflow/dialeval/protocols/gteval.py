"""GTEval (BotChat 3.4): a model's dialogue against the human one on the same seed, cut to the human length."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from dialeval.engines.request import Sampling
from dialeval.forms.pair import plan_pair
from dialeval.prompts.rendering import Templates
from dialeval.protocols.planning import DialoguesByModel, Planned
from dialeval.tables import HUMAN

TEMPLATE = "gteval.j2"


def plan(
    dialogues: DialoguesByModel,
    seed_ids: Sequence[str],
    templates: Templates,
    sampling: Sampling,
    skipped: Counter[str],
) -> Iterator[Planned]:
    """Yields the requests of every model and seed, in both orders.

    A human dialogue longer than the generated one is cut to that, so that both have one length.

    Args:
        dialogues: the models' dialogues, and under HUMAN the human ones.
        seed_ids: seeds that serve GTEval.
        templates: the prompts.
        sampling: how the judge is sampled.
        skipped: counts dialogues that are not asked about, by reason.
    """
    people = dialogues[HUMAN]
    for model, by_seed in dialogues.items():
        if model == HUMAN:
            continue
        for seed_id in seed_ids:
            if seed_id not in by_seed:
                skipped["a dialogue is missing"] += 1
                continue
            n = min(len(people[seed_id]), len(by_seed[seed_id]))
            pair = (by_seed[seed_id][:n], people[seed_id][:n])
            if pair[0] == pair[1]:
                skipped["the model wrote the human dialogue"] += 1
                continue
            yield from plan_pair("gteval", TEMPLATE, "gteval", seed_id, (model, HUMAN), pair, templates, sampling)
