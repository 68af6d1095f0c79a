"""Draws the layers of the library, `layers.svg`, from the table in docs/extending.md and from the imports in the code.

python docs/images/layers.py
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from html import escape
from pathlib import Path

HERE = Path(__file__).parent
LIBRARY = HERE.parents[1] / "workflow" / "dialeval"
WIDTH, LAYER, BOX, LEFT = 1000, 62, 38, 190
STYLE = """
text { font: 14px sans-serif; fill: #1b1f24 }
.layer { fill: #57606a } .hint { font-size: 11px; fill: #57606a }
rect { fill: #eef2ff; stroke: #4f5bd5; rx: 6 } line { stroke: #d0d7de }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .layer, .hint { fill: #9aa4af } rect { fill: #23284a } line { stroke: #3d444d }
}
"""


def layers() -> list[tuple[str, list[str]]]:
    """Return the layers from the top down, each with its packages and single modules."""
    page = (HERE.parent / "extending.md").read_text(encoding="utf-8")
    rows = [
        line.split("|")[1:3] for line in page.split("## The library, layer by layer")[1].splitlines() if "|" in line
    ]
    return [(name.strip(), re.findall(r"`([a-z_]+)`", packages)) for name, packages in rows[2:]]


def uses() -> Counter[str]:
    """Count for every package the modules of other packages that import it."""
    counted: Counter[str] = Counter()
    for path in LIBRARY.rglob("*.py"):
        own = path.relative_to(LIBRARY).with_suffix("").parts[0]
        names = {
            node.module.split(".")[1]
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("dialeval.")
        }
        counted.update(names - {own})
    return counted


def drawing() -> str:
    """Return the picture as SVG."""
    counted, parts = uses(), []
    plan = [(name, [package for package in packages if _is_ours(package)]) for name, packages in layers()]
    for number, (name, packages) in enumerate(plan):
        top = 34 + number * LAYER
        parts.append(f'<text class="layer" x="8" y="{top + 24}">{escape(name)}</text>')
        parts.append(f'<line x1="0" x2="{WIDTH}" y1="{top + 50}" y2="{top + 50}"/>')
        gap = min(190, (WIDTH - LEFT) / len(packages))
        for place, package in enumerate(packages):
            x = LEFT + place * gap
            hint = f"<title>{counted[package]} modules of other packages import {package}</title>"
            parts.append(f'<g><rect x="{x:.0f}" y="{top}" width="{gap - 8:.0f}" height="{BOX}">{hint}</rect>')
            parts.append(f'<text x="{x + (gap - 8) / 2:.0f}" y="{top + 24}" text-anchor="middle">{package}</text></g>')
    height = 34 + len(plan) * LAYER
    hint = '<text class="hint" x="8" y="18">A module imports only from its own layer and from those below.</text>'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">'
    title = "<title>The packages of the library, layer by layer</title>"
    return "\n".join([head, title, f"<style>{STYLE}</style>", hint, *parts, "</svg>", ""])


def _is_ours(package: str) -> bool:
    return (LIBRARY / package).is_dir() or (LIBRARY / f"{package}.py").is_file()


if __name__ == "__main__":
    (HERE / "layers.svg").write_text(drawing(), encoding="utf-8")
