"""Puts a corpus together again in another language, from the translations of its utterances."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from dialeval.corpora.items import item_rows
from dialeval.corpora.speakers import left_out
from dialeval.errors import UserError
from dialeval.schemas.metaeval import ITEMS
from dialeval.schemas.shared import RESPONSES, UTTERANCES
from dialeval.schemas.translation import TRANSLATED_CORPORA, TRANSLATED_UTTERANCES
from dialeval.tables import TableWriter, read_tables, to_table, write_table
from dialeval.text.counting import counted
from dialeval.translation.checks import STATUSES, USABLE
from dialeval.translation.joining import join, utterance_rows
from dialeval.translation.settings import TranslationSettings


class Settings(TranslationSettings):
    """What was translated, and by which model."""

    translated_by: str


def stage(
    settings: Settings,
    table: Path,
    responses: list[Path],
    translated: Path,
    utterances: Path,
    counts: Path,
) -> None:
    """Writes the dialogues in the new language, as a table of the source's kind, and what became of the utterances.

    Raises:
        UserError: no dialogue is whole.
    """
    rows = read_tables(responses, RESPONSES, ["request_id", "status", "text", "finish_reason"]).to_pylist()
    joined = join(
        settings.talks(table),
        {row["request_id"]: row for row in rows},
        corpus=settings.corpus,
        source=settings.source,
        target=settings.target,
        context=settings.context,
        translated_by=settings.translated_by,
    )
    by_status = Counter(row["status"] for row in joined.utterances)
    said = ", ".join(f"{n} {status} ({STATUSES[status]})" for status, n in by_status.most_common())
    print(f"{settings.corpus} in {settings.target}: {counted(len(joined.talks), 'dialogue')}; utterances: {said}")
    if joined.left_out:
        print(left_out("dialogues", joined.left_out, "an utterance has no translation that can be used"))
    write_table(utterances, TRANSLATED_UTTERANCES, to_table(TRANSLATED_UTTERANCES, joined.utterances))
    rows_of_counts = [
        {
            "corpus": settings.corpus,
            "language": settings.target,
            "translated_by": settings.translated_by,
            "status": status,
            "n": n,
            "share": n / by_status.total(),
            "n_dialogues": len(joined.talks) + len(joined.left_out),
            "n_left_out": len(joined.left_out),
        }
        for status, n in sorted(by_status.items())
    ]
    write_table(counts, TRANSLATED_CORPORA, to_table(TRANSLATED_CORPORA, rows_of_counts))
    if not joined.talks:
        bad = next(row for row in joined.utterances if row["status"] not in USABLE)
        raise UserError(
            f"no dialogue of '{settings.corpus}' could be translated into '{settings.target}' by "
            f"'{settings.translated_by}': {said}; such as {bad['source']!r:.200}, of which it made "
            f"{bad['text']!r:.200}; take a model that knows the language, or another prompt (prompts.directory, "
            "translate.j2)"
        )
    if settings.kind == "items":
        with TableWriter(translated, ITEMS) as items:
            items.write_all(item_rows(talk.item for talk in joined.talks if talk.item))
    else:
        with TableWriter(translated, UTTERANCES) as dialogues:
            dialogues.write_all(utterance_rows(joined.talks, settings.corpus, settings.target))
