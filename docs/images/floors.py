"""Draws the layers of the library, `floors.svg`, from the table in docs/extending.md and from the imports in the code.

python docs/images/floors.py
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from html import escape
from pathlib import Path

HERE = Path(__file__).parent
LIBRARY = HERE.parents[1] / "workflow" / "dialeval"
WIDTH, FLOOR, BOX, LEFT = 1000, 62, 38, 190
STYLE = """
text { font: 14px sans-serif; fill: #1b1f24 }
.floor { fill: #57606a } .hint { font-size: 11px; fill: #57606a }
rect { fill: #eef2ff; stroke: #4f5bd5; rx: 6 } line { stroke: #d0d7de }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .floor, .hint { fill: #9aa4af } rect { fill: #23284a } line { stroke: #3d444d }
}
"""


def floors() -> list[tuple[str, list[str]]]:
    """Returns the floors from the top down, each with its rooms and single modules."""
    page = (HERE.parent / "extending.md").read_text(encoding="utf-8")
    rows = [
        line.split("|")[1:3] for line in page.split("## The library, layer by layer")[1].splitlines() if "|" in line
    ]
    return [(name.strip(), re.findall(r"`([a-z_]+)`", rooms)) for name, rooms in rows[2:]]


def uses() -> Counter[str]:
    """Counts for every room the modules of other rooms that import it."""
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
    """Returns the picture as SVG."""
    counted, parts = uses(), []
    plan = [(name, [room for room in rooms if _is_ours(room)]) for name, rooms in floors()]
    for number, (name, rooms) in enumerate(plan):
        top = 34 + number * FLOOR
        parts.append(f'<text class="floor" x="8" y="{top + 24}">{escape(name)}</text>')
        parts.append(f'<line x1="0" x2="{WIDTH}" y1="{top + 50}" y2="{top + 50}"/>')
        gap = min(190, (WIDTH - LEFT) / len(rooms))
        for place, room in enumerate(rooms):
            x = LEFT + place * gap
            hint = f"<title>{counted[room]} modules of other packages import {room}</title>"
            parts.append(f'<g><rect x="{x:.0f}" y="{top}" width="{gap - 8:.0f}" height="{BOX}">{hint}</rect>')
            parts.append(f'<text x="{x + (gap - 8) / 2:.0f}" y="{top + 24}" text-anchor="middle">{room}</text></g>')
    height = 34 + len(plan) * FLOOR
    hint = '<text class="hint" x="8" y="18">A module imports only from its own layer and from those below.</text>'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">'
    title = "<title>The packages of the library, layer by layer</title>"
    return "\n".join([head, title, f"<style>{STYLE}</style>", hint, *parts, "</svg>", ""])


def _is_ours(room: str) -> bool:
    return (LIBRARY / room).is_dir() or (LIBRARY / f"{room}.py").is_file()


if __name__ == "__main__":
    (HERE / "floors.svg").write_text(drawing(), encoding="utf-8")
