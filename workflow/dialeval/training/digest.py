"""What trained weights are known by: a digest of them and their settings, wherever they lie and whoever may read them.

Equal weights have equal digests: what a library writes into a folder of weights beside them (an absolute path, lists in
the order of a set, its own version, a card) is taken out or put in order first.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from dialeval.tables import replacing

_RECORDS = frozenset({".parquet", ".csv"})
"""Suffixes of what tells of a training, which is no part of what it gave."""
_READABLE = 0o644
_ADAPTER = "adapter_config.json"


def weights_digest(folder: Path) -> str:
    """Returns a digest of the names and contents of all files of a folder but tables and hidden files."""
    digest = hashlib.sha256()
    for path in sorted(_files(folder)):
        digest.update(f"{path.relative_to(folder).as_posix()}\0{path.stat().st_size}\0".encode())
        with path.open("rb") as file:
            while part := file.read(1 << 20):
                digest.update(part)
    return f"sha256:{digest.hexdigest()[:32]}"


def write_digest(digest: str, path: Path) -> None:
    """Writes the digest of a folder of weights into a file of one line."""
    with replacing(path) as temporary:
        temporary.write_text(f"{digest}\n", encoding="utf-8")


def make_readable(folder: Path) -> None:
    """Lets everybody read the files of a folder, some of which libraries write for their owner alone."""
    for path in folder.rglob("*"):
        if path.is_file():
            path.chmod(_READABLE)


def normalise_adapter(folder: Path, base: str) -> None:
    """Puts an adapter's settings into the form that equal adapters share.

    Args:
        folder: of an adapter that peft saved.
        base: name of the model that it belongs to, in place of the path that it was read from.
    """
    path = folder / _ADAPTER
    settings = json.loads(path.read_text(encoding="utf-8"))
    settings |= {"base_model_name_or_path": base, "inference_mode": True}
    settings |= {name: sorted(value) for name, value in settings.items() if name.endswith("_modules") and value}
    settings.pop("peft_version", None)
    path.write_text(json.dumps(settings, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    (folder / "README.md").unlink(missing_ok=True)


def _files(folder: Path) -> list[Path]:
    return [
        path
        for path in folder.rglob("*")
        if path.is_file()
        and path.suffix not in _RECORDS
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    ]
