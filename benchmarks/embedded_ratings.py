"""Embedded models: learning the judge, its scores on 10,000 responses and 2,000 dialogues, and retrieval's self-chat.

    python benchmarks/embedded_ratings.py [--turns 10000] [--dialogues 2000] [--aucs]

The judge learns from the bundled dialogues. What it scores is put together at random from their utterances, six of them
to a response in its context and twelve to a dialogue, so that nothing is scored twice. Responses are asked about as
`yes_no`, one request for each dimension, dialogues as `rating`, as the stage asks a table. The yardstick of learning is
scikit-learn that grows the same trees and does nothing else: nobody learns the same numbers in less than its compiled
part takes. That of scoring is to describe the same texts by TF-IDF, once. `--aucs` prints instead how well each
dimension's score tells held-out utterances and dialogues from damaged ones: the figures of docs/embedded.md.
Takes 1 min.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import roc_auc_score

from dialeval.corpora.clusters import generator_for, split
from dialeval.criteria import DIMENSIONS, Level
from dialeval.engines.embedded.classifiers import Trees
from dialeval.engines.embedded.engine import EmbeddedEngine, judge_all
from dialeval.engines.embedded.judge import MIN_UTTERANCES, Judge
from dialeval.engines.embedded.learning import Learned, learn, learned_bytes
from dialeval.engines.embedded.statistics import Floats
from dialeval.engines.embedded.training_examples import KINDS, KINDS_OF_ONE, Perturber, make_perturber
from dialeval.engines.requests import Dialogue, Request, Response
from dialeval.engines.store import ResponseStore
from dialeval.text import Script, by_script
from gates import Gates, arguments

SEEDS, SEED, UTTERANCES = 250, 2, 16
"""How many dialogues begin a self-chat, with how many utterances, and how long it becomes."""


def bundled() -> list[Dialogue]:
    dialogues = []
    for name in ("english.jsonl", "chinese.jsonl"):
        text = (files("dialeval.corpora") / "bundled" / name).read_text(encoding="utf-8")
        rows = [json.loads(line) for line in text.split("\n") if line]
        dialogues += [tuple(utterance["text"] for utterance in row["utterances"]) for row in rows]
    return dialogues


def mixed(dialogues: list[Dialogue], n: int, length: int, rng: np.random.Generator) -> list[Dialogue]:
    utterances = [utterance for dialogue in dialogues for utterance in dialogue]
    return [tuple(utterances[int(i)] for i in rng.integers(len(utterances), size=length)) for _ in range(n)]


def yes_no(items: list[Dialogue]) -> Iterator[Request]:
    for number, utterances in enumerate(items):
        for dimension in DIMENSIONS["turn"]:
            subject = (utterances, ("turn", dimension))
            yield Request(f"{number}/{dimension}", "yes_no", "choice", (), labels=("Yes", "No"), subject=subject)


def rating(items: list[Dialogue]) -> Iterator[Request]:
    for number, utterances in enumerate(items):
        subject = (utterances, ("dialogue",))
        yield Request(str(number), "rating", "chat", (), labels=DIMENSIONS["dialogue"], subject=subject)


def rated(learned: Learned, requests: Iterator[Request]) -> float:
    """Return the processor seconds of answering a table."""
    engine = EmbeddedEngine(learned, identity="benchmark")
    with tempfile.TemporaryDirectory() as folder:
        store = ResponseStore(Path(folder), identity="benchmark", name="benchmark", protocol="rating")

        async def answers() -> None:
            keyed = ((request.request_id, request) for request in requests)
            async for _, outcome in engine.answer_all(keyed, store):
                assert isinstance(outcome, Response)

        return cpu_seconds(lambda: asyncio.run(answers()))


def chatted(learned: Learned, seeds: list[Dialogue]) -> float:
    """Return the processor seconds of self-chat from seeds, all of them at the same moment."""
    engine = EmbeddedEngine(learned, identity="benchmark")

    async def chat(said: Dialogue) -> None:
        while len(said) < UTTERANCES:
            answer = await engine.answer(Request("", "selfchat", "chat", (), subject=(said,)))
            said = (*said, answer.text)

    async def everybody() -> None:
        await asyncio.gather(*map(chat, seeds))

    return cpu_seconds(lambda: asyncio.run(everybody()))


def learning(method: str, dialogues: list[Dialogue]) -> tuple[Learned, float, float]:
    """Return what is learned, the processor seconds, and those of scikit-learn's forests of the same trees."""
    asked: list[tuple[Any, ...]] = []
    grown = Trees.__init__

    def noted(self: Trees, *given: Any) -> None:
        asked.append(given)
        grown(self, *given)

    with mock.patch.object(Trees, "__init__", noted):
        begun = time.process_time()
        learned = learn(method, dialogues, random_seed=0)
        seconds = time.process_time() - begun

    def forests() -> None:
        for *data, growth, random_seed in asked:
            ExtraTreesClassifier(
                growth.n_trees,
                min_samples_leaf=growth.leaf,
                max_features=growth.share,
                random_state=random_seed,
            ).fit(*data)

    return learned, seconds, cpu_seconds(forests)


