"""BotChat's tables."""

from __future__ import annotations

from dialeval.schemas.columns import BOOL, FLOAT, INT, TEXT, TEXTS, maybe, schema
from dialeval.schemas.table import Table

# fmt: off
SEEDS = Table(
    "seeds", schema(
        seed_id=TEXT, corpus=TEXT, language=TEXT, utterances=TEXTS, n_human=INT, for_arena=BOOL, for_gteval=BOOL
    ),
    row="ChatSEED",
    columns={
        "n_human": "utterances of the human dialogue",
        "for_arena": "whether it serves Arena",
        "for_gteval": "whether it serves GTEval, which also needs two speakers in turn",
    },
)
GENERATED = Table(
    "generated", schema(
        chatbot=TEXT, seed_id=TEXT, turn=INT, origin=TEXT, text=TEXT, prompt_tokens=maybe(INT),
        completion_tokens=maybe(INT), dropped=INT, finish_reason=TEXT
    ),
    row="utterance of a chatbot's dialogue (`dialogues/<chatbot>`)",
    columns={
        "origin": "seed (or a scenario's opening), model (the chatbot) or partner (the simulated user)",
        "dropped": "oldest utterances left out to fit the context window",
    },
)
UTTERANCE_LENGTHS = Table(
    "botchat/utterance_lengths", schema(
        model=TEXT, mean=maybe(FLOAT), median=maybe(FLOAT), p95=maybe(FLOAT), max=maybe(INT), n=INT, tokenizer=TEXT,
        published_mean=maybe(FLOAT)
    ),
    row="model",
    title="Utterance lengths",
    caption="Length of the generated utterances in tokens, and of the human ones.",
    columns={
        "n": "utterances",
        "mean": "tokens of an utterance that the model wrote",
        "p95": "95th percentile",
        "published_mean": "the paper's mean, matched by name",
    },
    numbers="rating",
)
UTTERANCE_TOKENS = Table(
    "botchat/utterance_tokens", schema(
        model=TEXT, seed_id=TEXT, turn=INT, tokens=INT, tokenizer=TEXT
    ),
    row="utterance of a model (BotChat's Figure 3; Parquet only)",
    title="Lengths of single utterances",
    shown=False,
    columns={
        "turn": "counts from 0",
    },
)
TOKENIZER = Table(
    "botchat/tokenizer", schema(tokenizer=TEXT, reason=maybe(TEXT)),
    row="run: the unit of its utterance lengths (Parquet only)",
    title="Unit of utterance lengths",
    shown=False,
    columns={
        "tokenizer": "what counts all utterances of these results",
        "reason": "why it is not the paper's cl100k_base",
    },
)
SEED_LENGTHS = Table(
    "botchat/seeds", schema(n_utterances=maybe(INT), n_dialogues=INT),
    row="number of utterances (BotChat's Figure 2)",
    title="Length of the human dialogues",
    caption="How many human dialogues have so many utterances.",
)
# fmt: on
