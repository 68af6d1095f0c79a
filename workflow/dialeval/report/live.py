"""What a page says of a run that is not finished: how far answering is, and what is missing yet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from dialeval.progress.files import SoFar
from dialeval.schemas.every import table_named
from dialeval.text.counting import counted

TEMPLATE = "live.html.j2"
KINDS = {
    "dialogues": "Dialogues of", "verdicts": "Verdicts", "scores": "Scores", "tables": "Tables", "figures": "Figures"
}  # fmt: skip
"""What is named where it is missing, by the kind of file; all else is made on the way to these."""


@dataclass(frozen=True)
class Asking:
    """How far a job is that asks a model.

    Attributes:
        title: what is asked of whom.
        counts: how many are done, in words.
        share: done of all, 0 to 100; None where it is not known how many there are.
        state: `answering`, `done` or `stopped`, with what failed.
    """

    title: str
    counts: str
    share: int | None
    state: str


@dataclass(frozen=True)
class Live:
    """How far a run is.

    Attributes:
        at: when this was, as the reader sees it.
        is_running: whether a run is at work.
        asking: the jobs of the last run that ask models.
        missing: what is not there yet: kind in words and names.
        n_missing, n_wanted: files of the page that are missing, and all of them.
    """

    at: str
    is_running: bool
    asking: tuple[Asking, ...] = ()
    missing: tuple[tuple[str, tuple[str, ...]], ...] = ()
    n_missing: int = 0
    n_wanted: int = 0

    @property
    def title(self) -> str:
        """The heading."""
        if self.is_running:
            return "This run is at work"
        return "This run is not finished" if self.n_missing else "This run has made all that the page shows"

    @property
    def words(self) -> str:
        """What is there, in a sentence."""
        there = f"At {self.at}, {self.n_wanted - self.n_missing:,} of {counted(self.n_wanted, 'file')} are there"
        return f"{there} that this page is made of."


def live_of(
    wanted: Mapping[str, Iterable[Path]], progress: Mapping[str, Iterable[SoFar]], *, is_running: bool, at: str
) -> Live:
    """Returns how far a run is.

    Args:
        wanted: the files of the finished page, by kind.
        progress: how far the jobs of the last run are that ask models, by their names.
        is_running: whether a run is at work.
        at: the time.
    """
    files = {kind: [Path(path) for path in paths] for kind, paths in wanted.items()}
    lacking = {kind: [path for path in paths if not path.exists()] for kind, paths in files.items()}
    missing = {words: tuple(_name(kind, path) for path in lacking.get(kind, ())) for kind, words in KINDS.items()}
    asking = tuple(_asking(one, is_running=is_running) for jobs in progress.values() for one in jobs)
    return Live(
        at=at,
        is_running=is_running,
        asking=asking,
        missing=tuple((words, names) for words, names in missing.items() if names),
        n_missing=sum(map(len, lacking.values())),
        n_wanted=sum(map(len, files.values())),
    )


def _name(kind: str, path: Path) -> str:
    """Returns what a missing file is called: a table by its title, anything else by its place."""
    place = f"{path.parent.name}/{path.stem}"
    if kind == "tables" and (table := table_named(place)) is not None:
        return f"{table.title} ({place})" if table.title else place
    return path.stem if kind == "dialogues" else place


def _asking(one: SoFar, *, is_running: bool) -> Asking:
    of_all = f" of {one.total:,}" if one.total is not None else ""
    failed = f", {one.failed:,} failed" if one.failed else ""
    state = "done" if one.state == "done" else "answering" if is_running else "stopped"
    share = None if one.total is None else 100 if not one.total else min(100, 100 * one.done // one.total)
    return Asking(one.title, f"{one.done:,}{of_all} {one.unit}", share, state + failed)
