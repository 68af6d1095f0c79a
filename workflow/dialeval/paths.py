"""Paths of the project and of the user's cache, and atomic writes of files, never through a link in results or store.

Another user of a shared folder could leave a link there in place of a file or folder that a run writes. So a file is
written under a new name and then replaces any file or link of its name; a file that is appended to, and a folder on the
way, must be no link. The results and the store themselves may be links. Every job imports this module, so it is light.
"""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from dialeval.errors import UserError

_SHIPPED = Path(__file__).parent / "shipped"
IS_INSTALLED = _SHIPPED.is_dir()
"""Whether the library came as a wheel, without the project around it."""
PROJECT = _SHIPPED if IS_INSTALLED else Path(__file__).parents[2]
"""The folder of Snakefile, rules, profiles, environments, configurations and docs."""
SNAKEFILE = PROJECT / "Snakefile"
"""The Snakefile that a Snakefile elsewhere includes."""


def check_name(project: Path) -> None:
    """Check that Snakemake can read the files in the folder of the workflow.

    Args:
        project: the folder of the workflow.

    Raises:
        UserError: its name has braces.
    """
    if {"{", "}"}.intersection(str(project)):
        raise UserError(
            f"the workflow is in {project}, and Snakemake reads the braces in its name as a wildcard; rename or "
            f"move that folder"
        )


def check_can_be_installed(project: Path) -> None:
    """Check that the project can be installed from its folder into environments of jobs.

    Raises:
        UserError: `project` is the folder of a wheel, which cannot be installed again.
    """
    if not (project / "pyproject.toml").is_file():
        raise UserError(
            "--sdm conda installs DialEval from its project folder into the environments of jobs, and this DialEval "
            "was installed without that folder; install the extras that the jobs need (vllm, train) and remove "
            "--sdm, or run from a clone of the project: --snakefile DialEval/Snakefile"
        )


# The user's cache


def cache_folder() -> Path:
    """Return this library's cache folder; below the temporary files where there is no home, as in some containers."""
    if base := os.environ.get("XDG_CACHE_HOME"):
        return Path(base) / "dialeval"
    try:
        return Path.home() / ".cache" / "dialeval"
    except RuntimeError:
        return Path(tempfile.gettempdir()) / "dialeval"


# Atomic writes of files, never through a link inside the results or the store.

RESULTS = "DIALEVAL_RESULTS"
STORE = "DIALEVAL_STORE"
"""Environment variables by which a run passes the two folders to its jobs."""


def linked_folder(path: Path, *tops: Path) -> Path | None:
    """Return the first folder on the way to a path that is a link, or None.

    Args:
        path: of a file or folder to write or remove; it need not exist.
        tops: folders below which links count, and which may be links; by default those of the run. A path outside of
            them has no such link.
    """
    named = map(str, tops) if tops else filter(None, map(os.environ.get, (RESULTS, STORE)))
    known = {os.path.abspath(top) for top in named}  # noqa: PTH100 - `resolve` would follow the links
    above: list[str] = []
    folder = os.path.dirname(os.path.abspath(path))  # noqa: PTH100, PTH120
    below = 0
    while folder != os.path.dirname(folder):  # noqa: PTH120
        if folder in known:
            below = len(above)
        else:
            above.append(folder)
        folder = os.path.dirname(folder)  # noqa: PTH120
    return next((Path(one) for one in reversed(above[:below]) if os.path.islink(one)), None)  # noqa: PTH114


def refuse_links(path: Path, *tops: Path) -> None:
    """Check that the way to a path leads through no link; see `linked_folder`.

    Raises:
        UserError: it does.
    """
    if link := linked_folder(path, *tops):
        raise _is_a_link(link)


def open_no_link(path: Path, flags: int) -> int:
    """Return the descriptor of an open file that is no link; the file is made where `flags` say so.

    Raises:
        UserError: it is a link.
        OSError: it cannot be opened.
    """
    try:
        return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _is_a_link(path) from None
        raise


def write_new(path: Path, text: str = "") -> None:
    """Write a file atomically, replacing any file or link of its name.

    Raises:
        UserError: a folder on the way is a link.
        OSError: it cannot be written.
    """
    refuse_links(path)
    temporary = new_beside(path)
    try:
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a temporary path beside `path`, which on success is fsynced and replaces `path`.

    Raises:
        UserError: the disk is full, the folder not writable or a link; an existing file stays as it was.
    """
    try:
        refuse_links(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = new_beside(path)
        try:
            yield temporary
            with temporary.open("rb") as file:
                os.fsync(file.fileno())
            temporary.replace(path)
        finally:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
    except OSError as error:
        raise UserError(
            f"{path} cannot be written: {error.strerror or error}; check the permissions and free space of that "
            f"disk, then run the same command again; earlier results are complete"
        ) from error


def new_beside(path: Path) -> Path:
    """Make an empty file beside a path, under a name that cannot be guessed."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{os.urandom(4).hex()}.partial")
    os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666))
    return temporary


def _is_a_link(path: Path) -> UserError:
    with suppress(OSError):
        return UserError(
            f"{path} is a link to {path.readlink()}, and DialEval writes no results or responses through links: "
            f"remove it and run the same command again. To move these folders, make results_dir or store_dir itself "
            f"a link"
        )
    return UserError(f"{path} is a link, and DialEval writes no results or responses through links: remove it")
