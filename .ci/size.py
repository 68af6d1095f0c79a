"""Prints how large the project is, and ends with 1 if it has more modules or rooms than one engineer can hold.

    python .ci/size.py

A room is a package at the top of `workflow/dialeval`. There is no ceiling on lines: they are a result, not a goal.
"""

import ast
import re
import sys
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
LIBRARY = ROOT / "workflow" / "dialeval"
CEILINGS = {"modules": 380, "rooms": 23, "single modules": 7}


def lines_of(paths: list[Path]) -> int:
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)


def functions_of_rules(paths: list[Path]) -> int:
    """Count functions defined in rules, at the top or indented, and lambdas."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in paths)
    return len(re.findall(r"^\s*def \w+\(", text, re.MULTILINE)) + len(re.findall(r"\blambda\b", text))


def sizes() -> dict[str, int]:
    modules = sorted(LIBRARY.rglob("*.py"))
    rooms = [path for path in LIBRARY.iterdir() if (path / "__init__.py").is_file()]
    single = list(LIBRARY.glob("[a-z]*.py"))
    rules = [ROOT / "Snakefile", *sorted((ROOT / "rules").glob("*.smk"))]
    tests = sorted((ROOT / "tests").rglob("*.py"))
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    definitions = sum(
        isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        for path in modules
        for node in ast.parse(path.read_text(encoding="utf-8")).body
    )
    return {
        "modules": len(modules),
        "rooms": len(rooms),
        "single modules": len(single),
        "median lines of a module": int(median(lines_of([path]) for path in modules if path.stem != "__init__")),
        "functions and classes at the top of modules": definitions,
        "lines of the library": lines_of(modules),
        "files of rules": len(rules),
        "lines of rules": lines_of(rules),
        "functions and lambdas in rules": functions_of_rules(rules),
        "lines of tests": lines_of(tests),
        "words of README and docs, generated ones too": sum(
            len(page.read_text(encoding="utf-8").split()) for page in pages
        ),
    }


def main() -> int:
    found = sizes()
    for name, number in found.items():
        ceiling = f" (at most {CEILINGS[name]})" if name in CEILINGS else ""
        print(f"{number:>7,}  {name}{ceiling}")
    return int(any(found[name] > most for name, most in CEILINGS.items()))


if __name__ == "__main__":
    sys.exit(main())
