"""What is learned of the same dialogues is the same file in every process: the store knows the model by it."""

from __future__ import annotations

import os
import subprocess
import sys

from dialeval.config.models import METHODS

LEARNING = """
import hashlib, random, sys
from dialeval.engines.embedded.learning import learn, learned_bytes

drawn = random.Random(0)
words = "the cat sat on a mat and we talked about rain or shine with good friends today".split()
talks = [tuple(" ".join(drawn.choices(words, k=4)) + drawn.choice(".?!") for _ in range(4)) for _ in range(45)]
for method in sys.argv[1:]:
    print(method, hashlib.sha256(learned_bytes(learn(method, talks, random_seed=0, folds=3))).hexdigest())
"""


METHODS_LEARNED = sorted(set(METHODS) - {"selection"})
"""One takes as long as all others, and learns as the forest does."""


def test_a_learned_file_does_not_follow_the_order_of_a_processs_sets() -> None:
    learned = [
        subprocess.Popen(
            [sys.executable, "-c", LEARNING, *METHODS_LEARNED],
            env={**os.environ, "PYTHONHASHSEED": seed},
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in ("1", "2")
    ]
    first, second = (process.communicate()[0].split() for process in learned)
    assert first[::2] == METHODS_LEARNED
    assert dict(zip(first[::2], first[1::2], strict=True)) == dict(zip(second[::2], second[1::2], strict=True))
