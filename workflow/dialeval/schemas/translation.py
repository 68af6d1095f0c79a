"""Tables of translated corpora: what became of every utterance, and how good the translations are."""

from __future__ import annotations

from dialeval.schemas.columns import FLOAT, INT, TEXT, maybe, schema
from dialeval.schemas.table import Interval, Table

# fmt: off
TRANSLATED_UTTERANCES = Table(
    "translated_utterances", schema(
        corpus=TEXT, language=TEXT, translated_by=TEXT, utterance_id=TEXT, item_id=TEXT, cluster=TEXT, source=TEXT,
        text=TEXT, status=TEXT
    ),
    row="utterance in its context that was translated (`translations/<corpus>/<language>.utterances`)",
    columns={
        "language": "that it was translated into",
        "translated_by": "model of the configuration",
        "item_id": "of the first item, or dialogue, that has it",
        "cluster": "what intervals resample: the dialogue of that item",
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
TRANSLATION_SAMPLE = Table(
    "translation_sample", schema(
        corpus=TEXT, language=TEXT, translated_by=TEXT, utterance_id=TEXT, cluster=TEXT, source=TEXT, text=TEXT
    ),
    row="utterance whose translation is looked at (`translations/<corpus>/<language>.sample`, and `.csv` for people)",
    columns={
        "language": "that it was translated into",
        "cluster": "what intervals resample: a dialogue",
        "source": "as it was said",
        "text": "the translation",
    },
    shown=False,
)
BACK_TRANSLATIONS = Table(
    "back_translations", schema(
        corpus=TEXT, language=TEXT, utterance_id=TEXT, translated_back_by=TEXT, source=TEXT, back=TEXT
    ),
    row="utterance of a sample that was translated back (`translations/<corpus>/<language>.back`, and `.csv`)",
    columns={
        "language": "that it was translated into, and back from",
        "translated_back_by": "model of the configuration",
        "source": "as it was said",
        "back": "as it came back",
    },
    shown=False,
)
TRANSLATION_QUALITY = Table(
    "translation/quality", schema(
        corpus=TEXT, language=TEXT, metric=TEXT, by=TEXT, n=INT, value=maybe(FLOAT), low=maybe(FLOAT),
        high=maybe(FLOAT), published=maybe(FLOAT), published_people=maybe(FLOAT), reason=maybe(TEXT), signature=TEXT
    ),
    row="corpus, language and metric",
    title="Quality of translations",
    caption=(
        "Of a sample of utterances drawn by their ids, as in Table 2 of xDial-Eval, whose numbers stand beside those "
        "of all corpora together: they are of its own corpora and translators."
    ),
    columns={
        "corpus": "all: the utterances of all corpora together, so that one with a larger sample weighs more",
        "metric": (
            "bleu and chrf (0 to 100) and sentence_chrf compare the source with what was translated back; adequacy and "
            "people are ratings from 1 to 5; others are scores of the user's files"
        ),
        "by": "the model that translated back or judged, or the file",
        "n": "utterances that have the number; several ratings of one are averaged first",
        "published": "of Table 2, by the metric's name; adequacy: GPT-4's, asked in the paper's prompt",
        "published_people": "mean rating of the paper's people",
        "signature": "how the number was computed, where there are many ways",
    },
    cells={"value": Interval("low", "high", "published")},
)
# fmt: on
