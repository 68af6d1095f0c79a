"""Whether what translation models compute with is installed; asked without importing it."""

from __future__ import annotations

import importlib.util

NEEDED = ("torch", "transformers", "tokenizers")


def nllb_missing() -> str | None:
    """Returns what to install for a translation model, or None if all is there."""
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if not missing:
        return None
    return (
        f"engine 'nllb' needs {', '.join(missing)}, which is not installed: pip install 'dialeval[train]', or run "
        "snakemake --sdm conda, which makes an environment for such jobs"
    )
