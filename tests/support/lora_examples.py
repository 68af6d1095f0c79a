"""Examples to learn to judge from: responses of the bundled corpus, and the same with their words shuffled."""

from __future__ import annotations

from typing import Any

import numpy as np

from dialeval.corpora.dialogues import bundled_dialogues

Row = dict[str, Any]


def examples_of(n_dialogues: int, *, name: str = "turns", shuffled_labels: bool = False, seed: int = 0) -> list[Row]:
    """Return pairs of a response and a spoiled one; of five dialogues one is held out and one looked at meanwhile.

    With shuffled labels, which of the two is called good is drawn.
    """
    generator = np.random.default_rng(seed)
    rows: list[Row] = []
    for number, dialogue in enumerate(bundled_dialogues("en").dialogues[:n_dialogues]):
        context, response = dialogue.utterances[0].text, dialogue.utterances[1].text
        words = response.split()
        part = {3: "development", 4: "held_out"}.get(number % 5, "train")
        swap = shuffled_labels and generator.random() < 0.5
        for good in (1, 0):
            text = response if bool(good) is not swap else " ".join(generator.permutation(words))
            rows.append(
                {
                    "training": name,
                    "example_id": f"{name}/relevance/bundled/en/{number}/{good}",
                    "pair_id": f"{name}/relevance/bundled/en/{number}",
                    "part": part,
                    "level": "turn",
                    "criterion": "relevance",
                    "domain": "chat",
                    "language": "en",
                    "good": good,
                    "kind": "words_shuffled",
                    "corpus": "bundled",
                    "dialogue_id": dialogue.dialogue_id,
                    "cluster": dialogue.dialogue_id,
                    "speakers": ["human", "chatbot"],
                    "utterances": [context, text],
                    "made_from": None,
                }
            )
    return rows
