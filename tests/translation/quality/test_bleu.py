"""BLEU and chrF of what was translated back are sacrebleu's own; the intervals resample dialogues."""

from __future__ import annotations

import numpy as np
import pytest

from dialeval.translation.quality.measures import back_rows, key_of, sentence_scores

pytestmark = pytest.mark.train
ROWS = [
    {"corpus": "c", "language": "fr", "utterance_id": f"u{n}", "cluster": f"d{n // 2}", "text": "?"} for n in range(40)
]


def test_bleu_and_chrf_are_sacrebleus_and_their_intervals_hold_them() -> None:
    from sacrebleu.metrics import BLEU, CHRF

    words = np.random.default_rng(0).choice(["the", "tea", "is", "warm", "and", "good", "today"], (40, 8))
    rows = [row | {"source": " ".join(words[n]) + "."} for n, row in enumerate(ROWS)]
    back = {key_of(row): " ".join(words[n][: 4 + n % 5]) + " now." for n, row in enumerate(rows)}
    bleu, chrf = back_rows(rows, back, "m", 0.95)
    texts, sources = [*back.values()], [row["source"] for row in rows]
    assert bleu["value"] == pytest.approx(BLEU().corpus_score(texts, [sources]).score)
    assert chrf["value"] == pytest.approx(CHRF().corpus_score(texts, [sources]).score)
    assert bleu["low"] < bleu["value"] < bleu["high"]
    assert chrf["low"] < chrf["value"] < chrf["high"]
    assert "tok:13a" in bleu["signature"]
    single = sentence_scores(rows, back, "m").values[key_of(rows[0])]
    assert single == pytest.approx(CHRF().sentence_score(texts[0], [sources[0]]).score)
    same = {key_of(row): row["source"] for row in rows}
    assert next(back_rows(rows, same, "m", 0.95))["value"] == pytest.approx(100)
