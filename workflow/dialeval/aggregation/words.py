"""How long the dialogues are that judges compare: words up to where they were cut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Literal

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from dialeval.corpora.seeds import dialogues_of
from dialeval.tables import HUMAN
from dialeval.text.tokens import is_word, surface_tokens

Words = Mapping[tuple[str, str], Sequence[int]]
"""(model, seed_id) -> words of its dialogue up to each utterance."""


def dialogue_words(human: pa.Table, generated: pa.Table) -> dict[tuple[str, str], list[int]]:
    """Returns the words of every dialogue up to each utterance, by model and seed; people under HUMAN.

    In scripts without blanks every character counts as a word. A dialogue without any word has one, so that lengths
    have ratios.

    Args:
        human: table `utterances` of the seeds' corpus.
        generated: table `generated` of all chatbots, the seeds' utterances included.
    """
    texts = {(HUMAN, dialogue_id): list(dialogue) for dialogue_id, dialogue in dialogues_of(human).items()}
    columns = generated.select(["chatbot", "seed_id", "text"]).to_pydict()
    for chatbot, seed_id, text in zip(columns["chatbot"], columns["seed_id"], columns["text"], strict=True):
        texts.setdefault((chatbot, seed_id), []).append(text)
    return {
        key: [max(total, 1) for total in accumulate(sum(map(is_word, surface_tokens(text))) for text in dialogue)]
        for key, dialogue in texts.items()
    }


def words_shown(verdicts: pd.DataFrame, side: Literal["left", "right"], words: Words) -> NDArray[np.int64]:
    """Returns the words of the dialogue that was shown on a side, by verdict, shape [n]."""
    shown = zip(verdicts[side], verdicts["case_id"], verdicts["n_utterances"], strict=True)
    return np.array([words[model, seed_id][int(n) - 1] for model, seed_id, n in shown], dtype=np.int64)
