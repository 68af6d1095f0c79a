"""The same dialogues lead to the same learned file in every process: the store identifies the model by it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence

import numpy as np

from dialeval.config.models import METHODS
from dialeval.engines.embedded.learning import learner_of

LEARNING = """
import hashlib, random, sys
from dialeval.engines.embedded.learning import learn, learned_bytes

drawn = random.Random(0)
words = "the cat sat on a mat and we talked about rain or shine with good friends today".split()
talks = [tuple(" ".join(drawn.choices(words, k=4)) + drawn.choice(".?!") for _ in range(4)) for _ in range(45)]
for method in sys.argv[1:]:
    print(method, hashlib.sha256(learned_bytes(learn(method, talks, random_seed=0, folds=3))).hexdigest())
"""


METHODS_LEARNED = sorted(name for name in METHODS if name != "selection" and learner_of(name).needs)


def digests(methods: Sequence[str], *environments: Mapping[str, str]) -> list[dict[str, str]]:
    """Return the digest of each method's learned file in processes with these variables."""
    learned = [
        subprocess.Popen(
            [sys.executable, "-c", LEARNING, *methods],
            env={**os.environ, **variables},
            stdout=subprocess.PIPE,
            text=True,
        )
        for variables in environments
    ]
    words = [process.communicate()[0].split() for process in learned]
    assert [found[::2] for found in words] == [list(methods)] * len(environments)
    return [dict(zip(found[::2], found[1::2], strict=True)) for found in words]


def test_a_learned_file_is_the_same_in_every_process() -> None:
    """In another order of sets; and on another processor: without its vector instructions, and with OpenBLAS's kernels
    for an old one, it sums in another order.

    Not so `selection`: the smallest singular vectors of so few words are arbitrary.
    """
    other = {"PYTHONHASHSEED": "2", "OPENBLAS_CORETYPE": "Prescott"}
    if found := np.show_config(mode="dicts")["SIMD Extensions"].get("found", []):  # can be switched off
        other["NPY_DISABLE_CPU_FEATURES"] = " ".join(found)
    first, second = digests(METHODS_LEARNED, {"PYTHONHASHSEED": "1"}, other)
    assert first == second
