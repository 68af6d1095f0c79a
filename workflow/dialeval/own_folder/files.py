"""A folder in which `snakemake` alone runs the installed workflow."""

from __future__ import annotations

from pathlib import Path

from dialeval.errors import UserError
from dialeval.own_folder.configuration import Wish, configuration_text
from dialeval.own_folder.rendering import rendered
from dialeval.project import PROJECT

NOT_NEEDED = (Path("README.md"), Path(".gitignore"))
"""Files that a run goes without."""


def make_folder(folder: Path, wish: Wish, notes: list[str] | None = None) -> list[Path]:
    """Writes the files of a folder of one's own, and returns the paths in it of those that it wrote.

    Nothing is written where one that a run needs is there already, or where the wish cannot be met. The page and what
    git passes over are left as they are, where the folder has its own.

    Args:
        folder: it may be there.
        wish: what its configuration is to be about.
        notes: what is worth knowing of the dialogues that the wish names is added here.

    Raises:
        UserError: a file is there already, the folder cannot be written, or the configuration would be wrong.
    """
    texts = {
        Path("config.yaml"): configuration_text(wish, folder, notes),
        Path("Snakefile"): rendered("Snakefile.j2"),
        Path("profiles", "default", "config.yaml"): _profile(),
        Path("README.md"): rendered("README.md.j2", wish=wish),
        Path(".gitignore"): rendered("gitignore.j2"),
    }
    there = [path for path in texts if (folder / path).exists() or (folder / path).is_symlink()]
    texts = {path: text for path, text in texts.items() if path not in there or path not in NOT_NEEDED}
    there = [path for path in there if path not in NOT_NEEDED]
    if there:
        raise UserError(
            f"{folder} has {', '.join(map(str, there))} already, and nothing is overwritten; name another folder, or "
            f"move {'it' if len(there) == 1 else 'them'} away"
        )
    try:
        for path, text in texts.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(
            f"{error.filename or folder} cannot be written: {error.strerror or error}; name another folder"
        ) from error
    return list(texts)


def _profile() -> str:
    """Returns what Snakemake reads on every run there: what it reads in the project, and how many cores it takes."""
    ours = (PROJECT / "profiles" / "default" / "config.yaml").read_text(encoding="utf-8")
    return (
        f"{ours}cores: all                      # how many jobs run at once; --cores on the command line comes first\n"
    )
