"""Keeping secrets out of every text: what an endpoint says may repeat the key it was sent."""

from __future__ import annotations

import base64
import json
import logging
import re
from collections.abc import Iterable
from urllib.parse import quote

MASK = "[secret]"
SHORTEST_SECRET = 8
"""Shorter values, such as the `EMPTY` of local servers, are placeholders; masking them would spoil ordinary words."""
LONGEST_TEXT = 16_384
"""Letters of an error text that are looked at and shown."""
_WINDOW = 12
_CREDENTIALS = re.compile(
    r"(?i)\b(?:bearer|basic)\s+(?=\S*[\d=*])[\w.~+/=*-]{8,}|\b(?:sk|gsk|pk|rk|hf|xai|nvapi)[-_][\w*-]{6,}|\bAIza[\w-]{10,}"
)


class Redactor:
    """Masks secrets in texts.

    Args:
        secrets: the values that must not be seen anywhere.
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        self._forms = sorted({form for secret in secrets if len(secret) >= SHORTEST_SECRET for form in _forms(secret)})
        self._windows: dict[int, set[str]] = {}
        for form in self._forms:
            size = min(_WINDOW, len(form))
            pieces = {form[start : start + size] for start in range(len(form) - size + 1)}
            self._windows.setdefault(size, set()).update(pieces)

    def __repr__(self) -> str:
        return "Redactor(...)"

    def mask(self, text: str) -> str:
        """Returns an error text without secrets: in part or in whole, plain, quoted or in base64, ours or another's.

        Of a long text only the first LONGEST_TEXT letters are returned: all requests wait for it, and nobody reads it.
        """
        if len(text) > LONGEST_TEXT:
            return self.mask(text[:LONGEST_TEXT])[: -_WINDOW - len(MASK)] + "..."  # a secret may be cut at the end
        spans = [found.span() for found in _CREDENTIALS.finditer(text)]
        for size, windows in self._windows.items():
            spans += [
                (start, start + size) for start in range(len(text) - size + 1) if text[start : start + size] in windows
            ]
        pieces: list[str] = []
        end = 0
        for first, last in sorted(spans):
            if first > end or not pieces:
                pieces += [text[end:first], MASK]
            end = max(end, last)
        return "".join(pieces) + text[end:]

    def mask_answer(self, text: str) -> str:
        """Returns a model's answer without our secrets; everything else in it stays as it is."""
        for form in self._forms:
            if form in text:
                text = text.replace(form, MASK)
        return text


class MaskedRecords(logging.Filter):
    """Masks secrets in the records of the libraries that carry them; they log headers when told to log everything.

    Args:
        redactor: knows the secrets.
    """

    LOGGERS = (
        "openai._base_client", "openai._response", "openai._legacy_response", "httpx2", "httpcore2.connection",
        "httpcore2.http11", "httpcore2.http2", "httpcore2.proxy", "httpcore2.socks",
    )  # fmt: skip

    def __init__(self, redactor: Redactor) -> None:
        super().__init__()
        self._redactor = redactor

    def install(self) -> None:
        """Begins to mask."""
        for name in self.LOGGERS:
            logging.getLogger(name).addFilter(self)

    def remove(self) -> None:
        """Ends it."""
        for name in self.LOGGERS:
            logging.getLogger(name).removeFilter(self)

    def filter(self, record: logging.LogRecord) -> bool:
        """Rewrites a record; it is always kept."""
        record.msg, record.args = self._redactor.mask(record.getMessage()), None
        return True


def _forms(secret: str) -> set[str]:
    """Returns how a secret can stand in a text: as it is, escaped, in hexadecimal, and inside any base64."""
    data = secret.encode()
    forms = {secret, quote(secret, safe=""), json.dumps(secret)[1:-1], data.hex()}
    for shift in range(3):  # of a base64 text only the letters that depend on nothing but the secret
        first, last = -(-shift * 8 // 6), (shift + len(data)) * 8 // 6
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            forms.add(encode(b"\0" * shift + data + b"\0" * 3).decode()[first:last])
    return forms
