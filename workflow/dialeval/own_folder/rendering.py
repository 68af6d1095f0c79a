"""The texts of a folder of one's own."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import yaml
from jinja2 import Environment, PackageLoader, StrictUndefined


def rendered(template: str, **values: Any) -> str:
    """Returns a text of this package with values in their places.

    Args:
        template: its file.
        values: what it names.
    """
    return _environment().get_template(template).render(**values)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("dialeval", "own_folder"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # nothing here is HTML
    )
    environment.filters["yaml"] = quoted
    return environment


def quoted(text: str) -> str:
    """Returns a text as YAML has it: on one line, in quotation marks where it needs them."""
    if re.fullmatch(r"[A-Za-z][A-Za-z0-9_./+-]*", text) and yaml.safe_load(text) == text:
        return text
    dumped: str = yaml.safe_dump(text, default_style='"', allow_unicode=True, width=10**6)
    return dumped.strip()
