"""The public interface stays as it is: names, arguments, defaults, fields, types."""

from __future__ import annotations

import inspect
from importlib import import_module
from pathlib import Path

import pytest

import dialeval
from dialeval.report.reference.python import INTERFACE, constants, signatures

GOLDEN = Path(__file__).parents[2] / "golden" / "interface.txt"


def test_nothing_of_it_has_changed() -> None:
    now = "\n".join(signatures()) + "\n"
    assert now == GOLDEN.read_text(encoding="utf-8"), (
        "the public interface has changed; if it must, write it into tests/golden/interface.txt and CHANGELOG.md"
    )


@pytest.mark.parametrize("public", INTERFACE, ids=lambda public: public.module)
def test_it_is_typed_and_described(public) -> None:
    module = import_module(public.module)
    for name in public.names:
        value = getattr(module, name)
        if inspect.isroutine(value):
            signature = inspect.signature(value)
            kinds = [parameter.annotation for parameter in signature.parameters.values()]
            assert inspect.Parameter.empty not in [*kinds, signature.return_annotation], name
        assert name in constants() or value.__doc__, name
    assert public.words


def test_types_are_shown_to_those_who_import_it() -> None:
    assert (Path(dialeval.__file__).parent / "py.typed").is_file()
