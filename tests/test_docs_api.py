"""The recipes of docs/api.md can be configured, and name every field that mends what an endpoint refuses."""

from __future__ import annotations

import re

import pytest
import yaml
from doc_claims import FENCE, ROOT

from dialeval.config import load_config
from dialeval.engines.openai_api.retries import REMEDIES, REMEDIES_OF_SIZE

PAGE = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")


def entries() -> dict[str, dict[str, object]]:
    """Return every entry of `models` that the page shows, by its name and place."""
    found = {}
    for block in FENCE.finditer(PAGE):
        if block[1] == "yaml" and not block[2].strip():
            shown = yaml.safe_load(block[3])
            for name, entry in shown.get("models", shown).items():
                found[f"{name}-{len(found)}"] = entry
    return found


@pytest.mark.parametrize("name", entries())
def test_every_entry_can_be_used(name: str) -> None:
    entry = entries()[name]
    raw = {
        "models": {"m": entry},
        "chatbots": ["m"],
        "judges": ["m"],
        "corpora": {"bundled": {"reader": "bundled"}},
        "seeds": {"corpus": "bundled"},
    }
    assert load_config(raw).models["m"].engine == "openai"


def test_all_endpoints_are_there() -> None:
    addresses = {str(entry.get("base_url", "OpenAI")) for entry in entries().values()}
    for words in ("OpenAI", "azure", "anthropic", "googleapis", "11434", "8080", "8000", "4000"):
        assert any(words in address for address in addresses), words


def test_every_field_that_mends_a_refusal_is_named() -> None:
    fields = {
        field for words in (*REMEDIES.values(), *REMEDIES_OF_SIZE.values()) for field in re.findall(r"(\w+):", words)
    }
    assert {field for field in fields if f"`{field}" not in PAGE} <= {"presence_penalty", "frequency_penalty"}
    assert len(fields) > 6
