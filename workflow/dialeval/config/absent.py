"""Rated corpora that may be absent: a configuration for whoever has all public corpora serves those who have some."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from dialeval.errors import UserError

if TYPE_CHECKING:
    from dialeval.config.whole import Config


def is_there(path: Path) -> bool:
    """Returns whether a file or folder exists; a path that no file can have is not there."""
    try:
        return path.exists()
    except (OSError, RuntimeError):  # too long a name, no such user behind ~
        return False


def absent_corpora(config: Config) -> dict[str, Path]:
    """Returns the optional rated corpora whose files are not there, with the files; none that is named elsewhere."""
    named = {source for one in config.protocols.own.values() for source in one.of.source} | {*config.translate}
    corpora = config.metaeval.corpora if config.metaeval else {}
    optional = [name for name, one in corpora.items() if one.optional and name not in named]
    paths = {name: config.rated_path(name) for name in optional}
    return {name: path for name, path in paths.items() if path is not None and not is_there(path)}


def without_absent(config: Config) -> Config:
    """Returns a configuration without the optional rated corpora whose files are not there.

    Raises:
        UserError: none would be left.
    """
    absent = absent_corpora(config)
    if config.metaeval is None or not absent:
        return config
    left = {name: one for name, one in config.metaeval.corpora.items() if name not in absent}
    if not left:
        raise UserError(f"the configuration has a mistake:\n  metaeval.corpora: none is there; {_remedy(config)}")
    return config.model_copy(update={"metaeval": config.metaeval.model_copy(update={"corpora": left})})


def told(config: Config, whole: Config) -> Iterator[str]:
    """Yields a line about every corpus of the whole configuration that the run goes on without."""
    kept = config.metaeval.corpora if config.metaeval else {}
    for name, path in absent_corpora(whole).items():
        if name not in kept:
            yield f"note: metaeval.corpora.{name} is left out: {path} is not there; {_remedy(whole)}"


def _remedy(config: Config) -> str:
    if config.public_corpora:
        return "`snakemake --cores 1 download` with the same configuration fetches what is public"
    return f"correct its path or `data_dir` (now '{config.data_dir}')"
