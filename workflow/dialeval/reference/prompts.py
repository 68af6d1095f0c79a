"""The page on prompts, `docs/prompts.md`, generated from their descriptions.

A test keeps page, descriptions and templates in step. What stands above the mark is written by hand.
"""

from __future__ import annotations

from dialeval.project import PROJECT
from dialeval.reference.prompt_descriptions import OURS, PAPERS, SECTIONS, Described

DOCS = PROJECT / "docs" / "prompts.md"
MARK = "## Reference\n"
HEAD = """
This part is generated from `workflow/dialeval/reference/prompt_descriptions.py` (`python -m dialeval.reference`). The
templates lie in `workflow/dialeval/prompts/` (`ours`) and `workflow/dialeval/prompts/papers/` (`papers`).
"""
_SAME = Described("As `ours`.", "There is no template of its own.")


def docs_text() -> str:
    """Returns the page: what is written by hand, and the reference."""
    by_hand = DOCS.read_text(encoding="utf-8").split(MARK)[0]
    parts = [by_hand + MARK + HEAD]
    for heading, (words, names) in SECTIONS.items():
        parts.append(f"### {heading}\n\n{words}\n")
        parts += [_about(name) for name in names]
    return "\n".join(parts)


def _about(name: str) -> str:
    if name not in PAPERS and not OURS[name].departs:
        return f"- `{name}`: {OURS[name].asks}\n"
    rows = [("ours", OURS[name]), ("papers", PAPERS.get(name, _SAME))]
    cells = [f"| `{prompt_set}` | {said.asks} | {said.departs} |" for prompt_set, said in rows]
    return (
        "\n".join(
            [f"#### `{name}`\n", "| set | what it asks | where it departs from the paper |", "|---|---|---|", *cells]
        )
        + "\n"
    )
