"""Nothing imports upwards: the layers in docs/extending.md name every package, and imports go down or stay."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[1]
LIBRARY = ROOT / "workflow" / "dialeval"


def layers() -> dict[str, int]:
    """Return the layer of each package or module, the lowest with the highest in number."""
    page = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
    table = page.split("## The library, layer by layer")[1]
    rows = [line.split("|")[2] for line in table.splitlines() if line.startswith("| ")][1:]
    named = [
        (name, layer) for layer, row in enumerate(rows) for name in re.findall(r"`([a-z_.]+)`", row) if is_ours(name)
    ]
    assert len(named) == len(dict(named)), "a package is in two layers"
    return dict(named)


def is_ours(name: str) -> bool:
    path = LIBRARY.joinpath(*name.split("."))
    return path.is_dir() or path.with_suffix(".py").is_file()


def layer_of(module: str, known: dict[str, int]) -> int:
    """Return the layer of the nearest of its packages that the page names."""
    parts = module.split(".")
    return next(known[name] for n in range(len(parts), 0, -1) if (name := ".".join(parts[:n])) in known)


def imports() -> Iterator[tuple[str, str]]:
    """Yield every import of ours by ours, at the top or within a function; names go as modules, which is as near."""
    for path in sorted(LIBRARY.rglob("*.py")):
        module = ".".join(path.relative_to(LIBRARY).with_suffix("").parts).removesuffix(".__init__")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "dialeval":
                for alias in node.names:
                    yield module, f"{node.module}.{alias.name}".removeprefix("dialeval.")


def test_every_package_and_module_has_a_layer() -> None:
    there = {path.name for path in LIBRARY.iterdir() if (path / "__init__.py").exists()}
    there |= {path.stem for path in LIBRARY.glob("[a-z]*.py")}
    assert {name for name in layers() if "." not in name} == there


def test_nothing_imports_upwards() -> None:
    known = layers() | {"__main__": 0, "__init__": 0, "__version__": len(layers())}
    upwards = [
        f"{module} imports {imported}"
        for module, imported in imports()
        if layer_of(imported, known) < layer_of(module, known)
    ]
    assert upwards == []


def test_packages_import_each_other_in_no_circle() -> None:
    needs: dict[str, set[str]] = {}
    for module, imported in imports():
        package, other = module.split(".")[0], imported.split(".")[0]
        if package != other and is_ours(other):
            needs.setdefault(package, set()).add(other)
    assert list(TopologicalSorter(needs).static_order())  # raises CycleError, which names the circle


def test_the_picture_shows_every_package() -> None:
    picture = (ROOT / "docs" / "images" / "layers.svg").read_text(encoding="utf-8")
    assert set(re.findall(r">([a-z_]+)</text></g>", picture)) == {name for name in layers() if "." not in name}
