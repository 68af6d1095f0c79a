"""The four papers: their tables and figures (`registry`), and the numbers that they print."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from importlib.resources import files

ALIASES = {
    "gpt35turbo": "chatgpt",
    "gpt40613": "gpt4",
    "textbison001": "palm2bison",
    "llama2chat13b": "l2chat13b",
    "chimerainstchat13b": "chimera13b",
    "baizev213b": "baize13b",
    "wizardlm13bv12": "wizardlm13b",
}


def letters(name: str) -> str:
    """Return the letters and digits of a name in one case."""
    return "".join(character for character in name.casefold() if character.isalnum())


def folded(name: str) -> str:
    """Return the letters and digits of a name in one case, with one name for every model of comp-analysis."""
    plain = letters(name)
    return ALIASES.get(plain, plain)


def printed_rows(file: str) -> list[Mapping[str, str]]:
    """Return the rows of a CSV file of printed numbers."""
    return list(csv.DictReader(files(__name__).joinpath(file).read_text(encoding="utf-8").splitlines()))
