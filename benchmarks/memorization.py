"""Completion test of memorised texts: coverage of the share, chance in corpora of stock phrases, and false alarms

A simulated model knows a share of the texts of a corpus by heart, and continues the others with text of its own or with
a stock phrase that some of the texts have too. To reach: 93% coverage, and at most 5% of tests against a control corpus
that claim a difference where there is none. Takes 1 min.
"""

from __future__ import annotations

import sys

import numpy as np

from dialeval.corpora.contamination import LENGTH, Completed, Text, memorization_rows, passages_to_complete
from gates import Gates, arguments

SYLLABLES = np.array(["ka", "lo", "mi", "ne", "pu", "ra", "so", "ti", "ve", "zo"])
STOCK = (
    "thank you very much for calling our service desk today and please do not hesitate to call us again if there is "
    "anything else that we can do for you "
)


def texts(rng: np.random.Generator, n: int, stock: float) -> list[Text]:
    """Return texts of made-up words, of which a share continue with a stock phrase."""
    found = []
    for number in range(n):
        words = ["".join(rng.choice(SYLLABLES, 3)) for _ in range(24)]
        first = 12 if rng.random() >= stock else int(rng.integers(8, 16))
        ending = " ".join(words[12:]) if first == 12 else STOCK
        found.append(Text(f"t{number}", f"t{number}", (" ".join(words[:first]), ending)))
    return found


def completed(rng: np.random.Generator, n: int, known: float, corpus: str, stock: float = 0.0) -> Completed:
    """Return the responses of a model that knows a share of the texts and writes the stock phrase or nothing else."""
    passages, n_without = passages_to_complete(texts(rng, n, stock), n, 0)
    said = [
        p.following if rng.random() < known else STOCK if rng.random() < 0.5 else "I do not know." for p in passages
    ]
    return Completed("m", corpus, passages, said, n_without, is_control=corpus == "control")


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--repetitions", type=int, default=1000)
    options = parser.parse_args()
    gates = Gates(__file__, options)
    slack = 200.0 * np.sqrt(0.05 * 0.95 / options.repetitions)
    for n in (30, 100):
        rng = np.random.default_rng(n)
        one = completed(rng, n, 0.0, "published")
        for known in (0.02, 0.1, 0.5):
            held = []
            for _ in range(options.repetitions):
                said = np.where(rng.random(n) < known, [p.following for p in one.passages], "No.").tolist()
                (row,) = memorization_rows([one._replace(responses=said)])
                held.append(row["ci_low"] <= known <= row["ci_high"])
            gates.at_least(f"coverage, {known:g} of {n} texts known", 100.0 * np.mean(held), 93.0 - slack, unit="%")
        for known, of_control in ((0.0, 0.0), (0.05, 0.05), (0.3, 0.3), (0.1, 0.0), (0.3, 0.0)):
            found = []
            control = one._replace(corpus="control", is_control=True)
            for _ in range(options.repetitions):
                both = [
                    each._replace(
                        responses=np.where(rng.random(n) < share, [p.following for p in one.passages], "No.").tolist()
                    )
                    for each, share in ((one, known), (control, of_control))
                ]
                found.append(memorization_rows(both)[0]["p"] <= 0.05)
            what = f"p <= .05, {n} texts, {known:g} known, {of_control:g} of the control"
            if known == of_control:
                gates.at_most(what, 100.0 * np.mean(found), 5.0 + slack, unit="%")
            else:
                gates.told(what, 100.0 * np.mean(found), unit="%")
    rng = np.random.default_rng(9)
    for stock in (0.0, 0.2, 0.5):
        (row,) = memorization_rows([completed(rng, 300, 0.0, "published", stock)])
        note = f"completed {100 * row['estimate']:.1f}%, {row['n_too_short']} without a passage"
        gates.told(f"chance, a stock phrase in {stock:.0%} of the texts", 100.0 * row["chance"], unit="%", note=note)
    print(f"{LENGTH} letters and digits are a passage")
    return gates.finish()


if __name__ == "__main__":
    sys.exit(main())
