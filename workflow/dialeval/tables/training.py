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
    row="dialogue, or turn in its context, of a training set (`training/<name>/examples`)",
    columns={
        "pair_id": "id of the pair; the two examples are in successive rows",
        "part": "train, development (stops the training) or held_out (never learned from)",
        "criterion": "criterion on which the negative example is worse",
        "good": "1 for the positive example, 0 for the negative example",
        "kind": "kind of the pair's negative example",
        "cluster": "id of the cluster of dialogues that share text; all examples of a cluster are in one part",
        "made_from": "corpus and dialogue that inserted text comes from; empty if no text was inserted",
    },
    shown=False,
)
TRAINING_OVERLAP = Table(
    "training_overlap", schema(
        training=TEXT, domain=TEXT, language=TEXT, corpus=TEXT, dialogue_id=TEXT, cluster=TEXT, item_corpus=TEXT,
        item_id=TEXT
    ),
    row="dialogue that is left out of a training set because judges score a dialogue of its cluster "
    "(`training/<name>/overlap`)",
    columns={
        "item_corpus": "corpus of a judged item with the same text",
    },
    shown=False,
)
JUDGED_TEXTS = Table(
    "judged_texts", schema(passage=LARGE, corpus=TEXT, item_id=TEXT),
    row="passage of a judged text (`training/judged`)",
    columns={
        "passage": "hash of the passage: two successive utterances, a long utterance or a dialogue",
        "item_id": "item with this passage",
    },
    shown=False,
)
TRAINING_DATA = Table(
    "training/data", schema(
        training=TEXT, domain=TEXT, language=TEXT, criterion=TEXT, kind=TEXT, part=TEXT, n_pairs=INT, n_dialogues=INT,
        n_clusters=INT, left_out=INT
    ),
    row="training set, domain, language, criterion, kind and part",
    title="Training sets",
    caption=(
        "Pairs of a positive and a negative example, by kind of the negative example. Dialogues with a common "
        "passage are a "
        "cluster, and each cluster is in one part: train, development (early stopping) or held_out (evaluation)."
    ),
    columns={
        "kind": "kind of negative example; all: all kinds together",
        "n_dialogues": "number of dialogues in the pairs",
        "n_clusters": "number of clusters of dialogues with a common passage",
        "left_out": "number of dialogues of the domain and language that are left out because judges score them",
    },
)
TRAINING_SCORES = Table(
    "training_scores", schema(example_id=TEXT, moment=TEXT, score=FLOAT),
    row="held-out example and moment (`trained/<judge>/scores.parquet`)",
    columns={
        "moment": "before the training or after it",
        "score": "score of the judge, from 0 to 1",
    },
    shown=False,
)
TRAINING_CURVE = Table(
    "training/curve", schema(
        judge=TEXT, measured=TEXT, step=INT, epoch=FLOAT, loss=maybe(FLOAT), auc=maybe(FLOAT)
    ),
    row="judge and step of its training",
    title="Training",
    caption="Loss on the training examples, and loss and AUC on the development part. The development part decides "
    "when training stops.",
    columns={
        "measured": "training (mean loss since the previous row) or development",
        "auc": "share of pairs in which the positive example scores higher; ties count half",
    },
)
TRAINING_RUNS = Table(
    "training/runs", schema(
        judge=TEXT, model=TEXT, training=TEXT, n_examples=LARGE, steps=INT, best_step=INT, epochs=FLOAT,
        parameters=LARGE, trained_parameters=LARGE, seconds=FLOAT, examples_per_second=FLOAT, tokens_per_second=FLOAT,
        device=TEXT, precision=TEXT, label_mass_before=maybe(FLOAT), label_mass_after=maybe(FLOAT)
    ),
    row="judge that was trained",
    title="Trained judges",
    caption="Training data, time and hardware of each judge.",
    columns={
        "n_examples": "number of training examples",
        "best_step": "step at which the kept weights were saved",
        "seconds": "training time without evaluations, including time before a restart",
        "label_mass_before": "for language models: mean total probability of Yes and No before the training",
    },
)
TRAINING_RECORD = Table(
    "training/record", schema(
        judge=TEXT, part=TEXT, kind=TEXT, n=INT, auc=maybe(FLOAT), ci_low=maybe(FLOAT), ci_high=maybe(FLOAT),
        moment=TEXT, training=TEXT, criterion=TEXT, language=TEXT, n_clusters=INT, gain=maybe(FLOAT),
        gain_ci_low=maybe(FLOAT), gain_ci_high=maybe(FLOAT), reason=maybe(TEXT)
    ),
    row="judge, criterion, language, kind of negative and moment",
    title="AUC on held-out dialogues",
    caption=(
        "AUC of each judge before and after its training: the share of pairs in which the positive example scores "
        "higher than the negative example. Ties count half, and .5 is chance. A pair is two held-out examples of one "
        "kind, criterion and language, not always of one dialogue. Intervals are clustered by dialogue."
    ),
    columns={
        "kind": "kind of the negative examples; all: mean over kinds, weighted by their examples",
        "moment": "before the training or after it",
        "training": "training sets of the examples",
        "criterion": "criterion on which the negative examples are worse; all: mean over criteria, weighted by their "
        "examples",
        "language": "language of the examples; all: mean over languages, weighted by their examples",
        "n": "number of examples, positive and negative",
        "n_clusters": "number of clusters of dialogues that share text",
        "gain": "AUC after the training minus AUC before it, on the same examples",
        "reason": "why the AUC or its interval is missing",
    },
    cells={"auc": Interval("ci_low", "ci_high"), "gain": Interval("gain_ci_low", "gain_ci_high")},
    numbers="correlation",
)
TRAINING_SAMPLES = Table(
    "training/samples", schema(
        training=TEXT, criterion=TEXT, kind=TEXT, domain=TEXT, language=TEXT, context=TEXT, positive=TEXT,
        negative=TEXT, made_from=maybe(TEXT), part=TEXT, pair_id=TEXT
    ),
    row="pair of a positive and a negative example, a few of each kind",
    title="Samples of training pairs",
    caption="Randomly drawn pairs, with their common beginning as context.",
    columns={
        "criterion": "criterion on which the negative example is worse",
        "context": "common beginning of the two examples",
        "positive": "continuation in the human dialogue",
        "negative": "continuation in the negative example",
        "made_from": "corpus and dialogue that inserted text comes from; empty if no text was inserted",
        "part": "train, development (stops the training) or held_out (never learned from)",
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
        "translated_by": "name of the translation model in the configuration",
        "item_id": "first item or dialogue with this utterance",
        "cluster": "id of the dialogue, which is the cluster for intervals",
        "source": "original text",
        "text": "translation; if the translation is unusable, the model's response",
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
        "translated_by": "name of the translation model in the configuration",
        "status": "ok, or why the translation cannot be used",
        "n": "number of utterances; equal utterances in equal contexts count once",
        "share": "share of the utterances",
        "n_dialogues": "number of dialogues and turns to translate",
        "n_left_out": "number of dialogues and turns that are left out",
    },
)
TRANSLATION_SAMPLE = Table(
    "translation_sample", schema(
        corpus=TEXT, language=TEXT, translated_by=TEXT, utterance_id=TEXT, cluster=TEXT, source=TEXT, text=TEXT
    ),
    row="utterance of the sample for translation quality (`translations/<corpus>/<language>.sample`, and `.csv`)",
    columns={
        "language": "target language",
        "cluster": "id of the dialogue, which is the cluster for intervals",
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
        "translated_back_by": "name of the translation model in the configuration",
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
        "Quality of a sample of utterances, as in Table 2 of xDial-Eval. The paper's values, for its corpora and "
        "translators, are in the rows of all corpora together."
    ),
    columns={
        "corpus": "all: pooled utterances of all corpora",
        "metric": (
            "bleu and chrf (0 to 100) and sentence_chrf compare the source with the back-translation; adequacy and "
            "people are ratings from 1 to 5; other metrics are scores from your files"
        ),
        "produced_by": "model that back-translated or judged, or the file with the scores",
        "n": "number of utterances with a value; several ratings of an utterance are averaged first",
        "published": "value of Table 2 for this metric; for adequacy: GPT-4's rating with the paper's prompt",
        "published_people": "mean human rating in the paper",
        "signature": "exact definition of the metric, such as sacreBLEU's signature",
    },
    cells={"value": Interval("ci_low", "ci_high", "published")},
)
# fmt: on
