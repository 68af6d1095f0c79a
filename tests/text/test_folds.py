from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dialeval.text.folds import fold_of, generator_for, split, without

_UTTERANCES = st.lists(st.text(max_size=20), min_size=1, max_size=4).map(tuple)


@given(_UTTERANCES, _UTTERANCES)
def test_the_first_utterance_decides(dialogue: tuple[str, ...], other: tuple[str, ...]) -> None:
    assert fold_of(dialogue) == fold_of((dialogue[0], *other))


def test_case_blanks_and_marks_do_not_matter() -> None:
    assert fold_of(["How ARE you?"]) == fold_of(["how are you"])


@given(st.lists(_UTTERANCES, max_size=20), st.integers(1, 6))
def test_every_dialogue_is_in_one_fold(dialogues: list[tuple[str, ...]], folds: int) -> None:
    parts = split(dialogues, folds)
    assert sorted(dialogue for part in parts for dialogue in part) == sorted(dialogues)
    for fold in range(folds):
        assert all(fold_of(dialogue, folds) != fold for dialogue in without(parts, fold))


def test_folds_are_about_equally_full() -> None:
    parts = split([(f"utterance {number}", "yes") for number in range(1000)], 5)
    assert all(150 < len(part) < 250 for part in parts)


def test_the_generator_depends_on_seed_and_texts_alone() -> None:
    def draw(random_seed: int, *texts: str) -> float:
        return float(generator_for(random_seed, *texts).random())

    assert draw(1, "a", "b") == draw(1, "a", "b")
    assert len({draw(1, "a", "b"), draw(2, "a", "b"), draw(1, "ab"), draw(1, "b", "a")}) == 4
