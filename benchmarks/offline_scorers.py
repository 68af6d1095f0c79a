"""How well embedded judges separate true replies from other replies, on held-out dialogues.

For every reply of every dialogue four others are put in its place: a reply from another dialogue (`random`), one of
another dialogue with as many words (`similar length`: one of the ten nearest), what the same speaker said before
(`own earlier`), and any utterance, as the judge's own damage has it (`replaced`). A figure is the AUC over all true and
all put-in replies of one kind: scores are compared across contexts. Dialogues that begin alike are in one of five
folds, each scored by the judge that was learned without it; replies are drawn from the same fold. The interval is that
of a bootstrap over dialogues (95 %). Every seed draws other replies and learns other trees.

Besides `relevance` and the probability that an utterance is a person's (`person`), scores that need no learning: the
number of words, and the TF-IDF cosine with the context, its weights from the other folds.

`--also` scores another folder's dialogues with judges that learned from the first folder alone. `--fed` correlates the
dialogue score on coherence, and the probability that people alone wrote a dialogue, with people's ratings of FED's
dialogues, learned from the bundled dialogues and from MuTual's; nothing was chosen by it. Takes 10 min with the public
data.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from sklearn.feature_extraction.text import TfidfVectorizer

from dialeval.corpora import readers
from dialeval.corpora.clusters import generator_for, split, without
from dialeval.criteria import DIMENSIONS
from dialeval.engines.embedded.engine import rate_all
from dialeval.engines.embedded.judge import Judge
from dialeval.engines.embedded.learning import learn, learner_of
from dialeval.engines.requests import Dialogue
from dialeval.text import tokens
from embedded_ratings import bundled, human_probability
from gates import DATA, Gates, arguments

Floats = npt.NDArray[np.float64]
KINDS = ("random", "similar length", "own earlier", "replaced")
FOLDS = 5
NEAREST = 10
RESAMPLES = 500
Scorer = Callable[[Sequence[Dialogue]], dict[str, Floats]]
"""Scores the last utterances of dialogues, by the name of the score."""


@dataclass(frozen=True)
class Reply:
    dialogue: int
    kind: str
    text: Dialogue


def replies(dialogues: Sequence[Dialogue], seed: int) -> Iterator[Reply]:
    """Yield every reply in its context, and others in its place; they depend on the seed and the texts alone."""
    later = [(number, utterance) for number, one in enumerate(dialogues) for utterance in one[1:]]
    every = [utterance for one in dialogues for utterance in one]
    lengths = np.array([len(tokens(utterance)) for _, utterance in later])
    for number, dialogue in enumerate(dialogues):
        for turn in range(1, len(dialogue)):
            rng = generator_for(seed, "offline scorers", str(turn), *dialogue)
            true, context = dialogue[turn], dialogue[:turn]
            yield Reply(number, "true", dialogue[: turn + 1])
            others = [place for place, (of, text) in enumerate(later) if of != number and text != true]
            near = np.array(others)[np.argsort(np.abs(lengths[others] - len(tokens(true))), kind="stable")][:NEAREST]
            said = dialogue[turn - 2 :: -2] if turn >= 2 else ()
            drawn = {
                "random": later[others[int(rng.integers(len(others)))]][1],
                "similar length": later[int(near[int(rng.integers(len(near)))])][1],
                "own earlier": said[int(rng.integers(len(said)))] if said else None,
                "replaced": every[int(rng.integers(len(every)))],
            }
            for kind, text in drawn.items():
                if text is not None and text != true:
                    yield Reply(number, kind, (*context, text))


def auc(true: Floats, other: Floats, true_weight: Floats, other_weight: Floats) -> float:
    """Return the chance that a true reply scores above another, half of it where they score the same."""
    values, place = np.unique(np.concatenate([true, other]), return_inverse=True)
    of_true = np.bincount(place[: len(true)], true_weight, len(values))
    of_other = np.bincount(place[len(true) :], other_weight, len(values))
    below = np.cumsum(of_other) - of_other / 2
    return float(of_true @ below / (of_true.sum() * of_other.sum()))


def interval(
    true: Floats, other: Floats, true_of: npt.NDArray[np.int64], other_of: npt.NDArray[np.int64]
) -> tuple[float, str]:
    """Return the AUC and its interval, dialogues drawn with replacement."""
    rng, n = np.random.default_rng(0), int(max(true_of.max(), other_of.max())) + 1
    draws = []
    for _ in range(RESAMPLES):
        weight = np.bincount(rng.integers(n, size=n), minlength=n).astype(np.float64)
        draws.append(auc(true, other, weight[true_of], weight[other_of]))
    low, high = np.quantile(draws, (0.025, 0.975))
    return auc(true, other, np.ones(len(true)), np.ones(len(other))), f"{low:.3f} to {high:.3f}"


def simple(dialogues: Sequence[Dialogue]) -> Scorer:
    """Return the scores that need no learning but counts of words."""
    vectorizer = TfidfVectorizer(analyzer=tokens).fit([utterance for one in dialogues for utterance in one])

    def scores(texts: Sequence[Dialogue]) -> dict[str, Floats]:
        said = vectorizer.transform([" ".join(text[:-1]) for text in texts])
        last = vectorizer.transform([text[-1] for text in texts])
        cosine = np.asarray(said.multiply(last).sum(axis=1)).ravel()
        return {"length": np.array([len(tokens(text[-1])) for text in texts], dtype=float), "TF-IDF": cosine}

    return scores


def scores_of(method: str, judge: Judge) -> Scorer:
    def scores(texts: Sequence[Dialogue]) -> dict[str, Floats]:
        relevance = judge.rate(texts, "turn")[:, DIMENSIONS["turn"].index("relevance")]
        person = -np.array([judgement.machine_utterances[-1] for judgement in judge.judge(texts)])
        return {f"{method}: relevance": relevance, f"{method}: person": person}

    return scores


def learned_scorers(method: str, parts: Sequence[Sequence[Dialogue]], seed: int) -> list[Scorer]:
    start, wall = time.process_time(), time.perf_counter()
    judges = learner_of(method).learn(parts, seed)
    print(
        f"{method}, seed {seed}: {len(judges)} judges from {sum(map(len, parts))} dialogues learned in "
        f"{time.process_time() - start:.1f} s of CPU, {time.perf_counter() - wall:.1f} s"
    )
    return [scores_of(method, judge) for judge in judges if isinstance(judge, Judge)]


def tell_table(gates: Gates, title: str, scored: Sequence[tuple[Sequence[Reply], dict[str, Floats]]]) -> None:
    """Tells every score's AUCs; dialogues of different folds and seeds are told apart by their texts."""
    flat = [reply for group, _ in scored for reply in group]
    kind = np.array([reply.kind for reply in flat])
    first: dict[tuple[int, int], int] = {}
    of = np.array(
        [
            first.setdefault((fold, reply.dialogue), len(first))
            for fold, (group, _) in enumerate(scored)
            for reply in group
        ]
    )
    print(f"{title}: {np.count_nonzero(kind == 'true')} true replies of {len(first)} dialogues")
    for name in scored[0][1]:
        value = np.concatenate([scores[name] for _, scores in scored])
        for one in KINDS:
            found, ends = interval(value[kind == "true"], value[kind == one], of[kind == "true"], of[kind == one])
            gates.told(f"{title}: {name}, true ones against {one}", found, note=ends)


