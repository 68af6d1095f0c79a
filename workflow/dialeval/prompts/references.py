"""Which prompt templates a template is made of: itself, and what it includes, imports or extends."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

import jinja2
from jinja2.meta import find_referenced_templates

_REFERS = re.compile(rb"\{%[-+]?\s*(include|import|from|extends)\b")


def with_references(names: Iterable[str], folders: Sequence[Path]) -> dict[str, bytes]:
    """Returns the contents of templates and of all that these are made of; one that there is not is left out.

    Where a name is computed, so that it cannot be told, every template of the folders counts.

    Args:
        names: of the templates.
        folders: where they lie; the first that has one of a name gives it.
    """
    found: dict[str, bytes] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        path = next((folder / name for folder in folders if (folder / name).is_file()), None)
        if name in found or path is None:
            continue
        found[name] = path.read_bytes()
        referred = _referred(found[name])
        if None in referred:
            waiting += [path.name for folder in folders for path in folder.glob("*.j2")]
        waiting += [other for other in referred if other is not None]
    return found


@cache
def _referred(template: bytes) -> tuple[str | None, ...]:
    """Returns the names that a template refers to; None stands for a computed one."""
    if not _REFERS.search(template):
        return ()
    try:
        return tuple(find_referenced_templates(jinja2.Environment(autoescape=False).parse(template.decode("utf-8"))))
    except (jinja2.TemplateSyntaxError, UnicodeDecodeError):
        return ()  # rendering says what is wrong with it
