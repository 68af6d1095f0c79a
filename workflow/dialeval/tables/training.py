"""Tables of trained judges, and of the translated corpora they learn from."""

from __future__ import annotations

from dialeval.tables.schema import FLOAT, INT, LARGE, TEXT, TEXTS, Interval, Table, maybe, schema

# fmt: off
TRAINING_EXAMPLES = Table(
    "training_examples", schema(
        training=TEXT, example_id=TEXT, pair_id=TEXT, part=TEXT, level=TEXT, criterion=TEXT, domain=TEXT, language=TEXT,
        good=INT, kind=TEXT, corpus=TEXT, dialogue_id=TEXT, cluster=TEXT, speakers=TEXTS, utterances=TEXTS,
        made_from=maybe(TEXT)
    ),
    row="dialogue, or turn in its context, that judges learn from (`training/<name>/examples`)",
    columns={
        "pair_id": "of the true example and the spoiled one, which stand one after the other",
        "part": "train, development (stops the training) or held_back (never learned from)",
        "criterion": "what the spoiled one is worse in",
        "good": "1 for the true one, 0 for the spoiled one",
        "kind": "how the spoiled one was made; the same in both rows of a pair",
        "cluster": "dialogues that share text; none has examples in two parts",
        "made_from": "where words that were put in come from: corpus and dialogue",
    },
    shown=False,
)
TRAINING_OVERLAP = Table(
    "training_overlap", schema(
        training=TEXT, domain=TEXT, language=TEXT, corpus=TEXT, dialogue_id=TEXT, cluster=TEXT, item_corpus=TEXT,
        item_id=TEXT
    ),
    row="dialogue that is left out of a training set since it, or one of its cluster, is judged "
    "(`training/<name>/overlap`)",
    columns={
        "item_corpus": "corpus of an item that is judged and holds the same text",
    },
    shown=False,
)
JUDGED_TEXTS = Table(
    "judged_texts", schema(passage=LARGE, corpus=TEXT, item_id=TEXT),
    row="passage of what is judged (`training/judged`)",
    columns={
        "passage": "number that stands for two utterances in a row, a long one or a whole dialogue",
        "item_id": "an item that holds it",
    },
    shown=False,
)
TRAINING_DATA = Table(
    "training/data", schema(
        training=TEXT, domain=TEXT, language=TEXT, criterion=TEXT, kind=TEXT, part=TEXT, n_pairs=INT, n_dialogues=INT,
        n_clusters=INT, left_out=INT
    ),
    row="training set, domain, language, criterion, kind and part",
    title="What judges learn from",
    caption=(
        "Pairs of a true and a spoiled example by how the spoiled one was made. Dialogues that hold the same text are "
        "a cluster, and each cluster is in one part: train, development (stops the training) or held_back (never "
        "learned from)."
    ),
    columns={
        "kind": "kind of negative example; all: every kind",
        "n_dialogues": "number of dialogues in the pairs",
        "n_clusters": "clusters of dialogues that hold the same text",
        "left_out": "dialogues of the domain and language that are left out since they are judged; none has a part",
    },
)
TRAINING_SCORES = Table(
    "training_scores", schema(example_id=TEXT, moment=TEXT, score=FLOAT),
    row="held-back example and moment (`trained/<judge>/scores.parquet`)",
    columns={
        "moment": "before the training or after it",
        "score": "the judge's, between 0 and 1",
    },
    shown=False,
)
TRAINING_CURVE = Table(
    "training/curve", schema(
        judge=TEXT, measured=TEXT, step=INT, epoch=FLOAT, loss=maybe(FLOAT), auc=maybe(FLOAT)
    ),
    row="judge and step of its training",
    title="Training",
    caption="The loss of what was learned from, and loss and AUC of the development part, which stops the training.",
    columns={
        "measured": "training (mean since the row before) or development",
        "auc": "share of pairs in which the true one scores higher, ties half",
    },
)
TRAINING_RUNS = Table(
    "training/runs", schema(
        judge=TEXT, model=TEXT, training=TEXT, n_examples=LARGE, steps=INT, best_step=INT, epochs=FLOAT,
        parameters=LARGE, trained_parameters=LARGE, seconds=FLOAT, examples_per_second=FLOAT, tokens_per_second=FLOAT,
        device=TEXT, precision=TEXT, label_mass_before=maybe(FLOAT), label_mass_after=maybe(FLOAT)
    ),
    row="judge that was trained",
    title="What was trained",
    caption="What each judge learned from, how long that took, and on what.",
    columns={
        "n_examples": "number of training examples",
        "best_step": "step whose weights were kept",
        "seconds": "training time, including time before a restart",
        "label_mass_before": "mean probability of Yes and No together, of a language model, before the training",
    },
)
TRAINING_RECORD = Table(
    "training/record", schema(
        judge=TEXT, part=TEXT, kind=TEXT, n=INT, auc=maybe(FLOAT), ci_low=maybe(FLOAT), ci_high=maybe(FLOAT),
        moment=TEXT, training=TEXT, criterion=TEXT, language=TEXT, n_clusters=INT, gain=maybe(FLOAT),
        gain_ci_low=maybe(FLOAT), gain_ci_high=maybe(FLOAT), reason=maybe(TEXT)
    ),
    row="judge, kind of negative and moment",
    title="Told apart on dialogues that were held back",
    caption=(
        "Share of pairs of a true and a spoiled example of one kind, criterion and language in which the judge scores "
        "the true one higher (AUC), before and after its training; .5 is chance. Intervals are clustered by dialogue."
    ),
    columns={
        "kind": "how the negatives were made; all: the mean over kinds, each weighted by its examples",
        "moment": "before the training or after it",
        "training": "the sets that the examples are of",
        "criterion": "what the spoiled ones are worse in; all: the mean over criteria, in the same way",
        "language": "all: the mean over languages, in the same way",
        "n": "examples, true and spoiled",
        "n_clusters": "dialogues behind them",
        "gain": "AUC after the training less that before it, on the same examples",
        "reason": "why there is no AUC or no interval",
    },
    cells={"auc": Interval("ci_low", "ci_high"), "gain": Interval("gain_ci_low", "gain_ci_high")},
    numbers="correlation",
)
TRAINING_SAMPLES = Table(
    "training/samples", schema(
        training=TEXT, criterion=TEXT, kind=TEXT, domain=TEXT, language=TEXT, context=TEXT, true=TEXT, spoiled=TEXT,
        made_from=maybe(TEXT), part=TEXT, pair_id=TEXT
    ),
    row="pair of a true and a spoiled example, a few of each kind",
    title="Some of what is learned",
    caption="Pairs that were drawn by chance, with what both begin with as their context.",
    columns={
        "criterion": "what the spoiled one is worse in",
        "context": "what both begin with",
        "true": "how the dialogue went on",
        "spoiled": "how it goes on in the spoiled one",
        "made_from": "where words that were put in come from: corpus and dialogue",
        "part": "train, development (stops the training) or held_back (never learned from)",
    },
)
# fmt: on


