"""What the stages of translation are told of a corpus and a language."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from pydantic import BaseModel

from dialeval.errors import UserError
from dialeval.schemas.metaeval import ITEMS
from dialeval.schemas.shared import UTTERANCES
from dialeval.tables import read_table
from dialeval.translation.talks import Talk, talks_of_dialogues, talks_of_items


class TranslationSettings(BaseModel, defer_build=True):
    """A corpus, the language that it is put into, and how.

    Attributes:
        kind: what the corpus is a table of.
    """

    corpus: str
    kind: Literal["items", "dialogues"]
    source: str
    target: str
    context: int

    def talks(self, table: Path) -> Iterator[Talk]:
        """Yields the dialogues that are to be translated.

        Raises:
            UserError: the corpus has none in the source's language, or some in the target's already.
        """
        kind = ITEMS if self.kind == "items" else UTTERANCES
        languages = set(read_table(table, kind, columns=["language"])["language"].unique().to_pylist())
        if self.target in languages:
            raise UserError(
                f"translate.{self.corpus}.into: the corpus has dialogues in '{self.target}' already; take it out, or "
                "read the corpus without that language (its field `language` or `languages`)"
            )
        if self.source not in languages:
            raise UserError(
                f"translate.{self.corpus}.source: the corpus has nothing in '{self.source}'; it has "
                f"{', '.join(sorted(languages)) or 'no dialogues'}"
            )
        return (talks_of_items if self.kind == "items" else talks_of_dialogues)(table, self.source)