def cpu_seconds(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


@dataclass(frozen=True)
class DimensionRow:
    """How well scores on one dimension separate held-out dialogues from perturbed ones.

    Attributes:
        level: `turn`: the last utterance alone is perturbed, and scored; `dialogue`: the dialogue is.
        dimension: the one scored.
        damage: the kind of perturbation.
        n: number of perturbed ones.
        auc: chance that the original of a pair drawn at random scores higher.
        noticed: share of perturbed ones that score lower than their originals.
    """

    level: Level
    dimension: str
    damage: str
    n: int
    auc: float
    noticed: float


def held_out_dimensions(learned: Learned, dialogues: Sequence[Dialogue], random_seed: int) -> list[DimensionRow]:
    """Return a row for each level, dimension and perturbation, every fold scored by the judge learned without it."""
    parts = {script: split(group, learned.folds) for script, group in by_script(sorted(dialogues)).items()}
    levels: tuple[Level, ...] = ("turn", "dialogue")
    return [row for level in levels for row in dimension_rows(level, learned, parts, random_seed)]


def dimension_rows(
    level: Level, learned: Learned, parts: Mapping[Script, Sequence[Sequence[Dialogue]]], random_seed: int
) -> list[DimensionRow]:
    damages: list[str] = []
    scores: list[tuple[Floats, Floats]] = []
    for (script, fold), judge in learned.models.items():
        assert isinstance(judge, Judge)
        held_out = parts[script][fold]
        perturber = make_perturber(held_out, judge.rarity)
        pairs = [pair for dialogue in held_out for pair in perturbed(level, dialogue, perturber, random_seed)]
        damages += [damage for damage, _, _ in pairs]
        before = judge.rate([original for _, original, _ in pairs], level)
        scores.append((before, judge.rate([copy for _, _, copy in pairs], level)))
    before, after = (np.concatenate(column) for column in zip(*scores, strict=True))
    rows = []
    for number, dimension in enumerate(DIMENSIONS[level]):
        for damage in dict.fromkeys(damages):
            here = [place for place, other in enumerate(damages) if other == damage]
            true, changed = before[here, number], after[here, number]
            auc = roc_auc_score([1] * len(here) + [0] * len(here), [*true, *changed])
            noticed = float(np.mean(changed < true))
            rows.append(DimensionRow(level, dimension, damage, len(here), float(auc), noticed))
    return rows


def perturbed(
    level: Level, dialogue: Dialogue, perturber: Perturber, random_seed: int
) -> Iterator[tuple[str, Dialogue, Dialogue]]:
    """Yield each perturbation that a dialogue can have, the original and the perturbed copy."""
    for kind in KINDS_OF_ONE if level == "turn" else KINDS:
        rng = generator_for(random_seed, "dimensions", kind, *dialogue)
        if level == "turn":
            original = dialogue[: int(rng.integers(2, len(dialogue) + 1))]
            changed = perturber.perturb_last(original, kind, rng)
            if changed is not None:
                yield kind, original, changed
        elif len(dialogue) >= MIN_UTTERANCES and (copy := perturber.perturb(dialogue, kind, rng)) is not None:
            yield kind, dialogue, copy.utterances


def human_probability(learned: Learned, dialogues: Sequence[Dialogue]) -> Floats:
    """Return for each dialogue the probability that only humans wrote it, from the judge learned without its fold."""
    judged = judge_all(learned, dialogues)
    return np.array([judged[dialogue].human for dialogue in dialogues])


def print_aucs(learned: Learned, dialogues: list[Dialogue]) -> None:
    print("level     dimension          damage       n    AUC   noticed")
    for row in held_out_dimensions(learned, dialogues, random_seed=0):
        print(f"{row.level:9} {row.dimension:18} {row.damage:10} {row.n:4} {row.auc:6.2f} {row.noticed:6.2f}")


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--turns", type=int, default=10_000)
    parser.add_argument("--dialogues", type=int, default=2_000)
    parser.add_argument("--aucs", action="store_true")
    options = parser.parse_args()
    dialogues = bundled()
    if options.aucs:
        print_aucs(learn("forest", dialogues, random_seed=0), dialogues)
        return 0
    gates = Gates(__file__, options)
    rng = np.random.default_rng(0)
    forest, seconds, forests = learning("forest", dialogues)
    name = f"learning `forest` of {len(dialogues)} dialogues, five folds and their report"
    size = f"{len(learned_bytes(forest)) / 1e6:.0f} MB on disk"
    gates.at_most(
        name, seconds, 5, unit="CPU s", against="scikit-learn's forests of the same trees, see below", note=size
    )
    gates.told("the same against those forests alone", seconds / forests, unit="x", note=f"they take {forests:.1f} s")
    _, of_selection, _ = learning("selection", dialogues)
    gates.told("learning `selection` of the same", of_selection, unit="CPU s")

    turns, wholes = mixed(dialogues, options.turns, 6, rng), mixed(dialogues, options.dialogues, 12, rng)
    texts = [utterance for several in (turns, wholes) for text in several for utterance in text]
    yardstick = cpu_seconds(lambda: TfidfVectorizer().fit_transform(texts))
    against = f"TF-IDF of all these texts with scikit-learn, once: {yardstick:.1f} s"
    of_turns, of_wholes = rated(forest, yes_no(turns)), rated(forest, rating(wholes))
    name = f"{len(turns):,} turns x {len(DIMENSIONS['turn'])} dimensions"
    gates.at_most(name, of_turns, 20, unit="CPU s", against=against)
    gates.at_most(f"{len(wholes):,} dialogues of twelve utterances", of_wholes, 5, unit="CPU s", against="the same")

    retrieval = learn("retrieval", dialogues, random_seed=0)
    seeds = [dialogue[:SEED] for dialogue in dialogues[:SEEDS]]
    said = f"self-chat of `retrieval`, {len(seeds) * (UTTERANCES - SEED):,} utterances"
    gates.at_most(said, chatted(retrieval, seeds), 8, unit="CPU s")
    gates.told("peak memory", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, unit="MB")
    return gates.finish()


if __name__ == "__main__":
    sys.exit(main())
