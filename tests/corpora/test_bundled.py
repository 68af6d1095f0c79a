"""Our own dialogues are what they are said to be."""

from __future__ import annotations

from collections import Counter

import pytest

from dialeval.corpora.dialogues import bundled_dialogues
from dialeval.errors import UserError


@pytest.mark.parametrize(("language", "at_least"), [("en", 150), ("zh", 30)])
def test_size_lengths_and_alternation(language: str, at_least: int) -> None:
    dialogues = bundled_dialogues(language).dialogues
    assert len(dialogues) >= at_least
    for dialogue in dialogues:
        speakers = [utterance.speaker for utterance in dialogue.utterances]
        assert 4 <= len(speakers) <= 14
        assert speakers == ["AB"[turn % 2] for turn in range(len(speakers))]
        assert dialogue.language == language


def test_no_opening_and_no_long_utterance_is_refilled() -> None:
    dialogues = bundled_dialogues("en").dialogues
    openings = Counter(" ".join(dialogue.utterances[0].text.lower().split()[:5]) for dialogue in dialogues)
    assert openings.most_common(1)[0][1] <= 2
    texts = Counter(u.text for dialogue in dialogues for u in dialogue.utterances if len(u.text.split()) > 4)
    assert max(texts.values()) == 1


def test_a_language_that_is_not_there_is_reported() -> None:
    with pytest.raises(UserError, match="no language 'fr'"):
        bundled_dialogues("fr")
