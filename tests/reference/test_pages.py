"""The pages of the docs that are generated are what is generated."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialeval.report.reference.__main__ import texts

TEXTS = texts()


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_a_page_is_what_is_generated(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == TEXTS[path], "run: python -m dialeval.report.reference"
