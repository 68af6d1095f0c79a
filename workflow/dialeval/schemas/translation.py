"""Tables of translated corpora: what became of every utterance, and how good the translations are."""

from __future__ import annotations

from dialeval.schemas.columns import FLOAT, INT, TEXT, schema
from dialeval.schemas.table import Table

# fmt: off
TRANSLATED_UTTERANCES = Table(
    "translated_utterances", schema(
        corpus=TEXT, language=TEXT, translated_by=TEXT, utterance_id=TEXT, item_id=TEXT, source=TEXT, text=TEXT,
        status=TEXT
    ),
    row="utterance in its context that was translated (`translations/<corpus>/<language>.utterances`)",
    columns={
        "language": "that it was translated into",
        "translated_by": "model of the configuration",
        "item_id": "of the first item, or dialogue, that has it",
        "source": "as it was said",
        "text": "the translation; of one that cannot be used, what the model wrote",
        "status": "ok, or why the translation cannot be used",
    },
    shown=False,
)
TRANSLATED_CORPORA = Table(
    "translation/corpora", schema(
        corpus=TEXT, language=TEXT, translated_by=TEXT, status=TEXT, n=INT, share=FLOAT, n_dialogues=INT,
        n_left_out=INT
    ),
    row="corpus, language and status of utterances",
    title="Translated corpora",
    caption=(
        "What became of the utterances that a model translated. A dialogue, or a turn in its context, is left out "
        "where one of its utterances has no translation that can be used."
    ),
    numbers="share",
    columns={
        "language": "that it was translated into",
        "translated_by": "model of the configuration",
        "status": "ok, or why the translation cannot be used",
        "n": "utterances, each once in the same context",
        "share": "of the utterances",
        "n_dialogues": "dialogues and turns that were to be translated",
        "n_left_out": "of these, left out",
    },
)
# fmt: on
