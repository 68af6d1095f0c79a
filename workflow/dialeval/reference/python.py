"""The reference of the public interface: `docs/python.md`.

A test keeps page and interface in step, another the interface itself. What stands above the mark is written by hand.
"""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Any

from dialeval.project import PROJECT
from dialeval.reference.interface import INTERFACE, Public, constants

DOCS = PROJECT / "docs" / "python.md"
MARK = "## Reference\n"
HEAD = """
This part is generated from the list in `workflow/dialeval/reference/interface.py` (`python -m dialeval.reference`).
"""


def docs_text() -> str:
    """Returns the page: what is written by hand, and the reference."""
    by_hand = DOCS.read_text(encoding="utf-8").split(MARK)[0]
    return "\n".join([by_hand + MARK + HEAD, *map(_about, INTERFACE)])


def signatures() -> list[str]:
    """Returns a line for every name of the interface: what a function takes and returns, which fields a class has."""
    lines = []
    for public in INTERFACE:
        for name in public.names:
            value = getattr(import_module(public.module), name)
            lines += [f"{public.module}: {line}" for line in (_head(name, value), *_fields(name, value))]
    return lines


def _about(public: Public) -> str:
    module = import_module(public.module)
    parts = [f"### {public.words}: `{public.module}`\n"]
    for name in public.names:
        value = getattr(module, name)
        said = (
            inspect.cleandoc(value.__doc__ or "") if inspect.isroutine(value) or inspect.isclass(value) else ""
        ) or constants()[name]
        parts.append(f"```python\n{_head(name, value)}\n```\n")
        parts.append(f"```text\n{said}\n```\n" if "\n" in said else said + "\n")
    return "\n".join(parts)


def _head(name: str, value: Any) -> str:
    """Returns a function's signature, or what a class or a constant is called."""
    if inspect.isroutine(value):
        return _signature(name, value)
    return f"class {name}" if inspect.isclass(value) else name


def _fields(name: str, value: Any) -> list[str]:
    """Returns the fields of a class with their types."""
    kinds = value.__annotations__ if inspect.isclass(value) else {}
    return [f"{name}.{field}: {getattr(kind, '__forward_arg__', kind)}" for field, kind in kinds.items()]


def _signature(name: str, function: Any) -> str:
    signature = inspect.signature(function)
    shown, keyword_only = [], False
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not keyword_only:
            keyword_only = True
            shown.append("*")
        default = "" if parameter.default is parameter.empty else f" = {parameter.default!r}"
        shown.append(f"{parameter.name}: {parameter.annotation}{default}")
    return f"{name}({', '.join(shown)}) -> {signature.return_annotation}"
