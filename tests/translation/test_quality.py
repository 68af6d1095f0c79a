"""Templates of a user's own in place of those of translation."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialeval.errors import UserError
from dialeval.prompts.rendering import Templates
from dialeval.translation.quality import unfit_translation_templates


def problems(folder: Path, name: str, text: str) -> list[str]:
    (folder / name).write_text(text, encoding="utf-8")
    return list(unfit_translation_templates(Templates(folder), judged=True))


def test_the_shipped_ones_are_fit() -> None:
    assert not list(unfit_translation_templates(Templates(), judged=True))


def test_what_is_forgotten_is_named(tmp_path: Path) -> None:
    assert not problems(tmp_path, "translate.j2", "Into {{ target }}: {{ utterance }}")
    (one,) = problems(tmp_path, "translate.j2", "Translate: {{ utterance }}")
    assert one.startswith("translate.j2: the template lacks the target language; write {{ target }}")
    (one,) = problems(tmp_path, "translate.j2", "Translate into {{ target }}: {{ context }}")
    assert one.startswith("translate.j2: the template lacks the text to translate; write {{ utterance }}")
    (tmp_path / "translate.j2").unlink()
    found = problems(tmp_path, "adequacy.j2", "{{ utterance }}: how good?")
    assert [one.split(";")[0].split(",")[0] for one in found] == [
        "adequacy.j2: the template lacks the translation",
        "adequacy.j2: the template does not request a line 'adequacy: ' with a number",
    ]


def test_one_that_cannot_be_filled_in_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"translate\.j2"):
        problems(tmp_path, "translate.j2", "{{ utterance | nothing }} {{ target }}")
