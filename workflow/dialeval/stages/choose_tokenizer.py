"""Chooses the unit of utterance lengths once for all tables: cl100k tokens, or words and marks where there are none."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from dialeval.engines.cl100k import fetched_tokenizer
from dialeval.schemas.botchat import TOKENIZER
from dialeval.tables import to_table, write_table


class Settings(BaseModel, defer_build=True):
    """Where the vocabulary lies, and whether it may be fetched."""

    cl100k_file: Path | None = None
    fetch: bool = True


def stage(settings: Settings, tokenizer: Path) -> None:
    """Writes the table `botchat/tokenizer`; the vocabulary itself is kept outside the results, see docs/running.md."""
    chosen, reason = fetched_tokenizer(settings.cl100k_file, may_fetch=settings.fetch)
    print(f"utterance lengths are counted in {chosen.name}")
    if reason:
        print(
            f"note: {reason}. For tokens as in the paper: python -m dialeval.engines.cl100k fetch, or name the file "
            "under tokens.cl100k_file; then snakemake --cores 8 --forcerun choose_tokenizer counts anew"
        )
    row = {"tokenizer": chosen.name, "reason": reason or None}
    write_table(tokenizer, TOKENIZER, to_table(TOKENIZER, [row]))
