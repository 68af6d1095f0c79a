"""Fetches public corpora into the data folder, after their licences were said."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from dialeval.corpora.download import download


class Settings(BaseModel, defer_build=True):
    """Which corpora, where to, and a folder to copy them from in place of the network."""

    corpora: list[str]
    data_dir: Path
    mirror: Path | None


def stage(settings: Settings) -> None:
    """Fetches what is not there yet and checks what is."""
    files = download(settings.corpora, settings.data_dir, settings.mirror)
    print(f"{len(files)} files are in {settings.data_dir}")