# Translation

# fmt: off
TRANSLATED_UTTERANCES = Table(
    "translated_utterances", schema(
        corpus=TEXT, language=TEXT, translated_by=TEXT, utterance_id=TEXT, item_id=TEXT, cluster=TEXT, source=TEXT,
        text=TEXT, status=TEXT
    ),
    row="utterance in its context that was translated (`translations/<corpus>/<language>.utterances`)",
    columns={
        "language": "target language",
        "translated_by": "model of the configuration",
        "item_id": "of the first item, or dialogue, that has it",
        "cluster": "what intervals resample: the dialogue of that item",
        "source": "original text",
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
        "Status of the translated utterances. A dialogue, or a turn in its context, is left out if one of its "
        "utterances has no usable translation."
    ),
    numbers="share",
    columns={
        "language": "target language",
        "translated_by": "model of the configuration",
        "status": "ok, or why the translation cannot be used",
        "n": "utterances, each once in the same context",
        "share": "share of the utterances",
        "n_dialogues": "number of dialogues and turns to translate",
        "n_left_out": "number of dialogues and turns left out",
    },
)
TRANSLATION_SAMPLE = Table(
    "translation_sample", schema(
        corpus=TEXT, language=TEXT, translated_by=TEXT, utterance_id=TEXT, cluster=TEXT, source=TEXT, text=TEXT
    ),
    row="utterance whose translation is looked at (`translations/<corpus>/<language>.sample`, and `.csv` for people)",
    columns={
        "language": "target language",
        "cluster": "what intervals resample: a dialogue",
        "source": "original text",
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
        "language": "target language of the translation",
        "translated_back_by": "model of the configuration",
        "source": "original text",
        "back": "back-translated text",
    },
    shown=False,
)
TRANSLATION_QUALITY = Table(
    "translation/quality", schema(
        corpus=TEXT, language=TEXT, metric=TEXT, produced_by=TEXT, n=INT, value=maybe(FLOAT), ci_low=maybe(FLOAT),
        ci_high=maybe(FLOAT), published=maybe(FLOAT), published_people=maybe(FLOAT), reason=maybe(TEXT), signature=TEXT
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
        "produced_by": "model that back-translated or judged, or the file with the scores",
        "n": "number of utterances with a value; several ratings of an utterance are averaged first",
        "published": "of Table 2, by the metric's name; adequacy: GPT-4's, asked in the paper's prompt",
        "published_people": "mean human rating in the paper",
        "signature": "exact definition of the metric, such as sacreBLEU's signature",
    },
    cells={"value": Interval("ci_low", "ci_high", "published")},
)
# fmt: on
