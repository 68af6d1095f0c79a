"""Makes the tables of benchmarks/*.md: of the scripts from their docstrings, of the figures from figures/*.json.

    python benchmarks/compose.py

What stands between `<!-- scripts -->` or `<!-- figures NAME ... -->` and `<!-- end -->` is written anew, all else
stays. `<!-- figures -->` without names takes all figures that no other place names. Takes 1 s.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from gates import FIGURES, said, shown

FOLDER = Path(__file__).parent
TOOLS = ("compose.py", "run_all.py")
"""Scripts that measure nothing themselves."""
_PLACE = re.compile(r"(<!-- (scripts|figures)((?: [\w.]+)*) -->\n).*?(<!-- end -->)", re.DOTALL)
_TAKES = re.compile(r"\bTakes (\d+ (?:s|min|h)\b[^.]*)\.")


class Script(NamedTuple):
    """A benchmark as its docstring tells it.

    Attributes:
        name: of the file.
        measures: its first line.
        takes: how long it runs, and what it needs: `20 s`, `3 min with vLLM`.
    """

    name: str
    measures: str
    takes: str

    @property
    def minutes(self) -> float:
        number, unit = self.takes.split()[:2]
        return float(number) * {"s": 1 / 60, "min": 1, "h": 60}[unit]


def scripts(folder: Path = FOLDER) -> Iterator[Script]:
    """Yield every file that is run by itself; the others are what some of them share."""
    for path in sorted(folder.glob("*.py")):
        text = path.read_text(encoding="utf-8")
        doc = ast.get_docstring(ast.parse(text)) or ""
        if '__name__ == "__main__"' in text:
            takes = _TAKES.search(" ".join(doc.split()))
            yield Script(path.name, doc.partition("\n")[0].rstrip("."), takes[1] if takes else "")


def scripts_table() -> str:
    """Return the table of all benchmarks."""
    measuring = [script for script in scripts() if script.name not in TOOLS]
    rows = [f"| `{script.name}` | {script.measures} | {script.takes} |" for script in measuring]
    return "\n".join(["| script | measures | takes |", "|---|---|---|", *rows])


def figures_table(names: list[str]) -> str:
    """Return one table for each named file, under the command that made it and what else the machine did."""
    return "\n\n".join(_of_file(name) for name in names)


def _of_file(name: str) -> str:
    kept = json.loads((FIGURES / f"{name}.json").read_text(encoding="utf-8"))
    lines = [f"`{kept['command']}` ({said(kept['conditions'])})", ""]
    lines += ["| figure | to reach | last |", "|---|---|---|"]
    return "\n".join([*lines, *map(_row, kept["figures"])])


def _row(figure: dict[str, Any]) -> str:
    what = figure["what"] + (f", against {figure['against']}" if figure["against"] else "")
    last = f"{shown(figure['value'])} {figure['unit']}".rstrip()
    last = last if figure["reached"] else f"**{last}**, missed"
    aside = f" ({figure['note']})" if figure["note"] else ""
    cells = (what, figure["reach"], f"{last}{aside}")
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def composed(texts: dict[str, str]) -> dict[str, str]:
    """Return the documents with their tables made anew; names of files -> text."""
    placed = {name for text in texts.values() for place in _PLACE.finditer(text) for name in place[3].split()}
    others = [path.name.removesuffix(".json") for path in sorted(FIGURES.glob("*.json"))]
    others = [name for name in others if name not in placed]

    def filled(place: re.Match[str]) -> str:
        made = scripts_table() if place[2] == "scripts" else figures_table(place[3].split() or others)
        return f"{place[1]}\n{made}\n\n{place[4]}"

    return {name: _PLACE.sub(filled, text) for name, text in texts.items()}


def documents() -> dict[str, str]:
    """Return the documents as they stand."""
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.md"))}


def compose() -> None:
    """Write all documents anew."""
    for name, text in composed(documents()).items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    compose()
