"""The sets of prompts, and where a template is looked for: in a user's folder, then in the chosen set, then among ours.

`ours` are the templates in `prompts/`. `papers` ask what the prompts of the four papers ask, in our words; what it
has no template for is asked by ours.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal

PromptSet = Literal["ours", "papers"]
OURS = Path(__file__).parent / "prompts"
PAPERS = "papers"
"""Folder of the papers' set, below ours."""


def template_folders(directory: Path | None = None, prompt_set: PromptSet = "ours", ours: Path = OURS) -> list[Path]:
    """Returns the folders of templates; the first that has one of a name gives it.

    Args:
        directory: a user's folder, whose templates replace all others of the same name.
        prompt_set: the chosen set.
        ours: where our own templates lie.
    """
    own = [directory.expanduser()] if directory is not None else []
    return [*own, *([ours / PAPERS] if prompt_set == PAPERS else []), ours]


def asks_as_papers(templates: Iterable[str], directory: Path | None, prompt_set: PromptSet) -> bool:
    """Returns whether all of some templates are asked as in the papers' set, none of them from a user's folder.

    What that set has no template for is no prompt that a paper prints, so that ours is as good as any.

    Args:
        templates: their names.
        directory: a user's folder.
        prompt_set: the chosen set.
    """
    own = directory.expanduser() if directory is not None else None
    return prompt_set == PAPERS and not any(own and (own / name).is_file() for name in templates)
