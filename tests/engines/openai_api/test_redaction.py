"""Masking is the same as that of the plain way, and long texts take no longer than their beginning."""

from __future__ import annotations

import base64
from urllib.parse import quote

from hypothesis import given
from hypothesis import strategies as st

from dialeval.engines.openai_api import redaction
from dialeval.engines.openai_api.redaction import LONGEST_TEXT, MASK, Redactor

KEY = "sk-proj-Zq81+TbW/7yhNcP3~dKe5.RxVm"
SHORT = "abababab1"
SECRETS = [KEY, SHORT, "tiny"]


def masked_plainly(text: str) -> str:
    """Looks for every window of every spelling of a secret by itself."""
    forms = {form for secret in SECRETS if len(secret) >= 8 for form in redaction._forms(secret)}
    hidden = [False] * len(text)
    for form in forms:
        size = min(12, len(form))
        for start in range(len(form) - size + 1):
            place = text.find(form[start : start + size])
            while place >= 0:
                hidden[place : place + size] = [True] * size
                place = text.find(form[start : start + size], place + 1)
    for found in redaction._CREDENTIALS.finditer(text):
        hidden[found.start() : found.end()] = [True] * (found.end() - found.start())
    before = [False, *hidden]
    return "".join(
        letter if not hide else "" if after else MASK for letter, hide, after in zip(text, hidden, before, strict=False)
    )


PIECES = st.one_of(
    st.text(max_size=8),
    st.sampled_from(["Bearer ", " ", KEY, SHORT, "tiny", quote(KEY), KEY.encode().hex(), "sk-another1234", "ab", "\n"]),
    st.binary(max_size=3).map(lambda before: base64.b64encode(before + KEY.encode()).decode()),
    st.tuples(st.integers(0, 30), st.integers(1, 34)).map(lambda ends: KEY[ends[0] : ends[0] + ends[1]]),
)


@given(st.lists(PIECES, max_size=12).map("".join))
def test_masking_is_that_of_the_plain_way(text: str) -> None:
    assert Redactor(SECRETS).mask(text) == masked_plainly(text)


def test_without_secrets_nothing_changes() -> None:
    assert Redactor([]).mask("") == ""
    assert Redactor(SECRETS).mask("an ordinary text") == "an ordinary text"


def test_of_a_long_text_the_beginning_is_shown_and_no_secret_at_its_end() -> None:
    redactor = Redactor(SECRETS)
    for before in range(LONGEST_TEXT - 40, LONGEST_TEXT + 3):
        text = "x" * before + KEY + "y" * LONGEST_TEXT
        masked = redactor.mask(text)
        assert len(masked) <= LONGEST_TEXT
        assert masked.startswith("x" * (LONGEST_TEXT - 60))
        assert KEY[:4] not in masked


def test_what_is_looked_at_does_not_grow_with_the_text(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    looked: list[int] = []

    class Pattern:
        def finditer(self, text: str):  # type: ignore[no-untyped-def]
            looked.append(len(text))
            return iter(())

    monkeypatch.setattr(redaction, "_CREDENTIALS", Pattern())
    Redactor(SECRETS).mask("z" * 10_000_000)
    assert looked == [LONGEST_TEXT]