def mutual(folder: Path) -> list[Dialogue]:
    read = readers.read_mutual_folder(folder, "en").dialogues
    return sorted({tuple(utterance.text for utterance in one.utterances) for one in read})


def by_folds(gates: Gates, folder: Path, also: Path | None, methods: Sequence[str], seeds: int) -> None:
    dialogues = mutual(folder)
    parts = split(dialogues, FOLDS)
    others = [] if also is None else [one for one in mutual(also) if one not in set(dialogues)]
    for seed in range(seeds):
        scorers = [[simple(without(parts, fold))] for fold in range(FOLDS)]
        for method in methods:
            for of_fold, scorer in zip(scorers, learned_scorers(method, parts, seed), strict=True):
                of_fold.append(scorer)
        scored = [(list(replies(part, seed)), of_fold) for part, of_fold in zip(parts, scorers, strict=True)]
        tables = [(group, _scores(of_fold, [reply.text for reply in group])) for group, of_fold in scored]
        tell_table(gates, f"seed {seed}, held-out folds", tables)
        if others:
            group = list(replies(others, seed))
            by_judge = [_scores(of_fold, [reply.text for reply in group]) for of_fold in scorers]
            mean = {name: np.mean([scores[name] for scores in by_judge], axis=0) for name in by_judge[0]}
            tell_table(gates, f"seed {seed}, {also}", [(group, mean)])


def _scores(scorers: Sequence[Scorer], texts: Sequence[Dialogue]) -> dict[str, Floats]:
    return {name: values for scorer in scorers for name, values in scorer(texts).items()}


def coherence_of_fed(
    gates: Gates, path: Path, corpora: Mapping[str, Sequence[Dialogue]], methods: Sequence[str]
) -> None:
    rated = json.loads(path.read_text(encoding="utf-8"))
    dialogues = [tuple(utterance["text"] for utterance in item["dialog"]) for item in rated]
    people = np.array([np.mean(item["annotations"]["Coherent"]) for item in rated])
    rng = np.random.default_rng(0)
    draws = [rng.integers(len(people), size=len(people)) for _ in range(2000)]
    for name, corpus in corpora.items():
        for method in methods:
            learned = learn(method, corpus, random_seed=0)
            rated = rate_all(learned, "dialogue", dialogues)
            scores = {
                "coherence": np.array([rated[one][0] for one in dialogues]),
                "person": human_probability(learned, dialogues),
            }
            for score, values in scores.items():
                low, high = np.quantile(
                    [np.corrcoef(values[draw], people[draw])[0, 1] for draw in draws], (0.025, 0.975)
                )
                pearson = np.corrcoef(values, people)[0, 1]
                what = f"FED, {method} from {name}: correlation of {score} with people"
                gates.told(what, pearson, note=f"{low:.2f} to {high:.2f}")


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the public data, MuTual's among it")
    parser.add_argument("--also", type=Path, help="another folder of MuTual's files")
    parser.add_argument("--fed", type=Path, help="FED's dialogues with people's ratings, as JSON")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--methods", nargs="+", default=["forest", "selection"])
    options = parser.parse_args()
    gates = Gates(__file__, options, part="fed" if options.fed else "")
    folder = options.data / "mutual" / "test"
    if options.fed:
        coherence_of_fed(gates, options.fed, {"bundled": bundled(), "MuTual": mutual(folder)}, options.methods)
    else:
        by_folds(gates, folder, options.also, options.methods, options.seeds)
    return gates.finish()


if __name__ == "__main__":
    sys.exit(main())
