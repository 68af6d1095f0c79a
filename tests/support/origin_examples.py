"""BotChat's own examples of failures: Markdown tables of speaker and utterance, line breaks as `<br>`."""

from __future__ import annotations

from pathlib import Path

Dialogue = tuple[tuple[str, str], ...]


def dialogues_in(path: Path) -> list[Dialogue]:
    """Return the dialogues of a file as (speaker, text)."""
    found: list[list[tuple[str, str]]] = []
    for line in path.read_text(encoding="utf-8").split("\n"):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|") or len(cells) < 2 or set(cells[0]) <= set(":-"):
            continue
        if cells[0] == "Speaker":
            found.append([])
        else:
            found[-1].append((cells[0], "|".join(cells[1:]).replace("<br>", "\n")))
    return [tuple(dialogue) for dialogue in found]
