"""Names of models as they are compared with those that the papers print."""

from __future__ import annotations

ALIASES = {
    "gpt35turbo": "chatgpt",
    "gpt40613": "gpt4",
    "textbison001": "palm2bison",
    "llama2chat13b": "l2chat13b",
    "chimerainstchat13b": "chimera13b",
    "baizev213b": "baize13b",
    "wizardlm13bv12": "wizardlm13b",
}


def folded(name: str) -> str:
    """Returns the letters and digits of a name in one case, with one name for every model of comp-analysis."""
    plain = "".join(character for character in name.casefold() if character.isalnum())
    return ALIASES.get(plain, plain)
