"""Nothing that is read from a file can run code: no module opens pickles, or evaluates texts."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import dialeval

MODULES = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "joblib", "shelve", "marshal", "skops"}
CALLS = {"eval", "exec", "read_pickle", "load_module"}
LOADERS = {"unsafe_load", "full_load", "UnsafeLoader", "FullLoader"}
LIBRARY = Path(dialeval.__file__).parent


def dangers(source: str) -> Iterator[str]:
    """Yield what in a module could run what a file says."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (f"import {name.name}" for name in node.names if name.name.split(".")[0] in MODULES)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in MODULES:
            yield f"from {node.module}"
        elif isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if (isinstance(node.func, ast.Name) and called in CALLS) or called in {"read_pickle"}:
                yield called
            owner = getattr(getattr(node.func, "value", None), "id", "")
            given = {keyword.arg: keyword.value for keyword in node.keywords}
            if (owner, called) == ("torch", "load") and "weights_only" not in given:
                yield "torch.load"
            if isinstance(allowed := given.get("allow_pickle"), ast.Constant) and allowed.value is not False:
                yield "allow_pickle"
            if (owner, called) in {("np", "load"), ("numpy", "load")} and "allow_pickle" not in given:
                yield "np.load"
        elif isinstance(node, ast.Attribute) and node.attr in LOADERS:
            yield node.attr


@pytest.mark.parametrize("path", sorted(LIBRARY.rglob("*.py")), ids=lambda path: str(path.relative_to(LIBRARY)))
def test_a_module_opens_no_pickle_and_evaluates_no_text(path: Path) -> None:
    assert list(dangers(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "import os, joblib.parallel as p",
        "from pickle import loads",
        "def f():\n    import marshal",
        "eval('1')",
        "np.load(path)",
        "np.load(path, allow_pickle=True)",
        "torch.load(path)",
        "yaml.load(text, Loader=yaml.UnsafeLoader)",
        "frame = pd.read_pickle(path)",
    ],
)
def test_dangers_are_seen(source: str) -> None:
    assert list(dangers(source))


@pytest.mark.parametrize("source", ["np.load(f, allow_pickle=False)", "model.eval()", "json.loads(text)"])
def test_what_is_harmless_is_let_pass(source: str) -> None:
    assert not list(dangers(source))
