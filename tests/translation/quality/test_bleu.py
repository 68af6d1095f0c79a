"""BLEU and chrF of what was translated back are sacrebleu's own; the intervals resample dialogues."""

from __future__ import annotations

import numpy as np
import pytest

from dialeval.translation.quality import back_rows, key_of, sentence_scores

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
    assert bleu["ci_low"] < bleu["value"] < bleu["ci_high"]
    assert chrf["ci_low"] < chrf["value"] < chrf["ci_high"]
    assert "tok:13a" in bleu["signature"]
    single = sentence_scores(rows, back, "m").values[key_of(rows[0])]
    assert single == pytest.approx(CHRF().sentence_score(texts[0], [sources[0]]).score)
    same = {key_of(row): row["source"] for row in rows}
    assert next(back_rows(rows, same, "m", 0.95))["value"] == pytest.approx(100)


def test_intervals_hold_the_truth_as_often_as_they_say_with_few_dialogues(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dialeval.translation.quality.RESAMPLES", 200)
    random = np.random.default_rng(7)
    words = np.array([f"w{n}" for n in range(60)])

    def dialogue(number: int) -> list[tuple[str, str, str]]:
        kept, texts = random.beta(6, 2), []
        for _ in range(random.integers(1, 6)):
            source = random.choice(words, random.integers(4, 16))
            back = np.where(random.random(len(source)) < kept, source, random.choice(words, len(source)))
            texts.append((f"d{number}", " ".join(source), " ".join(back)))
        return texts

    from sacrebleu.metrics import BLEU

    people = [dialogue(number) for number in range(2000)]
    everything = [text for texts in people for text in texts]
    truth = BLEU().corpus_score([back for *_, back in everything], [[source for _, source, _ in everything]]).score
    held, n_trials = 0, 200
    for _ in range(n_trials):
        texts = [one for place in random.choice(len(people), 12, replace=False) for one in people[place]]
        rows = [
            ROWS[0] | {"utterance_id": f"u{n}", "cluster": cluster, "source": source}
            for n, (cluster, source, _) in enumerate(texts)
        ]
        bleu = next(back_rows(rows, {key_of(row): texts[n][2] for n, row in enumerate(rows)}, "m", 0.95))
        held += bleu["ci_low"] <= truth <= bleu["ci_high"]
    assert held / n_trials >= 0.87, held


def test_the_number_of_missing_back_translations_is_reported() -> None:
    rows = [row | {"source": "The tea is warm and good today."} for row in ROWS]
    (bleu, _) = back_rows(rows, {key_of(row): row["source"] for row in rows[:38]}, "m", 0.95)
    assert (bleu["n"], bleu["reason"]) == (38, "2 of 40 have no back-translation")
